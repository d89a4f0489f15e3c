//! What is restored from bytes that somebody sealed can be searched, changed, and saved again as it
//! was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_lexical::{LexicalIndex, SearchOptions, TokenizerFn};
use shelfward_text::WordRule;

fuzz_target!(|input: &[u8]| {
    // A function names no word rule, which would not be found by chance; nor would the head of
    // version 2, and a checksum that fits.
    let words = || TokenizerFn(|text: &str| WordRule::Unicode.words(text));
    let mut bytes = b"SHFLEX\0\x02".to_vec();
    bytes.extend(input);
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    let Ok(mut index) = LexicalIndex::from_bytes(&bytes, words()) else {
        return;
    };
    let mut saved = Vec::new();
    index.write_to(&mut saved).expect("memory takes all");
    let again = LexicalIndex::from_bytes(&saved, words()).expect("what was saved");
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
