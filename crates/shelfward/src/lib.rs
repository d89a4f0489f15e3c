#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod connect;

pub use connect::{ConnectError, connect};

pub use shelfward_core::*;
/// Lexical, fuzzy and hybrid search in memory.
pub use shelfward_lexical as lexical;
/// Words, snippets, and texts cut into passages.
pub use shelfward_text as text;
/// The results of several search providers, fused and without doubles.
pub use shelfward_websearch as websearch;

/// Collections in a folder, with an approximate index.
#[cfg(feature = "hnsw")]
pub use shelfward_hnsw as hnsw;
/// The in-memory store.
#[cfg(feature = "memory")]
pub use shelfward_memory as memory;
/// Collections in a PostgreSQL database.
#[cfg(feature = "postgres")]
pub use shelfward_postgres as postgres;
/// Collections in a file.
#[cfg(feature = "sqlite")]
pub use shelfward_sqlite as sqlite;

// Pages outside of this crate, whose samples must compile and pass too. A published crate does not
// have them.
#[cfg(doctest)]
macro_rules! tested_pages {
    ($($name:ident: $file:literal),+ $(,)?) => {$(
        #[doc = include_str!(concat!("../../../", $file))]
        mod $name {}
    )+};
}

#[cfg(doctest)]
tested_pages! {
    readme: "README.md",
    quickstart: "docs/quickstart.md",
    scopes: "docs/scopes.md",
    filters: "docs/filters.md",
    library_index: "docs/library-index.md",
    cutting_documents: "docs/cutting-documents.md",
    embedders: "docs/embedders.md",
    configuring_a_library: "docs/configuring-a-library.md",
    recipes: "docs/recipes.md",
    errors: "docs/errors.md",
    search: "docs/search.md",
    fuzzy_search: "docs/fuzzy-search.md",
    audit: "docs/audit.md",
    limits: "docs/limits.md",
    capabilities: "docs/capabilities.md",
    embedded_stores: "docs/embedded-stores.md",
    port: "docs/port.md",
}

#[cfg(all(doctest, feature = "postgres"))]
tested_pages! {
    postgres_page: "docs/postgres.md",
}
