//! What goes wrong between a server and its clients. A proxy does it, so that nobody else is hurt.

use std::error::Error as _;
use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use shelfward_core::capabilities::{Replace, Writers};
use shelfward_core::filter::key;
use shelfward_core::{
    Capabilities, Collection, ErrorKind, Field, FieldKind, Filter, Leg, MetadataKey, Operation,
    Persistence, Record, Selector, Store, StoreError,
};

use crate::case::{Case, Wanted};
use crate::check::{holds, ids, same_ids};
use crate::context::{Context, record};
use crate::proxy::{Mode, Proxy};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let of_a_server = [
        Case::new("faults/server-gone", gone),
        Case::new("faults/server-comes-back", comes_back),
        Case::new("faults/opened-without-its-server", opened_without),
        Case::new("faults/server-gone-during-a-search", gone_during_a_search),
        Case::new("faults/server-gone-during-a-replace", gone_during_a_replace).only_where(
            atomic,
            "its replace is not atomic, so one that is cut may leave part of it",
        ),
        Case::new("faults/client-cut-off-holds-nobody", holds_nobody).only_where(
            ordered,
            "its replace is not atomic, or it does not order the writers of other processes",
        ),
        Case::new("faults/client-fallen-silent-lets-go", lets_go).only_where(
            ordered,
            "its replace is not atomic, or it does not order the writers of other processes",
        ),
        Case::new("faults/server-does-not-answer", silent),
        Case::new("faults/late-answer-is-nobodys", late_answers),
        Case::new("faults/slow-server", slow),
    ];
    let mut cases: Vec<Case> = of_a_server.map(|case| case.server(Wanted::Address)).into();
    cases.push(Case::new("faults/wrong-credentials", wrong_credentials).server(Wanted::Denial));
    cases
}

/// How long a call of these cases waits for a server that may never answer.
const SHORT: Duration = Duration::from_secs(1);

/// The same where the server answers in the end.
const LONG: Duration = Duration::from_secs(8);

/// A replace of more chunks than this is cut at the first so many alone.
const MOST_CHUNKS: u64 = 40;

fn atomic(can: &Capabilities) -> bool {
    can.replace == Replace::Atomic
}

fn ordered(can: &Capabilities) -> bool {
    atomic(can) && can.writers == Writers::AllProcesses
}

/// A collection, seen through a proxy and from beside it.
struct ProxyFixture {
    context: Context,
    proxy: Proxy,
    timeout: Duration,
    store: Store,
    collection: Collection,
    beside: Collection,
}

impl ProxyFixture {
    async fn new(context: Context, timeout: Duration) -> Checked<Self> {
        let field =
            |name| -> Checked<Field> { Ok(Field::new(MetadataKey::new(name)?, FieldKind::Text)) };
        let spec = context.spec()?.with_fields([field("t")?, field("id")?]);
        let beside = context.make(&spec).await?;
        beside.upsert(&unit(OLD)?).await?;
        let proxy = proxy(&context).await?;
        let server = context.server()?;
        let opened = server.open_through(proxy.address(), timeout).await?;
        let store = Store::from_arc(opened);
        let collection = store.open(&beside.spec().name).await?;
        holds(proxy.is_used(), || {
            "open_through does not go through the address that it is given".into()
        })?;
        Ok(Self {
            context,
            proxy,
            timeout,
            store,
            collection,
            beside,
        })
    }

    /// The answer of a call, which must not take much longer than its timeout.
    async fn answer<T>(
        &self,
        what: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Checked<Result<T, StoreError>> {
        answer(&self.context, self.timeout, what, call).await
    }

    /// The call fails, since the server is gone.
    async fn finds_it_gone<T>(
        &self,
        what: &str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Checked {
        gone_answer(what, &self.answer(what, call).await?)
    }

    /// The call is answered, with so many failures before as the client needs to find out that the
    /// server is back.
    async fn finds_it_back<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        what: &str,
        call: impl Fn() -> F,
    ) -> Checked<T> {
        let begun = Instant::now();
        loop {
            match self.answer(what, call()).await? {
                Ok(answer) => return Ok(answer),
                Err(error) if begun.elapsed() > LONG => {
                    let message =
                        format!("{what}: still failing after the server is back: {error}");
                    return Err(Finding::errors(message));
                }
                Err(error) => interrupted(what, &error)?,
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The handle works again, without being opened again.
    async fn searches_again(&self) -> Checked {
        let leg = everything();
        let found = self.finds_it_back("a search", || self.collection.search(&leg));
        same_ids("a search", &ids(&found.await?), OLD)
    }

    /// What is there, by another client.
    async fn there(&self) -> Checked<Vec<String>> {
        Ok(ids(&self.beside.search(&everything()).await?))
    }
}

async fn proxy(context: &Context) -> Checked<Proxy> {
    let failed = |e: std::io::Error| Finding::errors(format!("no proxy could begin: {}", e.kind()));
    Proxy::before(context.server()?.address())
        .await
        .map_err(failed)
}

async fn answer<T>(
    context: &Context,
    timeout: Duration,
    what: &str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Checked<Result<T, StoreError>> {
    // A call may have to wait for a connection and then for an answer on it.
    let bound = 2 * timeout + Duration::from_secs(2);
    let Ok(answer) = tokio::time::timeout(bound, call).await else {
        let millis = (timeout.as_millis(), bound.as_millis());
        let message = format!(
            "{what}: not given up after {} ms, by a client whose timeout is {} ms",
            millis.1, millis.0
        );
        return Err(Finding::errors(message));
    };
    if let Err(error) = &answer {
        shows_no_secret(what, error, &context.server()?.secrets())?;
    }
    Ok(answer)
}

fn gone_answer<T>(what: &str, answer: &Result<T, StoreError>) -> Checked {
    let Err(error) = answer else {
        return Err(Finding::errors(format!(
            "{what}: answered, though the server is gone"
        )));
    };
    let typed = matches!(error.kind(), ErrorKind::Unavailable)
        && error.persistence() == Persistence::Temporary;
    holds(typed, || {
        format!("{what}: the server is gone, which is not said by: {error}")
    })
}

/// A call whose server went away in the middle may not know what became of it.
pub(super) fn interrupted(what: &str, error: &StoreError) -> Checked {
    let typed = matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::Timeout(_) | ErrorKind::Unverified
    );
    holds(typed, || {
        format!("{what}: cut off, which is not said by: {error}")
    })
}

/// No secret is in an error, however it is printed, nor in what lies under it.
fn shows_no_secret(what: &str, error: &StoreError, secrets: &[String]) -> Checked {
    let mut shown = format!("{error} {error:?}");
    let mut under = error.source();
    while let Some(source) = under {
        shown += &format!(" {source} {source:?}");
        under = source.source();
    }
    let mut secrets = secrets.iter().filter(|secret| !secret.is_empty());
    holds(
        !secrets.any(|secret| shown.contains(secret.as_str())),
        || format!("{what}: its error shows the password or key"),
    )
}

const OLD: &[&str] = &["a", "b", "c"];
const NEW: &[&str] = &["x", "y"];

fn unit(ids: &[&str]) -> Checked<Vec<Record>> {
    (0_u8..)
        .zip(ids)
        .map(|(n, id)| record(id, n, &format!(r#"{{"t":"unit","id":"{id}"}}"#)))
        .collect()
}

fn selector() -> Checked<Selector> {
    Ok(key("t").eq("unit").build()?.narrow()?)
}

fn everything() -> Leg {
    Leg::dense([1.0, 0.5, 0.5, 0.25], Filter::everything(), 10)
}

fn only(id: &str) -> Checked<Leg> {
    let filter = key("id").eq(id).build()?;
    Ok(Leg::dense([1.0, 0.5, 0.5, 0.25], filter, 10))
}

async fn gone(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    fixture.searches_again().await?;
    fixture.proxy.set(Mode::Refuses).await;
    let (leg, new) = (everything(), [record("late", 9, "{}")?]);
    fixture
        .finds_it_gone("a search", fixture.collection.search(&leg))
        .await?;
    fixture
        .finds_it_gone("an upsert", fixture.collection.upsert(&new))
        .await?;
    fixture
        .finds_it_gone("a list", fixture.store.list())
        .await?;
    fixture
        .finds_it_gone("a health check", fixture.store.health())
        .await?;
    same_ids("after it", &fixture.there().await?, OLD)
}

/// The same handles work again, after refusals and after cuts that nobody noticed.
async fn comes_back(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    fixture.proxy.set(Mode::Refuses).await;
    let _ = fixture.collection.search(&everything()).await;
    fixture.proxy.set(Mode::Passes).await;
    fixture.searches_again().await?;
    fixture
        .finds_it_back("a health check", || fixture.store.health())
        .await?;
    let mut expected = OLD.to_vec();
    for id in ["d", "e", "f"] {
        fixture.proxy.cut();
        let new = [record(id, 7, "{}")?];
        fixture
            .finds_it_back("an upsert", || fixture.collection.upsert(&new))
            .await?;
        expected.push(id);
        same_ids("what was written", &fixture.there().await?, &expected)?;
    }
    Ok(())
}

async fn opened_without(context: Context) -> Checked {
    for mode in [Mode::Refuses, Mode::Silent] {
        let proxy = proxy(&context).await?;
        proxy.set(mode).await;
        let what = "a handle opened without its server";
        let opening = context.server()?.open_through(proxy.address(), SHORT);
        let answer = answer(&context, SHORT, what, async {
            // A store may open without asking its server.
            opening.await?.health().await
        })
        .await?;
        let Err(error) = &answer else {
            return Err(Finding::errors(format!("{what} says that it is well")));
        };
        if mode == Mode::Refuses {
            gone_answer(what, &answer)?;
        } else {
            interrupted(what, error)?;
        }
    }
    Ok(())
}

async fn gone_during_a_search(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    let leg = everything();
    for chunks in 0..MOST_CHUNKS {
        fixture.searches_again().await?;
        fixture.proxy.cut_after(chunks, Mode::Refuses);
        let what = "a search whose server goes away";
        let answer = fixture
            .answer(what, fixture.collection.search(&leg))
            .await?;
        let cut = fixture.proxy.was_cut();
        match answer {
            // All of the answer may have come before the cut.
            Ok(found) => same_ids(what, &ids(&found), OLD)?,
            failed => gone_answer(what, &failed)?,
        }
        fixture.proxy.set(Mode::Passes).await;
        if !cut {
            break;
        }
    }
    fixture.searches_again().await
}

/// Cut after every chunk that it sends.
async fn gone_during_a_replace(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, LONG).await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    for chunks in 0..MOST_CHUNKS {
        fixture.searches_again().await?;
        fixture.proxy.cut_after(chunks, Mode::Passes);
        let what = format!("a replace that is cut after {chunks} chunks");
        let replace = fixture.collection.replace(&selector, &new);
        let answer = fixture.answer(&what, replace).await?;
        let cut = fixture.proxy.was_cut();
        let there = fixture.there().await?;
        match answer {
            Ok(_) => same_ids(&format!("{what} and answers"), &there, NEW)?,
            Err(error) => {
                interrupted(&what, &error)?;
                if same_ids(&what, &there, OLD).is_err() {
                    same_ids(&what, &there, NEW)?;
                }
            }
        }
        // Nothing of it is left, whatever the server still did.
        fixture.beside.replace(&selector, &old).await?;
        if !cut {
            break;
        }
    }
    fixture.searches_again().await
}

/// Whatever a client held when it was cut off, another one writes at once, and its write stays.
async fn holds_nobody(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, LONG).await?;
    let other = fixture.context.again(&fixture.beside.spec().name).await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    for chunks in 0..MOST_CHUNKS {
        fixture.searches_again().await?;
        fixture.proxy.cut_after(chunks, Mode::Passes);
        // Whatever becomes of it: another case asks that.
        let replace = fixture.collection.replace(&selector, &new);
        let _ = fixture.answer("a replace that is cut off", replace).await?;
        let cut = fixture.proxy.was_cut();
        let what = "a replace beside a client that was cut off";
        fixture
            .answer(what, other.replace(&selector, &old))
            .await??;
        tokio::time::sleep(Duration::from_millis(20)).await;
        same_ids(what, &fixture.there().await?, OLD)?;
        if !cut {
            break;
        }
    }
    Ok(())
}

/// So long others may wait for what a client held that says nothing any more, beyond its timeout.
const HELD: Duration = Duration::from_secs(30);

/// A client may go without its connection's end being heard of: its network is gone, or it is stopped.
async fn lets_go(context: Context) -> Checked {
    // Silent from another word on each, all at once.
    let silences = (0..8).map(|chunks| fallen_silent(context.clone(), chunks));
    try_join_all(silences).await.map(drop)
}

async fn fallen_silent(context: Context, chunks: u64) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    fixture.searches_again().await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    fixture.proxy.silent_after(chunks);
    let begun = Instant::now();
    // Whatever becomes of it, and whenever it is given up.
    let replace = fixture.collection.replace(&selector, &new);
    let _ = tokio::time::timeout(HELD, replace).await;
    let what = format!("a replace beside a client that fell silent after {chunks} chunks");
    loop {
        let left = (SHORT + HELD).saturating_sub(begun.elapsed());
        match tokio::time::timeout(left, fixture.beside.replace(&selector, &old)).await {
            Ok(Ok(_)) => break,
            Ok(Err(error)) => interrupted(&what, &error)?,
            Err(_) => {
                let seconds = HELD.as_secs();
                let message = format!("{what}: still waits for it after {seconds} s");
                return Err(Finding::errors(message));
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    same_ids(&what, &fixture.there().await?, OLD)
}

fn timed_out<T>(what: &str, operation: Operation, answer: &Result<T, StoreError>) -> Checked {
    let Err(error) = answer else {
        return Err(Finding::errors(format!(
            "{what}: answered, though the server says nothing"
        )));
    };
    let typed = matches!(error.kind(), ErrorKind::Timeout(_)) && error.operation() == operation;
    holds(typed, || {
        format!("{what}: the server did not answer, which is not said by: {error}")
    })
}

async fn silent(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    fixture.searches_again().await?;
    fixture.proxy.set(Mode::Silent).await;
    let leg = everything();
    let search = fixture
        .answer("a search", fixture.collection.search(&leg))
        .await?;
    timed_out("a search", Operation::Search, &search)?;
    // What is there already, so that nothing changes if it comes to the server after all.
    let same = unit(OLD)?;
    let upsert = fixture
        .answer("an upsert", fixture.collection.upsert(&same))
        .await?;
    timed_out("an upsert", Operation::Upsert, &upsert)?;
    let health = fixture
        .answer("a health check", fixture.store.health())
        .await?;
    timed_out("a health check", Operation::Health, &health)?;
    fixture.proxy.set(Mode::Passes).await;
    fixture.searches_again().await
}

/// A client that gave up must not take what comes late for the answer to what it asks next.
async fn late_answers(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, SHORT).await?;
    for (early, next) in [("a", "b"), ("c", "a")] {
        fixture.searches_again().await?;
        fixture.proxy.set(Mode::Silent).await;
        let leg = only(early)?;
        let answer = fixture
            .answer("a search", fixture.collection.search(&leg))
            .await?;
        timed_out("a search", Operation::Search, &answer)?;
        fixture.proxy.set(Mode::Passes).await;
        let leg = only(next)?;
        let found = fixture.finds_it_back("a search", || fixture.collection.search(&leg));
        same_ids(
            "a search after one that was given up",
            &ids(&found.await?),
            &[next],
        )?;
    }
    Ok(())
}

async fn slow(context: Context) -> Checked {
    let fixture = ProxyFixture::new(context, LONG).await?;
    fixture
        .proxy
        .set(Mode::Slow(Duration::from_millis(15)))
        .await;
    let (leg, new) = (everything(), unit(NEW)?);
    let found = fixture
        .answer("a search", fixture.collection.search(&leg))
        .await??;
    same_ids("a slow search", &ids(&found), OLD)?;
    fixture
        .answer("an upsert", fixture.collection.upsert(&new))
        .await??;
    let both = [OLD, NEW].concat();
    same_ids("after a slow upsert", &fixture.there().await?, &both)?;
    let found = fixture
        .answer("a search", fixture.collection.search(&leg))
        .await??;
    same_ids("a slow search", &ids(&found), &both)?;
    fixture
        .answer("a health check", fixture.store.health())
        .await??;
    Ok(())
}

async fn wrong_credentials(context: Context) -> Checked {
    // The right ones work, or nothing would be shown by this.
    context.store().await?.health().await?;
    let secret = format!("sfwt-canary-{:x}", context.seed());
    let opened = context.server()?.open_with_secret(&secret).await;
    let denied = |what: &str, answer: Result<(), StoreError>| {
        let Err(error) = answer else {
            return Err(Finding::errors(format!(
                "{what}: wrong credentials are taken"
            )));
        };
        shows_no_secret(what, &error, std::slice::from_ref(&secret))?;
        shows_no_secret(what, &error, &context.server()?.secrets())?;
        holds(matches!(error.kind(), ErrorKind::Denied), || {
            format!(
                "{what}: wrong credentials, which is not said by an error of the kind {:?}",
                error.kind()
            )
        })
    };
    match opened {
        Err(error) => denied("opening", Err(error)),
        Ok(handle) => {
            denied("a health check", handle.health().await)?;
            denied("a list", handle.list().await.map(drop))
        }
    }
}
