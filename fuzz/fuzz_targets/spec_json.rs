//! The spec of a collection, as a store keeps it: what is read prints as what reads back the same,
//! and one that is checked serves itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::{CollectionSpec, Metadata};

/// What a caller may file with a record, of every kind.
const METADATA: [&str; 4] = [
    "{}",
    r#"{"a":"x","b":["x"]}"#,
    r#"{"a":1,"b":2.5}"#,
    r#"{"a":true,"b":9e99}"#,
];

fuzz_target!(|json: &str| {
    let Ok(spec) = serde_json::from_str::<CollectionSpec>(json) else {
        return;
    };
    let printed = serde_json::to_string(&spec).expect("a spec is JSON");
    let again: CollectionSpec = serde_json::from_str(&printed).expect("what was printed");
    assert_eq!(again, spec);
    if spec.check().is_err() {
        return;
    }
    spec.check_compatible(&again).expect("a spec serves itself");
    assert!(spec.missing_fields(&again).is_empty());
    for field in &spec.fields {
        assert_eq!(spec.field(field.key.as_str()), Some(field));
    }
    for metadata in METADATA {
        let metadata = Metadata::from_json(metadata).expect("plain metadata");
        let each = |(key, value)| spec.check_value(key, value).is_ok();
        assert_eq!(
            spec.check_metadata(&metadata).is_ok(),
            metadata.iter().all(each)
        );
    }
});
