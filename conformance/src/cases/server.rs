//! What goes wrong between a server and its clients. A proxy does it, so that nobody else is hurt.

use std::error::Error as _;
use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use shelfward_core::filter::key;
use shelfward_core::{
    Collection, ErrorKind, Field, FieldKind, Filter, Leg, LegResult, Operation, Persistence,
    Record, Selector, Store, StoreError,
};

use crate::case::{Case, Wanted};
use crate::check::{NOT_ORDERED, atomic, found, holds, ids, ordered, same_ids};
use crate::context::{Context, name, record};
use crate::proxy::{Mode, Proxy};
use crate::verdict::{Checked, Finding};

pub(super) fn cases() -> Vec<Case> {
    let not_atomic = "its replace is not atomic, so one that is cut may leave part of it";
    let cut_off = Case::new("faults/client-cut-off-holds-nobody", holds_nobody);
    let fallen_silent = Case::new("faults/client-fallen-silent-lets-go", lets_go);
    let of_a_server = [
        Case::new("faults/server-gone", gone),
        Case::new("faults/server-comes-back", comes_back),
        Case::new("faults/opened-without-its-server", opened_without),
        Case::new("faults/server-gone-during-a-search", gone_during_a_search),
        Case::new("faults/server-gone-during-a-replace", gone_during_a_replace)
            .only_where(atomic, not_atomic),
        cut_off.only_where(ordered, NOT_ORDERED),
        fallen_silent.only_where(ordered, NOT_ORDERED),
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
        let field = |key| Checked::Ok(Field::new(name(key)?, FieldKind::Text));
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
                    return Err(Finding::errors(message).because(&error));
                }
                Err(error) => interrupted(what, &error)?,
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The handle works again, without being opened again.
    async fn searches_again(&self) -> Checked {
        self.finds_again("a search", &everything(), OLD).await
    }

    async fn finds_again(&self, what: &str, leg: &Leg, expected: &[&str]) -> Checked {
        let found = self.finds_it_back("a search", || self.collection.search(leg));
        same_ids(what, &ids(&found.await?), expected)
    }

    /// What a search answers.
    async fn search(&self, what: &str, leg: &Leg) -> Checked<Result<LegResult, StoreError>> {
        self.answer(what, self.collection.search(leg)).await
    }

    /// What is there, by another client.
    async fn there(&self) -> Checked<Vec<String>> {
        found(&self.beside, Filter::everything()).await
    }
}

async fn proxy(context: &Context) -> Checked<Proxy> {
    let failed = |e: std::io::Error| Finding::errors(format!("no proxy could begin: {}", e.kind()));
    let begun = Proxy::before(context.server()?.address()).await;
    begun.map_err(failed)
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
        let (timeout, bound) = (timeout.as_millis(), bound.as_millis());
        return Err(Finding::errors(format!(
            "{what}: not given up after {bound} ms, by a client whose timeout is {timeout} ms"
        )));
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
    .map_err(|finding| finding.because(error))
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
    .map_err(|finding| finding.because(error))
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
    let seen = ProxyFixture::new(context, SHORT).await?;
    seen.searches_again().await?;
    seen.proxy.set(Mode::Refuses).await;
    let (leg, new) = (everything(), [record("late", 9, "{}")?]);
    let (collection, store) = (&seen.collection, &seen.store);
    seen.finds_it_gone("a search", collection.search(&leg))
        .await?;
    seen.finds_it_gone("an upsert", collection.upsert(&new))
        .await?;
    seen.finds_it_gone("a list", store.list()).await?;
    seen.finds_it_gone("a health check", store.health()).await?;
    same_ids("after it", &seen.there().await?, OLD)
}

/// The same handles work again, after refusals and after cuts that nobody noticed.
async fn comes_back(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, SHORT).await?;
    seen.proxy.set(Mode::Refuses).await;
    let _ = seen.collection.search(&everything()).await;
    seen.proxy.set(Mode::Passes).await;
    seen.searches_again().await?;
    let health = || seen.store.health();
    seen.finds_it_back("a health check", health).await?;
    let mut expected = OLD.to_vec();
    for id in ["d", "e", "f"] {
        seen.proxy.cut();
        let new = [record(id, 7, "{}")?];
        let upsert = || seen.collection.upsert(&new);
        seen.finds_it_back("an upsert", upsert).await?;
        expected.push(id);
        same_ids("what was written", &seen.there().await?, &expected)?;
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
    let seen = ProxyFixture::new(context, SHORT).await?;
    for chunks in 0..MOST_CHUNKS {
        seen.searches_again().await?;
        seen.proxy.cut_after(chunks, Mode::Refuses);
        let what = "a search whose server goes away";
        let answer = seen.search(what, &everything()).await?;
        let cut = seen.proxy.was_cut();
        match answer {
            // All of the answer may have come before the cut.
            Ok(found) => same_ids(what, &ids(&found), OLD)?,
            failed => gone_answer(what, &failed)?,
        }
        seen.proxy.set(Mode::Passes).await;
        if !cut {
            break;
        }
    }
    seen.searches_again().await
}

/// Cut after every chunk that it sends.
async fn gone_during_a_replace(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, LONG).await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    for chunks in 0..MOST_CHUNKS {
        seen.searches_again().await?;
        seen.proxy.cut_after(chunks, Mode::Passes);
        let what = format!("a replace that is cut after {chunks} chunks");
        let replace = seen.collection.replace(&selector, &new);
        let answer = seen.answer(&what, replace).await?;
        let cut = seen.proxy.was_cut();
        let there = seen.there().await?;
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
        seen.beside.replace(&selector, &old).await?;
        if !cut {
            break;
        }
    }
    seen.searches_again().await
}

/// Whatever a client held when it was cut off, another one writes at once, and its write stays.
async fn holds_nobody(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, LONG).await?;
    let other = seen.context.again(&seen.beside.spec().name).await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    for chunks in 0..MOST_CHUNKS {
        seen.searches_again().await?;
        seen.proxy.cut_after(chunks, Mode::Passes);
        // Whatever becomes of it: another case asks that.
        let replace = seen.collection.replace(&selector, &new);
        let _ = seen.answer("a replace that is cut off", replace).await?;
        let cut = seen.proxy.was_cut();
        let what = "a replace beside a client that was cut off";
        seen.answer(what, other.replace(&selector, &old)).await??;
        tokio::time::sleep(Duration::from_millis(20)).await;
        same_ids(what, &seen.there().await?, OLD)?;
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
    let seen = ProxyFixture::new(context, SHORT).await?;
    seen.searches_again().await?;
    let (selector, old, new) = (selector()?, unit(OLD)?, unit(NEW)?);
    seen.proxy.cut_after(chunks, Mode::Silent);
    let begun = Instant::now();
    // Whatever becomes of it, and whenever it is given up.
    let replace = seen.collection.replace(&selector, &new);
    let _ = tokio::time::timeout(HELD, replace).await;
    let what = format!("a replace beside a client that fell silent after {chunks} chunks");
    loop {
        let left = (SHORT + HELD).saturating_sub(begun.elapsed());
        match tokio::time::timeout(left, seen.beside.replace(&selector, &old)).await {
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
    same_ids(&what, &seen.there().await?, OLD)
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
    .map_err(|finding| finding.because(error))
}

async fn silent(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, SHORT).await?;
    seen.searches_again().await?;
    seen.proxy.set(Mode::Silent).await;
    let search = seen.search("a search", &everything()).await?;
    timed_out("a search", Operation::Search, &search)?;
    // What is there already, so that nothing changes if it comes to the server after all.
    let same = unit(OLD)?;
    let upsert = seen.collection.upsert(&same);
    let upsert = seen.answer("an upsert", upsert).await?;
    timed_out("an upsert", Operation::Upsert, &upsert)?;
    let health = seen.answer("a health check", seen.store.health()).await?;
    timed_out("a health check", Operation::Health, &health)?;
    seen.proxy.set(Mode::Passes).await;
    seen.searches_again().await
}

/// A client that gave up must not take what comes late for the answer to what it asks next.
async fn late_answers(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, SHORT).await?;
    for (early, next) in [("a", "b"), ("c", "a")] {
        seen.searches_again().await?;
        seen.proxy.set(Mode::Silent).await;
        let answer = seen.search("a search", &only(early)?).await?;
        timed_out("a search", Operation::Search, &answer)?;
        seen.proxy.set(Mode::Passes).await;
        let what = "a search after one that was given up";
        seen.finds_again(what, &only(next)?, &[next]).await?;
    }
    Ok(())
}

async fn slow(context: Context) -> Checked {
    let seen = ProxyFixture::new(context, LONG).await?;
    let slowly = Mode::Slow(Duration::from_millis(15));
    seen.proxy.set(slowly).await;
    let (leg, new) = (everything(), unit(NEW)?);
    let found = seen.search("a search", &leg).await??;
    same_ids("a slow search", &ids(&found), OLD)?;
    let upsert = seen.collection.upsert(&new);
    seen.answer("an upsert", upsert).await??;
    let both = [OLD, NEW].concat();
    same_ids("after a slow upsert", &seen.there().await?, &both)?;
    let found = seen.search("a search", &leg).await??;
    same_ids("a slow search", &ids(&found), &both)?;
    seen.answer("a health check", seen.store.health()).await??;
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
        holds(matches!(error.kind(), ErrorKind::Denied(_)), || {
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
