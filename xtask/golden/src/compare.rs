//! Comparing answers: numbers by tolerance, everything else exactly.

use serde_json::Value;

/// One place where ours and the original part.
pub(crate) struct Difference {
    pub(crate) at: usize,
    /// Whether ours refused there.
    pub(crate) refused: bool,
    pub(crate) what: String,
}

impl Difference {
    /// An answer that is another than the original's.
    pub(crate) fn answered(at: usize, what: impl Into<String>) -> Self {
        let (refused, what) = (false, what.into());
        Self { at, refused, what }
    }

    /// A refusal where the original answers.
    pub(crate) fn refused(at: usize, why: impl Into<String>) -> Self {
        let (refused, what) = (true, why.into());
        Self { at, refused, what }
    }
}

/// How far two numbers may lie apart.
#[derive(Clone, Copy)]
pub(crate) enum Tolerance {
    /// By a part of the greater one. Sums of doubles differ in their last bits alone.
    Relative(f64),
    /// By so much. Cosines of rounded vectors differ by what was rounded, however small they are.
    Absolute(f64),
}

impl Tolerance {
    /// The doubles of two runtimes.
    pub(crate) const DOUBLES: Self = Self::Relative(1e-12);
    /// Vectors that were rounded to single precision.
    pub(crate) const SINGLES: Self = Self::Absolute(1e-6);

    pub(crate) fn equal(self, a: f64, b: f64) -> bool {
        let apart = match self {
            Self::Relative(part) => part * a.abs().max(b.abs()),
            Self::Absolute(apart) => apart,
        };
        a == b || (a - b).abs() <= apart
    }
}

/// Whether two values are the same, whole numbers and floats of equal value included.
pub(crate) fn same(a: &Value, b: &Value, tolerance: Tolerance) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => tolerance.equal(a, b),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, tolerance))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, tolerance)))
        }
        _ => a == b,
    }
}

/// For functions whose answer is compared as one value.
pub(crate) fn whole(_: &Value, ours: &Value, expected: &Value) -> Vec<Difference> {
    if same(ours, expected, Tolerance::DOUBLES) {
        return Vec::new();
    }
    vec![Difference::answered(0, parted(ours, expected))]
}

/// Both answers, cut: a long one would hide the other.
pub(crate) fn parted(ours: &Value, expected: &Value) -> String {
    format!("expected {}, got {}", cut(expected), cut(ours))
}

/// The first 300 characters of a value.
pub(crate) fn cut(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Where two ranked lists of objects with `id` and `score` part, if they do.
///
/// The scores must agree at every place. Neighbours closer than the tolerance may stand in either
/// order, and where `cut` says that the list was cut, any of those that equal its last may be the
/// ones that are left.
pub(crate) fn ranked(
    ours: &[Value],
    expected: &[Value],
    cut: bool,
    tolerance: Tolerance,
) -> Result<(), String> {
    let ids = |list: &[Value]| -> Vec<String> { list.iter().map(id).collect() };
    if ours.len() != expected.len() {
        return Err(format!("expected {:?}, got {:?}", ids(expected), ids(ours)));
    }
    let last = expected.last().map_or(f64::NAN, score);
    for (at, (our, there)) in ours.iter().zip(expected).enumerate() {
        if !tolerance.equal(score(our), score(there)) {
            return Err(format!(
                "at {at} expected {} with {}, got {} with {}",
                id(there),
                score(there),
                id(our),
                score(our)
            ));
        }
        let same_id = |other: &&Value| id(other) == id(our);
        match expected.iter().find(same_id) {
            Some(there) if !same(our, there, tolerance) => return Err(parted(our, there)),
            Some(_) => {}
            None if cut && tolerance.equal(score(our), last) => {}
            None => return Err(format!("got {}, which is not expected", id(our))),
        }
    }
    let mut seen = ids(ours);
    seen.sort();
    match seen.windows(2).find(|pair| pair.first() == pair.get(1)) {
        Some(pair) => Err(format!("{:?} is found twice", pair.first())),
        None => Ok(()),
    }
}

fn id(hit: &Value) -> String {
    let id = hit.get("id").and_then(Value::as_str);
    id.unwrap_or_default().to_owned()
}

fn score(hit: &Value) -> f64 {
    hit.get("score").and_then(Value::as_f64).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_agree_within_the_tolerance_and_kinds_never_mix() {
        let equal = |a, b| same(&a, &b, Tolerance::DOUBLES);
        assert!(equal(json!(1), json!(1.0)));
        assert!(equal(json!(0.1 + 0.2), json!(0.3)));
        assert!(!equal(json!(0.1), json!(0.100_000_1)));
        assert!(!equal(json!("1"), json!(1)));
        assert!(!equal(json!({ "a": 1 }), json!({ "a": 1, "b": 2 })));
    }

    #[test]
    fn ties_stand_in_any_order_and_other_places_are_fixed() {
        let hit = |id: &str, score: f64| json!({ "id": id, "score": score });
        let agree = |ours: &[Value], there: &[Value], cut| {
            ranked(ours, there, cut, Tolerance::SINGLES).is_ok()
        };
        let (a, b, c) = (hit("a", 0.5), hit("b", 0.5), hit("c", 0.4));
        assert!(agree(
            &[b.clone(), a.clone()],
            &[a.clone(), b.clone()],
            false
        ));
        assert!(!agree(
            &[c.clone(), a.clone()],
            &[a.clone(), c.clone()],
            false
        ));
        // Of two equals, either is left when the list is cut, and only then.
        assert!(agree(
            std::slice::from_ref(&b),
            std::slice::from_ref(&a),
            true
        ));
        assert!(!agree(
            std::slice::from_ref(&b),
            std::slice::from_ref(&a),
            false
        ));
        assert!(!agree(&[a.clone(), a.clone()], &[a, b], false));
    }
}
