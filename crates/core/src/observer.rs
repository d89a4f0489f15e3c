//! What happened, for audit: who asked, what was answered, what was dropped and why. Never a text,
//! and groups only as a keyed digest.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;

use crate::library::PassageId;
use crate::names::{SourceId, TenantId};
use crate::scope::Scope;
use crate::search::{Completeness, Count, LegKind};

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
    /// Passages were read by their ids.
    Fetched(Fetched),
    /// Sources were listed.
    Listed(Listed),
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
    pub answered: Vec<PassageId>,
    /// The hits that the store answered and the re-check dropped. Any here means that the store's
    /// filter is not to be trusted.
    pub dropped: Vec<DroppedHit>,
    /// What each leg did.
    pub legs: Vec<LegRan>,
    /// Whether the answer is all there was to answer.
    pub complete: bool,
}

/// Passages that were read by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Fetched {
    /// The tenant who asked.
    pub tenant: TenantId,
    /// The digest of the groups who asked, where a key for it was given.
    pub groups: Option<String>,
    /// How many ids were asked for.
    pub asked: usize,
    /// The ids answered, as `<sourceId>#<index>`, in the order asked for.
    pub answered: Vec<PassageId>,
    /// The passages that the store answered and the re-check dropped. Any here means that the
    /// store's filter is not to be trusted.
    pub dropped: Vec<DroppedHit>,
}

/// Sources that were listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Listed {
    /// The tenant who asked.
    pub tenant: TenantId,
    /// The digest of the groups who asked, where a key for it was given; `None` also for a listing by
    /// those who write the tenant's sources.
    pub groups: Option<String>,
    /// The ids of the sources answered, in their order.
    pub answered: Vec<SourceId>,
    /// The first passages that the store answered and the re-check dropped. Any here means that the
    /// store's filter is not to be trusted.
    pub dropped: Vec<DroppedHit>,
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
    pub end: Completeness,
}

impl LegRan {
    /// What a leg did, for a search that runs one of its own beside the library's.
    pub fn new(leg: LegKind, rounds: u32, kept: usize, end: Completeness) -> Self {
        Self {
            leg,
            rounds,
            kept,
            end,
        }
    }
}

/// A write that was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Changed {
    /// The tenant whose library was changed.
    pub tenant: TenantId,
    /// The source, or `None` for the whole tenant.
    pub source: Option<SourceId>,
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
    pub source: Option<SourceId>,
    /// `indexed`, `rescoped` or `removed`.
    pub change: &'static str,
    /// The error's text, which holds no document text.
    pub error: String,
}

/// The key of the digests of groups: keep it as any secret. Without one, events hold no digest,
/// since a plain hash of a group's name can be guessed.
#[derive(Clone)]
pub struct DigestKey(Vec<u8>);

/// The key of the digests is too short.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a digest key of {bytes} bytes can be guessed; at least {} are needed, take 32 random ones",
    DigestKey::MIN_BYTES
)]
pub struct ShortDigestKey {
    /// How many bytes were given.
    pub bytes: usize,
}

crate::debug_as_chain!(ShortDigestKey);

impl DigestKey {
    /// The fewest bytes of a key.
    pub const MIN_BYTES: usize = 16;

    /// A key of at least 16 bytes; 32 random ones are right.
    ///
    /// # Errors
    /// [`ShortDigestKey`], as for a key from an environment variable that is not set.
    ///
    /// ```
    /// use shelfward_core::observer::DigestKey;
    /// assert!(DigestKey::new([7; 32]).is_ok());
    /// assert!(DigestKey::new("").is_err());
    /// ```
    pub fn new(key: impl Into<Vec<u8>>) -> Result<Self, ShortDigestKey> {
        let key = key.into();
        match key.len() {
            bytes if bytes < Self::MIN_BYTES => Err(ShortDigestKey { bytes }),
            _ => Ok(Self(key)),
        }
    }

    /// HMAC-SHA-256 over the scope's tenant and groups, as 64 hex digits. The order in which the
    /// groups were given does not matter, and groups of one name in two tenants have two digests.
    pub fn digest(&self, scope: &Scope) -> String {
        // HMAC takes keys of every length, so this cannot fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        let groups = scope.groups().iter().map(|group| group.as_str());
        for name in std::iter::once(scope.tenant().as_str()).chain(groups) {
            mac.update(&(name.len() as u64).to_be_bytes());
            mac.update(name.as_bytes());
        }
        crate::library::hex(&mac.finalize().into_bytes())
    }
}

impl fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DigestKey(…)")
    }
}
