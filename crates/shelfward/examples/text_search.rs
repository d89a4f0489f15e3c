//! Search by words, in memory: BM25, stems, snippets, and a search box that forgives typos.
//!
//! ```text
//! cargo run -p shelfward --example text_search
//! ```

#![expect(clippy::print_stdout, reason = "an example speaks to people")]

use std::error::Error;

use shelfward::lexical::fuzzy::{FuzzyDocument, FuzzyIndex, FuzzySearch, FuzzySettings, Match};
use shelfward::lexical::{
    Bm25Index, Bm25Tokenizer, Document, LexicalIndex, SearchOptions, Stemmer, Tokenizer,
};
use shelfward::text::{Highlight, WordRule};

const HELP: [(&str, &str); 4] = [
    (
        "reset",
        "To reset a password, open the sign-in page and choose the link below the form. \
         A mail with a code arrives within five minutes.",
    ),
    (
        "expiry",
        "Passwords expire after ninety days. A week ahead we send a reminder.",
    ),
    (
        "codes",
        "Codes of the second factor arrive by text message, or come from an app.",
    ),
    (
        "locked",
        "An account is locked after ten wrong attempts, and opens again after an hour.",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    for part in [words()?, stems()?, snippets()?, search_box()?] {
        println!("{part}");
    }
    Ok(())
}

/// A BM25 index searched in four ways, saved and restored.
pub(crate) fn words() -> Result<String, Box<dyn Error>> {
    let mut index = Bm25Index::new(Bm25Tokenizer::plain_english());
    index.add_documents(&help())?;
    let all = SearchOptions::default().matching(Match::All);
    let searches = [
        ("password message", SearchOptions::default(), "any word"),
        ("password message", all, "all words"),
        ("pass", SearchOptions::default().prefix(true), "words begun"),
        ("password expire", all.prefix(true), "all words, begun"),
    ];
    let mut shown = "BM25, English stop words dropped\n".to_owned();
    for (query, options, how) in searches {
        let found = ranked(&index, query, &options)?;
        shown += &format!("  {:<36}{found}\n", format!("{query} ({how})"));
    }

    // It holds words and counts, not texts, so a restore is given the same tokenizer.
    let saved = serde_json::to_string(&index.to_json())?;
    let restored = Bm25Index::from_json_text(&saved, Bm25Tokenizer::plain_english())?;
    let found = ranked(&restored, "password message", &SearchOptions::default())?;
    shown += &format!(
        "  saved in {} bytes, restored:         {found}\n",
        saved.len()
    );
    Ok(shown)
}

/// The same documents under Porter's stems.
pub(crate) fn stems() -> Result<String, Box<dyn Error>> {
    let plain = Bm25Tokenizer::plain_english();
    let stemming = plain.clone().stem(Stemmer::Porter);
    let mut shown = "The same documents, plain and stemmed\n".to_owned();
    for (name, tokenizer) in [("plain", plain), ("stemmed", stemming)] {
        let mut index = Bm25Index::new(tokenizer);
        index.add_documents(&help())?;
        let found = ranked(&index, "attempted resetting", &SearchOptions::default())?;
        let words = index.tokenizer().words("attempted resetting").join(" ");
        shown += &format!("  {name:<8} reads {words:<20} finds {found}\n");
    }
    Ok(shown)
}

/// What of each hit shows why it was found.
pub(crate) fn snippets() -> Result<String, Box<dyn Error>> {
    let mut index = LexicalIndex::new(WordRule::Unicode);
    index.add_documents(&help())?;
    let begun = SearchOptions::default().prefix(true);
    let highlighter = index.highlighter("the code arrive", &begun).max_chars(40);
    let mut shown = "Snippets for \"the code arrive\", by prefix\n".to_owned();
    for hit in index.search_with("code arrive", 10, &begun)? {
        let text = HELP.iter().find(|(id, _)| *id == hit.id);
        let snippet = highlighter.snippet(text.map_or("", |(_, text)| *text));
        shown += &format!("  {:<8} … {} …\n", hit.id, marked(&snippet));
    }
    Ok(shown)
}

/// A search box over notes: typos, words that are only begun, and marks.
pub(crate) fn search_box() -> Result<String, Box<dyn Error>> {
    let mut index = FuzzyIndex::new(FuzzySettings::new([("title", 10.0), ("body", 1.0)]))?;
    let notes = [
        (
            "refunds",
            "Refunds",
            "A refund goes back to the card that paid. It takes three days.",
        ),
        (
            "shipping",
            "Shipping",
            "Orders ship within two business days.",
        ),
    ];
    for (id, title, body) in notes {
        let note = FuzzyDocument::new(id);
        index.add_document(note.field("title", title).field("body", body))?;
    }
    let mut shown = "A search box over notes\n".to_owned();
    for (typed, what) in [
        ("ref", "begun"),
        ("refnud", "two letters swapped"),
        ("shiping", "a letter dropped"),
    ] {
        for hit in index.search(typed, &FuzzySearch::default()) {
            let passage = hit.passages.first();
            let passage = passage.map_or_else(String::new, marked);
            let line = format!("{typed} ({what})");
            shown += &format!(
                "  {line:<30}{} {:<6} {passage}\n",
                hit.id,
                format!("{:.2}", hit.score)
            );
        }
    }
    Ok(shown)
}

fn help() -> Vec<Document<'static>> {
    HELP.iter()
        .map(|(id, text)| Document {
            id,
            text,
            metadata: None,
        })
        .collect()
}

fn ranked<T: Tokenizer>(
    index: &LexicalIndex<T>,
    query: &str,
    options: &SearchOptions,
) -> Result<String, Box<dyn Error>> {
    let hits = index.search_with(query, 10, options)?;
    let shown: Vec<_> = hits
        .iter()
        .map(|hit| format!("{} {:.2}", hit.id, hit.score))
        .collect();
    Ok(if shown.is_empty() {
        "nothing".to_owned()
    } else {
        shown.join(", ")
    })
}

fn marked(shown: &Highlight) -> String {
    let part = |(part, marked)| {
        if marked {
            format!("[{part}]")
        } else {
            String::from(part)
        }
    };
    shown.parts().map(part).collect()
}
