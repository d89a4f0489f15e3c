//! Metadata that is read from any text prints as what reads back the same, for callers and for
//! stores alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::{CollectionName, CollectionSpec, Metadata, Metric};

fuzz_target!(|json: &str| {
    let name = CollectionName::new("c").expect("a name");
    let spec = CollectionSpec::new(name, 1, Metric::Cosine, "e").with_open_fields(true);
    if let Some(stored) = Metadata::from_stored_json(json, &spec) {
        let printed = serde_json::to_string(&stored).expect("metadata is JSON");
        assert_eq!(Metadata::from_stored_json(&printed, &spec), Some(stored));
    }
    let Ok(metadata) = Metadata::from_json(json) else {
        return;
    };
    let printed = serde_json::to_string(&metadata).expect("metadata is JSON");
    let again = Metadata::from_json(&printed).expect("what was printed");
    assert_eq!(again, metadata);
    assert_eq!(again.byte_len(), metadata.byte_len());
    assert!(metadata.iter().all(|(key, _)| !key.is_reserved()));
    assert_eq!(
        Metadata::from_stored_json(&printed, &spec).as_ref(),
        Some(&metadata)
    );
    assert_eq!(
        serde_json::from_str::<Metadata>(&printed).ok(),
        Some(metadata)
    );
});
