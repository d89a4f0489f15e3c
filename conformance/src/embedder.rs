use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use shelfward_core::{EmbedError, Embedder, Role, async_trait};

/// An embedder for tests: texts of a table get the table's vectors, others one made of their bytes.
/// It counts its calls.
pub struct TableEmbedder {
    id: String,
    width: u32,
    table: HashMap<String, Vec<f32>>,
    calls: AtomicUsize,
}

impl TableEmbedder {
    /// An embedder of this id and width.
    pub fn new(id: impl Into<String>, width: u32) -> Self {
        Self {
            id: id.into(),
            width,
            table: HashMap::new(),
            calls: AtomicUsize::new(0),
        }
    }

    /// Gives a text its vector.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, vector: impl Into<Vec<f32>>) -> Self {
        self.table.insert(text.into(), vector.into());
        self
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        if let Some(vector) = self.table.get(text) {
            return vector.clone();
        }
        // Counts of bytes by their remainder, and a floor so that no vector is zero.
        let width = usize::try_from(self.width).unwrap_or(1).max(1);
        let mut vector = vec![0.125; width];
        for byte in text.bytes() {
            if let Some(place) = vector.get_mut(usize::from(byte) % width) {
                *place += 1.0;
            }
        }
        vector
    }
}

#[async_trait]
impl Embedder for TableEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn width(&self) -> u32 {
        self.width
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}
