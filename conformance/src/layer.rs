//! Adapters before others: what a layer does not override goes to the adapter behind it.

use std::sync::Arc;

use shelfward_core::adapter::{CollectionAdapter, StoreAdapter, WriteLocks};
use shelfward_core::{
    Capabilities, CollectionName, CollectionSpec, Count, Cursor, Filter, Include, Key, Leg,
    LegResult, MetadataPatch, Operation, Page, Precondition, Record, Replaced, Result, Selector,
    StoreError, StoredRecord, async_trait,
};

/// A trait whose members go to an adapter behind until they are overridden, and a type that makes an
/// adapter of what implements it.
macro_rules! layer {
    (
        $layer:ident, $layered:ident: $adapter:ident;
        $(fn $plain:ident($($plain_arg:ident: $plain_of:ty),*) -> $plain_to:ty;)+
        $(async fn $name:ident($($arg:ident: $of:ty),*) -> $to:ty;)+
    ) => {
        #[async_trait]
        pub trait $layer: Send + Sync {
            fn behind(&self) -> &Arc<dyn $adapter>;

            $(fn $plain(&self, $($plain_arg: $plain_of),*) -> $plain_to {
                self.behind().$plain($($plain_arg),*)
            })+

            $(async fn $name(&self, $($arg: $of),*) -> Result<$to> {
                self.behind().$name($($arg),*).await
            })+
        }

        pub struct $layered<L>(pub L);

        #[async_trait]
        impl<L: $layer> $adapter for $layered<L> {
            $(fn $plain(&self, $($plain_arg: $plain_of),*) -> $plain_to {
                self.0.$plain($($plain_arg),*)
            })+

            $(async fn $name(&self, $($arg: $of),*) -> Result<$to> {
                self.0.$name($($arg),*).await
            })+
        }
    };
}

layer! {
    StoreLayer, LayeredStore: StoreAdapter;
    fn kind() -> &'static str;
    fn capabilities(spec: &CollectionSpec) -> Capabilities;
    fn write_locks() -> WriteLocks;
    async fn create(spec: &CollectionSpec) -> ();
    async fn open(name: &CollectionName) -> Option<Arc<dyn CollectionAdapter>>;
    async fn list() -> Vec<CollectionName>;
    async fn drop_collection(name: &CollectionName) -> bool;
    async fn health() -> ();
    async fn close() -> ();
}

layer! {
    CollectionLayer, LayeredCollection: CollectionAdapter;
    fn spec() -> &CollectionSpec;
    fn capabilities() -> &Capabilities;
    fn unsupported(operation: Operation, what: &'static str) -> StoreError;
    async fn upsert(records: &[Record]) -> ();
    async fn delete(keys: &[Key]) -> Count;
    async fn search(legs: &[Leg]) -> Vec<LegResult>;
    async fn fetch(keys: &[Key], within: &Filter, include: Include) -> Vec<Option<StoredRecord>>;
    async fn replace(selector: &Selector, with: &[Record], precondition: Option<&Precondition>)
        -> Option<Replaced>;
    async fn delete_matching(selector: &Selector) -> Count;
    async fn delete_all() -> Count;
    async fn update_metadata(selector: &Selector, patch: &MetadataPatch) -> Count;
    async fn scan(filter: &Filter, after: Option<&Cursor>, limit: usize, include: Include) -> Page;
    async fn count(filter: &Filter) -> Count;
}
