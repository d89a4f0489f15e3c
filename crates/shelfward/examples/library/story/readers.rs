//! Who asks, and what.

use std::error::Error;

use shelfward::filter::key;
use shelfward::library::{Mode, SearchRequest};
use shelfward::{Scope, ScopeError};

use super::sources::SPEAKERS;

/// A reader: a name to print, and the scope that the program gives them after it has found out who
/// they are.
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    pub(crate) scope: Scope,
}

/// Two readers of one tenant whose groups overlap, and one of another tenant.
pub(crate) fn readers() -> Result<Vec<Reader>, ScopeError> {
    Ok(vec![
        Reader {
            name: "ann",
            scope: Scope::of(
                "northwind",
                ["acct:ann", "team:engineering", "org:northwind"],
            )?,
        },
        Reader {
            name: "bo",
            scope: Scope::of("northwind", ["acct:bo", "team:finance", "org:northwind"])?,
        },
        Reader {
            name: "cleo",
            scope: Scope::of("harbor", ["acct:cleo", "org:harbor"])?,
        },
    ])
}

/// A question: how it is printed, and the request.
pub(crate) struct Question {
    pub(crate) shown: &'static str,
    pub(crate) request: SearchRequest,
}

/// In both tenants there is an answer; each reader finds their own.
pub(crate) fn allowance() -> Question {
    Question {
        shown: "daily allowance",
        request: SearchRequest::new("daily allowance").top_k(2),
    }
}

/// The memo and the notes speak of it.
pub(crate) fn defrosting() -> Question {
    Question {
        shown: "defrosting on demand",
        request: SearchRequest::new("defrosting on demand").top_k(2),
    }
}

/// Words alone, and all of them: without a dense leg, what does not hold them is not answered.
pub(crate) fn restart_delay() -> Question {
    Question {
        shown: "restart delay of the compressor; lexical, every word",
        request: SearchRequest::new("restart delay of the compressor")
            .mode(Mode::Lexical)
            .matching(shelfward::Match::All)
            .top_k(2),
    }
}

/// Narrowed by the library's own keys.
pub(crate) fn cooling() -> Question {
    Question {
        shown: "what does it cost; tagged cooling",
        request: SearchRequest::new("what does it cost")
            .tags(["cooling"])
            .top_k(2),
    }
}

/// Narrowed by a field that the caller declared.
pub(crate) fn said_by_priya() -> Result<Question, Box<dyn Error>> {
    let by_priya = key(SPEAKERS).eq("Priya Nair").build()?;
    Ok(Question {
        shown: "a larger budget; where Priya Nair speaks",
        request: SearchRequest::new("a larger budget")
            .filter(by_priya)
            .top_k(2),
    })
}

/// All of them.
pub(crate) fn questions() -> Result<Vec<Question>, Box<dyn Error>> {
    Ok(vec![
        allowance(),
        defrosting(),
        restart_delay(),
        cooling(),
        said_by_priya()?,
    ])
}
