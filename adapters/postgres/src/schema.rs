//! The tables of a store, as SQL.

use shelfward_core::{CollectionSpec, Field, FieldKind, Metric};

use crate::catalog::Settings;
use crate::config::VectorIndex;
use crate::extension::Extension;
use crate::identifier::literal;
use crate::names::TableNames;
use crate::params::{Param, Params, Statement};

/// The statement that makes the schema. It needs the right to do so even where there is one.
pub(crate) fn own_schema(names: &TableNames) -> String {
    format!("CREATE SCHEMA IF NOT EXISTS {}", names.schema())
}

/// The statements that make what all collections share in the schema.
pub(crate) fn shared(names: &TableNames) -> Vec<String> {
    vec![
        format!(
            "CREATE TABLE IF NOT EXISTS {} (name text COLLATE \"C\" NOT NULL, \
             generation bigint NOT NULL, spec text NOT NULL, settings text NOT NULL, \
             CONSTRAINT {} PRIMARY KEY (name))",
            names.registry(),
            names.registry_key()
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS {} (slot uuid NOT NULL, mark uuid NOT NULL, \
             committed_at timestamptz NOT NULL, CONSTRAINT \"{}__commits_pkey\" PRIMARY KEY (slot))",
            names.commits(),
            names.prefix()
        ),
        // What a generated column may call: it reads nothing but what it is given.
        format!(
            "CREATE OR REPLACE FUNCTION {}(jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT \
             PARALLEL SAFE RETURN CASE jsonb_typeof($1) WHEN 'array' \
             THEN ARRAY(SELECT jsonb_array_elements_text($1)) \
             WHEN 'string' THEN ARRAY[$1 OPERATOR(pg_catalog.#>>) '{{}}'::text[]] END",
            names.texts()
        ),
    ]
}

/// The column of a declared field: its number, which tells it from all others, and as much of its key
/// as a plain name holds.
pub(crate) fn column(at: usize, field: &Field) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '_') => c,
        _ => '_',
    };
    let key: String = field.key.as_str().chars().take(40).map(plain).collect();
    format!("f{at}_{key}")
}

/// The type of a declared field's column, as the server names it.
pub(crate) fn column_type(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::TextList => "text[]",
        FieldKind::Integer => "bigint",
        FieldKind::Float => "double precision",
        FieldKind::Bool => "boolean",
        _ => "text",
    }
}

/// A member of metadata by its key. By its bare name, an operator that somebody made for other types could
/// be taken for the server's.
const GET: &str = "OPERATOR(pg_catalog.->)";

/// Whether a column of this kind is ordered by code points, as filters are, not by a language.
pub(crate) fn holds_text(kind: FieldKind) -> bool {
    matches!(kind, FieldKind::Text | FieldKind::TextList)
}

/// A column that the server fills from the metadata, so that what filters read is always what the
/// metadata says.
fn definition(names: &TableNames, at: usize, field: &Field) -> String {
    let key = literal(field.key.as_str());
    let of_metadata = match field.kind {
        FieldKind::TextList => format!("{}(meta {GET} {key}::text)", names.texts()),
        FieldKind::Integer | FieldKind::Float | FieldKind::Bool => {
            format!("(meta {GET} {key}::text)::{}", column_type(field.kind))
        }
        _ => format!("meta OPERATOR(pg_catalog.->>) {key}::text"),
    };
    let collate = if holds_text(field.kind) {
        " COLLATE \"C\""
    } else {
        ""
    };
    format!(
        "{} {}{collate} GENERATED ALWAYS AS ({of_metadata}) STORED",
        column(at, field),
        column_type(field.kind)
    )
}

/// The statement that makes a collection's table.
pub(crate) fn table(
    names: &TableNames,
    spec: &CollectionSpec,
    settings: &Settings,
    extension: &Extension,
) -> Vec<String> {
    let table = names.table(&spec.name);
    let mut columns = vec![
        "part text COLLATE \"C\" NOT NULL".to_owned(),
        "id text COLLATE \"C\" NOT NULL".to_owned(),
        "meta jsonb NOT NULL".to_owned(),
        "body text".to_owned(),
        "words tsvector".to_owned(),
        format!("embedding {}({}) NOT NULL", extension.vector(), spec.width),
    ];
    if let Some(configuration) = &settings.text_search {
        columns.push(format!(
            "analysed tsvector GENERATED ALWAYS AS (to_tsvector({}::regconfig, coalesce(body, ''))) \
             STORED",
            literal(configuration.as_str())
        ));
    }
    let fields = spec.fields.iter().enumerate();
    columns.extend(fields.map(|(at, field)| definition(names, at, field)));
    columns.push(format!(
        "CONSTRAINT {} PRIMARY KEY (part, id)",
        names.index(&spec.name, "pkey")
    ));
    let inline = INLINE_ELSE.saturating_add(4 * spec.width).min(MAX_INLINE);
    let mut statements = vec![format!(
        "CREATE TABLE {table} ({}) WITH (toast_tuple_target = {inline})",
        columns.join(", ")
    )];
    if spec.width <= MAX_INLINE_WIDTH {
        // Beside the rest of the row, where a scan reads it without another look-up; what is moved
        // out of a long row is its text.
        statements.push(format!(
            "ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE PLAIN"
        ));
    }
    statements
}

/// So many bytes of a row beside its vector stay in the row: a search by words scores each row that
/// it finds, and what was moved out of the row would be fetched for each.
const INLINE_ELSE: u32 = 4_000;
/// What the server takes at most.
const MAX_INLINE: u32 = 8_160;

/// A page has room for a row with such a vector in it.
const MAX_INLINE_WIDTH: u32 = 1_536;

/// The statement that adds a declared field to a collection's table.
pub(crate) fn add_column(
    names: &TableNames,
    spec: &CollectionSpec,
    at: usize,
    field: &Field,
) -> String {
    format!(
        "ALTER TABLE {} ADD COLUMN IF NOT EXISTS {}",
        names.table(&spec.name),
        definition(names, at, field)
    )
}

/// Asks for a record whose value under a key is none that the field's kind accepts; its column would
/// hold something else than the metadata.
pub(crate) fn other_kinds(table: &str, field: &Field) -> Statement {
    let mut params = Params::default();
    let key = params.add(Param::text(field.key.as_str()));
    let value = format!("(r.meta -> {key})");
    let kind = format!("jsonb_typeof{value}");
    let accepted = match field.kind {
        FieldKind::TextList => format!(
            "CASE {kind} WHEN 'string' THEN true WHEN 'array' THEN NOT EXISTS (SELECT FROM \
             jsonb_array_elements{value} AS e(v) WHERE jsonb_typeof(e.v) <> 'string') ELSE false END"
        ),
        FieldKind::Integer => format!(
            "CASE {kind} WHEN 'number' THEN {value}::numeric = trunc({value}::numeric) AND \
             {value}::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 ELSE false END"
        ),
        // A float is written with a point; an integer must be one that a float holds.
        FieldKind::Float => format!(
            "CASE {kind} WHEN 'number' THEN scale({value}::numeric) > 0 OR \
             abs({value}::numeric) <= 9007199254740992 ELSE false END"
        ),
        FieldKind::Bool => format!("{kind} = 'boolean'"),
        _ => format!("{kind} = 'string'"),
    };
    Statement {
        sql: format!("SELECT 1 FROM {table} r WHERE r.meta ? {key} AND NOT ({accepted}) LIMIT 1"),
        params,
    }
}

/// The most bytes of a row: it has to fit into a page.
pub(crate) const MAX_ROW: usize = 8_000;

/// The bytes of a row in which every declared field has a value, and what can be moved out of the row
/// has been.
pub(crate) fn least_row(spec: &CollectionSpec) -> usize {
    // A value that was moved out leaves this behind.
    const POINTER: usize = 18;
    let vector = if spec.width <= MAX_INLINE_WIDTH {
        usize::try_from(4 * spec.width + 8).unwrap_or(usize::MAX)
    } else {
        POINTER
    };
    let field = |field: &Field| match field.kind {
        FieldKind::Integer | FieldKind::Float => 8,
        FieldKind::Bool => 1,
        _ => POINTER,
    };
    let fields: usize = spec.fields.iter().map(field).sum();
    // The row's head, a bit for each column, and the six columns that every table has.
    24 + spec.fields.len() / 8 + 1 + 6 * POINTER + vector + fields
}

/// An index of a collection.
pub(crate) struct Index {
    /// What it is on, as the server tells it: `gin (words)`.
    pub(crate) on: String,
    /// The statement that makes it, unless there is one of its name.
    pub(crate) sql: String,
}

/// A vector as one of 16-bit floats. Under cosine its length does not matter, so it is made 1 first: a
/// very short one would vanish. `as_defined` writes it as the server prints the
/// definition of an index.
pub(crate) fn halved(
    spec: &CollectionSpec,
    extension: &Extension,
    vector: &str,
    as_defined: bool,
) -> String {
    let half = format!("{}({})", extension.half(), spec.width);
    match spec.metric {
        Metric::Cosine => format!("({}({vector}))::{half}", extension.name("l2_normalize")),
        _ if as_defined => format!("({vector})::{half}"),
        _ => format!("({vector}::{half})"),
    }
}

/// The indexes that a collection should have, beside that of its keys.
pub(crate) fn indexes(
    names: &TableNames,
    spec: &CollectionSpec,
    settings: &Settings,
    extension: &Extension,
) -> Vec<Index> {
    let mut indexes = Vec::new();
    let mut add = |suffix: &str, on: String, with: String| {
        let sql = format!(
            "CREATE INDEX IF NOT EXISTS {} ON {} USING {on}{with}",
            names.index(&spec.name, suffix),
            names.table(&spec.name)
        );
        indexes.push(Index { on, sql });
    };
    let none = String::new;
    // What replaces, narrows and removes a source or a tenant reads no other rows.
    let of_key = |key: Option<&shelfward_core::MetadataKey>| {
        let place = |key: &shelfward_core::MetadataKey| {
            (spec.fields.iter().enumerate()).find(|(_, field)| field.key == *key)
        };
        key.and_then(place).map(|(at, field)| column(at, field))
    };
    let unit: Vec<_> = [spec.partition_key(), spec.unit_key()]
        .into_iter()
        .filter_map(of_key)
        .collect();
    if !unit.is_empty() {
        add("unit", format!("btree ({})", unit.join(", ")), none());
    }
    for (at, field) in spec.fields.iter().enumerate() {
        if field.kind == FieldKind::TextList {
            let on = format!("gin ({})", column(at, field));
            add(&format!("f{at}"), on, none());
        }
    }
    if spec.open_fields {
        add("meta", "gin (meta jsonb_path_ops)".to_owned(), none());
    }
    if settings.text_search.is_some() {
        add("text", "gin (analysed)".to_owned(), none());
    } else {
        add("words", "gin (words)".to_owned(), none());
    }
    let with = format!(
        " WITH (m = {}, ef_construction = {})",
        settings.m, settings.ef_construction
    );
    let class = |kind: &str| {
        let metric = match spec.metric {
            Metric::Dot => "ip",
            Metric::Euclidean => "l2",
            _ => "cosine",
        };
        extension.name(&format!("{kind}_{metric}_ops"))
    };
    match settings.index {
        VectorIndex::None => {}
        VectorIndex::Hnsw => {
            let on = format!("hnsw (embedding {})", class("vector"));
            add("hnsw", on, with);
        }
        VectorIndex::HnswHalf => {
            let on = format!(
                "hnsw (({}) {})",
                halved(spec, extension, "embedding", true),
                class("halfvec")
            );
            add("hnsw", on, with);
        }
    }
    indexes
}
