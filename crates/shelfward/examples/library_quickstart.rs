//! The shortest way through: a store, a library, one transcript, one search.
//!
//! ```text
//! cargo run -p shelfward --example library_quickstart
//! ```

#![expect(clippy::print_stdout, reason = "an example speaks to people")]

// Hashes words in place of asking a model.
#[path = "library/story/embedder.rs"]
mod embedder;

use std::error::Error;
use std::sync::Arc;

use shelfward::library::{FoundPassage, IndexSource, LibrarySpec, Passage, SearchRequest};
use shelfward::text::{ChunkTurns, Turn, chunk_turns};
use shelfward::{
    CollectionName, Groups, LibraryIndex, Metadata, Scope, SourceId, SourceKind, TenantId,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(hit) = best_hit().await? {
        println!("{}", hit.title.as_deref().unwrap_or("untitled"));
        println!("{}", hit.text);
    }
    Ok(())
}

pub(crate) async fn best_hit() -> Result<Option<FoundPassage>, Box<dyn Error>> {
    let store = shelfward::connect("memory:").await?;
    let spec = LibrarySpec::new(CollectionName::new("library")?);
    let index = LibraryIndex::ensure(&store, spec, Arc::new(embedder::HashedWords)).await?;

    // The transcript becomes passages of whole turns, each with the numbers of its turns.
    let mut passages = Vec::new();
    for chunk in chunk_turns(&turns(), &ChunkTurns::default()) {
        let metadata = Metadata::new()
            .with("firstSeq", chunk.first_seq)?
            .with("lastSeq", chunk.last_seq)?;
        passages.push(Passage::new(chunk.text).metadata(metadata));
    }
    let (id, kind) = (
        SourceId::new("session:planning")?,
        SourceKind::new("session")?,
    );
    let source = IndexSource::new(id, kind, Groups::of(["acct:ann"])?)
        .title("Planning for spring")
        .tags(["q1"])
        .passages(passages);
    index
        .tenant(TenantId::new("acme")?)
        .index_source(source)
        .await?;

    // Ann is in two groups. One of them may see the source, and that is enough.
    let ann = Scope::of("acme", ["acct:ann", "org:acme"])?;
    let request = SearchRequest::new("budget").top_k(3);
    Ok(index
        .search(&ann, &request)
        .await?
        .passages
        .into_iter()
        .next())
}

fn turns() -> Vec<Turn> {
    let said = [
        ("The training budget doubles in spring.", 0, 3_100),
        (
            "Then we can send everybody to the sea survival course.",
            3_100,
            7_400,
        ),
    ];
    said.iter()
        .zip(1..)
        .map(|((text, start, end), seq)| Turn {
            seq,
            item_id: format!("item-{seq}"),
            text: (*text).to_owned(),
            start_ms: Some(*start),
            end_ms: Some(*end),
        })
        .collect()
}
