use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use super::MetadataProblem;

/// A finite float. Minus zero is held as zero, so equal floats have equal bits.
#[derive(Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Float(f64);

impl Float {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// A finite number.
    ///
    /// # Errors
    /// [`MetadataProblem::NotFinite`] for NaN and the infinities.
    pub fn new(value: f64) -> Result<Self, MetadataProblem> {
        // `+ 0.0` turns −0.0 into 0.0 and changes nothing else.
        if value.is_finite() {
            Ok(Self(value + 0.0))
        } else {
            Err(MetadataProblem::NotFinite)
        }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The integer of exactly this value, if there is one within 64 bits.
    pub fn to_integer(self) -> Option<i64> {
        // 2^63 itself is a float but not an i64; every float below it that is whole converts exactly.
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        if self.0.fract() == 0.0 && self.0 >= -LIMIT && self.0 < LIMIT {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and in range, checked above"
            )]
            let integer = self.0 as i64;
            Some(integer)
        } else {
            None
        }
    }
}

impl Eq for Float {}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Compares an integer and a float by their exact values, without rounding either.
pub(crate) fn compare_numbers(integer: i64, float: Float) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let value = float.get();
    if value >= LIMIT {
        return Ordering::Less;
    }
    if value < -LIMIT {
        return Ordering::Greater;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the whole part is in range, checked above"
    )]
    let whole = value.trunc() as i64;
    integer.cmp(&whole).then_with(|| {
        // Equal whole parts: the sign of what is left of the float decides.
        0.0_f64
            .partial_cmp(&value.fract())
            .unwrap_or(Ordering::Equal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_compare_by_exact_value() {
        let cases: &[(i64, f64, Ordering)] = &[
            (5, 5.0, Ordering::Equal),
            (0, -0.0, Ordering::Equal),
            ((1 << 53) + 1, 9_007_199_254_740_992.0, Ordering::Greater),
            (i64::MAX, 9_223_372_036_854_775_808.0, Ordering::Less),
            (i64::MIN, -9_223_372_036_854_775_808.0, Ordering::Equal),
            (-3, -3.5, Ordering::Greater),
            (3, 3.5, Ordering::Less),
            (-4, -3.5, Ordering::Less),
            (1, f64::MAX, Ordering::Less),
            (1, f64::MIN, Ordering::Greater),
        ];
        for (integer, float, expected) in cases {
            let float = Float::new(*float).unwrap();
            assert_eq!(
                compare_numbers(*integer, float),
                *expected,
                "{integer} and {float:?}"
            );
        }
    }

    #[test]
    fn whole_floats_in_range_have_an_integer() {
        assert_eq!(Float::new(5.0).unwrap().to_integer(), Some(5));
        assert_eq!(Float::new(5.5).unwrap().to_integer(), None);
        assert_eq!(
            Float::new(9_223_372_036_854_775_808.0)
                .unwrap()
                .to_integer(),
            None
        );
        assert_eq!(
            Float::new(-9_223_372_036_854_775_808.0)
                .unwrap()
                .to_integer(),
            Some(i64::MIN)
        );
        assert!(Float::new(f64::NAN).is_err());
    }
}
