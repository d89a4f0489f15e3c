//! A source of very many passages, a text of 1 MiB, and a closed handle beside a writing one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod support;
use shelfward_core::Filter;
use support::*;

#[tokio::test(flavor = "multi_thread")]
async fn many_passages_are_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path);
    let c = collection(&store).await;
    let n = 30_000;
    let t = std::time::Instant::now();
    c.replace(&of_source("t", "s"), &source("t", "s", n, 0))
        .await
        .unwrap();
    assert_eq!(
        c.search(&dense(of_tenant("t"), 10_000))
            .await
            .unwrap()
            .hits
            .len(),
        10_000
    );
    c.replace(&of_source("t", "s"), &source("t", "s", n - 7, 1))
        .await
        .unwrap();
    assert_eq!(rows(&*c).await, n as u64 - 7);
    assert!(
        c.search(&lexical("v0", of_tenant("t"), 5))
            .await
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(
        c.search(&lexical("v1", of_tenant("t"), 10_000))
            .await
            .unwrap()
            .hits
            .len(),
        10_000
    );
    let mut big = record("t", "big", 0, 3);
    big.text = Some("rain é ".repeat(150_000).into());
    c.upsert(std::slice::from_ref(&big)).await.unwrap();
    assert!(
        c.search(&lexical("rain", of_tenant("t"), 5))
            .await
            .unwrap()
            .hits[0]
            .text
            .as_deref()
            == big.text.as_deref()
    );
    eprintln!("{:?}", t.elapsed());
    let a = store.clone();
    let writing = tokio::spawn({
        let c = c.clone();
        async move {
            for v in 0..20 {
                c.replace(&of_source("t", "w"), &source("t", "w", 50, v))
                    .await
                    .unwrap();
            }
        }
    });
    a.close().await.unwrap_or(());
    let _ = Filter::everything();
    let ended = writing.await;
    eprintln!("{ended:?}");
}
