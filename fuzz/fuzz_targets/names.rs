//! Names and ids: what is taken comes back as it was written, also through JSON, and what names a
//! passage names that one alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::de::DeserializeOwned;
use shelfward_core::library::PassageId;
use shelfward_core::{
    AccessGroup, CollectionName, MetadataKey, RESERVED_PREFIX, SourceId, TenantId, Text,
};

fuzz_target!(|text: &str| {
    let json = serde_json::to_string(text).expect("a text is JSON");
    same(
        text,
        read::<MetadataKey>(&json).map(|key| key.to_string()),
        MetadataKey::new(text).map(|key| key.to_string()),
    );
    same(
        text,
        read::<Text>(&json).map(|text| text.to_string()),
        Text::new(text).map(|text| text.to_string()),
    );
    same(
        text,
        read::<SourceId>(&json).map(|id| id.as_str().to_owned()),
        SourceId::new(text).map(|id| id.as_str().to_owned()),
    );
    same(
        text,
        read::<CollectionName>(&json).map(|name| name.as_str().to_owned()),
        CollectionName::new(text).map(|name| name.as_str().to_owned()),
    );
    // Who asks is never read from data, so these have no JSON.
    for made in [
        TenantId::new(text).map(|id| id.as_str().to_owned()),
        AccessGroup::new(text).map(|id| id.as_str().to_owned()),
    ] {
        assert!(made.is_err() || made.as_deref() == Ok(text));
    }
    if let Ok(key) = MetadataKey::new(text) {
        assert!(!text.starts_with(RESERVED_PREFIX) && !key.is_reserved());
        assert_eq!(MetadataKey::stored(text).ok(), Some(key));
    }
    if let Ok(id) = text.parse::<PassageId>() {
        assert_eq!(id.to_string(), text);
        assert_eq!(PassageId::new(id.source().clone(), id.index()), id);
    }
});

fn read<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}

/// From JSON and from a text the same is taken, and it is the text.
fn same<E>(text: &str, from_json: Option<String>, made: Result<String, E>) {
    assert_eq!(from_json, made.ok());
    assert!(from_json.is_none_or(|taken| taken == text));
}
