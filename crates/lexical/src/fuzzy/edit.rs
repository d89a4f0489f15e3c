//! The one-edit test.

/// Whether at most one edit makes `a` into `b`: a letter added, dropped or changed, or two letters
/// side by side swapped. That is a Damerau-Levenshtein distance of 1 or less.
///
/// A letter is a Unicode scalar value. The words are compared as given: no case, accent or
/// normal form is folded. Takes time in proportion to the shorter word.
///
/// ```
/// use shelfward_lexical::fuzzy::within_one_edit;
///
/// assert!(within_one_edit("refund", "refnud"));
/// assert!(within_one_edit("refund", "refunds"));
/// assert!(!within_one_edit("refund", "Refunds"));
/// ```
#[must_use]
pub fn within_one_edit(a: &str, b: &str) -> bool {
    // What differs lies between the longest common start and the longest common end of the rests.
    let (a, b) = without_common_start(a, b);
    let (a, b) = without_common_end(a, b);
    let (mut a, mut b) = (a.chars(), b.chars());
    match (
        [a.next(), a.next(), a.next()],
        [b.next(), b.next(), b.next()],
    ) {
        ([_, None, _], [_, None, _]) => true,
        ([Some(a1), Some(a2), None], [Some(b1), Some(b2), None]) => a1 == b2 && a2 == b1,
        _ => false,
    }
}

fn without_common_start<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let (mut rest_a, mut rest_b) = (a.chars(), b.chars());
    loop {
        let (at_a, at_b) = (rest_a.as_str(), rest_b.as_str());
        match (rest_a.next(), rest_b.next()) {
            (Some(x), Some(y)) if x == y => {}
            _ => return (at_a, at_b),
        }
    }
}

fn without_common_end<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let (mut rest_a, mut rest_b) = (a.chars(), b.chars());
    loop {
        let (at_a, at_b) = (rest_a.as_str(), rest_b.as_str());
        match (rest_a.next_back(), rest_b.next_back()) {
            (Some(x), Some(y)) if x == y => {}
            _ => return (at_a, at_b),
        }
    }
}
