//! How far a fast sum may be from the true one.
//!
//! A pass over rows answers, for each, a floor that its score surely reaches and a ceiling that it
//! surely does not pass. The `k`-th highest floor is then reached by `k` rows, so a row whose ceiling
//! lies below it is none of the `k` best, and the others are looked at again more exactly. Nothing is
//! guessed: with a wide bound more rows are looked at again, and none is lost.
//!
//! With `u` the unit roundoff of 32 bits, a sum of products that is gathered in at least 16 separate
//! sums over a padded width `n` is wrong by at most `(n / 16 + 20) u |a| |b|`: `n / 16` additions in
//! each, at most 20 to join them and to round the products. Each loop in [`simd`](crate::simd) has at
//! least 16 such sums.

/// Half the distance between 1 and the next 32-bit float.
pub(crate) const UNIT: f32 = f32::EPSILON / 2.0;

/// Lengths outside of this are not bounded here: their products may overflow or vanish. Rows of such
/// lengths are always looked at exactly.
pub(crate) const LENGTHS: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Below this, squares of differences lose digits that the bounds do not count.
pub(crate) const TINY: f32 = 1e-37;

/// The share of `|a| |b|` that a sum over so many padded numbers may be wrong by.
pub(crate) fn sum_error(lines: usize) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "widths are far below 2^24 lines"
    )]
    let sums = lines as f32;
    (sums + 20.0) * UNIT * 1.01
}

/// A row's length as the passes hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    /// There is no row.
    Dead,
    /// Not bounded: looked at exactly.
    Unbounded,
    /// The length, rounded to 32 bits.
    Known(f32),
}

impl Length {
    // One float for each row, so values that are no length encode the other cases.
    pub(crate) const DEAD: f32 = -1.0;

    pub(crate) fn of(length: f64, zero_is_bounded: bool) -> f32 {
        let bounded = LENGTHS.contains(&length) || (zero_is_bounded && length == 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounding is counted in the bounds"
        )]
        let rounded = length as f32;
        if bounded { rounded } else { f32::INFINITY }
    }

    pub(crate) fn read(held: f32) -> Self {
        if held < 0.0 {
            Self::Dead
        } else if held == f32::INFINITY {
            Self::Unbounded
        } else {
            Self::Known(held)
        }
    }
}

/// What a score surely reaches, and what it surely does not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) floor: f32,
    pub(crate) ceiling: f32,
}

impl Bounds {
    /// Of a row that is not there: nothing is below it.
    pub(crate) const NONE: Self = Self {
        floor: f32::NEG_INFINITY,
        ceiling: f32::NEG_INFINITY,
    };
    /// Of a row of which nothing is known.
    pub(crate) const ANY: Self = Self {
        floor: f32::NEG_INFINITY,
        ceiling: f32::INFINITY,
    };

    pub(crate) fn around(score: f32, error: f32) -> Self {
        Self {
            floor: score - error,
            ceiling: score + error,
        }
    }
}
