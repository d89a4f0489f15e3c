#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod adapter;
pub mod capabilities;
mod chain;
mod collection;
mod cursor;
mod embed;
mod error;
pub mod filter;
pub mod fusion;
mod in_flight;
pub mod library;
mod library_keys;
mod limits;
mod metadata;
mod names;
pub mod observer;
mod record;
mod scope;
mod search;
mod spec;
mod store;
mod write_locks;

pub use capabilities::Capabilities;
#[doc(hidden)]
pub use chain::write_chain;
pub use collection::Collection;
pub use embed::{EmbedError, Embedder, Role, embed_checked};
pub use error::{
    ErrorKind, FailedRecord, Operation, Persistence, Result, StoreError, VectorProblem,
};
pub use filter::{Filter, FilterError, Selector};
pub use library::LibraryIndex;
pub use limits::{Limits, LimitsBuilder, LimitsError};
pub use metadata::{
    Float, IntoValue, Kind, List, Metadata, MetadataError, MetadataKey, MetadataProblem,
    RESERVED_PREFIX, Scalar, Text, Value,
};
pub use names::{
    AccessGroup, CollectionName, NameError, NameProblem, SourceId, SourceKind, TenantId,
};
pub use record::{Include, Key, Record, StoredRecord};
pub use scope::{Groups, GroupsError, MAX_GROUPS, Scope, ScopeError};
pub use search::{
    Completeness, Count, Cursor, Hit, Leg, LegKind, LegQuery, LegResult, LimitReached,
    MAX_PREFIX_EXPANSIONS, MAX_WORD_BYTES, Match, MetadataPatch, Page, Precondition, QueryWord,
    Replaced, query_words,
};
pub use spec::{CollectionSpec, Field, FieldKind, FieldRole, Metric, SpecError};
pub use store::Store;

/// What an implementation of the traits in [`adapter`] is annotated with.
pub use async_trait::async_trait;
pub use shelfward_text::WordRule;
