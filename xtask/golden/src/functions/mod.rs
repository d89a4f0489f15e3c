//! The functions whose cases are run, and those whose cases only describe the originals.

mod chunk_turns;
mod in_memory_filter;
mod lexical_tokens;
mod library_index;
mod reciprocal_rank_fusion;

use serde_json::Value;

use crate::compare::Compared;

/// What a golden file's `function` is here.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Ours {
        name: &'static str,
        run: fn(&Value, &Value) -> Compared,
    },
    /// Evidence of what the originals do.
    Described(&'static str),
}

impl Function {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ours { name, .. } | Self::Described(name) => name,
        }
    }
}

/// The text in a file's `function`, and what it is here.
const KNOWN: [(&str, Function); 14] = [
    (
        "lexicalTokens",
        Function::Ours {
            name: "lexicalTokens",
            run: lexical_tokens::run,
        },
    ),
    (
        "chunkTurns",
        Function::Ours {
            name: "chunkTurns",
            run: chunk_turns::run,
        },
    ),
    (
        "InMemoryVectorStore filter evaluation",
        Function::Ours {
            name: "inMemoryFilter",
            run: in_memory_filter::run,
        },
    ),
    (
        "LibraryIndex on InMemoryVectorStore",
        Function::Ours {
            name: "libraryIndex",
            run: library_index::run,
        },
    ),
    (
        "reciprocalRankFusion",
        Function::Ours {
            name: "reciprocalRankFusion",
            run: reciprocal_rank_fusion::run,
        },
    ),
    (
        "scopeToMetadataFilter + mergeMetadataFilters",
        Function::Described("scopeFilter"),
    ),
    (
        "InMemoryVectorStore operations",
        Function::Described("inMemoryStore"),
    ),
    (
        "LibraryIndex against a recording store",
        Function::Described("libraryIndexCalls"),
    ),
    (
        "filter evaluation store by store",
        Function::Described("storeFilterMatrix"),
    ),
    (
        "requests each remote store sends",
        Function::Described("storeRequests"),
    ),
    (
        "hybridSearch fusion done by the client",
        Function::Described("storeFusion"),
    ),
    (
        "SqlVectorStore.query / hybridSearch",
        Function::Described("sqlStoreSearch"),
    ),
    (
        "PostgresVectorStore filter -> SQL facts",
        Function::Described("postgresFilterSql"),
    ),
    (
        "PostgresVectorStore.lexicalSearch / hybridSearch",
        Function::Described("postgresSearch"),
    ),
];

/// The function of a file, whose text may go on after the name with a remark.
pub(crate) fn by_text(text: &str) -> Option<Function> {
    let names = |name: &str| {
        text == name
            || text
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(' '))
    };
    KNOWN
        .iter()
        .find(|(name, _)| names(name))
        .map(|(_, function)| *function)
}
