//! What is recorded of each collection.

use serde::{Deserialize, Serialize};
use shelfward_core::{CollectionName, CollectionSpec, ErrorKind};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::PostgresOptions;
use crate::binds::{Bind, Binds, Statement};
use crate::config::VectorIndex;
use crate::error::{Job, corrupt};
use crate::identifier::{Identifier, literal};
use crate::schema::Names;

/// How a collection was made, beside its spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// The form of the tables. One that is not known was made by a newer version.
    format: u32,
    pub(crate) index: VectorIndex,
    pub(crate) m: u16,
    pub(crate) ef_construction: u16,
    #[serde(default, with = "name", skip_serializing_if = "Option::is_none")]
    pub(crate) text_search: Option<Identifier>,
}

const FORMAT: u32 = 1;

/// What every form of settings has.
#[derive(Deserialize)]
struct Form {
    format: u32,
}

mod name {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::Identifier;

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(
        name: &Option<Identifier>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match name {
            Some(name) => serializer.serialize_str(name.as_str()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Identifier>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        name.map(|name| Identifier::new(&name).map_err(D::Error::custom))
            .transpose()
    }
}

impl Settings {
    /// The settings of a new collection.
    pub(crate) fn of(options: &PostgresOptions, spec: &CollectionSpec) -> Self {
        Self {
            format: FORMAT,
            index: options.index.for_width(spec.width),
            m: options.m,
            ef_construction: options.ef_construction,
            text_search: options.text_search.clone(),
        }
    }
}

/// What is recorded of a collection.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) spec: CollectionSpec,
    pub(crate) settings: Settings,
    /// Drawn by lot when it is made, so that a handle knows whether it is still the same one.
    pub(crate) generation: i64,
}

impl Entry {
    /// Asks for the entry of a name.
    pub(crate) fn ask(names: &Names, name: &CollectionName) -> Statement {
        let mut binds = Binds::default();
        let name = binds.add(Bind::Text(name.as_str().to_owned()));
        let registry = names.registry();
        let sql =
            format!("SELECT generation, spec, settings, name FROM {registry} WHERE name = {name}");
        Statement { sql, binds }
    }

    /// The entry that was answered, if there is one.
    pub(crate) fn answered(rows: &[PgRow]) -> Job<Option<Self>> {
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let settings: &str = row.try_get(2)?;
        let unread = |_| corrupt("the settings of a collection cannot be read");
        // The form alone first: a newer one may have other members.
        let form: Form = serde_json::from_str(settings).map_err(unread)?;
        if form.format != FORMAT {
            return Err(ErrorKind::Unsupported(
                "collections that a newer version made; use that version",
            )
            .into());
        }
        let spec = read_spec(row.try_get(1)?)?;
        if spec.name.as_str() != row.try_get::<&str, _>(3)? {
            return Err(corrupt("the spec of a collection is another one's"));
        }
        Ok(Some(Self {
            spec,
            settings: serde_json::from_str(settings).map_err(unread)?,
            generation: row.try_get(0)?,
        }))
    }

    /// The statement that records a new collection.
    pub(crate) fn insert(
        names: &Names,
        spec: &CollectionSpec,
        settings: &Settings,
    ) -> Job<Statement> {
        let mut binds = Binds::default();
        let values = [
            binds.add(Bind::Text(spec.name.as_str().to_owned())),
            binds.add(Bind::Text(spec_json(spec)?)),
            binds.add(Bind::Text(settings_json(settings)?)),
        ];
        let sql = insert(names, &values);
        Ok(Statement { sql, binds })
    }

    /// The same for a person to run.
    pub(crate) fn insert_by_hand(
        names: &Names,
        spec: &CollectionSpec,
        settings: &Settings,
    ) -> Job<String> {
        let values = [
            literal(spec.name.as_str()),
            literal(&spec_json(spec)?),
            literal(&settings_json(settings)?),
        ];
        Ok(insert(names, &values))
    }

    /// The statement that records more fields.
    pub(crate) fn update_spec(names: &Names, spec: &CollectionSpec) -> Job<Statement> {
        let mut binds = Binds::default();
        let json = binds.add(Bind::Text(spec_json(spec)?));
        let name = binds.add(Bind::Text(spec.name.as_str().to_owned()));
        let registry = names.registry();
        let sql = format!("UPDATE {registry} SET spec = {json} WHERE name = {name}");
        Ok(Statement { sql, binds })
    }

    pub(crate) fn remove(names: &Names, name: &CollectionName) -> Statement {
        let mut binds = Binds::default();
        let name = binds.add(Bind::Text(name.as_str().to_owned()));
        let sql = format!("DELETE FROM {} WHERE name = {name}", names.registry());
        Statement { sql, binds }
    }

    /// Asks for the names of all.
    pub(crate) fn ask_names(names: &Names) -> Statement {
        let sql = format!("SELECT name FROM {} ORDER BY name", names.registry());
        Statement {
            sql,
            binds: Binds::default(),
        }
    }
}

/// A spec as it is kept.
pub(crate) fn read_spec(json: &str) -> Job<CollectionSpec> {
    let spec: CollectionSpec = serde_json::from_str(json)
        .map_err(|_| corrupt("the spec of a collection cannot be read"))?;
    if spec.check().is_err() {
        return Err(corrupt("the spec of a collection contradicts itself"));
    }
    Ok(spec)
}

fn insert(names: &Names, [name, spec, settings]: &[String; 3]) -> String {
    format!(
        "INSERT INTO {} (name, generation, spec, settings) \
         VALUES ({name}, hashtextextended(gen_random_uuid()::text, 0), {spec}, {settings})",
        names.registry()
    )
}

/// The spec as it is kept, if it can be read back.
fn spec_json(spec: &CollectionSpec) -> Job<String> {
    let json = serde_json::to_string(spec).ok();
    let back = |json: &String| serde_json::from_str::<CollectionSpec>(json).ok();
    let kept = json.filter(|json| back(json).as_ref() == Some(spec));
    let invalid = || "a spec that cannot be written down and read back".to_owned();
    Ok(kept.ok_or_else(|| ErrorKind::Invalid(invalid()))?)
}

fn settings_json(settings: &Settings) -> Job<String> {
    Ok(serde_json::to_string(settings).map_err(|_| ErrorKind::Engine)?)
}
