//! What the store makes in a database, what it finds lacking, and who may make it.

use shelfward_core::filter::key;
use shelfward_core::{ErrorKind, Field, FieldKind, Filter, Include, MetadataKey, Persistence};
use shelfward_postgres::{Identifier, PostgresOptions, PostgresStore};
use sqlx_core::connection::Connection as _;

use crate::ground::{
    Ground, dense, lexical, name, of_source, of_tenant, plain, shown, source, spec, tests, versions,
};

tests!(
    by_hand_without_any_right_to_make_tables,
    what_a_table_lacks_is_named,
    added_fields_are_filled,
    a_table_in_the_way,
    a_newer_form,
    words_of_an_older_rule,
    a_database_without_the_extension,
    an_old_extension,
    nothing_is_made_by_looking,
    dropped_and_made_anew,
    a_table_that_somebody_dropped,
    a_field_declared_over_other_kinds,
    a_handle_of_before_a_field_was_declared,
    names_that_end_as_those_of_indexes,
    an_operator_that_somebody_put_in_the_way,
    operators_of_metadata_that_somebody_put_in_the_way,
    a_column_that_somebody_added,
    an_index_of_another_prefix,
    a_view_on_what_is_dropped,
    ensure_waits_for_nobody_where_all_is_made,
    a_role_that_may_create_in_its_schema_alone,
);

fn options(ground: &Ground) -> PostgresOptions {
    PostgresOptions::default().with_schema(Identifier::new(ground.schema()).unwrap())
}

/// Runs `schema_sql`, and gives a role all rights but those to make anything.
async fn made_by_hand(ground: &Ground) {
    let sql = PostgresStore::schema_sql(&options(ground), &spec("c"), None).unwrap();
    ground.sql(&sql).await;
    let (role, schema) = (ground.name(), ground.schema());
    ground
        .sql(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'of-the-role'; GRANT USAGE ON SCHEMA {schema} TO {role}; \
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}"
        ))
        .await;
}

async fn by_hand_without_any_right_to_make_tables(ground: Ground) {
    made_by_hand(&ground).await;
    let store = Ground::store_at(&ground.url_by_role("manage_schema=false")).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection
        .replace(&of_source("t", "a"), &source("t", "a", 5, 1))
        .await
        .unwrap();
    let found = collection.search(&dense(of_tenant("t"), 3)).await.unwrap();
    assert_eq!(found.hits.len(), 3);
    let found = collection
        .search(&lexical("berth 4", of_tenant("t"), 3))
        .await
        .unwrap();
    assert_eq!(found.hits.len(), 1);
    let removed = collection.delete_matching(&of_source("t", "a")).await;
    assert_eq!(removed.unwrap().exact(), Some(5));
    // What would need a table is refused before anything is sent.
    let refused = store.drop_collection(&name("c")).await.unwrap_err();
    assert!(
        matches!(refused.kind(), ErrorKind::Unsupported(_)),
        "{refused}"
    );
    let refused = store.ensure(&spec("other")).await.unwrap_err();
    assert!(shown(&refused).contains("schema_sql"), "{refused}");
    let more = Field::new(MetadataKey::new("lang").unwrap(), FieldKind::Text);
    let refused = store
        .ensure(&spec("c").with_fields([more]))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("lang"), "{refused}");
}

async fn what_a_table_lacks_is_named(ground: Ground) {
    made_by_hand(&ground).await;
    let schema = ground.schema();
    for (harm, named) in [
        (
            "ALTER TABLE {schema}.shelfward_c ALTER COLUMN id TYPE text COLLATE \"default\"",
            "the column id (text COLLATE C)",
        ),
        (
            "DROP INDEX {schema}.shelfward__c_f2",
            "the index gin (f2_groups)",
        ),
        (
            "DROP INDEX {schema}.shelfward__c_unit",
            "the index btree (f0_tenant, f1_source)",
        ),
        (
            "DROP INDEX {schema}.shelfward__c_hnsw",
            "the index hnsw (embedding vector_cosine_ops)",
        ),
        (
            "ALTER TABLE {schema}.shelfward_c DROP COLUMN f3_weight",
            "the column f3_weight (double precision, generated)",
        ),
        (
            "ALTER TABLE {schema}.shelfward_c DROP COLUMN words",
            "the column words (tsvector)",
        ),
    ] {
        ground.sql(&harm.replace("{schema}", schema)).await;
        let store = ground.store_with("manage_schema=false").await;
        let refused = store.open(&name("c")).await.unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{refused}");
        assert!(refused.to_string().contains(named), "{refused}");
    }
    // A store that makes its tables makes an index again, and refuses to go on without a column.
    let refused = ground.store().await.open(&name("c")).await.unwrap_err();
    assert!(
        refused.to_string().contains("the column words"),
        "{refused}"
    );
    assert!(!refused.to_string().contains("index"), "{refused}");
}

async fn added_fields_are_filled(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 6, 4)).await.unwrap();
    let version = Field::new(MetadataKey::new("version").unwrap(), FieldKind::Integer);
    let wider = store
        .ensure(&spec("c").with_fields([version]))
        .await
        .unwrap();
    let filter = key("version").gte(4).build().unwrap();
    assert_eq!(wider.count(&filter).await.unwrap().exact(), Some(6));
    // Handles of before go on.
    collection.upsert(&source("t", "b", 2, 5)).await.unwrap();
    assert_eq!(wider.count(&filter).await.unwrap().exact(), Some(8));
}

async fn a_table_in_the_way(ground: Ground) {
    let schema = ground.schema();
    let table = format!(
        "CREATE TABLE {schema}.shelfward_c (mine text); INSERT INTO {schema}.shelfward_c VALUES ('kept')"
    );
    ground.sql(&table).await;
    let store = ground.store().await;
    let refused = store.ensure(&spec("c")).await.unwrap_err();
    assert!(refused.to_string().contains("did not make"), "{refused}");
    assert!(store.open(&name("c")).await.is_err());
    assert!(!store.drop_collection(&name("c")).await.unwrap());
    let kept = ground
        .number(&format!("SELECT count(*) FROM {schema}.shelfward_c"))
        .await;
    assert_eq!(kept, 1);
}

async fn a_newer_form(ground: Ground) {
    let store = ground.store().await;
    store.ensure(&spec("c")).await.unwrap();
    let schema = ground.schema();
    ground
        .sql(&format!(
            "UPDATE {schema}.shelfward__collections SET settings = replace(settings, '\"format\":1', '\"format\":2')"
        ))
        .await;
    for refused in [
        store.open(&name("c")).await.map(drop).unwrap_err(),
        store.ensure(&spec("c")).await.map(drop).unwrap_err(),
    ] {
        assert!(refused.to_string().contains("newer version"), "{refused}");
        assert_eq!(refused.persistence(), Persistence::Permanent);
    }
}

async fn words_of_an_older_rule(ground: Ground) {
    let store = ground.store().await;
    store.ensure(&spec("c")).await.unwrap();
    let schema = ground.schema();
    // As a version recorded it that knew of no versions.
    ground
        .sql(&format!(
            "UPDATE {schema}.shelfward__collections SET settings = (settings::jsonb - 'words')::text"
        ))
        .await;
    for refused in [
        store.open(&name("c")).await.map(drop).unwrap_err(),
        store.ensure(&spec("c")).await.map(drop).unwrap_err(),
    ] {
        assert!(refused.to_string().contains("word rule"), "{refused}");
        assert_eq!(refused.persistence(), Persistence::Permanent);
    }
    assert!(store.drop_collection(&name("c")).await.unwrap());
    store.ensure(&spec("c")).await.unwrap();
}

/// A database of the test's own, and its URL.
async fn database(ground: &Ground) -> String {
    ground
        .sql(&format!(
            "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'",
            ground.name()
        ))
        .await;
    let change = |parts: &mut crate::ground::Parts| ground.name().clone_into(&mut parts.database);
    ground.url_as(change, "")
}

async fn a_database_without_the_extension(ground: Ground) {
    let url = database(&ground).await;
    let by_hand = shelfward_postgres::connect(&format!("{url}&manage_schema=false"))
        .await
        .unwrap();
    let by_hand = shelfward_core::Store::new(by_hand);
    // Nothing is there to be opened, and nothing to be made.
    assert!(matches!(
        by_hand.open(&name("c")).await.unwrap_err().kind(),
        ErrorKind::NoCollection
    ));
    let store = Ground::store_at(&url).await;
    store.ensure(&spec("c")).await.unwrap();
    by_hand.open(&name("c")).await.unwrap();
    let mut inside =
        sqlx_postgres::PgConnection::connect_with(&url.split('?').next().unwrap().parse().unwrap())
            .await
            .unwrap();
    sqlx_core::raw_sql::raw_sql("DROP EXTENSION vector CASCADE")
        .execute(&mut inside)
        .await
        .unwrap();
    let refused = by_hand.open(&name("c")).await.unwrap_err();
    assert!(
        refused.to_string().contains("CREATE EXTENSION vector"),
        "{refused}"
    );
    sqlx_core::connection::Connection::close(inside)
        .await
        .unwrap();
    store.close().await.unwrap();
    by_hand.close().await.unwrap();
}

async fn an_old_extension(ground: Ground) {
    let url = database(&ground).await;
    let plain_url = url.split('?').next().unwrap().to_owned();
    let mut inside = sqlx_postgres::PgConnection::connect_with(&plain_url.parse().unwrap())
        .await
        .unwrap();
    sqlx_core::raw_sql::raw_sql("CREATE EXTENSION vector; UPDATE pg_extension SET extversion = '0.4.4' WHERE extname = 'vector'")
        .execute(&mut inside)
        .await
        .unwrap();
    let refused = shelfward_postgres::connect(&url)
        .await
        .map(drop)
        .unwrap_err();
    assert!(
        refused.to_string().contains("0.4.4; at least 0.5"),
        "{refused}"
    );
    // One without scans that go on answers in full all the same.
    sqlx_core::raw_sql::raw_sql(
        "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'",
    )
    .execute(&mut inside)
    .await
    .unwrap();
    let older = Ground::store_at(&url).await;
    sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(format!(
        "CREATE SCHEMA {}",
        ground.schema()
    )))
    .execute(&mut inside)
    .await
    .unwrap();
    let collection = older.ensure(&spec("c")).await.unwrap();
    for n in 0..30 {
        let source = source("t", &format!("s{n}"), 100, 1);
        collection.upsert(&source).await.unwrap();
    }
    collection.upsert(&source("u", "far", 40, 1)).await.unwrap();
    let found = collection.search(&dense(of_tenant("u"), 30)).await.unwrap();
    assert_eq!(found.hits.len(), 30);
    sqlx_core::connection::Connection::close(inside)
        .await
        .unwrap();
    older.close().await.unwrap();
}

async fn nothing_is_made_by_looking(ground: Ground) {
    let store = ground.store().await;
    assert!(store.list().await.unwrap().is_empty());
    assert!(store.open(&name("c")).await.is_err());
    assert!(!store.drop_collection(&name("c")).await.unwrap());
    store.health().await.unwrap();
    let made = format!(
        "SELECT count(*) FROM pg_class WHERE relnamespace = '{}'::regnamespace",
        ground.schema()
    );
    assert_eq!(ground.number(&made).await, 0);
}

async fn dropped_and_made_anew(ground: Ground) {
    let store = ground.store().await;
    let old = store.ensure(&spec("c")).await.unwrap();
    old.upsert(&source("t", "a", 3, 1)).await.unwrap();
    assert!(store.drop_collection(&name("c")).await.unwrap());
    for made_anew in [false, true] {
        if made_anew {
            let new = store.ensure(&spec("c")).await.unwrap();
            new.upsert(&source("t", "a", 2, 2)).await.unwrap();
        }
        for stale in [
            old.search(&dense(of_tenant("t"), 3)).await.map(drop),
            old.upsert(&source("t", "a", 3, 1)).await,
            old.delete_matching(&of_source("t", "a")).await.map(drop),
            old.count(&Filter::everything()).await.map(drop),
            old.scan(&Filter::everything(), None, 9, Include::ALL)
                .await
                .map(drop),
        ] {
            let stale = stale.unwrap_err();
            assert!(matches!(stale.kind(), ErrorKind::StaleHandle), "{stale}");
        }
    }
    let new = store.open(&name("c")).await.unwrap();
    assert_eq!(versions(&new, &of_tenant("t")).await, (vec![2], 2));
    assert_eq!(
        store.ensure(&plain("d")).await.unwrap().spec().fields.len(),
        0
    );
}

async fn a_table_that_somebody_dropped(ground: Ground) {
    let store = ground.store().await;
    store.ensure(&spec("c")).await.unwrap();
    let schema = ground.schema();
    ground
        .sql(&format!("DROP TABLE {schema}.shelfward_c"))
        .await;
    let more = Field::new(MetadataKey::new("lang").unwrap(), FieldKind::Text);
    for refused in [
        store.open(&name("c")).await.map(drop),
        store.ensure(&spec("c")).await.map(drop),
        store.ensure(&spec("c").with_fields([more])).await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        let told = shown(&refused);
        assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{told}");
        assert!(told.contains("shelfward_c is gone"), "{told}");
    }
    // As the message says.
    assert!(store.drop_collection(&name("c")).await.unwrap());
    let made = store.ensure(&spec("c")).await.unwrap();
    made.upsert(&source("t", "a", 2, 1)).await.unwrap();
}

/// A collection that is open for undeclared keys.
fn open_spec(fields: &[(&str, FieldKind)]) -> shelfward_core::CollectionSpec {
    let fields = fields
        .iter()
        .map(|(key, kind)| Field::new(MetadataKey::new(key).unwrap(), *kind));
    plain("c").with_open_fields(true).with_fields(fields)
}

fn holding(key: &str, value: &str) -> Vec<shelfward_core::Record> {
    let metadata = format!(r#"{{"{key}":{value}}}"#);
    let metadata = shelfward_core::Metadata::from_json(&metadata).unwrap();
    let key = shelfward_core::Key::new(crate::ground::text("1"));
    vec![shelfward_core::Record::new(key, [1.0, 0.0, 0.0, 0.0]).with_metadata(metadata)]
}

/// Values, kinds, and whether a record that holds the value may be declared so.
const DECLARED: [(&str, FieldKind, bool); 14] = [
    ("1.5", FieldKind::Integer, false),
    ("2.0", FieldKind::Integer, true),
    ("2", FieldKind::Integer, true),
    (r#""2""#, FieldKind::Integer, false),
    (r#"["a"]"#, FieldKind::Text, false),
    ("true", FieldKind::Text, false),
    (r#""a""#, FieldKind::TextList, true),
    ("[1,2]", FieldKind::TextList, false),
    ("[]", FieldKind::TextList, true),
    ("9007199254740993", FieldKind::Float, false),
    ("1e300", FieldKind::Float, true),
    ("7", FieldKind::Float, true),
    ("1", FieldKind::Bool, false),
    ("false", FieldKind::Bool, true),
];

async fn a_field_declared_over_other_kinds(ground: Ground) {
    let store = ground.store().await;
    for (value, kind, may) in DECLARED {
        let collection = store.ensure(&open_spec(&[])).await.unwrap();
        let records = holding("k", value);
        collection.upsert(&records).await.unwrap();
        let declared = store.ensure(&open_spec(&[("k", kind)])).await;
        assert_eq!(declared.is_ok(), may, "{value} as {kind:?}");
        match declared {
            Ok(declared) => {
                let filter = format!(r#"{{"k":{{"$exists":{}}}}}"#, value != "[]");
                let filter = Filter::from_json(&filter).unwrap();
                assert_eq!(
                    declared.count(&filter).await.unwrap().exact(),
                    Some(1),
                    "{value}"
                );
            }
            Err(refused) => {
                assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{refused}");
                assert!(refused.to_string().contains("records hold k"), "{refused}");
            }
        }
        store.drop_collection(&name("c")).await.unwrap();
    }
}

async fn a_handle_of_before_a_field_was_declared(ground: Ground) {
    let store = ground.store().await;
    for (value, kind, may) in DECLARED {
        let before = store.ensure(&open_spec(&[])).await.unwrap();
        ground
            .store()
            .await
            .ensure(&open_spec(&[("k", kind)]))
            .await
            .unwrap();
        let written = before.upsert(&holding("k", value)).await;
        assert_eq!(written.is_ok(), may, "{value} as {kind:?}");
        if let Err(refused) = written {
            assert!(
                matches!(refused.kind(), ErrorKind::Metadata(_)),
                "{refused}"
            );
        }
        store.drop_collection(&name("c")).await.unwrap();
    }
}

async fn names_that_end_as_those_of_indexes(ground: Ground) {
    let store = ground.store().await;
    let by_hand = ground.store_with("manage_schema=false").await;
    let all = [
        "kb_words",
        "kb_hnsw",
        "kb_unit",
        "kb_pkey",
        "kb",
        "kb_f2",
        "kb_text",
        "collections",
        "texts",
    ];
    for collection in all {
        store.ensure(&spec(collection)).await.unwrap();
    }
    for collection in all {
        // Each has every index of its own.
        by_hand.open(&name(collection)).await.unwrap();
    }
}

/// For types that the server's own operators are not for, so that a literal without a type is taken for
/// one of those.
async fn operators_of_metadata_that_somebody_put_in_the_way(ground: Ground) {
    let url = database(&ground).await;
    let mut inside =
        sqlx_postgres::PgConnection::connect_with(&url.split('?').next().unwrap().parse().unwrap())
            .await
            .unwrap();
    let lie = |operator: &str, left: &str, right: &str, answer: &str, says: &str| {
        format!(
            "CREATE FUNCTION public.lie({left}, {right}) RETURNS {answer} LANGUAGE sql IMMUTABLE RETURN {says}; \
             CREATE OPERATOR public.{operator} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.lie)"
        )
    };
    for shadow in [
        lie("#>>", "jsonb", "jsonb", "text", "'all'"),
        lie("+", "float8", "int4", "float8", "-$1"),
        lie(">", "int8", "numeric", "boolean", "true"),
    ] {
        let shadow = sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(shadow));
        shadow.execute(&mut inside).await.unwrap();
    }
    for (operator, answer) in [("->>", "text"), ("->", "jsonb")] {
        let shadow = format!(
            "CREATE FUNCTION public.lie_{answer}(jsonb, jsonb) RETURNS {answer} LANGUAGE sql IMMUTABLE \
             RETURN NULL::{answer}; CREATE OPERATOR public.{operator} (LEFTARG = jsonb, RIGHTARG = jsonb, \
             FUNCTION = public.lie_{answer})"
        );
        let shadow = sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(shadow));
        shadow.execute(&mut inside).await.unwrap();
    }
    inside.close().await.unwrap();
    let adapter = shelfward_postgres::connect(&format!("{url}&index=none"))
        .await
        .unwrap();
    let field = |key: &str, kind| Field::new(MetadataKey::new(key).unwrap(), kind);
    let open = spec("c")
        .with_open_fields(true)
        .with_fields([field("1", FieldKind::Text), field("n", FieldKind::Integer)]);
    let store = shelfward_core::Store::new(adapter.clone());
    let collection = store.ensure(&open).await.unwrap();
    let mut records = source("t", "a", 6, 1);
    for (n, record) in (1_i64..).zip(&mut records) {
        let metadata = (*record.metadata).clone();
        let metadata = metadata
            .with("groups", "board")
            .and_then(|m| m.with("1", "one"))
            .and_then(|m| m.with("n", n))
            .and_then(|m| m.with("day", format!("2026-0{n}")))
            .unwrap();
        record.metadata = metadata.into();
    }
    collection.upsert(&records).await.unwrap();
    for (filter, right) in [
        (key("groups").eq("all"), 0),
        (key("groups").eq("board"), 6),
        (key("1").eq("one"), 6),
        (key("day").gt("2026-04"), 2),
        (key("n").gt(2.5), 4),
    ] {
        let filter = filter.build().unwrap();
        let there = collection.count(&filter).await.unwrap();
        assert_eq!(there.exact(), Some(right), "{filter}");
    }
    let nearest = collection.search(&dense(of_tenant("t"), 1)).await.unwrap();
    assert_eq!(nearest.hits[0].key, records[0].key);
    let early = key("tenant").eq("t").and(key("day").lt("2026-02"));
    let early = early.build().unwrap().narrow().unwrap();
    let removed = collection.delete_matching(&early).await.unwrap();
    assert_eq!(removed.exact(), Some(1));
    store.close().await.unwrap();
}

async fn a_column_that_somebody_added(ground: Ground) {
    let store = ground.store().await;
    store.ensure(&spec("c")).await.unwrap();
    let schema = ground.schema();
    let add = format!("ALTER TABLE {schema}.shelfward_c ADD COLUMN f4_lang text");
    ground.sql(&add).await;
    let more = Field::new(MetadataKey::new("lang").unwrap(), FieldKind::Text);
    let refused = store.ensure(&spec("c").with_fields([more])).await;
    let told = refused.map(drop).unwrap_err().to_string();
    assert!(
        told.contains("f4_lang (text COLLATE C, generated)"),
        "{told}"
    );
    // Nothing was recorded: what served before serves.
    store.ensure(&spec("c")).await.unwrap();
}

async fn an_index_of_another_prefix(ground: Ground) {
    let longer = ground.store_with("table_prefix=kb_").await;
    longer.ensure(&plain("docs_hnsw")).await.unwrap();
    let shorter = ground.store_with("table_prefix=kb").await;
    let refused = shorter.ensure(&plain("docs")).await.map(drop);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("lacks the index hnsw"), "{told}");
    assert!(shorter.list().await.unwrap().is_empty());
}

async fn a_view_on_what_is_dropped(ground: Ground) {
    let store = ground.store().await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    let schema = ground.schema();
    let view = format!("CREATE VIEW {schema}.report AS SELECT id FROM {schema}.shelfward_c");
    ground.sql(&view).await;
    let refused = store.drop_collection(&name("c")).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Invalid(_)), "{refused}");
    assert!(refused.to_string().contains("a view"), "{refused}");
    collection.count(&Filter::everything()).await.unwrap();
}

async fn an_operator_that_somebody_put_in_the_way(ground: Ground) {
    let url = database(&ground).await;
    let store = Ground::store_at(&url).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 6, 1)).await.unwrap();
    let mut inside =
        sqlx_postgres::PgConnection::connect_with(&url.split('?').next().unwrap().parse().unwrap())
            .await
            .unwrap();
    for shadow in [
        "CREATE FUNCTION public.yes(text[], text[]) RETURNS boolean LANGUAGE sql RETURN true",
        "CREATE OPERATOR public.&& (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.yes)",
        "CREATE OPERATOR public.@> (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.yes)",
        "CREATE FUNCTION public.cardinality(text[]) RETURNS integer LANGUAGE sql RETURN 1",
        "CREATE FUNCTION public.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS \
         $$ SELECT 'nobody' $$",
    ] {
        sqlx_core::raw_sql::raw_sql(shadow)
            .execute(&mut inside)
            .await
            .unwrap();
    }
    for filter in [
        r#"{"groups":{"$in":["nobody"]}}"#,
        r#"{"groups":{"$all":["all","nobody"]}}"#,
        r#"{"groups":{"$gt":"team:9"}}"#,
    ] {
        let filter = Filter::from_json(filter).unwrap();
        assert_eq!(
            collection.count(&filter).await.unwrap().exact(),
            Some(0),
            "{filter}"
        );
    }
    let deleted = collection
        .delete(&[source("t", "a", 1, 1)[0].key.clone()])
        .await;
    assert_eq!(deleted.unwrap().exact(), Some(1));
    sqlx_core::connection::Connection::close(inside)
        .await
        .unwrap();
    store.close().await.unwrap();
}

async fn ensure_waits_for_nobody_where_all_is_made(ground: Ground) {
    let store = ground.store_with("statement_timeout_ms=3000").await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 3, 1)).await.unwrap();
    let mut writer = ground.connection().await;
    let open = format!(
        "BEGIN; UPDATE {0}.shelfward_c SET body = 'open'; SELECT count(*) FROM {0}.shelfward_c",
        ground.schema()
    );
    sqlx_core::raw_sql::raw_sql(sqlx_core::sql_str::AssertSqlSafe(open))
        .execute(&mut writer)
        .await
        .unwrap();
    store.ensure(&spec("c")).await.unwrap();
    // One that has to change the table gives up before those behind it do.
    let more = Field::new(MetadataKey::new("lang").unwrap(), FieldKind::Text);
    let wider = spec("c").with_fields([more]);
    let late = store.ensure(&wider).await.unwrap_err();
    assert!(matches!(late.kind(), ErrorKind::Timeout(_)), "{late}");
    collection.upsert(&source("t", "b", 3, 1)).await.unwrap();
    sqlx_core::raw_sql::raw_sql("ROLLBACK")
        .execute(&mut writer)
        .await
        .unwrap();
    sqlx_core::connection::Connection::close(writer)
        .await
        .unwrap();
    store.ensure(&wider).await.unwrap();
}

async fn a_role_that_may_create_in_its_schema_alone(ground: Ground) {
    let (role, schema) = (ground.name(), ground.schema());
    let make = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'of-the-role'; GRANT USAGE, CREATE ON SCHEMA {schema} TO {role}"
    );
    ground.sql(&make).await;
    let url = ground.url_by_role("");
    let store = Ground::store_at(&url).await;
    let collection = store.ensure(&spec("c")).await.unwrap();
    collection.upsert(&source("t", "a", 2, 1)).await.unwrap();
    assert!(store.drop_collection(&name("c")).await.unwrap());
}
