//! The names of the metadata keys that a library sets itself.

/// The tenant that a passage belongs to.
pub const TENANT_ID: &str = "tenantId";
/// The access groups that may see a passage.
pub const ACL_GROUPS: &str = "aclGroups";
/// `active` for every passage that can be found.
pub const STATUS: &str = "status";
/// The source that a passage is of.
pub const SOURCE_ID: &str = "sourceId";
/// The source's kind.
pub const KIND: &str = "kind";
/// The passage's number in its source, from 0.
pub const INDEX: &str = "index";
/// The folder, when the source has one.
pub const FOLDER_ID: &str = "folderId";
/// The source's tags, `[]` when there are none.
pub const TAGS: &str = "tags";
/// The title, when the source has one.
pub const TITLE: &str = "title";

/// The status of every passage that can be found.
pub const ACTIVE: &str = "active";

pub(crate) const REVISION: &str = "_shelfward_revision";
pub(crate) const COUNT: &str = "_shelfward_count";

/// The nine keys that the library sets itself. They win over a caller's metadata.
pub const OWN_KEYS: [&str; 9] = [
    TENANT_ID, ACL_GROUPS, STATUS, SOURCE_ID, KIND, INDEX, FOLDER_ID, TAGS, TITLE,
];

/// Every name above: those that a library's records carry.
pub(crate) const LIBRARY_KEYS: [&str; 11] = [
    TENANT_ID, ACL_GROUPS, STATUS, SOURCE_ID, KIND, INDEX, FOLDER_ID, TAGS, TITLE, REVISION, COUNT,
];
