//! What is filed: the files of `examples/data` as sources.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fs;
use std::path::Path;

use shelfward::library::{IndexSource, Passage};
use shelfward::text::{ChunkTurns, Turn, chunk_turns};
use shelfward::{
    Field, FieldKind, Groups, Metadata, MetadataError, MetadataKey, SourceId, SourceKind,
};

/// The callers' own metadata that searches may filter by: who speaks in a passage of a transcript.
pub(crate) const SPEAKERS: &str = "speakers";

/// The declaration of [`SPEAKERS`], for the library's spec. Metadata that is only read back, as the
/// section of a document, needs none.
pub(crate) fn fields() -> Result<Vec<Field>, MetadataError> {
    Ok(vec![Field::new(
        MetadataKey::new(SPEAKERS)?,
        FieldKind::TextList,
    )])
}

/// A source, and the tenant whose it is.
pub(crate) struct Filed {
    pub(crate) tenant: &'static str,
    pub(crate) source: IndexSource,
}

/// Where a document stands.
struct Place {
    tenant: &'static str,
    id: &'static str,
    file: &'static str,
    groups: &'static [&'static str],
    folder: &'static str,
    tags: &'static [&'static str],
}

/// Two of these have the same id, in two tenants: they are two sources.
const DOCUMENTS: [Place; 6] = [
    Place {
        tenant: "northwind",
        id: "document:handbook",
        file: "northwind-handbook.md",
        groups: &["org:northwind"],
        folder: "people",
        tags: &["rules"],
    },
    EXPENSES_2026,
    Place {
        tenant: "northwind",
        id: "document:incident-0417",
        file: "northwind-incident-0417.md",
        groups: &["team:engineering", "team:operations"],
        folder: "incidents",
        tags: &["cooling", "closed"],
    },
    Place {
        tenant: "northwind",
        id: "document:controller-notes",
        file: "northwind-controller-notes.md",
        groups: &["org:northwind"],
        folder: "product",
        tags: &["controller"],
    },
    Place {
        tenant: "northwind",
        id: "document:defrost-memo",
        file: "northwind-defrost-memo.md",
        groups: &["team:engineering", "acct:bo"],
        folder: "research",
        tags: &["cooling", "confidential"],
    },
    Place {
        tenant: "harbor",
        id: "document:handbook",
        file: "harbor-handbook.md",
        groups: &["org:harbor"],
        folder: "people",
        tags: &["rules"],
    },
];

const EXPENSES_2026: Place = Place {
    tenant: "northwind",
    id: "document:expenses",
    file: "northwind-expenses-2026.md",
    groups: &["org:northwind"],
    folder: "policies",
    tags: &["rules", "money"],
};

/// Everything that is filed at the beginning.
pub(crate) fn all() -> Result<Vec<Filed>, Box<dyn Error>> {
    let mut filed = vec![transcript()?];
    for place in &DOCUMENTS {
        filed.push(document(place)?);
    }
    Ok(filed)
}

/// The edition of the expenses policy that takes the place of the first one. It is much shorter.
pub(crate) fn new_expenses() -> Result<Filed, Box<dyn Error>> {
    document(&Place {
        file: "northwind-expenses-2027.md",
        ..EXPENSES_2026
    })
}

fn document(place: &Place) -> Result<Filed, Box<dyn Error>> {
    let text = read(place.file)?;
    let (title, passages) = paragraphs(&text)?;
    let (id, kind) = (SourceId::new(place.id)?, SourceKind::new("document")?);
    let source = IndexSource::new(id, kind, Groups::of(place.groups)?)
        .title(title)
        .folder(place.folder)
        .tags(place.tags.iter().copied())
        .passages(passages);
    Ok(Filed {
        tenant: place.tenant,
        source,
    })
}

/// The title of a text, and its paragraphs: what stands between blank lines, each behind the
/// heading that it stands under.
fn paragraphs(text: &str) -> Result<(&str, Vec<Passage>), Box<dyn Error>> {
    let mut blocks = text.split("\n\n").map(str::trim);
    let first = blocks.next().and_then(|block| block.strip_prefix("# "));
    let title = first.ok_or("a document begins with its title")?;
    let mut heading = title;
    let mut passages = Vec::new();
    for block in blocks.filter(|block| !block.is_empty()) {
        if let Some(next) = block.strip_prefix("## ") {
            heading = next;
        } else {
            let metadata = Metadata::new().with("section", heading)?;
            passages.push(Passage::new(format!("{heading}\n{block}")).metadata(metadata));
        }
    }
    Ok((title, passages))
}

/// The review, cut into passages of whole turns.
fn transcript() -> Result<Filed, Box<dyn Error>> {
    let mut turns = Vec::new();
    let mut speakers = HashMap::new();
    for line in read("northwind-operations-review.jsonl")?.lines() {
        let line: serde_json::Value = serde_json::from_str(line)?;
        let speaker = line.get("speaker").and_then(|name| name.as_str());
        let speaker = speaker.ok_or("a turn has a speaker")?.to_owned();
        let turn: Turn = serde_json::from_value(line)?;
        speakers.insert(turn.seq, speaker);
        turns.push(turn);
    }
    let mut passages = Vec::new();
    for chunk in chunk_turns(&turns, &ChunkTurns::default().max_chars(600)) {
        let said = chunk.turns.iter();
        let heard: BTreeSet<&String> = said.filter_map(|turn| speakers.get(&turn.seq)).collect();
        let heard: Vec<&String> = heard.into_iter().collect();
        let mut metadata = Metadata::new()
            .with("firstSeq", chunk.first_seq)?
            .with("lastSeq", chunk.last_seq)?
            .with(SPEAKERS, heard)?;
        if let (Some(start), Some(end)) = (chunk.start_ms, chunk.end_ms) {
            metadata = metadata.with("startMs", start)?.with("endMs", end)?;
        }
        passages.push(Passage::new(chunk.text).metadata(metadata));
    }
    let id = SourceId::new("session:operations-review-31")?;
    let groups = Groups::of(["team:operations", "team:finance"])?;
    let source = IndexSource::new(id, SourceKind::new("session")?, groups)
        .title("Operations review, week 31")
        .folder("meetings")
        .tags(["review"])
        .passages(passages);
    Ok(Filed {
        tenant: "northwind",
        source,
    })
}

fn read(file: &str) -> Result<String, Box<dyn Error>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let path = data.join(file);
    fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()).into())
}
