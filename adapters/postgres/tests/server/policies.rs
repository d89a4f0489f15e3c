//! Row-level security: what a role may read by whatever statement.

use std::sync::Arc;

use shelfward_core::library::{IndexSource, LibrarySpec, Mode, Passage, SearchRequest};
use shelfward_core::{
    Collection, EmbedError, Embedder, ErrorKind, Filter, Include, LibraryIndex, Role, Scope, Store,
    TenantId, async_trait,
};
use shelfward_postgres::{Identifier, PostgresOptions, PostgresStore, Reader};
use sqlx_core::connection::Connection as _;
use sqlx_core::sql_str::AssertSqlSafe;
use sqlx_postgres::PgConnection;

use crate::ground::{Ground, dense, name, spec, tests};

tests!(
    a_reader_reads_within_a_scope_and_nothing_beside,
    policies_by_hand_are_the_same,
    a_read_without_a_scope_is_refused,
    no_policy_for_what_is_no_library,
);

struct Letters;

#[async_trait]
impl Embedder for Letters {
    fn id(&self) -> &str {
        "letters"
    }

    fn width(&self) -> u32 {
        2
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts
            .iter()
            .map(|text| vec![1.0, text.len() as f32])
            .collect())
    }
}

async fn filed(store: &Store) -> LibraryIndex {
    let library = LibraryIndex::ensure(store, LibrarySpec::new(name("c")), Arc::new(Letters)).await;
    let library = library.unwrap();
    for (tenant, source, group) in [
        ("org", "open", "all"),
        ("org", "secret", "board"),
        ("other", "theirs", "all"),
    ] {
        let passages = (0..4).map(|n| Passage::new(format!("berth {n} of {source}")));
        let source = IndexSource::new(source, "note", [group])
            .unwrap()
            .passages(passages);
        let tenant = library.tenant(TenantId::new(tenant).unwrap());
        tenant.index_source(source).await.unwrap();
    }
    library
}

fn by_role(ground: &Ground, options: &str) -> String {
    ground.url_by_role(&format!("manage_schema=false&{options}"))
}

async fn role(ground: &Ground) {
    let role = ground.name();
    let make = format!("CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD 'of-the-role'");
    ground.sql(&make).await;
}

/// Looks at everything with SQL of one's own, through the role.
async fn by_own_sql(ground: &Ground, before: &str) -> Vec<String> {
    let url = by_role(ground, "");
    let mut connection =
        PgConnection::connect_with(&url.split('?').next().unwrap().parse().unwrap())
            .await
            .unwrap();
    sqlx_core::raw_sql::raw_sql(AssertSqlSafe(before))
        .execute(&mut connection)
        .await
        .unwrap();
    let sql = format!(
        "SELECT DISTINCT meta ->> 'sourceId' FROM {}.shelfward_c ORDER BY 1",
        ground.schema()
    );
    let seen = sqlx_core::query_scalar::query_scalar(AssertSqlSafe(sql))
        .fetch_all(&mut connection)
        .await;
    connection.close().await.unwrap();
    seen.unwrap()
}

async fn a_reader_reads_within_a_scope_and_nothing_beside(ground: Ground) {
    let adapter = ground.adapter("").await;
    let writing = Store::new(adapter.clone());
    filed(&writing).await;
    role(&ground).await;
    let reader = Reader::new(Identifier::new(ground.name()).unwrap());
    adapter
        .enable_row_level_security(&name("c"), &reader)
        .await
        .unwrap();
    reads_within_a_scope(&ground).await;
    // The one that writes owns the table, and sees all.
    // Another reader takes nothing from the first.
    let other = format!(
        "CREATE ROLE {0}_other; GRANT {0}_other TO {0}",
        ground.name()
    );
    ground.sql(&other).await;
    let other = Reader::new(Identifier::new(&format!("{}_other", ground.name())).unwrap());
    adapter
        .enable_row_level_security(&name("c"), &other)
        .await
        .unwrap();
    reads_within_a_scope(&ground).await;
    let gone = format!(
        "DROP OWNED BY {0}_other CASCADE; DROP ROLE {0}_other",
        ground.name()
    );
    ground.sql(&gone).await;
    let all = writing.open_unscoped(&name("c")).await.unwrap();
    assert_eq!(
        all.count(&Filter::everything()).await.unwrap().exact(),
        Some(12)
    );
}

async fn policies_by_hand_are_the_same(ground: Ground) {
    role(&ground).await;
    let options = PostgresOptions::default().with_schema(Identifier::new(ground.schema()).unwrap());
    let library = filed(&ground.store_with("table_prefix=other_").await).await;
    let reader = Reader::new(Identifier::new(ground.name()).unwrap());
    let sql = PostgresStore::schema_sql(&options, library.spec(), Some(&reader)).unwrap();
    ground.sql(&sql).await;
    filed(&ground.store_with("manage_schema=false").await).await;
    reads_within_a_scope(&ground).await;
}

async fn reads_within_a_scope(ground: &Ground) {
    let url = by_role(ground, "row_level_security=true");
    let store = Store::new(shelfward_postgres::connect(&url).await.unwrap());
    let library = LibraryIndex::open(&store, &name("c"), Arc::new(Letters))
        .await
        .unwrap();
    for (tenant, group, expected) in [
        ("org", "all", vec!["open"]),
        ("org", "board", vec!["secret"]),
        ("other", "all", vec!["theirs"]),
        ("other", "board", vec![]),
    ] {
        let scope = Scope::of(tenant, [group]).unwrap();
        for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
            let request = SearchRequest::new("berth").mode(mode).top_k(10);
            let answer = library.search(&scope, &request).await.unwrap();
            let mut sources: Vec<_> = (answer.passages.iter())
                .map(|passage| passage.source_id.to_string())
                .collect();
            assert_eq!(
                sources.len(),
                4 * expected.len(),
                "{tenant} {group} {mode:?}"
            );
            sources.dedup();
            assert_eq!(sources, expected, "{tenant} {group} {mode:?}");
        }
    }
    // Whatever the role asks for, it sees its scope alone, and without one nothing.
    assert_eq!(by_own_sql(ground, "SELECT 1").await, Vec::<String>::new());
    let set = |tenant: &str, groups: &str| {
        format!(
            "SELECT set_config('shelfward.tenant', '{tenant}', false), \
             set_config('shelfward.groups', '{groups}', false)"
        )
    };
    assert_eq!(by_own_sql(ground, &set("org", "{all}")).await, ["open"]);
    assert_eq!(
        by_own_sql(ground, &set("org", "{all,board}")).await,
        ["open", "secret"]
    );
    assert_eq!(
        by_own_sql(ground, &set("org", "{}")).await,
        Vec::<String>::new()
    );
    assert_eq!(
        by_own_sql(ground, &set("", "{all}")).await,
        Vec::<String>::new()
    );
    assert_eq!(
        by_own_sql(ground, &set("org", "")).await,
        Vec::<String>::new()
    );
    // What one search set is gone for the next statement of its connection.
    let mut connection =
        PgConnection::connect_with(&url.split('?').next().unwrap().parse().unwrap())
            .await
            .unwrap();
    for _ in 0..2 {
        let of_its_own = "SELECT set_config('shelfward.tenant', 'org', true)";
        sqlx_core::raw_sql::raw_sql(of_its_own)
            .execute(&mut connection)
            .await
            .unwrap();
        let sql = format!("SELECT count(*) FROM {}.shelfward_c", ground.schema());
        let seen: i64 = sqlx_core::query_scalar::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(seen, 0);
    }
    connection.close().await.unwrap();
}

async fn a_read_without_a_scope_is_refused(ground: Ground) {
    let adapter = ground.adapter("").await;
    filed(&Store::new(adapter.clone())).await;
    role(&ground).await;
    let reader = Reader::new(Identifier::new(ground.name()).unwrap());
    adapter
        .enable_row_level_security(&name("c"), &reader)
        .await
        .unwrap();
    let url = by_role(&ground, "row_level_security=true");
    let store = Store::new(shelfward_postgres::connect(&url).await.unwrap());
    let collection = store.open_unscoped(&name("c")).await.unwrap();
    for filter in [
        r"{}",
        r#"{"tenantId":"org"}"#,
        r#"{"aclGroups":{"$in":["all"]}}"#,
    ] {
        refuse(
            &collection,
            &Filter::from_json(filter).unwrap(),
            "names one tenant",
        )
        .await;
    }
    let scope = r#"{"tenantId":"org","aclGroups":{"$in":["all"]}}"#;
    let scope = Filter::from_json(scope).unwrap();
    assert_eq!(collection.count(&scope).await.unwrap().exact(), Some(4));
    // Without the option the policies would hide every row, and with it a role that bypasses them
    // would be held back by nothing: neither is an answer.
    let url = by_role(&ground, "");
    let hidden = Store::new(shelfward_postgres::connect(&url).await.unwrap());
    let hidden = hidden.open(&name("c")).await.unwrap();
    refuse(&hidden, &scope, "row_level_security=true").await;
    let bypassing = ground.store_with("row_level_security=true").await;
    let bypassing = bypassing.open(&name("c")).await.unwrap();
    refuse(&bypassing, &scope, "no policy applies").await;
    // Nor does such a role write: it would not see what it replaces.
    let rights = format!(
        "GRANT INSERT, UPDATE, DELETE ON {}.shelfward_c TO {}",
        ground.schema(),
        ground.name()
    );
    ground.sql(&rights).await;
    let selector = r#"{"tenantId":"org","sourceId":"open"}"#;
    let selector = Filter::from_json(selector).unwrap().narrow().unwrap();
    for collection in [collection, hidden] {
        let refused = collection.delete_matching(&selector).await.unwrap_err();
        assert!(
            matches!(refused.kind(), ErrorKind::Unsupported(_)),
            "{refused}"
        );
    }
}

async fn refuse(collection: &Collection, filter: &Filter, right: &str) {
    for refused in [
        collection
            .search(&dense_of_two(filter.clone()))
            .await
            .map(drop),
        collection.count(filter).await.map(drop),
        collection
            .scan(filter, None, 5, Include::ALL)
            .await
            .map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{refused}");
        assert!(refused.to_string().contains(right), "{refused}");
    }
}

fn dense_of_two(filter: Filter) -> shelfward_core::Leg {
    shelfward_core::Leg::dense([1.0, 1.0], filter, 3)
}

async fn no_policy_for_what_is_no_library(ground: Ground) {
    let adapter = ground.adapter("").await;
    let store = Store::new(adapter.clone());
    let collection = store.ensure(&spec("c")).await.unwrap();
    let reader = Reader::new(Identifier::new("nobody").unwrap());
    let refused = adapter
        .enable_row_level_security(&name("c"), &reader)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("library"), "{refused}");
    collection
        .search(&dense(Filter::everything(), 1))
        .await
        .unwrap();
    // Nor for a role that there is not.
    LibraryIndex::ensure(&store, LibrarySpec::new(name("l")), Arc::new(Letters))
        .await
        .unwrap();
    let reader = Reader::new(Identifier::new("sfwt_nobody_at_all").unwrap());
    let refused = adapter
        .enable_row_level_security(&name("l"), &reader)
        .await
        .unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{refused}");
    assert!(refused.to_string().contains("no role"), "{refused}");
}
