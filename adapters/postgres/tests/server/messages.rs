//! The messages that the page of PostgreSQL explains, as the server makes the store say them.

use std::path::Path;

use shelfward_core::{Field, FieldKind, MetadataKey, Store, StoreError};

use crate::ground::{Ground, plain, source, spec, tests};

tests!(the_page_shows_what_is_said);

/// The first cells of the page's table.
fn shown_on_the_page() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/postgres.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("## Troubleshooting").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.map(|row| row.split(" | ").next().unwrap());
    // Several may be in one cell; every second part is in back-quotes.
    cells
        .flat_map(|cell| {
            cell.split('`')
                .step_by(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Whether a text holds the parts of a message in their order; `…` stands for what differs.
fn holds(mut text: &str, message: &str) -> bool {
    message
        .split('…')
        .all(|part| match text.split_once(part.trim()) {
            Some((_, rest)) => {
                text = rest;
                true
            }
            None => false,
        })
}

async fn connecting(url: String) -> StoreError {
    shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err()
}

async fn the_page_shows_what_is_said(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 2, 1)).await.unwrap();
    let (role, schema) = (ground.name(), ground.schema());
    ground
        .sql(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'of-the-role'; GRANT USAGE ON SCHEMA {schema} TO {role}; \
             CREATE TABLE {schema}.shelfward_others (x int); \
             GRANT SELECT ON {schema}.shelfward__collections, {schema}.shelfward_c TO {role}"
        ))
        .await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = free.local_addr().unwrap().to_string();
    drop(free);
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let unanswered = silent.local_addr().unwrap().to_string();
    let at =
        |address: String| ground.url_as(|parts| parts.address = address, "connect_timeout_ms=500");
    let by_hand = Ground::store_at(&ground.url("manage_schema=false")).await;
    let reader = Ground::store_at(&ground.url_by_role("manage_schema=false")).await;
    let read_only = Ground::store_at(&ground.url_by_role("manage_schema=false")).await;
    let another = Field::new(MetadataKey::new("another").unwrap(), FieldKind::Text);
    let version = Field::new(MetadataKey::new("version").unwrap(), FieldKind::Text);
    let of = |store: &Store| {
        let store = store.clone();
        async move { store.ensure(&spec("c")).await.unwrap() }
    };
    let wrong = ground.url_as(|parts| parts.password = "wrong".to_owned(), "");
    let nowhere = ground.url_as(|parts| parts.database = "sfwt_none".to_owned(), "");
    let mut said = vec![
        connecting(wrong).await,
        connecting(nowhere).await,
        connecting(at(closed)).await,
        connecting(at(unanswered)).await,
        connecting(at("nosuch.invalid".to_owned())).await,
        by_hand.ensure(&plain("new")).await.unwrap_err(),
        by_hand
            .ensure(&spec("c").with_fields([another]))
            .await
            .unwrap_err(),
        store.ensure(&plain("others")).await.unwrap_err(),
        store
            .ensure(&spec("c").with_fields([version]))
            .await
            .unwrap_err(),
        of(&reader)
            .await
            .upsert(&source("t", "b", 1, 1))
            .await
            .unwrap_err(),
    ];
    ground
        .sql(&format!(
            "ALTER ROLE {role} SET default_transaction_read_only = on"
        ))
        .await;
    said.push(
        of(&read_only)
            .await
            .upsert(&source("t", "b", 1, 1))
            .await
            .unwrap_err(),
    );
    ground
        .sql(&format!("DROP INDEX {schema}.shelfward__c_hnsw"))
        .await;
    said.push(by_hand.open(&spec("c").name).await.unwrap_err());

    let page = shown_on_the_page();
    let lacking: Vec<_> = said
        .iter()
        .map(|error| format!("{error:?}"))
        .filter(|text| {
            !page
                .iter()
                .any(|message| !message.starts_with("SQLSTATE") && holds(text, message))
        })
        .collect();
    assert!(
        lacking.is_empty(),
        "docs/postgres.md lacks\n{}",
        lacking.join("\n")
    );
}
