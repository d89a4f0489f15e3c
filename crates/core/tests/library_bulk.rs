//! Many sources in one call.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use shelfward_core::library::{
    IndexSource, LibraryError, LibraryIndex, PassageProblem, Reading, Refusal, SearchRequest,
};
use shelfward_core::observer::Event;
use shelfward_core::{Count, EmbedError, ErrorKind};
use support::{Events, TestEmbedder, id, library_with, memory, scope, source, tenant};

/// What a tenant holds, in full.
async fn held(index: &LibraryIndex) -> Vec<String> {
    let org = index.tenant(tenant("a"));
    let page = org.sources(&Reading::new(), None, 1_000).await.unwrap();
    let mut held = Vec::new();
    for filed in page.sources {
        let passages = org.passages(&filed.source.id).await.unwrap();
        let texts: Vec<_> = passages.iter().map(|p| (&p.id, &p.text)).collect();
        let of = (&filed.source, &filed.access_groups, &filed.revision);
        held.push(format!("{of:?} {texts:?}"));
    }
    held.sort();
    held
}

/// Sources of 0 to 9 passages each, of several groups.
fn sources(count: usize) -> Vec<IndexSource> {
    let of = |n: usize| {
        let texts: Vec<String> = (0..n % 10).map(|at| format!("text {at} of {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let group = ["g", "h", "i"][n % 3];
        source(&format!("s{n}"), &[group], &texts).allow_empty(true)
    };
    (0..count).map(of).collect()
}

#[tokio::test]
async fn many_at_once_are_what_they_are_one_by_one() {
    let (singly, _) = library_with(&memory(), TestEmbedder::default()).await;
    let (together, embedder) = library_with(&memory(), TestEmbedder::default()).await;
    let org = singly.tenant(tenant("a"));
    for source in sources(50) {
        org.index_source(source).await.unwrap();
    }
    let org = together.tenant(tenant("a"));
    // Nothing is filed yet, then all is, then all is replaced.
    for replaced in [false, true] {
        embedder.calls.store(0, std::sync::atomic::Ordering::SeqCst);
        let outcomes = org.index_sources(sources(50)).await;
        assert_eq!(outcomes.len(), 50);
        for (n, outcome) in outcomes.into_iter().enumerate() {
            let report = outcome.report.unwrap();
            let passages = n as u64 % 10;
            assert_eq!(outcome.id, id(&format!("s{n}")));
            assert_eq!(report.passages, passages);
            let before = if replaced { passages } else { 0 };
            assert_eq!(report.replaced, Count::Exact(before));
        }
        assert_eq!(held(&together).await, held(&singly).await);
        // 225 texts, at least 64 of them in a batch where there are as many, and never more.
        assert!(embedder.calls() <= 7, "{}", embedder.calls());
    }
}

#[tokio::test]
async fn a_refused_source_stops_no_other() {
    let fails = TestEmbedder {
        fails_on: Some("poison".to_owned()),
        ..TestEmbedder::default()
    }
    .with("nan", [f32::NAN; 4]);
    let (index, _) = library_with(&memory(), fails).await;
    let events = Arc::new(Events::default());
    let index = index.with_observer(events.clone(), None);
    let org = index.tenant(tenant("a"));
    for name in ["blank", "twice", "poison", "nan"] {
        org.index_source(source(name, &["g"], &["the old one"]))
            .await
            .unwrap();
    }
    events.0.lock().unwrap().clear();
    let given = [
        source("first", &["g"], &["fine"]),
        source("blank", &["g"], &["fine", " "]),
        source("twice", &["g"], &["fine"]),
        source("poison", &["g"], &["fine", "poison"]),
        source("nan", &["g"], &["fine", "fine", "nan"]),
        source("twice", &["h"], &["other"]),
        source("none", &["g"], &[]),
        source("last", &["g"], &["fine"]),
    ];
    let outcomes = org.index_sources(given).await;
    let names: Vec<_> = outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    assert_eq!(
        names,
        [
            "first", "blank", "twice", "poison", "nan", "twice", "none", "last"
        ]
    );
    let mut reports = outcomes.into_iter().map(|outcome| outcome.report);
    let mut next = || reports.next().unwrap();
    assert!(next().is_ok());
    let blank = next().unwrap_err();
    assert!(
        matches!(&blank, LibraryError::Passage { id, problem: PassageProblem::Blank } if *id == "blank#1"),
        "{blank}"
    );
    assert!(next().is_ok());
    assert!(matches!(
        next(),
        Err(LibraryError::Embed(EmbedError::Provider { .. }))
    ));
    let nan = next().unwrap_err();
    assert!(
        matches!(&nan, LibraryError::Passage { id, problem: PassageProblem::Vector(_) } if *id == "nan#2"),
        "{nan}"
    );
    let twice = next().unwrap_err();
    assert!(
        matches!(&twice, LibraryError::Refused(Refusal::GivenTwice(of)) if *of == id("twice")),
        "{twice}"
    );
    assert!(matches!(
        next(),
        Err(LibraryError::Refused(Refusal::NoPassages(_)))
    ));
    assert!(next().is_ok());

    // What was refused is as it was, and the observer knows what was filed.
    for (name, text) in [
        ("first", "fine"),
        ("blank", "the old one"),
        ("twice", "fine"),
        ("poison", "the old one"),
        ("nan", "the old one"),
        ("last", "fine"),
    ] {
        let passages = org.passages(&id(name)).await.unwrap();
        assert_eq!((passages.len(), &*passages[0].text), (1, text), "{name}");
    }
    let mut changed: Vec<_> = (events.0.lock().unwrap().iter())
        .filter_map(|event| match event {
            Event::Changed(changed) => changed.source.clone(),
            _ => None,
        })
        .collect();
    changed.sort();
    assert_eq!(changed, ["first", "last", "twice"]);
}

#[tokio::test]
async fn what_is_decided_meanwhile_is_not_undone() {
    let slow = TestEmbedder {
        yields: 50,
        ..TestEmbedder::default()
    };
    let (index, embedder) = library_with(&memory(), slow).await;
    let org = index.tenant(tenant("a"));
    for name in ["kept", "removed"] {
        org.index_source(source(name, &["g"], &["old"]))
            .await
            .unwrap();
    }
    let embedded = embedder.calls();
    let filing = tokio::spawn({
        let org = org.clone();
        let given = ["kept", "removed", "new"].map(|name| source(name, &["g"], &["apple"]));
        async move { org.index_sources(given).await }
    });
    while embedder.calls() == embedded {
        tokio::task::yield_now().await;
    }
    org.remove_source(&id("removed")).await.unwrap().count();
    let outcomes = filing.await.unwrap();
    for outcome in outcomes {
        match outcome.report {
            Ok(report) => assert_eq!(report.passages, 1),
            Err(LibraryError::Store(why)) => {
                assert_eq!(outcome.id, id("removed"));
                assert!(matches!(why.kind(), ErrorKind::Conflict(_)), "{why}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    let request = SearchRequest::new("apple");
    let found = index.search(&scope("a", &["g"]), &request).await.unwrap();
    let mut found: Vec<_> = found.passages.iter().map(|p| p.id.clone()).collect();
    found.sort();
    assert_eq!(found, ["kept#0", "new#0"]);
}

#[tokio::test]
async fn sources_are_taken_as_they_are_needed() {
    let (index, _) = library_with(&memory(), TestEmbedder::default()).await;
    let org = index.tenant(tenant("a"));
    let taken = std::sync::atomic::AtomicUsize::new(0);
    let given = sources(3_000).into_iter().inspect(|_| {
        taken.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    });
    // What is given up stays as far as it came.
    {
        let filing = org.index_sources(given);
        let mut filing = std::pin::pin!(filing);
        for _ in 0..20 {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            if filing.as_mut().poll(&mut context).is_ready() {
                break;
            }
            if org.has_source(&id("s20")).await.unwrap() {
                break;
            }
        }
    }
    let filed = org.sources(&Reading::new(), None, 1_000).await.unwrap();
    assert!(filed.sources.len() <= taken.into_inner());
}
