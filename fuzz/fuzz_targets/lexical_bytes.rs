//! What is restored from bytes that somebody sealed can be searched, changed, and saved again as it
//! was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_lexical::{LexicalIndex, SearchOptions};
use shelfward_text::WordRule;

fuzz_target!(|input: &[u8]| {
    // The head of version 1, and a checksum that fits: neither is found by chance.
    let mut bytes = b"SHFLEX\0\x01".to_vec();
    bytes.extend(input);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    let Ok(mut index) = LexicalIndex::from_bytes(&bytes, WordRule::Unicode) else {
        return;
    };
    let mut saved = Vec::new();
    index.write_to(&mut saved).expect("memory takes all");
    let again = LexicalIndex::from_bytes(&saved, WordRule::Unicode).expect("what was saved");
    assert_eq!(again.to_json(), index.to_json());
    let options = SearchOptions::default().prefix(true);
    for query in ["a", "b c", "word"] {
        let quick = index.search_with(query, 10, &options).expect("no limit is set");
        let plain = index.search_exhaustively(query, 10, &options);
        assert_eq!(quick, plain.expect("no limit is set"));
    }
    index.add_document("a", "a b c", None).expect("there is room");
    assert!(index.remove_document("a"));
});
