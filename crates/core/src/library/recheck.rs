//! The second of the two checks: every hit against the scope and the narrowing, on its own metadata.
//!
//! This is written against the scope itself and shares nothing with the filter that the store was
//! sent, so that one mistake cannot be in both.

use std::collections::HashSet;

use super::PassageId;
use super::own::{
    ACL_GROUPS, ACTIVE, FOLDER_ID, INDEX, KIND, SOURCE_ID, STATUS, TAGS, TENANT_ID, TITLE,
};
use super::passage_filter::PassageFilter;
use crate::collection::Verdict;
use crate::filter::Filter;
use crate::metadata::{Metadata, Scalar, Text, Value};
use crate::names::{AccessGroup, SourceId, SourceKind, TenantId};
use crate::scope::Scope;
use crate::search::Hit;

/// What every hit of one search must pass.
pub(super) struct ReadCheck {
    tenant: Text,
    /// `None` for those who may write all of the tenant's.
    groups: Option<HashSet<AccessGroup>>,
    every: PassageFilter,
    any: Vec<PassageFilter>,
    filter: Option<Filter>,
}

impl ReadCheck {
    pub(super) fn new(
        scope: &Scope,
        (every, any): (PassageFilter, Vec<PassageFilter>),
        filter: Option<Filter>,
    ) -> Self {
        let groups = scope.groups().iter().cloned().collect();
        Self {
            groups: Some(groups),
            ..Self::of_tenant(scope.tenant(), (every, any), filter)
        }
    }

    /// Within a tenant, for those who may write all of it.
    pub(super) fn of_tenant(
        tenant: &TenantId,
        (every, any): (PassageFilter, Vec<PassageFilter>),
        filter: Option<Filter>,
    ) -> Self {
        Self {
            tenant: tenant.to_text(),
            groups: None,
            every,
            any,
            filter,
        }
    }

    pub(super) fn verdict(&self, hit: &Hit) -> Verdict {
        let own = OwnValues::of(&hit.metadata);
        // Plain texts only: a list that holds the tenant belongs to nobody in particular.
        if text(own.tenant) != Some(self.tenant.as_str()) {
            return Verdict::Drop("tenant");
        }
        if hit.key.partition.as_ref() != Some(&self.tenant) {
            return Verdict::Drop("the partition of its key");
        }
        if text(own.status) != Some(ACTIVE) {
            return Verdict::Drop("status");
        }
        if !texts(own.groups).any(|group| self.holds_group(group)) {
            return Verdict::Drop("access groups");
        }
        if own.passage_id().is_none() || own.source_kind().is_none() {
            return Verdict::Drop("no source id, kind or index");
        }
        let any = self.any.iter().any(|branch| within(branch, &own));
        if !any || !within(&self.every, &own) {
            return Verdict::Drop("narrowing");
        }
        if self
            .filter
            .as_ref()
            .is_some_and(|filter| !filter.matches(&hit.metadata))
        {
            return Verdict::Drop("the caller's filter");
        }
        Verdict::Keep
    }

    fn holds_group(&self, group: &str) -> bool {
        self.groups
            .as_ref()
            .is_none_or(|groups| groups.contains(group))
    }
}

/// What the library's own keys hold in one record, looked up in one pass.
#[derive(Default)]
pub(super) struct OwnValues<'a> {
    tenant: Option<&'a Value>,
    pub(super) groups: Option<&'a Value>,
    status: Option<&'a Value>,
    source: Option<&'a Value>,
    kind: Option<&'a Value>,
    index: Option<&'a Value>,
    pub(super) folder: Option<&'a Value>,
    pub(super) tags: Option<&'a Value>,
    pub(super) title: Option<&'a Value>,
}

impl<'a> OwnValues<'a> {
    pub(super) fn of(metadata: &'a Metadata) -> Self {
        let mut own = Self::default();
        for (key, value) in metadata.iter() {
            let place = match key.as_str() {
                TENANT_ID => &mut own.tenant,
                ACL_GROUPS => &mut own.groups,
                STATUS => &mut own.status,
                SOURCE_ID => &mut own.source,
                KIND => &mut own.kind,
                INDEX => &mut own.index,
                FOLDER_ID => &mut own.folder,
                TAGS => &mut own.tags,
                TITLE => &mut own.title,
                _ => continue,
            };
            *place = Some(value);
        }
        own
    }

    /// Which passage it is; `None` for what is none.
    pub(super) fn passage_id(&self) -> Option<PassageId> {
        let index = u32::try_from(self.index()?).ok()?;
        Some(PassageId::new(self.source_id()?, index))
    }

    /// Its source.
    pub(super) fn source_id(&self) -> Option<SourceId> {
        SourceId::of_text(plain(self.source)?)
    }

    /// The kind of its source.
    pub(super) fn source_kind(&self) -> Option<SourceKind> {
        SourceKind::of_text(plain(self.kind)?)
    }

    /// The number of a passage in its source.
    pub(super) fn index(&self) -> Option<u64> {
        whole(self.index)
    }

    pub(super) fn is_of(&self, source: &SourceId) -> bool {
        text(self.source) == Some(source.as_str())
    }
}

/// A number that counts something.
pub(super) fn whole(value: Option<&Value>) -> Option<u64> {
    let integer = value.and_then(Value::as_integer)?;
    u64::try_from(integer).ok()
}

/// A plain text.
pub(super) fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_text)
}

/// The same, to be shared.
fn plain(value: Option<&Value>) -> Option<&Text> {
    match value {
        Some(Value::Scalar(Scalar::Text(text))) => Some(text),
        _ => None,
    }
}

/// The texts of a value or a list.
pub(super) fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let elements = value.map_or(&[][..], Value::elements);
    elements.iter().filter_map(|element| element.as_text())
}

fn within(branch: &PassageFilter, own: &OwnValues<'_>) -> bool {
    let is = |value, wanted: &str| text(value) == Some(wanted);
    let kind = branch
        .kinds
        .as_ref()
        .is_none_or(|kinds| kinds.iter().any(|kind| is(own.kind, kind)));
    let folder = branch
        .folder_id
        .as_ref()
        .is_none_or(|folder| !folder.is_empty() && is(own.folder, folder));
    let folders = branch
        .folder_ids
        .as_ref()
        .is_none_or(|folders| folders.iter().any(|folder| is(own.folder, folder)));
    let tags = branch.tags.as_ref().is_none_or(|tags| {
        let holds = |tag: &String| texts(own.tags).any(|held| held == tag);
        !tags.is_empty() && tags.iter().all(holds)
    });
    let source = branch
        .source_ids
        .as_ref()
        .is_none_or(|sources| sources.iter().any(|source| is(own.source, source)));
    kind && folder && folders && tags && source
}
