//! One step of a case, done on ours.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shelfward_core::library::{IndexSource, Passage, ScopeChange, SearchRequest};
use shelfward_core::{CollectionName, Count, LibraryIndex, Metadata, Scope, SourceId, TenantId};
use shelfward_memory::MemoryStore;

use super::{raw, read};

pub(super) type Failure = Box<dyn std::error::Error>;

/// A library, the store under it, and the tenants that a case writes for.
pub(super) struct Library {
    pub(super) store: MemoryStore,
    pub(super) name: CollectionName,
    pub(super) index: LibraryIndex,
    pub(super) tenants: BTreeSet<String>,
}

impl Library {
    /// Does a step; answers what the original's step answers.
    pub(super) async fn step(&self, step: &Value) -> Result<Value, Failure> {
        let text = |name: &str| read::<String>(step, name);
        match text("op")?.as_str() {
            "indexSource" => self.index_source(member(step, "source")?).await,
            "search" => self.search(member(step, "query")?).await,
            "removeSource" => self.remove_source(&text("sourceId")?).await,
            "removeTenant" => {
                let tenant = self.index.tenant(TenantId::new(&text("tenantId")?)?);
                Ok(json!(tenant.remove_tenant().await?.exact()))
            }
            "setSourceScope" => {
                let change = scope_change(member(step, "change")?)?;
                self.set_source_scope(&text("sourceId")?, &change).await
            }
            "upsertRaw" => raw::upsert(&self.store, &self.name, step).await,
            other => Err(format!("the step {other} is not known").into()),
        }
    }

    async fn index_source(&self, source: &Value) -> Result<Value, Failure> {
        let text = |name: &str| read::<Option<String>>(source, name).map(Option::unwrap_or_default);
        let texts =
            |name: &str| read::<Option<Vec<String>>>(source, name).map(Option::unwrap_or_default);
        let groups = texts("aclGroups")?;
        let groups = groups.iter().map(String::as_str);
        let passages: Vec<Value> = read(source, "passages")?;
        let passages = passages.iter().map(|passage| -> Result<_, Failure> {
            let text: String = read(passage, "text")?;
            Ok(Passage::new(text).metadata(metadata(passage)?))
        });
        let filed = IndexSource::new(&text("sourceId")?, text("kind")?, groups)?
            .folder(text("folderId")?)
            .title(text("title")?)
            .tags(texts("tags")?)
            .metadata(metadata(source)?)
            .passages(passages.collect::<Result<Vec<_>, _>>()?)
            // The original always takes the old passages out.
            .allow_empty(true);
        let tenant = self.index.tenant(TenantId::new(&text("tenantId")?)?);
        let report = tenant.index_source(filed).await?;
        Ok(json!({ "passages": report.passages }))
    }

    async fn search(&self, query: &Value) -> Result<Value, Failure> {
        let scope = member(query, "scope")?;
        let groups: Vec<String> = read(scope, "aclGroups")?;
        let tenant: String = read(scope, "tenantId")?;
        let scope = Scope::of(&tenant, groups.iter().map(String::as_str))?;
        let mut request = query.clone();
        if let Value::Object(members) = &mut request {
            members.remove("scope");
        }
        let request: SearchRequest = serde_json::from_value(request)?;
        let mut passages =
            serde_json::to_value(self.index.search(&scope, &request).await?.passages)?;
        for passage in passages.as_array_mut().into_iter().flatten() {
            if let Value::Object(members) = passage {
                // The original does not tell where a passage came from.
                members.remove("legs");
            }
        }
        Ok(passages)
    }

    /// The original names no tenant here, so it is done in every one.
    async fn remove_source(&self, source: &str) -> Result<Value, Failure> {
        let source = SourceId::new(source)?;
        let mut removed = Count::Exact(0);
        for tenant in &self.tenants {
            let tenant = self.index.tenant(TenantId::new(tenant)?);
            removed = removed.plus(tenant.remove_source(&source).await?);
        }
        Ok(json!(removed.exact()))
    }

    /// As for a removal.
    async fn set_source_scope(&self, source: &str, to: &ScopeChange) -> Result<Value, Failure> {
        let source = SourceId::new(source)?;
        let mut matched = Count::Exact(0);
        for tenant in &self.tenants {
            let tenant = self.index.tenant(TenantId::new(tenant)?);
            matched = matched.plus(tenant.set_source_scope(&source, to).await?);
        }
        Ok(json!(matched.exact()))
    }
}

fn scope_change(change: &Value) -> Result<ScopeChange, Failure> {
    let mut made = ScopeChange::new();
    if let Some(groups) = read::<Option<Vec<String>>>(change, "aclGroups")? {
        made = made.groups(groups.iter().map(String::as_str))?;
    }
    if let Some(tags) = read::<Option<Vec<String>>>(change, "tags")? {
        made = made.tags(tags);
    }
    match change.get("folderId") {
        Some(Value::Null) => made = made.remove_folder(),
        Some(_) => made = made.folder(read::<String>(change, "folderId")?),
        None => {}
    }
    if let Some(title) = read::<Option<String>>(change, "title")? {
        made = made.title(title);
    }
    Ok(made)
}

fn member<'a>(value: &'a Value, name: &str) -> Result<&'a Value, String> {
    value.get(name).ok_or_else(|| format!("no {name}"))
}

pub(super) fn metadata(of: &Value) -> Result<Metadata, Failure> {
    match of.get("metadata") {
        None | Some(Value::Null) => Ok(Metadata::new()),
        Some(metadata) => Ok(Metadata::from_json(&metadata.to_string())?),
    }
}
