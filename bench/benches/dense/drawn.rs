//! An embedder that costs nothing.

use std::sync::Arc;

use async_trait::async_trait;
use shelfward_core::{EmbedError, Embedder, Role};

/// Answers vectors that were drawn, by the number that a text begins with: embedding is free here.
pub(crate) struct Drawn(pub(crate) Vec<Arc<[f32]>>);

#[async_trait]
impl Embedder for Drawn {
    fn id(&self) -> &str {
        "drawn"
    }

    fn width(&self) -> u32 {
        u32::try_from(crate::WIDTH).unwrap()
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let number = |text: &&str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
        Ok(texts
            .iter()
            .map(|text| self.0[number(text)].to_vec())
            .collect())
    }
}
