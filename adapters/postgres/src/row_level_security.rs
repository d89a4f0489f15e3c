//! Policies by which the server itself answers a reader only from what they may read.
//!
//! They are made of the same scope as the filter of every search: tenant, groups and status. The
//! role that reads owns nothing and bypasses nothing; a search sets its scope for one statement, and
//! without a scope the role reads no row at all, whatever statement it runs.

use shelfward_core::library::{ACL_GROUPS, ACTIVE, STATUS, TENANT_ID};
use shelfward_core::{CollectionSpec, ErrorKind, FieldKind, Filter, Scalar};

use crate::error::Result;
use crate::identifier::{Identifier, literal};
use crate::names::TableNames;
use crate::params::Param;
use crate::schema::column;

/// Where the tenant of a search is set.
const TENANT: &str = "shelfward.tenant";
/// Where the groups of a search are set, as an array.
const GROUPS: &str = "shelfward.groups";

/// The role that searches under row-level security. It must exist, must not own the tables, and must
/// not bypass row-level security.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The role's name.
    pub role: Identifier,
}

impl Reader {
    /// A role.
    pub fn new(role: Identifier) -> Self {
        Self { role }
    }
}

/// What a statement sets before it reads by a filter.
pub(crate) fn settings(
    filter: &Filter,
    spec: &CollectionSpec,
) -> Result<Vec<(&'static str, Param)>> {
    if filter.is_nothing() {
        return Ok(Vec::new());
    }
    let texts = |key: &str| {
        let values = filter.pinned(key).unwrap_or_default();
        let text = |value: Scalar| value.as_text().map(str::to_owned);
        values.into_iter().filter_map(text).collect::<Vec<_>>()
    };
    fields(spec)?;
    let (mut tenant, groups) = (texts(TENANT_ID), texts(ACL_GROUPS));
    match (tenant.pop(), tenant.is_empty(), groups.is_empty()) {
        (Some(tenant), true, false) => Ok(vec![
            (TENANT, Param::text(tenant)),
            (GROUPS, Param::texts(groups)),
        ]),
        _ => {
            let right = "under row-level security a read names one tenant and its groups, as every \
                         search of a library does";
            Err(ErrorKind::Invalid(right.to_owned()).into())
        }
    }
}

/// Refuses a read where the server does not do what the options say. Policies without a scope hide
/// every row, which would be an answer that is empty and wrong; and a role that bypasses them is
/// held back by nothing.
pub(crate) fn check(by_policies: bool, asked_for: bool) -> Result<(), ErrorKind> {
    let right = match (by_policies, asked_for) {
        (true, false) => {
            "row-level security applies to this role, and a read of it names no scope; to search, connect \
             with row_level_security=true, to file as the table's owner or a role with BYPASSRLS"
        }
        (false, true) => {
            "row_level_security is on, and no policy applies to this role: it owns the table, bypasses \
             row-level security, or the table has no policies; connect as the reader that they name"
        }
        _ => return Ok(()),
    };
    Err(ErrorKind::Invalid(right.to_owned()))
}

/// Refuses a write by a role that policies apply to: they would hide what is to be replaced.
pub(crate) fn check_writer(by_policies: bool) -> Result<(), ErrorKind> {
    if by_policies {
        return Err(ErrorKind::Unsupported(
            "writing as a role that row-level security applies to; write as the one that owns the table or \
             a role with BYPASSRLS",
        ));
    }
    Ok(())
}

/// The columns of tenant, groups and status.
fn fields(spec: &CollectionSpec) -> Result<[String; 3], ErrorKind> {
    let place = |key: &str, kind: FieldKind| {
        let mut fields = spec.fields.iter().enumerate();
        let found = fields.find(|(_, field)| field.key.as_str() == key && field.kind == kind);
        found.map(|(at, field)| column(at, field))
    };
    let all = [
        place(TENANT_ID, FieldKind::Text),
        place(ACL_GROUPS, FieldKind::TextList),
        place(STATUS, FieldKind::Text),
    ];
    let [Some(tenant), Some(groups), Some(status)] = all else {
        let right =
            "row-level security is for the collections of a library, which declare its fields";
        return Err(ErrorKind::Invalid(right.to_owned()));
    };
    Ok([tenant, groups, status])
}

/// The statements that let a role read within a scope alone.
pub(crate) fn statements(
    names: &TableNames,
    spec: &CollectionSpec,
    reader: &Reader,
) -> Result<Vec<String>, ErrorKind> {
    let [tenant, groups, status] = fields(spec)?;
    let table = names.table(&spec.name);
    let (role, active) = (&reader.role, literal(ACTIVE));
    // In a query of their own, the settings are read once and not for every row. Unset, they are
    // null, and nothing equals null.
    let set = |name: &str| format!("nullif(current_setting('{name}', true), '')");
    Ok(vec![
        format!("ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"),
        // Of each role's own name, so that there may be several.
        format!("DROP POLICY IF EXISTS {role} ON {table}"),
        format!(
            "CREATE POLICY {role} ON {table} FOR SELECT TO {role} USING \
             ({tenant} = (SELECT {}) AND {groups} OPERATOR(pg_catalog.&&) (SELECT {}::text[]) AND {status} = {active})",
            set(TENANT),
            set(GROUPS)
        ),
        format!("GRANT USAGE ON SCHEMA {} TO {role}", names.schema()),
        format!("GRANT SELECT ON {table}, {} TO {role}", names.registry()),
    ])
}
