//! The saved form in bytes: the same index comes back, or a refusal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use serde_json::json;
use shelfward_lexical::{Bm25, BytesError, LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

fn sample() -> LexicalIndex {
    let mut index = LexicalIndex::with_bm25(WordRule::Unicode, Bm25::new(1.5, 0.5).unwrap());
    for at in 0..300 {
        let text = format!("word{} common {} end", at % 7, "again ".repeat(at % 4));
        let metadata = (at % 3 == 0).then(|| json!({ "n": at }));
        index
            .add_document(&format!("d{at}"), &text, metadata)
            .unwrap();
    }
    for at in (0..300).step_by(11) {
        assert!(index.remove_document(&format!("d{at}")));
    }
    index.add_document("d5", "replaced café", None).unwrap();
    index.add_document("empty", "!!!", None).unwrap();
    index
}

fn saved(index: &LexicalIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    bytes
}

/// Bytes with the checksum that belongs to them.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len().saturating_sub(4);
    bytes.truncate(body);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

#[test]
fn the_same_index_comes_back() {
    let index = sample();
    let restored = LexicalIndex::read_from(&saved(&index)[..], WordRule::Unicode).unwrap();
    assert_eq!(restored.stats(), index.stats());
    assert_eq!(restored.bm25(), index.bm25());
    assert_eq!(restored.to_json(), index.to_json());
    for query in ["common", "word3 again", "café", "wor", "nothing"] {
        for prefix in [false, true] {
            let options = SearchOptions::default().prefix(prefix);
            let of = |index: &LexicalIndex| {
                let hits = index.search_with(query, 50, &options).unwrap();
                let owned = hits
                    .iter()
                    .map(|hit| (hit.id.to_owned(), hit.score, hit.metadata.cloned()));
                owned.collect::<Vec<_>>()
            };
            assert_eq!(of(&restored), of(&index), "{query} {prefix}");
        }
    }
    // And once more: what was restored can be written on.
    let mut restored = restored;
    restored.add_document("new", "common new", None).unwrap();
    assert_eq!(restored.search("new", 10).len(), 1);
}

#[test]
fn an_empty_index_comes_back() {
    let index = LexicalIndex::new(WordRule::Unicode);
    let restored = LexicalIndex::from_bytes(&saved(&index), WordRule::Unicode).unwrap();
    assert!(restored.is_empty());
}

#[test]
fn what_is_no_saved_index_is_refused() {
    let bytes = saved(&sample());
    let read = |bytes: &[u8]| LexicalIndex::from_bytes(bytes, WordRule::Unicode).unwrap_err();
    assert!(matches!(read(b""), BytesError::Foreign));
    assert!(matches!(read(b"{\"v\":1}"), BytesError::Foreign));
    assert!(matches!(read(&bytes[..6]), BytesError::Length { .. }));
    let mut newer = bytes.clone();
    newer[7] = 3;
    assert!(matches!(read(&newer), BytesError::Version { given: 3 }));
    // What named no word rule.
    newer[7] = 1;
    let older = read(&newer).to_string();
    assert!(older.contains("build it again from its texts"), "{older}");
    for cut in [7, 20, 79, 80, 100, bytes.len() - 1] {
        assert!(
            matches!(read(&bytes[..cut]), BytesError::Length { .. }),
            "{cut}"
        );
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(read(&longer), BytesError::Length { .. }));
}

#[test]
fn every_flipped_bit_is_seen() {
    let bytes = saved(&sample());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(
                LexicalIndex::from_bytes(&damaged, WordRule::Unicode).is_err(),
                "byte {at}, bit {bit}"
            );
        }
    }
}

proptest! {
    /// Bytes that somebody made up and sealed: a refusal, or an index that can be searched.
    #[test]
    fn sealed_damage_never_panics(places in prop::collection::vec((0_usize..6_000, any::<u8>()), 1..6)) {
        let mut bytes = saved(&sample());
        let len = bytes.len();
        for (at, byte) in places {
            bytes[8 + at % (len - 12)] = byte;
        }
        if let Ok(index) = LexicalIndex::from_bytes(&sealed(bytes), WordRule::Unicode) {
            let options = SearchOptions::default().prefix(true);
            index.search("common word3 again", 10);
            index.search_with("w a", 10, &options).unwrap();
            index.to_json();
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut framed = b"SHFLEX\0\x02".to_vec();
        framed.extend(&bytes);
        let _ = LexicalIndex::from_bytes(&bytes, WordRule::Unicode);
        let _ = LexicalIndex::from_bytes(&sealed(framed), WordRule::Unicode);
    }
}
