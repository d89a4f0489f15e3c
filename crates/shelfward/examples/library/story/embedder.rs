//! An embedder that needs no model, so that the examples run anywhere and answer the same each time.

use shelfward::text::WordRule;
use shelfward::{EmbedError, Embedder, Role, async_trait};

/// How many numbers a vector has.
const WIDTH: u8 = u8::MAX;

/// Words and their three-letter parts, hashed into the places of a vector.
///
/// Texts that share words, or parts of words, get vectors that lie near one another. It knows
/// nothing of meaning: "train" and "railway" are strangers to it. A real deployment puts a model
/// here, and gives its name and version as the id.
pub(crate) struct HashedWords;

#[async_trait]
impl Embedder for HashedWords {
    fn id(&self) -> &str {
        "example-hashed-words-1"
    }

    fn width(&self) -> u32 {
        u32::from(WIDTH) + 1
    }

    // A model that embeds questions and passages differently looks at the role. This one does not.
    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; usize::from(WIDTH) + 1];
    for word in WordRule::Unicode.words(text) {
        add(&mut vector, &word, 1.0);
        let letters: Vec<char> = format!("^{word}$").chars().collect();
        for part in letters.windows(3) {
            add(&mut vector, &part.iter().collect::<String>(), 0.4);
        }
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    } else if let Some(first) = vector.first_mut() {
        // A text without words: a zero vector has no cosine and would be refused.
        *first = 1.0;
    }
    vector
}

/// Adds a weight at the place of a feature; half of the features count backwards, so that two that
/// share a place cancel out as often as they add up.
fn add(vector: &mut [f32], feature: &str, weight: f32) {
    let [place, sign, ..] = fnv1a(feature).to_le_bytes();
    if let Some(at) = vector.get_mut(usize::from(place)) {
        *at += if sign & 1 == 0 { weight } else { -weight };
    }
}

/// The 64-bit FNV-1a hash: the same on every machine and in every release, which the hash of the
/// standard library does not promise.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
