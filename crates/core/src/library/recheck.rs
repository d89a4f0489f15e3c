//! The second of the two checks: every hit against the scope and the narrowing, on its own metadata.
//!
//! This is written against the scope itself and shares nothing with the filter that the store was
//! sent, so that one mistake cannot be in both.

use std::collections::HashSet;

use super::own::{ACL_GROUPS, ACTIVE, FOLDER_ID, INDEX, KIND, SOURCE_ID, STATUS, TAGS, TENANT_ID};
use super::passage_filter::PassageFilter;
use crate::collection::Verdict;
use crate::filter::Filter;
use crate::metadata::{Metadata, Text, Value};
use crate::names::AccessGroup;
use crate::scope::Scope;
use crate::search::Hit;

/// What every hit of one search must pass.
pub(super) struct ReadCheck {
    tenant: Text,
    groups: HashSet<AccessGroup>,
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
        Self {
            tenant: scope.tenant().to_text(),
            groups: scope.groups().iter().cloned().collect(),
            every,
            any,
            filter,
        }
    }

    pub(super) fn verdict(&self, hit: &Hit) -> Verdict {
        let metadata = &*hit.metadata;
        // Plain texts only: a list that holds the tenant belongs to nobody in particular.
        if metadata.text(TENANT_ID) != Some(self.tenant.as_str()) {
            return Verdict::Drop("tenant");
        }
        if hit.key.partition.as_ref() != Some(&self.tenant) {
            return Verdict::Drop("the partition of its key");
        }
        if metadata.text(STATUS) != Some(ACTIVE) {
            return Verdict::Drop("status");
        }
        if !texts(metadata, ACL_GROUPS).any(|group| self.holds_group(group)) {
            return Verdict::Drop("access groups");
        }
        if !is_a_passage(metadata) {
            return Verdict::Drop("no source id, kind or index");
        }
        let any = self.any.iter().any(|branch| within(branch, metadata));
        if !any || !within(&self.every, metadata) {
            return Verdict::Drop("narrowing");
        }
        if self
            .filter
            .as_ref()
            .is_some_and(|filter| !filter.matches(metadata))
        {
            return Verdict::Drop("the caller's filter");
        }
        Verdict::Keep
    }

    fn holds_group(&self, group: &str) -> bool {
        self.groups.contains(group)
    }
}

fn is_a_passage(metadata: &Metadata) -> bool {
    let named = |key| metadata.text(key).is_some_and(|text| !text.is_empty());
    named(SOURCE_ID) && named(KIND) && index_of(metadata).is_some()
}

/// The number of a passage in its source.
pub(super) fn index_of(metadata: &Metadata) -> Option<u64> {
    metadata
        .get(INDEX)
        .and_then(Value::as_integer)
        .and_then(|index| u64::try_from(index).ok())
}

/// The texts of a value or a list.
pub(super) fn texts<'a>(metadata: &'a Metadata, key: &str) -> impl Iterator<Item = &'a str> {
    let elements = metadata.get(key).map_or(&[][..], Value::elements);
    elements.iter().filter_map(|element| element.as_text())
}

fn within(branch: &PassageFilter, metadata: &Metadata) -> bool {
    let is = |key: &str, wanted: &str| metadata.text(key) == Some(wanted);
    let kind = branch
        .kinds
        .as_ref()
        .is_none_or(|kinds| kinds.iter().any(|kind| is(KIND, kind)));
    let folder = branch
        .folder_id
        .as_ref()
        .is_none_or(|folder| !folder.is_empty() && is(FOLDER_ID, folder));
    let folders = branch
        .folder_ids
        .as_ref()
        .is_none_or(|folders| folders.iter().any(|folder| is(FOLDER_ID, folder)));
    let tags = branch.tags.as_ref().is_none_or(|tags| {
        let holds = |tag: &String| texts(metadata, TAGS).any(|held| held == tag);
        !tags.is_empty() && tags.iter().all(holds)
    });
    let source = branch
        .source_ids
        .as_ref()
        .is_none_or(|sources| sources.iter().any(|source| is(SOURCE_ID, source.as_str())));
    kind && folder && folders && tags && source
}
