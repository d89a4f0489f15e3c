//! The embedder of a case: a table of vectors, and how often it was asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use shelfward_core::{EmbedError, Embedder, Role, async_trait};

/// Answers the vectors that the case gives; a text that has none fails the call.
pub(super) struct Table {
    width: u32,
    vectors: HashMap<String, Vec<f32>>,
    one_too_few: bool,
    calls: AtomicUsize,
    texts: AtomicUsize,
}

impl Table {
    pub(super) fn of(input: &Value) -> Result<Self, String> {
        let width = super::read(input, "dimension")?;
        let vectors: HashMap<String, Vec<f64>> = super::read(input, "vectors")?;
        Ok(Self {
            width,
            vectors: vectors
                .into_iter()
                .map(|(text, numbers)| (text, singles(&numbers)))
                .collect(),
            one_too_few: answers_one_too_few(input),
            calls: AtomicUsize::new(0),
            texts: AtomicUsize::new(0),
        })
    }

    /// The calls and the texts so far.
    pub(super) fn counted(&self) -> (usize, usize) {
        (
            self.calls.load(Ordering::SeqCst),
            self.texts.load(Ordering::SeqCst),
        )
    }
}

pub(super) fn answers_one_too_few(input: &Value) -> bool {
    input.get("embedder").and_then(Value::as_str) == Some("short")
}

/// Numbers as stores hold them.
#[expect(
    clippy::cast_possible_truncation,
    reason = "stores hold single precision; the comparison allows for it"
)]
pub(super) fn singles(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|number| *number as f32).collect()
}

#[async_trait]
impl Embedder for Table {
    fn id(&self) -> &str {
        "golden"
    }

    fn width(&self) -> u32 {
        self.width
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        let vector = |text: &&str| {
            let vector = self.vectors.get(*text).cloned();
            vector.ok_or_else(|| EmbedError::provider("golden", "the text has no vector"))
        };
        let mut vectors = texts.iter().map(vector).collect::<Result<Vec<_>, _>>()?;
        if self.one_too_few {
            vectors.pop();
        }
        Ok(vectors)
    }
}
