//! What a store records of each collection.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shelfward_core::{CollectionSpec, ErrorKind};

/// A collection as it is recorded: its spec, how it was made, and which one of its name it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogRow<S> {
    /// Its spec.
    pub spec: CollectionSpec,
    /// How it was made, beside its spec.
    pub settings: S,
    /// Random; changes when the collection is recreated, so that a handle knows whether it is still the
    /// same one.
    pub generation: i64,
}

/// What settings of every version have.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

impl<S: DeserializeOwned> CatalogRow<S> {
    /// Reads a row back. The settings are a struct with a member `format: u32`, which is looked at first:
    /// a newer one may have other members.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for another format, [`ErrorKind::Corrupt`] for what cannot be read.
    pub fn decode(
        name: &str,
        spec: &str,
        settings: &str,
        format: u32,
        generation: i64,
    ) -> Result<Self, ErrorKind> {
        let unread = |_| ErrorKind::Corrupt("the settings of a collection cannot be read");
        let versioned: Versioned = serde_json::from_str(settings).map_err(unread)?;
        if versioned.format != format {
            return Err(ErrorKind::Unsupported(
                "collections that a newer version made; use that version",
            ));
        }
        Ok(Self {
            spec: decode_spec(name, spec)?,
            settings: serde_json::from_str(settings).map_err(unread)?,
            generation,
        })
    }
}

/// A spec as it is recorded, if it can be read back. A field under one of the library's own keys
/// cannot: nobody may declare one.
///
/// # Errors
/// [`ErrorKind::Invalid`].
pub fn encode_spec(spec: &CollectionSpec) -> Result<String, ErrorKind> {
    let json = serde_json::to_string(spec).ok();
    let back = |json: &String| serde_json::from_str::<CollectionSpec>(json).ok();
    let kept = json.filter(|json| back(json).as_ref() == Some(spec));
    let invalid = || "a spec that cannot be written down and read back".to_owned();
    kept.ok_or_else(|| ErrorKind::Invalid(invalid()))
}

/// Settings as they are recorded.
///
/// # Errors
/// [`ErrorKind::Engine`], where they are nothing that JSON holds.
pub fn encode_settings(settings: &impl Serialize) -> Result<String, ErrorKind> {
    serde_json::to_string(settings).map_err(|_| ErrorKind::Engine)
}

/// The spec that is recorded under a name.
///
/// # Errors
/// [`ErrorKind::Corrupt`].
pub fn decode_spec(name: &str, json: &str) -> Result<CollectionSpec, ErrorKind> {
    let spec: CollectionSpec = serde_json::from_str(json)
        .map_err(|_| ErrorKind::Corrupt("the spec of a collection cannot be read"))?;
    if spec.name.as_str() != name {
        return Err(ErrorKind::Corrupt(
            "the spec of a collection is another one's",
        ));
    }
    if spec.check().is_err() {
        return Err(ErrorKind::Corrupt(
            "the spec of a collection contradicts itself",
        ));
    }
    Ok(spec)
}

/// The spec of an existing collection with the fields that it lacks of what is asked for; `None` where
/// it lacks none.
///
/// # Errors
/// [`ErrorKind::Spec`] where the two differ in anything else.
pub fn merge_fields(
    existing: &CollectionSpec,
    asked: &CollectionSpec,
) -> Result<Option<CollectionSpec>, ErrorKind> {
    existing.check_compatible(asked)?;
    let lacking: Vec<_> = existing
        .missing_fields(asked)
        .into_iter()
        .cloned()
        .collect();
    if lacking.is_empty() {
        return Ok(None);
    }
    let merged = existing.clone().with_fields(lacking);
    merged.check()?;
    Ok(Some(merged))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use shelfward_core::{CollectionName, Field, FieldKind, MetadataKey, Metric};

    use super::*;

    fn spec(fields: &[&str]) -> CollectionSpec {
        let field = |name: &&str| Field::new(MetadataKey::new(name).unwrap(), FieldKind::Text);
        let name = CollectionName::new("c").unwrap();
        CollectionSpec::new(name, 2, Metric::Dot, "none").with_fields(fields.iter().map(field))
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Settings {
        format: u32,
        m: u16,
    }

    #[test]
    fn a_row_comes_back_as_it_was_recorded() {
        let written = encode_spec(&spec(&["a"])).unwrap();
        let settings = encode_settings(&Settings { format: 1, m: 5 }).unwrap();
        let read =
            |name, spec, settings| CatalogRow::<Settings>::decode(name, spec, settings, 1, 7);
        let row = read("c", &written, &settings).unwrap();
        assert_eq!((row.spec, row.generation), (spec(&["a"]), 7));
        assert_eq!(row.settings, Settings { format: 1, m: 5 });
        let newer = read("c", &written, r#"{"format":2,"other":true}"#).unwrap_err();
        assert!(matches!(newer, ErrorKind::Unsupported(_)), "{newer}");
        for (name, spec, settings) in [
            ("d", &*written, &*settings),
            ("c", "{}", &settings),
            ("c", &written, r#"{"format":1}"#),
        ] {
            let damaged = read(name, spec, settings).unwrap_err();
            assert!(matches!(damaged, ErrorKind::Corrupt(_)), "{damaged}");
        }
    }

    #[test]
    fn fields_are_added_and_nothing_else_is_changed() {
        let existing = spec(&["a"]);
        assert_eq!(merge_fields(&existing, &spec(&["a"])).unwrap(), None);
        let merged = merge_fields(&existing, &spec(&["b"])).unwrap();
        assert_eq!(merged, Some(spec(&["a", "b"])));
        let name = CollectionName::new("c").unwrap();
        let other = CollectionSpec::new(name, 3, Metric::Dot, "none");
        assert!(matches!(
            merge_fields(&existing, &other),
            Err(ErrorKind::Spec(_))
        ));
    }
}
