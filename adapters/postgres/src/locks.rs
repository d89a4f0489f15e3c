//! The turns of writers, as advisory locks that the server holds until a transaction ends.
//!
//! A transaction alone does not order writers: under "read committed" a replace can leave passages
//! of a source that another transaction filed meanwhile. So each writer first takes the locks of what
//! it is about to change, from the wide to the narrow and in the order of their numbers: those above
//! shared, its own exclusive. Locks are numbers, drawn from names by a hash.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use shelfward_core::adapter::LockScope;

/// A lock to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lock {
    /// 0 is the widest; a writer takes them in this order.
    level: u8,
    number: i64,
    shared: bool,
}

/// A transaction takes at most so many: the server has room for a number of them in all.
const MAX_LOCKS: usize = 64;

/// The locks of a writer of a collection; `table` names it on the server.
pub(crate) fn of_scope(table: &str, scope: &LockScope) -> Vec<Lock> {
    let collection = |shared| lock(0, shared, &[table]);
    let mut locks = match scope {
        LockScope::Units { partition, units } if units.len() <= MAX_LOCKS => {
            let partition = partition.as_str();
            let mut locks = vec![collection(true), lock(1, true, &[table, partition])];
            let units = units.iter();
            locks.extend(units.map(|unit| lock(2, false, &[table, partition, unit.as_str()])));
            locks
        }
        LockScope::Units { partition, .. } => {
            let partition = lock(1, false, &[table, partition.as_str()]);
            vec![collection(true), partition]
        }
        LockScope::Partitions(partitions) if partitions.len() <= MAX_LOCKS => {
            let mut locks = vec![collection(true)];
            let partitions = partitions.iter();
            locks.extend(partitions.map(|p| lock(1, false, &[table, p.as_str()])));
            locks
        }
        _ => vec![collection(false)],
    };
    locks.sort();
    locks
}

/// The lock of those who make, change and drop tables under a prefix.
pub(crate) fn of_tables(registry: &str) -> Lock {
    lock(0, false, &["tables", registry])
}

/// The lock of those who install the extension.
pub(crate) fn of_extension() -> Lock {
    lock(0, false, &["extension"])
}

/// The lock of a whole collection.
pub(crate) fn of_collection(table: &str) -> Lock {
    lock(0, false, &[table])
}

fn lock(level: u8, shared: bool, names: &[&str]) -> Lock {
    let mut hasher = Sha256::new();
    hasher.update([level]);
    for name in names {
        hasher.update(name.len().to_be_bytes());
        hasher.update(name.as_bytes());
    }
    let digest = hasher.finalize();
    let (bytes, _) = digest.as_slice().as_chunks::<8>();
    Lock {
        level,
        number: i64::from_be_bytes(bytes.first().copied().unwrap_or_default()),
        shared,
    }
}

/// The statements that take locks, each ended by a semicolon. They hold nothing but numbers.
pub(crate) fn statements(locks: &[Lock]) -> String {
    let mut sql = String::new();
    for lock in locks {
        let shared = if lock.shared { "_shared" } else { "" };
        // Writing to a text cannot fail.
        let _ = write!(
            sql,
            "SELECT pg_advisory_xact_lock{shared}({});",
            lock.number
        );
    }
    sql
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use shelfward_core::Text;

    use super::*;

    fn text(text: &str) -> Text {
        Text::new(text).unwrap()
    }

    #[test]
    fn writers_of_one_source_and_of_its_tenant_exclude_each_other() {
        let units = |unit: &str| LockScope::Units {
            partition: text("t"),
            units: BTreeSet::from([text(unit)]),
        };
        let exclude = |a: &LockScope, b: &LockScope| {
            let (a, b) = (of_scope("c", a), of_scope("c", b));
            a.iter()
                .any(|a| (b.iter()).any(|b| a.number == b.number && !(a.shared && b.shared)))
        };
        let tenant = LockScope::Partitions(BTreeSet::from([text("t")]));
        let other = LockScope::Partitions(BTreeSet::from([text("u")]));
        assert!(exclude(&units("a"), &units("a")));
        assert!(!exclude(&units("a"), &units("b")));
        assert!(exclude(&units("a"), &tenant));
        assert!(!exclude(&units("a"), &other));
        assert!(exclude(&units("a"), &LockScope::Collection));
        assert!(exclude(&other, &LockScope::Collection));
    }

    #[test]
    fn many_are_locked_by_what_holds_them() {
        let many: BTreeSet<Text> = (0..65).map(|n| text(&n.to_string())).collect();
        let units = LockScope::Units {
            partition: text("t"),
            units: many.clone(),
        };
        assert_eq!(of_scope("c", &units).len(), 2);
        assert_eq!(of_scope("c", &LockScope::Partitions(many)).len(), 1);
    }
}
