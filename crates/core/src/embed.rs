//! Turning texts into vectors, and checking what comes back.

use std::error::Error as StdError;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::VectorProblem;

/// What a text is to the search. Several models embed the two differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// What is asked.
    Query,
    /// What is found.
    Passage,
}

/// A model that turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Names the model and whatever else its vectors depend on, as the prefixes of its roles. Two
    /// embedders of one id must answer equal vectors: a collection is guarded by it.
    fn id(&self) -> &str;

    /// How many dimensions a vector has.
    fn width(&self) -> u32;

    /// One vector for each text, in their order.
    ///
    /// # Errors
    /// [`EmbedError`], mostly [`EmbedError::provider`].
    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why embedding failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Another number of vectors than of texts.
    #[error("the embedder {id} answered {answered} vectors for {asked} texts")]
    Count {
        /// The embedder.
        id: String,
        /// How many texts it was given.
        asked: usize,
        /// How many vectors it answered.
        answered: usize,
    },
    /// A vector that cannot be stored or compared.
    #[error("{} ({id}, for text {at} of the call)", crate::library::embedded(.problem))]
    Vector {
        /// The embedder.
        id: String,
        /// The position of the text in the call.
        at: usize,
        /// What is wrong with its vector.
        problem: VectorProblem,
    },
    /// The model or its provider failed.
    #[error("the embedder {id} failed")]
    Provider {
        /// The embedder.
        id: String,
        /// What lies under it; must hold no secret.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

crate::debug_as_chain!(EmbedError);

impl EmbedError {
    /// A failure of the model or its provider.
    pub fn provider(
        id: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        Self::Provider {
            id: id.into(),
            source: source.into(),
        }
    }
}

/// Embeds, and refuses an answer of another number or width, or with a number that is not finite.
/// What this workspace embeds, it embeds by this.
///
/// # Errors
/// [`EmbedError`].
pub async fn embed_checked(
    embedder: &dyn Embedder,
    role: Role,
    texts: &[&str],
) -> Result<Vec<Arc<[f32]>>, EmbedError> {
    let vectors = embedder.embed(role, texts).await?;
    if vectors.len() != texts.len() {
        let id = embedder.id().to_owned();
        return Err(EmbedError::Count {
            id,
            asked: texts.len(),
            answered: vectors.len(),
        });
    }
    for (at, vector) in vectors.iter().enumerate() {
        check_numbers(vector, embedder.width()).map_err(|problem| EmbedError::Vector {
            id: embedder.id().to_owned(),
            at,
            problem,
        })?;
    }
    Ok(vectors.into_iter().map(Arc::from).collect())
}

/// Refuses a vector of another width, or with a number that is not finite.
pub(crate) fn check_numbers(vector: &[f32], width: u32) -> Result<(), VectorProblem> {
    if u32::try_from(vector.len()) != Ok(width) {
        return Err(VectorProblem::Width {
            given: vector.len(),
            width,
        });
    }
    match vector.iter().position(|x| !x.is_finite()) {
        Some(at) => Err(VectorProblem::NotFinite { at }),
        None => Ok(()),
    }
}
