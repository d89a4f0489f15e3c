//! Who is asking: the scope that every search names.

use std::fmt;

use crate::names::{AccessGroup, NameError, TenantId};

/// A reader's scope: their tenant, and the access groups they belong to (at least one, at most
/// 9,000; repeated groups count once).
///
/// There is no way to search without one, no empty one, and no reading one from data.
///
/// ```
/// use shelfward_core::Scope;
/// let scope = Scope::of("org1", ["acct:ann", "org:org1"])?;
/// assert_eq!(scope.tenant().as_str(), "org1");
/// assert_eq!(scope.groups().len(), 2);
/// assert!(Scope::of("org1", Vec::<&str>::new()).is_err());
/// # Ok::<(), shelfward_core::ScopeError>(())
/// ```
/// ```compile_fail
/// let scope = shelfward_core::Scope::default();
/// ```
/// ```compile_fail
/// let scope: shelfward_core::Scope = serde_json::from_str("{}").unwrap();
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Scope {
    tenant: TenantId,
    // Sorted and without repeats, so that a digest of them does not depend on the caller's order.
    groups: Vec<AccessGroup>,
}

/// The most groups in one scope, and on one source.
pub const MAX_GROUPS: usize = 9_000;

/// Why a scope was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// There is no group.
    #[error("a scope needs at least one access group; a reader in no group can read nothing")]
    NoGroups,
    /// There are too many groups.
    #[error("a scope holds at most {max} access groups, this one has {groups}")]
    TooManyGroups {
        /// How many were given.
        groups: usize,
        /// The limit.
        max: usize,
    },
    /// The tenant or a group is refused.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// The access groups that may see a source: at least one, at most 9,000.
///
/// ```
/// use shelfward_core::Groups;
/// assert!(Groups::of(["team:harbor"]).is_ok());
/// assert!(Groups::of(Vec::<&str>::new()).is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Groups(Vec<AccessGroup>);

/// Why groups were refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupsError {
    /// There is none.
    #[error("a source needs at least one access group; without one nobody could read it")]
    NoGroups,
    /// There are too many.
    #[error("{groups} access groups are given, at most {max} are allowed")]
    TooManyGroups {
        /// How many were given.
        groups: usize,
        /// The limit.
        max: usize,
    },
    /// A group is refused.
    #[error(transparent)]
    Name(#[from] NameError),
}

crate::debug_as_chain!(ScopeError, GroupsError);

impl Groups {
    /// Checked names as groups, in their order.
    ///
    /// # Errors
    /// [`GroupsError::NoGroups`] or [`GroupsError::TooManyGroups`].
    pub fn new(groups: impl IntoIterator<Item = AccessGroup>) -> Result<Self, GroupsError> {
        let groups: Vec<_> = groups.into_iter().collect();
        match groups.len() {
            0 => Err(GroupsError::NoGroups),
            n if n > MAX_GROUPS => Err(GroupsError::TooManyGroups {
                groups: n,
                max: MAX_GROUPS,
            }),
            _ => Ok(Self(groups)),
        }
    }

    /// Plain texts as groups.
    ///
    /// # Errors
    /// [`GroupsError`] for an empty or over-long name, and as [`Groups::new`].
    pub fn of<G: AsRef<str>>(groups: impl IntoIterator<Item = G>) -> Result<Self, GroupsError> {
        let named = groups
            .into_iter()
            .map(|group| AccessGroup::new(group.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        Self::new(named)
    }

    /// The groups, in the order given.
    pub fn as_slice(&self) -> &[AccessGroup] {
        &self.0
    }
}

/// Shows how many, not which.
impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Groups({})", self.0.len())
    }
}

impl Scope {
    /// A scope of checked names.
    ///
    /// # Errors
    /// [`ScopeError::NoGroups`] or [`ScopeError::TooManyGroups`].
    pub fn new(
        tenant: TenantId,
        groups: impl IntoIterator<Item = AccessGroup>,
    ) -> Result<Self, ScopeError> {
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_unstable();
        groups.dedup();
        match groups.len() {
            0 => Err(ScopeError::NoGroups),
            n if n > MAX_GROUPS => Err(ScopeError::TooManyGroups {
                groups: n,
                max: MAX_GROUPS,
            }),
            _ => Ok(Self { tenant, groups }),
        }
    }

    /// A scope of plain texts.
    ///
    /// # Errors
    /// [`ScopeError`] for an empty or over-long name, and as [`Scope::new`].
    pub fn of<G: AsRef<str>>(
        tenant: impl AsRef<str>,
        groups: impl IntoIterator<Item = G>,
    ) -> Result<Self, ScopeError> {
        let groups = groups
            .into_iter()
            .map(|group| AccessGroup::new(group.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        Self::new(TenantId::new(tenant)?, groups)
    }

    /// The tenant.
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// The groups, sorted, each once.
    pub fn groups(&self) -> &[AccessGroup] {
        &self.groups
    }
}

/// Shows the tenant and how many groups, not which: logs do not say who is in what.
impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("tenant", &self.tenant)
            .field("groups", &self.groups.len())
            .finish()
    }
}
