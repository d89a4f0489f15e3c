#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod capabilities;
mod ceilings;
mod checked;
mod cursor;
mod embed;
mod error;
pub mod filter;
pub mod fusion;
pub mod library;
mod metadata;
mod names;
pub mod observer;
mod port;
mod record;
mod scope;
mod search;
mod spec;
mod store;
mod write_order;

pub use capabilities::Capabilities;
pub use ceilings::Ceilings;
pub use embed::{EmbedError, Embedder, Role, embed_checked};
pub use error::{
    ErrorKind, FailedRecord, Operation, Persistence, Result, StoreError, VectorProblem,
};
pub use filter::{Filter, FilterError, NarrowFilter};
pub use library::LibraryIndex;
pub use metadata::{
    Float, IntoValue, Kind, List, Metadata, MetadataError, MetadataKey, MetadataProblem,
    RESERVED_PREFIX, Scalar, Text, Value,
};
pub use names::{AccessGroup, CollectionName, NameError, NameProblem, SourceId, TenantId};
pub use port::{Collection, VectorStore};
pub use record::{Include, Key, Record, StoredRecord};
pub use scope::{MAX_GROUPS, Scope, ScopeError};
pub use search::{
    Ask, Cap, Count, Cursor, End, Expected, Found, Hit, Leg, MAX_PREFIX_EXPANSIONS, MAX_WORD_BYTES,
    Match, MetadataPatch, Page, QueryWord, Replaced, query_words,
};
pub use spec::{CollectionSpec, Field, FieldKind, FieldRole, Metric, SpecError};
pub use store::Store;
pub use write_order::{Claim, WriteOrder, WriteTurn};

/// What an adapter's implementation of the two traits is annotated with.
pub use async_trait::async_trait;
pub use shelfward_text::WordRule;
