//! What is filed: sources whose texts all follow from a number, so that a model of them is small.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shelfward::library::{IndexSource, LibrarySpec, Passage};
use shelfward::{
    CollectionName, EmbedError, Embedder, Field, FieldKind, Groups, Metadata, MetadataKey,
    NameError, Role, Scope, ScopeError, SourceId, SourceKind, TenantId, WordRule, async_trait,
};

pub(crate) const TENANTS: usize = 3;
/// Of each tenant.
pub(crate) const SOURCES: usize = 24;
/// One bit of a `u8` each.
pub(crate) const GROUPS: u32 = 8;
pub(crate) const TAGS: u32 = 4;
pub(crate) const FOLDERS: u8 = 3;
const WIDTH: u8 = 16;

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The groups that may read it, a bit each; never none.
    pub(crate) groups: u8,
    /// 0 is none.
    pub(crate) folder: u8,
    pub(crate) tags: u8,
}

/// What is in force of a source that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) content: u64,
    pub(crate) place: Place,
}

/// Which source: its tenant and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) tenant: usize,
    pub(crate) source: usize,
}

impl Slot {
    pub(crate) fn id(self) -> String {
        format!("s{}", self.source)
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..TENANTS).flat_map(Self::of_tenant)
    }

    pub(crate) fn of_tenant(tenant: usize) -> impl Iterator<Item = Self> {
        (0..SOURCES).map(move |source| Self { tenant, source })
    }
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", tenant_name(self.tenant), self.id())
    }
}

/// How large a source is.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    Small = 0,
    Middle = 1,
    Large = 2,
}

/// A content that no other write has, of a size.
pub(crate) fn content(serial: u64, size: Size) -> u64 {
    serial * 4 + size as u64
}

/// How many passages a content has.
pub(crate) fn passages(content: u64) -> u32 {
    let step = hash(&content.to_string());
    let upto = |n: u64| u32::try_from(step % n).unwrap_or(0);
    match content % 4 {
        0 => 1 + upto(12),
        1 => 40 + upto(40),
        _ => 600 + upto(200),
    }
}

const WORDS: [&str; 24] = [
    "harbor", "crane", "berth", "tide", "ledger", "frost", "signal", "cargo", "winch", "pilot",
    "quay", "anchor", "beacon", "ballast", "hull", "keel", "mooring", "rudder", "sail", "stern",
    "harvest", "crate", "bertha", "tidal",
];

/// The text of one passage: it names its source and content, and says some words.
pub(crate) fn text(slot: Slot, content: u64, index: u32) -> String {
    let mut random = fastrand::Rng::with_seed(hash(&format!("{slot} {content} {index}")));
    let mut text = format!("{} v{content} i{index} common", slot.id());
    for _ in 0..random.usize(1..8) {
        text.push(' ');
        text.push_str(word(&mut random));
    }
    text
}

pub(crate) fn word(random: &mut fastrand::Rng) -> &'static str {
    random.choice(WORDS).unwrap_or("common")
}

pub(crate) fn words(text: &str) -> BTreeSet<String> {
    WordRule::default().words(text).into_iter().collect()
}

/// The metadata of a source's own that searches filter by.
pub(crate) const YEAR: &str = "year";

pub(crate) fn year(content: u64) -> i64 {
    2000 + i64::try_from(content / 4 % 10).unwrap_or(0)
}

pub(crate) fn tenant_name(tenant: usize) -> String {
    format!("t{tenant}")
}

pub(crate) fn tenant_id(tenant: usize) -> Result<TenantId, NameError> {
    TenantId::new(tenant_name(tenant))
}

/// The names of the bits that are set.
pub(crate) fn names(kind: char, bits: u8) -> impl Iterator<Item = String> {
    (0..8)
        .filter(move |bit| bits & (1 << bit) != 0)
        .map(move |bit| format!("{kind}{bit}"))
}

pub(crate) fn folder_name(folder: u8) -> String {
    if folder == 0 {
        String::new()
    } else {
        format!("f{folder}")
    }
}

pub(crate) fn scope(tenant: usize, groups: u8) -> Result<Scope, ScopeError> {
    Scope::of(tenant_name(tenant), names('g', groups))
}

/// The source as it is given to a library.
pub(crate) fn index_source(
    slot: Slot,
    state: State,
) -> Result<IndexSource, Box<dyn std::error::Error + Send + Sync>> {
    let State { content, place } = state;
    let passages = (0..passages(content)).map(|i| Passage::new(text(slot, content, i)));
    Ok(IndexSource::new(
        SourceId::new(slot.id())?,
        SourceKind::new("document")?,
        Groups::of(names('g', place.groups))?,
    )
    .folder(folder_name(place.folder))
    .tags(names('t', place.tags))
    .metadata(Metadata::new().with(YEAR, year(content))?)
    .passages(passages))
}

pub(crate) fn library_spec(
    name: &str,
) -> Result<LibrarySpec, Box<dyn std::error::Error + Send + Sync>> {
    let year = Field::new(MetadataKey::new(YEAR)?, FieldKind::Integer);
    Ok(LibrarySpec::new(CollectionName::new(name)?).with_fields([year]))
}

/// FNV-1a: the same in every build, as a seed's run must be.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The random directions of a text's words, summed: texts that share words are near each other.
pub(crate) fn vector(text: &str) -> Vec<f32> {
    let mut sum = vec![0.0; WIDTH.into()];
    for (word, weight) in text
        .split_whitespace()
        .map(|word| (word, 1.0))
        .chain([(text, 0.2)])
    {
        let mut random = fastrand::Rng::with_seed(hash(word));
        sum.iter_mut()
            .for_each(|x| *x += weight * (random.f32() * 2.0 - 1.0));
    }
    sum
}

struct Words;

/// How near two vectors are.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

pub(crate) fn embedder() -> Arc<dyn Embedder> {
    Arc::new(Words)
}

#[async_trait]
impl Embedder for Words {
    fn id(&self) -> &'static str {
        "soak"
    }

    fn width(&self) -> u32 {
        WIDTH.into()
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}
