//! URLs of stores, of every scheme: each is a store or is refused, and no refusal repeats a secret.
//!
//! Nothing is reached from here: files lie below what is no folder, and a connection is given up
//! where it would be made.
#![no_main]

use std::error::Error;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Waker};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use shelfward::ConnectError;
use tokio::runtime::{Builder, Runtime};

#[derive(Arbitrary, Debug)]
struct Url<'a> {
    place: Place<'a>,
    options: Vec<(usize, &'a str)>,
}

#[derive(Arbitrary, Debug)]
enum Place<'a> {
    /// Whatever has no known scheme.
    Other(&'a str),
    Memory(&'a str),
    Sqlite(Option<&'a str>),
    Hnsw(Option<&'a str>),
    Postgres {
        user: &'a str,
        database: &'a str,
    },
}

const OPTIONS: [&str; 27] = [
    "create",
    "read_only",
    "synchronous",
    "busy_timeout_ms",
    "verify_on_open",
    "max_bytes",
    "readers",
    "schema",
    "table_prefix",
    "manage_schema",
    "index",
    "m",
    "ef_construction",
    "ef_search",
    "text_search",
    "row_level_security",
    "max_connections",
    "connect_timeout_ms",
    "statement_timeout_ms",
    "sslmode",
    "sslcert",
    "sslkey",
    "application_name",
    "host",
    "user",
    "",
    "no",
];

/// Stands in every URL where a password may, and in no message.
const SECRET: &str = "hunter2hunter2";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
});

fuzz_target!(|url: Url| {
    let mut text = match url.place {
        Place::Other(text) => {
            let scheme = text.split(':').next().unwrap_or_default();
            if ["memory", "sqlite", "hnsw", "postgres", "postgresql"].contains(&scheme) {
                return;
            }
            text.to_owned()
        }
        Place::Memory(rest) => format!("memory:{rest}"),
        Place::Sqlite(file) => format!("sqlite:{}", of_a_file(file)),
        Place::Hnsw(file) => format!("hnsw:{}", of_a_file(file)),
        Place::Postgres { user, database } => {
            // None of these can name another host.
            let plain = |text: &str| text.replace(['@', '/', '?', '#', '\\', ':'], "");
            let (user, database) = (plain(user), plain(database));
            format!("postgres://{user}:{SECRET}@127.0.0.1:9/{database}")
        }
    };
    let is_remote = text.starts_with("postgres");
    for (at, (name, value)) in url.options.iter().enumerate() {
        let name = OPTIONS[name % OPTIONS.len()];
        text += if at == 0 { "?" } else { "&" };
        text += &format!("{name}={}", value.replace('~', SECRET));
    }
    let _inside = RUNTIME.enter();
    let connects = shelfward::connect(&text);
    let connected = if is_remote {
        // All that is read of a URL is read before anybody is asked.
        match pin!(connects).poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(connected) => connected,
            std::task::Poll::Pending => return,
        }
    } else {
        RUNTIME.block_on(connects)
    };
    if let Err(refused) = connected {
        tells_nothing(&refused);
    }
});

/// What lies below a file, so that nothing can be made there, or nowhere.
fn of_a_file(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("/dev/null/{}", name.replace('/', "")),
        None => ":memory:".to_owned(),
    }
}

fn tells_nothing(refused: &ConnectError) {
    assert!(!format!("{refused:?}").contains(SECRET));
    let mut error: Option<&dyn Error> = Some(refused);
    while let Some(told) = error {
        assert!(!told.to_string().contains(SECRET));
        error = told.source();
    }
}
