//! From a request and a scope to what the store is asked, and what every hit must pass.

use shelfward_text::is_blank;

use super::own::{ACL_GROUPS, ACTIVE, OWN_KEYS, STATUS, TENANT_ID, own};
use super::passage_filter::PassageFilter;
use super::recheck::ReadCheck;
use super::{LibraryError, Reading, Refusal, SearchRequest};
use crate::filter::{Filter, FilterError, FilterProblem, Op};
use crate::limits::Limits;
use crate::metadata::Scalar;
use crate::names::TenantId;
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
    limits: &Limits,
) -> Result<Option<Plan>, LibraryError> {
    check_request(request, limits)?;
    let plan = plan_reading(scope, &request.reading)?;
    Ok(plan.filter(|_| request.top_k > 0))
}

/// Plans what is read; `None` where nothing can be found, and nobody is asked.
pub(super) fn plan_reading(scope: &Scope, reading: &Reading) -> Result<Option<Plan>, LibraryError> {
    plan_within(scope_conditions(scope), reading, |narrowing, filter| {
        ReadCheck::new(scope, narrowing, filter)
    })
}

/// Plans what is read of a tenant for those who may write all of it.
pub(super) fn plan_tenant(
    tenant: &TenantId,
    reading: &Reading,
) -> Result<Option<Plan>, LibraryError> {
    plan_within(
        tenant_conditions(tenant).into(),
        reading,
        |narrowing, filter| ReadCheck::of_tenant(tenant, narrowing, filter),
    )
}

fn plan_within(
    mut conditions: Vec<Filter>,
    reading: &Reading,
    check: impl FnOnce((PassageFilter, Vec<PassageFilter>), Option<Filter>) -> ReadCheck,
) -> Result<Option<Plan>, LibraryError> {
    check_filter(reading.filter.as_ref())?;
    let (every, any) = reading.narrowings();
    if any.is_empty() {
        return Ok(None);
    }
    conditions.extend(every.conditions()?);
    let narrowed = any
        .iter()
        .map(PassageFilter::conditions)
        .collect::<Result<Vec<_>, _>>()?;
    match <[Vec<Filter>; 1]>::try_from(narrowed) {
        Ok([only]) => conditions.extend(only),
        Err(several) => conditions.push(Filter::or(several.into_iter().map(Filter::and).collect())),
    }
    conditions.extend(reading.filter.clone());
    Ok(Some(Plan {
        filter: Filter::and(conditions),
        check: check((every, any), reading.filter.clone()),
    }))
}

fn check_request(request: &SearchRequest, limits: &Limits) -> Result<(), LibraryError> {
    if is_blank(&request.text) {
        return Err(Refusal::BlankQuery.into());
    }
    if limits.is_long_query(&request.text) {
        let max = limits.query_chars;
        let chars = request.text.chars().count();
        return Err(Refusal::LongQuery { chars, max }.into());
    }
    if request.top_k > limits.request_top_k {
        return Err(Refusal::TopK {
            given: request.top_k,
            max: limits.request_top_k,
        }
        .into());
    }
    Ok(())
}

fn check_filter(filter: Option<&Filter>) -> Result<(), LibraryError> {
    let tests = filter.map(Filter::tests).unwrap_or_default();
    match tests
        .iter()
        .find(|test| OWN_KEYS.contains(&test.key().as_str()))
    {
        Some(test) => Err(FilterError::new(test.key(), FilterProblem::OwnField).into()),
        None => Ok(()),
    }
}

fn scope_conditions(scope: &Scope) -> Vec<Filter> {
    let groups = scope.groups().iter().map(Scalar::from).collect();
    let [tenant, status] = tenant_conditions(scope.tenant());
    vec![
        tenant,
        Filter::test(own(ACL_GROUPS), Op::In(groups)),
        status,
    ]
}

fn tenant_conditions(tenant: &TenantId) -> [Filter; 2] {
    [
        Filter::test(own(TENANT_ID), Op::Eq(tenant.into())),
        Filter::test(own(STATUS), Op::Eq(active())),
    ]
}

pub(super) fn active() -> Scalar {
    // A text without U+0000, so this never falls back; were it to, nothing would match.
    Scalar::text(ACTIVE).unwrap_or(Scalar::Bool(false))
}
