//! What happened, for audit: who asked, what was answered, what was dropped and why. Never a text,
//! and groups only as a keyed digest.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;

use crate::names::TenantId;
use crate::scope::Scope;
use crate::search::{Count, End, LegKind};

/// Receives the events of a [`LibraryIndex`](crate::LibraryIndex). Called in the path of the
/// request: hand over and return.
pub trait Observer: Send + Sync {
    /// Takes one event.
    fn observe(&self, event: &Event);
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event")]
#[non_exhaustive]
pub enum Event {
    /// A search was answered.
    Searched(Searched),
    /// A source was indexed, re-scoped or removed, or a tenant removed.
    Changed(Changed),
    /// A write failed, and may have changed something before it did.
    Failed(Failed),
}

/// A search that was answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Searched {
    /// The tenant who asked.
    pub tenant: TenantId,
    /// The digest of the groups who asked, where a key for it was given.
    pub groups: Option<String>,
    /// The ids answered, as `<sourceId>#<index>`, best first.
    pub answered: Vec<String>,
    /// The hits that the store answered and the re-check dropped. Any here means that the store's
    /// filter is not to be trusted.
    pub dropped: Vec<DroppedHit>,
    /// What each leg did.
    pub legs: Vec<LegRan>,
    /// Whether the answer is all there was to answer.
    pub complete: bool,
}

/// A hit that was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DroppedHit {
    /// The store's key of it.
    pub key: String,
    /// What it failed.
    pub reason: &'static str,
}

/// What one leg did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegRan {
    /// Which index was searched.
    pub leg: LegKind,
    /// How often the store was asked.
    pub rounds: u32,
    /// How many hits passed the re-check.
    pub kept: usize,
    /// How it ended.
    pub end: End,
}

/// A write that was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Changed {
    /// The tenant whose library was changed.
    pub tenant: TenantId,
    /// The source, or `None` for the whole tenant.
    pub source: Option<String>,
    /// `indexed`, `rescoped` or `removed`.
    pub change: &'static str,
    /// How many passages it was about.
    pub passages: Count,
}

/// A write that failed after it was sent. The error says what is known of what it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failed {
    /// The tenant whose library was to be changed.
    pub tenant: TenantId,
    /// The source, or `None` for the whole tenant.
    pub source: Option<String>,
    /// `indexed`, `rescoped` or `removed`.
    pub change: &'static str,
    /// The error's text, which holds no document text.
    pub error: String,
}

/// The key of the digests of groups: keep it as any secret. Without one, events hold no digest,
/// since a plain hash of a group's name can be guessed.
#[derive(Clone)]
pub struct DigestKey(Vec<u8>);

impl DigestKey {
    /// A key of any length; 32 random bytes are right.
    pub fn new(key: impl Into<Vec<u8>>) -> Self {
        Self(key.into())
    }

    /// HMAC-SHA-256 over the scope's groups, as 64 hex digits. The order in which the groups were
    /// given does not matter.
    pub fn digest(&self, scope: &Scope) -> String {
        // HMAC takes keys of every length, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        for group in scope.groups() {
            mac.update(&(group.as_str().len() as u64).to_be_bytes());
            mac.update(group.as_str().as_bytes());
        }
        crate::library::hex(&mac.finalize().into_bytes())
    }
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey(…)")
    }
}
