//! What stands between a server and its client, and does to their talk what networks do.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// What a proxy does with what comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Carries it on.
    Passes,
    /// Nobody listens.
    Refuses,
    /// Takes connections and what they say, and carries nothing on until the mode changes.
    Silent,
    /// Carries each chunk on in two halves, each after a while.
    Slow(Duration),
}

/// A proxy before a server, which ends with this.
pub(crate) struct Proxy {
    address: SocketAddr,
    control: Arc<Control>,
    listens: watch::Receiver<bool>,
    job: JoinHandle<()>,
}

struct Control {
    mode: watch::Sender<Mode>,
    /// Every change cuts the connections there are.
    cuts: watch::Sender<u64>,
    trap: Mutex<Option<Trap>>,
    carried: AtomicU64,
}

/// A cut or a silence to come.
struct Trap {
    /// How many chunks of clients are still carried on.
    chunks: u64,
    /// What the proxy does from then on. Only where it falls silent do the connections stay.
    then: Mode,
}

impl Proxy {
    /// Begins one before a server at `host:port`.
    pub(crate) async fn before(server: String) -> io::Result<Self> {
        // Held all the time, so that nobody else takes the port while nobody listens on it.
        let held = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = held.local_addr()?;
        let control = Arc::new(Control {
            mode: watch::Sender::new(Mode::Passes),
            cuts: watch::Sender::new(0),
            trap: Mutex::default(),
            carried: AtomicU64::new(0),
        });
        let (say, mut listens) = watch::channel(false);
        let job = tokio::spawn({
            let control = control.clone();
            async move {
                let _held = held;
                // Dropping `say` tells whoever waits that this is over.
                let _ = control.serve(address, &server, &say).await;
            }
        });
        let begun = listens.wait_for(|listens| *listens).await.is_ok();
        if !begun {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        Ok(Self {
            address,
            control,
            listens,
            job,
        })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does so from now on. Connections stay, but for [`Mode::Refuses`], which cuts them.
    pub(crate) async fn set(&self, mode: Mode) {
        self.control.mode.send_replace(mode);
        if mode == Mode::Refuses {
            self.cut();
        }
        let wanted = mode != Mode::Refuses;
        let mut listens = self.listens.clone();
        let _ = listens.wait_for(|listens| *listens == wanted).await;
    }

    /// Cuts the connections there are.
    pub(crate) fn cut(&self) {
        self.control.cut();
    }

    /// Does `then` when so many chunks of clients were carried on and one more chunk of anybody comes, and
    /// cuts all connections, unless it is to fall silent.
    pub(crate) fn cut_after(&self, chunks: u64, then: Mode) {
        *self.control.trap() = Some(Trap { chunks, then });
    }

    /// Whether anything was said through it.
    pub(crate) fn is_used(&self) -> bool {
        self.control.carried.load(Ordering::Relaxed) > 0
    }

    /// Takes that order back. Whether the cut had come.
    pub(crate) fn was_cut(&self) -> bool {
        self.control.trap().take().is_none()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.job.abort();
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

impl Control {
    async fn serve(
        self: &Arc<Self>,
        address: SocketAddr,
        server: &str,
        listens: &watch::Sender<bool>,
    ) -> io::Result<()> {
        let mut mode = self.mode.subscribe();
        let mut connections = JoinSet::new();
        while mode.wait_for(|mode| *mode != Mode::Refuses).await.is_ok() {
            let listener = bound(address)?.listen(128)?;
            listens.send_replace(true);
            self.accept(&listener, server, &mut connections).await;
            drop(listener);
            // Whoever waits for the refusal must find no connection that still carries something.
            connections.shutdown().await;
            listens.send_replace(false);
        }
        Ok(())
    }

    /// Takes connections until they are to be refused.
    async fn accept(
        self: &Arc<Self>,
        listener: &TcpListener,
        server: &str,
        connections: &mut JoinSet<()>,
    ) {
        let mut mode = self.mode.subscribe();
        loop {
            while connections.try_join_next().is_some() {}
            tokio::select! {
                _ = mode.wait_for(|mode| *mode == Mode::Refuses) => return,
                accepted = listener.accept() => {
                    if let Ok((client, _)) = accepted {
                        connections.spawn(self.clone().carry(client, server.to_owned()));
                    }
                }
            }
        }
    }

    /// One connection, until either side ends it or it is cut.
    async fn carry(self: Arc<Self>, client: TcpStream, server: String) {
        let mut cuts = self.cuts.subscribe();
        if *self.mode.borrow() == Mode::Refuses {
            return;
        }
        let Ok(upstream) = TcpStream::connect(&server).await else {
            return;
        };
        let _ = (client.set_nodelay(true), upstream.set_nodelay(true));
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = upstream.into_split();
        tokio::select! {
            biased;
            _ = cuts.changed() => {}
            _ = self.pump(from_client, to_server, true) => {}
            _ = self.pump(from_server, to_client, false) => {}
        }
    }

    async fn pump(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        of_a_client: bool,
    ) -> io::Result<()> {
        let mut chunk = vec![0; 16 * 1024];
        let mut mode = self.mode.subscribe();
        loop {
            let read = from.read(&mut chunk).await;
            // Nor is an end carried on while nothing is.
            speaks(&mut mode).await?;
            let read = read?;
            if read == 0 || !self.carries_on(of_a_client) {
                return Ok(());
            }
            // It may have fallen silent at this very chunk.
            let now = speaks(&mut mode).await?;
            self.carried.fetch_add(1, Ordering::Relaxed);
            let chunk = chunk.get(..read).unwrap_or_default();
            let Mode::Slow(by) = now else {
                to.write_all(chunk).await?;
                continue;
            };
            for half in chunk.chunks(read.div_ceil(2)) {
                tokio::time::sleep(by).await;
                to.write_all(half).await?;
            }
        }
    }

    /// Whether a chunk is carried on, at once or later; or is the one that springs the trap of a cut.
    fn carries_on(&self, of_a_client: bool) -> bool {
        let mut trap = self.trap();
        let then = match &mut *trap {
            None => return true,
            Some(Trap { chunks: 0, then }) => *then,
            Some(trap) => {
                trap.chunks -= u64::from(of_a_client);
                return true;
            }
        };
        *trap = None;
        self.mode.send_replace(then);
        let falls_silent = then == Mode::Silent;
        if !falls_silent {
            self.cut();
        }
        falls_silent
    }

    fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    fn trap(&self) -> std::sync::MutexGuard<'_, Option<Trap>> {
        self.trap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the proxy does, when it is not silent.
async fn speaks(mode: &mut watch::Receiver<Mode>) -> io::Result<Mode> {
    let speaks = mode.wait_for(|mode| *mode != Mode::Silent).await;
    Ok(*speaks.map_err(|_| io::ErrorKind::BrokenPipe)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says everything back.
    async fn echo() -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let job = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.into_split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        (address, job)
    }

    async fn says_back(stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(b"word").await?;
        let mut back = [0; 4];
        stream.read_exact(&mut back).await?;
        assert_eq!(&back, b"word");
        Ok(())
    }

    const WHILE: Duration = Duration::from_millis(150);

    #[tokio::test(flavor = "multi_thread")]
    async fn a_proxy_refuses_cuts_falls_silent_and_comes_back() {
        let (server, job) = echo().await;
        let proxy = Proxy::before(server).await.unwrap();
        let mut one = TcpStream::connect(proxy.address()).await.unwrap();
        says_back(&mut one).await.unwrap();

        proxy.set(Mode::Silent).await;
        let mut other = TcpStream::connect(proxy.address()).await.unwrap();
        let waits = tokio::time::timeout(WHILE, says_back(&mut other)).await;
        assert!(waits.is_err(), "a silent proxy spoke");

        proxy.set(Mode::Refuses).await;
        assert!(says_back(&mut one).await.is_err(), "it was to be cut");
        let refused = TcpStream::connect(proxy.address()).await;
        assert_eq!(
            refused.unwrap_err().kind(),
            io::ErrorKind::ConnectionRefused
        );

        proxy.set(Mode::Passes).await;
        let mut again = TcpStream::connect(proxy.address()).await.unwrap();
        says_back(&mut again).await.unwrap();

        proxy.set(Mode::Slow(WHILE)).await;
        let begun = std::time::Instant::now();
        says_back(&mut again).await.unwrap();
        assert!(begun.elapsed() >= 2 * WHILE);
        job.abort();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cut_comes_after_so_many_chunks_and_loses_the_last_answer() {
        let (server, job) = echo().await;
        let proxy = Proxy::before(server).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        proxy.cut_after(2, Mode::Passes);
        says_back(&mut stream).await.unwrap();
        assert!(says_back(&mut stream).await.is_err());
        assert!(proxy.was_cut());
        proxy.cut_after(1_000, Mode::Passes);
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        says_back(&mut stream).await.unwrap();
        assert!(!proxy.was_cut());
        job.abort();
    }
}
