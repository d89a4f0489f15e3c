//! What a case works with: handles on the store, collections of its own, and fixtures that read-only
//! cases share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter};
use shelfward_core::{
    Collection, CollectionName, CollectionSpec, ErrorKind, Key, Metadata, MetadataKey, Metric,
    Record, Result, Scalar, Store, StoreError, Text, Value,
};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::process::{Failure, Peer, Processes};
use crate::server::Server;
use crate::store::{PREFIX, StoreUnderTest};
use crate::verdict::{Checked, Finding};

/// The width of the vectors of most cases.
pub(crate) const WIDTH: u32 = 4;

/// What a case works with. A clone is the same.
#[derive(Clone)]
pub(crate) struct Context(Arc<Run>);

struct Run {
    store: Arc<dyn StoreUnderTest>,
    adapter: OnceCell<Arc<dyn StoreAdapter>>,
    run: String,
    next: AtomicU32,
    made: Mutex<Vec<CollectionName>>,
    shared: Mutex<BTreeMap<&'static str, Arc<OnceCell<Collection>>>>,
    seed: u64,
    processes: Processes,
}

impl Context {
    pub(crate) fn new(store: Arc<dyn StoreUnderTest>, seed: u64, processes: Processes) -> Self {
        // Runs at the same time on one server must not meet: the process and the clock name the run.
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let millis = clock.map_or(0, |t| t.as_millis()) % 0xfff_ffff;
        let run = format!("{:x}{millis:x}", std::process::id());
        Self(Arc::new(Run {
            store,
            adapter: OnceCell::new(),
            run,
            next: AtomicU32::new(0),
            made: Mutex::default(),
            shared: Mutex::default(),
            seed,
            processes,
        }))
    }

    /// What this run can do with the store, beside what the store declares.
    pub(crate) fn environment(&self) -> Environment {
        Environment {
            places: self.0.store.place("probe").is_some(),
            processes: self.0.processes != Processes::None,
            server: self.0.store.server().is_some(),
            denies: self.0.store.server().is_some_and(Server::denies),
            crashes: match self.0.store.server() {
                Some(server) => server.crashable().map(drop),
                None => Ok(()),
            },
            damages: self.0.store.damage().map(drop),
        }
    }

    /// A location that nothing else uses, where the store has such places.
    pub(crate) fn location(&self) -> Checked<StoreLocation> {
        let n = self.0.next.fetch_add(1, Ordering::Relaxed);
        let location = self.0.store.place(&format!("{PREFIX}{}_{n}", self.0.run));
        let location = location.ok_or_else(|| Finding::errors("the store has no places"))?;
        Ok(StoreLocation {
            context: self.clone(),
            location,
        })
    }

    /// The server, where the store has one.
    pub(crate) fn server(&self) -> Checked<&dyn Server> {
        let server = self.0.store.server();
        server.ok_or_else(|| Finding::errors("the store has no server"))
    }

    /// A text for a report, without the secrets of the store's server and without URLs.
    pub(crate) fn redacted(&self, text: &str) -> String {
        redacted(text, &secrets(&*self.0.store))
    }

    pub(crate) fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The bare adapter, opened once.
    pub(crate) async fn adapter(&self) -> Result<Arc<dyn StoreAdapter>> {
        let opened = self.0.adapter.get_or_try_init(|| self.0.store.open());
        opened.await.cloned()
    }

    /// The checked store over it.
    pub(crate) async fn store(&self) -> Result<Store> {
        Ok(Store::from_arc(self.adapter().await?))
    }

    /// The bare adapter, opened once more.
    pub(crate) async fn another_adapter(&self) -> Result<Arc<dyn StoreAdapter>> {
        self.0.store.open().await
    }

    /// A checked store over a handle opened by itself.
    pub(crate) async fn another_store(&self) -> Result<Store> {
        Ok(Store::from_arc(self.another_adapter().await?))
    }

    /// A name that no other case has, dropped when the run ends.
    pub(crate) fn name(&self) -> Checked<CollectionName> {
        let n = self.0.next.fetch_add(1, Ordering::Relaxed);
        let name = CollectionName::new(format!("{PREFIX}{}_{n}", self.0.run))?;
        let mut made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.push(name.clone());
        Ok(name)
    }

    /// The spec of a collection of one's own.
    pub(crate) fn spec(&self) -> Checked<CollectionSpec> {
        let name = self.name()?;
        Ok(CollectionSpec::new(name, WIDTH, Metric::Cosine, "suite"))
    }

    /// A collection of one's own.
    pub(crate) async fn make(&self, spec: &CollectionSpec) -> Checked<Collection> {
        Ok(self.store().await?.ensure(spec).await?)
    }

    /// A collection past its checks, as the adapter hands it out.
    pub(crate) async fn bare(&self, name: &CollectionName) -> Checked<Arc<dyn CollectionAdapter>> {
        let opened = self.adapter().await?.open(name).await?;
        opened.ok_or_else(|| Finding::errors("a collection that was made is not there"))
    }

    /// A plain collection of one's own that holds these records.
    pub(crate) async fn holding(&self, records: &[Record]) -> Checked<Collection> {
        let collection = self.make(&self.spec()?).await?;
        collection.upsert(records).await?;
        Ok(collection)
    }

    /// A handle on a collection through another store handle.
    pub(crate) async fn again(&self, name: &CollectionName) -> Checked<Collection> {
        Ok(self.another_store().await?.open_unscoped(name).await?)
    }

    /// A collection that read-only cases share, made by the first that asks for it.
    pub(crate) async fn shared(
        &self,
        fixture: &'static str,
        make: impl Future<Output = Checked<Collection>>,
    ) -> Checked<Collection> {
        let cell = {
            let mut shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.entry(fixture).or_default().clone()
        };
        cell.get_or_try_init(|| make).await.cloned()
    }

    /// Whether the store answers nothing any more: neither of two calls that ask for nothing.
    pub(crate) async fn is_gone(&self) -> bool {
        let silent = |error: &StoreError| {
            matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout(_))
        };
        let asked = async {
            let adapter = self.adapter().await?;
            match adapter.health().await {
                Err(error) if silent(&error) => adapter.list().await.map(|_| ()),
                _ => Ok(()),
            }
        };
        match tokio::time::timeout(HEALTH_TIMEOUT, asked).await {
            Ok(answered) => answered.is_err_and(|error| silent(&error)),
            Err(_) => true,
        }
    }

    /// Removes all that the run made, and answers what is left.
    pub(crate) async fn clean_up(&self) -> Vec<String> {
        let made = std::mem::take(&mut *self.0.made.lock().unwrap_or_else(PoisonError::into_inner));
        // Each call would wait in vain.
        let adapter = if self.is_gone().await {
            None
        } else {
            self.adapter().await.ok()
        };
        let mut left = Vec::new();
        for name in made {
            let dropped = match &adapter {
                Some(adapter) => adapter.drop_collection(&name).await.is_ok(),
                None => false,
            };
            if !dropped {
                left.push(name.to_string());
            }
        }
        if self.0.store.tear_down().await.is_err() {
            left.push("what the store made beside collections".to_owned());
        }
        left
    }
}

/// What no report may show of a store.
pub(crate) fn secrets(store: &dyn StoreUnderTest) -> Vec<String> {
    store.server().map(Server::secrets).unwrap_or_default()
}

/// A text without these secrets, and without what stands behind `://` in it.
pub(crate) fn redacted(text: &str, secrets: &[String]) -> String {
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let Some((scheme, _)) = word.split_once("://") else {
            return word.to_owned();
        };
        let end = word.trim_end().len();
        format!("{scheme}://…{}", &word[end..])
    });
    let mut secrets = secrets.to_vec();
    // One that is part of another would leave the rest of it.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let given = secrets.iter().filter(|secret| !secret.is_empty());
    given.fold(words.collect(), |text, secret| without(text, secret))
}

/// A text without a secret. A short one is looked for as a word alone: it is part of other words by chance.
fn without(text: String, secret: &str) -> String {
    if secret.len() >= 8 {
        return text.replace(secret, "…");
    }
    let (mut out, mut rest) = (String::new(), text.as_str());
    while let Some((before, behind)) = rest.split_once(secret) {
        out += before;
        let is_word =
            !out.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
        out += if is_word { "…" } else { secret };
        rest = behind;
    }
    out + rest
}

/// How long a store is waited for when it is asked whether it is there.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(15);

/// What a run can do with a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Environment {
    /// Whether the store can be let go of and opened again.
    pub(crate) places: bool,
    /// Whether it can be opened by a second process.
    pub(crate) processes: bool,
    /// Whether it is the client of a server.
    pub(crate) server: bool,
    /// Whether that server denies what it does not know.
    pub(crate) denies: bool,
    /// Whether there is one that may be crashed, or why there is none.
    pub(crate) crashes: std::result::Result<(), &'static str>,
    /// Whether what it keeps can be damaged, or why not.
    pub(crate) damages: std::result::Result<(), &'static str>,
}

/// Where a store of one case alone lies.
#[derive(Clone)]
pub(crate) struct StoreLocation {
    context: Context,
    location: String,
}

impl StoreLocation {
    /// The bare adapter on it, opened by itself.
    pub(crate) async fn bare(&self) -> Result<Arc<dyn StoreAdapter>> {
        self.context.0.store.open_at(&self.location).await
    }

    /// A checked store on it, opened by itself.
    pub(crate) async fn open(&self) -> Result<Store> {
        Ok(Store::from_arc(self.bare().await?))
    }

    /// Damages the record of a collection there whose text this is.
    pub(crate) async fn damage(&self, collection: &CollectionName, text: &str) -> Checked {
        let damage = self.context.0.store.damage().map_err(Finding::errors)?;
        Ok(damage
            .damage_record(&self.location, collection, text)
            .await?)
    }

    /// A process that opens it.
    pub(crate) async fn peer(&self) -> Checked<Peer> {
        let begun = self.try_peer().await?;
        begun.map_err(|failure| {
            let message = failure.message;
            Finding::errors(format!("a second process cannot open the store: {message}"))
        })
    }

    /// A process that tries to open it.
    pub(crate) async fn try_peer(&self) -> Checked<Result<Peer, Failure>> {
        let Run {
            store, processes, ..
        } = &*self.context.0;
        Peer::begin(*processes, store.clone(), &self.location).await
    }
}

/// Work done by a task of its own, which ends with the one that waits for it.
pub(crate) async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Checked<T>> + Send + 'static,
) -> Checked<T> {
    let mut tasks = JoinSet::new();
    tasks.spawn(work);
    let ended = tasks.join_next().await;
    ended.ok_or_else(|| Finding::errors("a task that was never begun"))??
}

/// A text of the suite's own. None holds U+0000.
pub(crate) fn text(text: &str) -> Checked<Text> {
    Ok(Text::new(text)?)
}

/// A key in a collection without partitions.
pub(crate) fn key(id: &str) -> Checked<Key> {
    Ok(Key::new(text(id)?))
}

/// The name of a field.
pub(crate) fn name(name: &str) -> Checked<MetadataKey> {
    Ok(MetadataKey::new(name)?)
}

/// A text as a value of metadata.
pub(crate) fn text_value(text: &str) -> Checked<Value> {
    Ok(Value::Scalar(Scalar::text(text)?))
}

/// Records of these ids that have nothing but one vector.
pub(crate) fn bare_records<S: AsRef<str>>(ids: &[S]) -> Checked<Vec<Record>> {
    let record = |id: &S| Ok(Record::new(key(id.as_ref())?, [1.0; 4]));
    ids.iter().map(record).collect()
}

/// A record with metadata from JSON and a vector that differs from record to record.
pub(crate) fn record(id: &str, n: u8, metadata: &str) -> Checked<Record> {
    let vector = [1.0, f32::from(n) / 8.0, 0.5, 0.25];
    Ok(Record::new(key(id)?, vector)
        .with_text(format!("text of {id}"))
        .with_metadata(Metadata::from_json(metadata)?))
}

/// Whether an answer is a refusal; anything else is a finding.
pub(crate) fn refused<T>(answer: Result<T>, what: &str) -> Checked {
    Err(match answer {
        Err(error) if error.is_refusal() => return Ok(()),
        Err(error) => {
            Finding::errors(format!("{what}: not refused but failed: {error}")).because(&error)
        }
        Ok(_) => Finding::errors(format!("{what}: taken, though it must be refused")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_and_no_url_is_in_a_text_for_a_report() {
        let secrets = ["b", "hunter2hunter2", ""].map(str::to_owned);
        let text = "unavailable: b refused (hunter2hunter2) at postgres://u:b@host/db, twice";
        let shown = redacted(text, &secrets);
        assert_eq!(shown, "unavailable: … refused (…) at postgres://… twice");
    }
}
