//! Rows in one byte a number, for a first pass over a quarter of the memory.

use crate::bound::UNIT;
use crate::line::{BYTES, I8Line, I16Line};

/// The largest number of a quantized row.
const ROW_MAX: f32 = 127.0;
/// The largest number of a quantized query. With it, the sum over 65,536 numbers fits 32 bits in each
/// of the eight sums of a loop.
const QUERY_MAX: f32 = 2_047.0;

/// The widest vectors that are quantized: `ROW_MAX × QUERY_MAX × width` stays below 2^31.
pub(crate) const MAX_WIDTH: usize = 8_192;
/// Narrower vectors would be padded to more than they save.
pub(crate) const MIN_WIDTH: usize = 64;

/// How one row was quantized: a number of it is `scale ×` its byte, up to an error whose length over
/// the whole row is `error`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RowScale {
    pub(crate) scale: f32,
    pub(crate) error: f32,
}

/// Quantizes a row.
pub(crate) fn row(numbers: &[f32]) -> (impl Iterator<Item = I8Line>, RowScale) {
    let scale = scale_of(numbers, ROW_MAX);
    let error = error_length(numbers, scale, ROW_MAX);
    let bytes = numbers.chunks(BYTES).map(move |chunk| {
        let mut bytes = I8Line::ZERO;
        for (into, from) in bytes.0.iter_mut().zip(chunk) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 127 either way")]
            let byte = rounded(*from, scale, ROW_MAX) as i8;
            *into = byte;
        }
        bytes
    });
    (bytes, RowScale { scale, error })
}

/// A quantized query.
pub(crate) struct QuantizedQuery {
    pub(crate) words: Vec<I16Line>,
    pub(crate) scale: f32,
    /// The length of its error.
    pub(crate) error: f32,
}

impl QuantizedQuery {
    pub(crate) fn new(numbers: &[f32]) -> Self {
        let scale = scale_of(numbers, QUERY_MAX);
        let words = numbers.chunks(BYTES).map(|chunk| {
            let mut words = I16Line::ZERO;
            for (into, from) in words.0.iter_mut().zip(chunk) {
                #[expect(clippy::cast_possible_truncation, reason = "at most 2,047 either way")]
                let word = rounded(*from, scale, QUERY_MAX) as i16;
                *into = word;
            }
            words
        });
        Self {
            words: words.collect(),
            scale,
            error: error_length(numbers, scale, QUERY_MAX),
        }
    }
}

fn scale_of(numbers: &[f32], max: f32) -> f32 {
    let largest = numbers.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    largest / max
}

/// The nearest whole number of scales.
fn rounded(number: f32, scale: f32, max: f32) -> f32 {
    if scale > 0.0 {
        (number / scale).round().clamp(-max, max)
    } else {
        0.0
    }
}

/// The length of what quantizing changes, rounded up.
fn error_length(numbers: &[f32], scale: f32, max: f32) -> f32 {
    let error = |x: &f32| {
        let held = f64::from(rounded(*x, scale, max)) * f64::from(scale);
        f64::from(*x) - held
    };
    let squares = numbers.iter().map(|x| error(x) * error(x));
    #[expect(clippy::cast_possible_truncation, reason = "the factor rounds it up")]
    let length = squares.sum::<f64>().sqrt() as f32;
    length * (1.0 + 4.0 * UNIT)
}
