//! The library's own metadata keys, and the keys of its records.

use sha2::{Digest, Sha256};

pub use crate::library_keys::{
    ACL_GROUPS, ACTIVE, FOLDER_ID, INDEX, KIND, OWN_KEYS, SOURCE_ID, STATUS, TAGS, TENANT_ID, TITLE,
};
pub(super) use crate::library_keys::{COUNT, REVISION};
use crate::metadata::{MetadataKey, Text};
use crate::names::{SourceId, TenantId};
use crate::record::Key;
use crate::spec::{CollectionSpec, Field, FieldKind, FieldRole};

/// One of the library's own keys as a metadata key.
pub(super) fn own(name: &'static str) -> MetadataKey {
    MetadataKey::own(name)
}

/// The fields that every library collection declares.
pub fn own_fields() -> Vec<Field> {
    OWN_KEYS
        .into_iter()
        .map(|name| {
            let kind = match name {
                ACL_GROUPS | TAGS => FieldKind::TextList,
                INDEX => FieldKind::Integer,
                _ => FieldKind::Text,
            };
            let role = match name {
                TENANT_ID => FieldRole::Partition,
                SOURCE_ID => FieldRole::Unit,
                _ => FieldRole::Plain,
            };
            Field::new(own(name), kind).with_role(role)
        })
        .collect()
}

/// What sets one of the library's own keys, in place of metadata; `None` for another key.
pub(super) fn own_key_is_set_by(key: &str) -> Option<&'static str> {
    Some(match key {
        TENANT_ID => "the handle of the tenant sets it",
        ACL_GROUPS => "give the groups to IndexSource::new",
        SOURCE_ID => "give the id to IndexSource::new",
        KIND => "give the kind to IndexSource::new",
        FOLDER_ID => "set it by IndexSource::folder",
        TAGS => "set them by IndexSource::tags",
        TITLE => "set it by IndexSource::title",
        STATUS | INDEX => "choose another name",
        _ => return None,
    })
}

/// Whether a collection of this spec is a library's: one that declares all of its fields.
pub(crate) fn is_library(spec: &CollectionSpec) -> bool {
    OWN_KEYS.iter().all(|key| spec.field(key).is_some())
}

/// The key of a passage: the tenant as partition, and as id 32 hex digits of SHA-256 over the
/// length-prefixed tenant and source, `-`, and the index in 8 digits.
///
/// Sources of any id get keys that every store can hold, those of one source begin alike, and no
/// two passages share one.
pub(super) fn passage_key(tenant: &TenantId, source: &SourceId, index: usize) -> Key {
    keys_of(tenant, source)(index)
}

/// As [`passage_key`], with the hash made once for all passages of a source.
pub(super) fn keys_of(tenant: &TenantId, source: &SourceId) -> impl Fn(usize) -> Key {
    let mut hash = Sha256::new();
    update_prefixed(&mut hash, tenant.as_str());
    update_prefixed(&mut hash, source.as_str());
    let digits = hex(&hash.finalize());
    let prefix = digits.get(..32).unwrap_or(&digits).to_owned();
    let partition = tenant.to_text();
    move |index| {
        let id = format!("{prefix}-{index:08}");
        // Hex digits and a dash: there is no U+0000 to refuse.
        let id = Text::new(id).unwrap_or_else(|_| partition.clone());
        Key::within(partition.clone(), id)
    }
}

pub(super) fn update_prefixed(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_are_injective_where_names_run_together() {
        let names = ["a", "ab", "b", "a#1", "a#1#0", "session:s1"];
        let mut seen = HashSet::new();
        for tenant in names {
            for source in names {
                for index in [0, 1, 10, 99_999] {
                    let tenant = TenantId::new(tenant).unwrap();
                    let key = passage_key(&tenant, &SourceId::new(source).unwrap(), index);
                    assert_eq!(key.id.as_str().len(), 41);
                    assert!(seen.insert(key.id));
                }
            }
        }
    }
}
