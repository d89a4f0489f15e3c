//! From a request and a scope to what the store is asked, and what every hit must pass.

use shelfward_text::is_blank;

use super::narrowing::Narrowing;
use super::own::{ACL_GROUPS, ACTIVE, OWN_KEYS, STATUS, TENANT_ID, own};
use super::recheck::ReadCheck;
use super::{LibraryError, Refusal, SearchRequest};
use crate::ceilings::Ceilings;
use crate::filter::{Filter, FilterError, FilterProblem, Op};
use crate::metadata::Scalar;
use crate::scope::Scope;

/// What the store is asked for, and what every hit must pass.
pub(super) struct Plan {
    pub(super) filter: Filter,
    pub(super) check: ReadCheck,
}

/// Plans a search; `None` where nothing can be found, and nobody is asked.
pub(super) fn plan(
    scope: &Scope,
    request: &SearchRequest,
    ceilings: &Ceilings,
) -> Result<Option<Plan>, LibraryError> {
    check_request(request, ceilings)?;
    let branches = branches(request);
    if request.top_k == 0 || branches.is_empty() {
        return Ok(None);
    }
    let mut conditions = scope_conditions(scope);
    let narrowed = branches
        .iter()
        .map(Narrowing::conditions)
        .collect::<Result<Vec<_>, _>>()?;
    match <[Vec<Filter>; 1]>::try_from(narrowed) {
        Ok([only]) => conditions.extend(only),
        Err(several) => conditions.push(Filter::or(several.into_iter().map(Filter::and).collect())),
    }
    conditions.extend(request.filter.clone());
    let check = ReadCheck::new(scope, branches, request.filter.clone());
    Ok(Some(Plan {
        filter: Filter::and(conditions),
        check,
    }))
}

fn check_request(request: &SearchRequest, ceilings: &Ceilings) -> Result<(), LibraryError> {
    if is_blank(&request.text) {
        return Err(Refusal::BlankQuery.into());
    }
    if ceilings.is_long_query(&request.text) {
        let max = ceilings.query_chars;
        let chars = request.text.chars().count();
        return Err(Refusal::LongQuery { chars, max }.into());
    }
    if request.top_k > ceilings.request_top_k {
        return Err(Refusal::TopK {
            given: request.top_k,
            max: ceilings.request_top_k,
        }
        .into());
    }
    let tests = request
        .filter
        .as_ref()
        .map(Filter::tests)
        .unwrap_or_default();
    match tests
        .iter()
        .find(|test| OWN_KEYS.contains(&test.key().as_str()))
    {
        Some(test) => Err(FilterError::new(test.key(), FilterProblem::OwnField).into()),
        None => Ok(()),
    }
}

/// The branches that can find something, each with the search's narrowing filled in.
fn branches(request: &SearchRequest) -> Vec<Narrowing> {
    let all = match &request.any_of {
        None => vec![request.narrowing.clone()],
        Some(branches) => branches
            .iter()
            .map(|branch| branch.or(&request.narrowing))
            .collect(),
    };
    all.into_iter()
        .filter(|branch| !branch.finds_nothing())
        .collect()
}

fn scope_conditions(scope: &Scope) -> Vec<Filter> {
    let groups = scope.groups().iter().map(Scalar::from).collect();
    vec![
        Filter::test(own(TENANT_ID), Op::Eq(scope.tenant().into())),
        Filter::test(own(ACL_GROUPS), Op::In(groups)),
        Filter::test(own(STATUS), Op::Eq(active())),
    ]
}

pub(super) fn active() -> Scalar {
    // A text without U+0000, so this never falls back; were it to, nothing would match.
    Scalar::text(ACTIVE).unwrap_or(Scalar::Bool(false))
}
