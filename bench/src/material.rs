//! Documents and queries.

use std::fs;
use std::path::Path;

use fastrand::Rng;

/// Paragraphs of manuals: those of the file that `SHELFWARD_SHARED` points to, else those of this
/// project's own documentation.
///
/// # Errors
/// When neither can be read.
pub fn paragraphs() -> Result<(Vec<String>, &'static str), String> {
    if let Some(shared) = std::env::var_os("SHELFWARD_SHARED") {
        let file = Path::new(&shared).join("corpora/manuals.tsv");
        if let Ok(text) = fs::read_to_string(file) {
            let of_line = |line: &str| line.split_once('\t').map(|(_, text)| text.to_owned());
            return Ok((text.lines().filter_map(of_line).collect(), "manuals"));
        }
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut paragraphs = Vec::new();
    let entries = fs::read_dir(docs).map_err(|e| format!("the documentation: {e}"))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "md"))
    {
        let text = fs::read_to_string(file).map_err(|e| format!("the documentation: {e}"))?;
        let long = |paragraph: &&str| paragraph.split_whitespace().count() >= 8;
        paragraphs.extend(text.split("\n\n").filter(long).map(str::to_owned));
    }
    Ok((paragraphs, "this project's documentation"))
}

/// `count` documents, each a paragraph that is drawn at random, in which one word in ten is that of
/// another paragraph, so that no two documents are alike.
pub fn documents(paragraphs: &[String], count: usize, seed: u64) -> Vec<String> {
    let mut numbers = Rng::with_seed(seed);
    let words: Vec<Vec<&str>> = paragraphs
        .iter()
        .map(|p| p.split_whitespace().collect())
        .collect();
    let mut documents = Vec::with_capacity(count);
    for _ in 0..count {
        let mut drawn = words[numbers.usize(..words.len())].clone();
        for word in &mut drawn {
            if numbers.usize(..10) == 0 {
                let other = &words[numbers.usize(..words.len())];
                *word = other[numbers.usize(..other.len())];
            }
        }
        documents.push(drawn.join(" "));
    }
    documents
}

/// `count` queries of two to four words that stand near each other in a document.
pub fn queries(documents: &[String], count: usize, seed: u64) -> Vec<Vec<String>> {
    let mut numbers = Rng::with_seed(seed);
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let document = &documents[numbers.usize(..documents.len())];
        let words: Vec<String> = document
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.len() > 1)
            .map(str::to_ascii_lowercase)
            .collect();
        let wanted = 2 + numbers.usize(..3);
        if words.len() < 12 {
            continue;
        }
        let start = numbers.usize(..words.len() - 11);
        let mut query: Vec<String> = Vec::new();
        while query.len() < wanted {
            let word = &words[start + numbers.usize(..12)];
            if !query.contains(word) || numbers.usize(..4) == 0 {
                query.push(word.clone());
            }
        }
        query.dedup();
        queries.push(query);
    }
    queries
}
