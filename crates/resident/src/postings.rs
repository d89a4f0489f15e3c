//! Which rows hold which values of a declared field.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use roaring::{MultiOps, RoaringBitmap};
use shelfward_core::filter::Op;
use shelfward_core::{Scalar, Text, Value};

use crate::row_id::RowId;

/// The rows by value of one field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    texts: HashMap<Text, RoaringBitmap>,
    numbers: BTreeMap<Number, RoaringBitmap>,
    bools: [RoaringBitmap; 2],
    /// Those with at least one element.
    present: RoaringBitmap,
}

impl Postings {
    pub(crate) fn add(&mut self, row_id: RowId, value: &Value) {
        for element in value.elements() {
            self.present.insert(row_id);
            match element {
                Scalar::Text(text) => match self.texts.get_mut(text) {
                    Some(rows) => drop(rows.insert(row_id)),
                    None => drop(self.texts.insert(text.clone(), [row_id].into())),
                },
                Scalar::Bool(b) => drop(self.bools[usize::from(*b)].insert(row_id)),
                number => {
                    let rows = self.numbers.entry(Number(number.clone())).or_default();
                    rows.insert(row_id);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, row_id: RowId, value: &Value) {
        self.present.remove(row_id);
        for element in value.elements() {
            match element {
                Scalar::Text(text) => {
                    // A value that no row holds any longer would be kept for ever.
                    if let Some(rows) = self.texts.get_mut(text) {
                        rows.remove(row_id);
                        if rows.is_empty() {
                            self.texts.remove(text);
                        }
                    }
                }
                Scalar::Bool(b) => drop(self.bools[usize::from(*b)].remove(row_id)),
                number => {
                    let number = Number(number.clone());
                    if let Some(rows) = self.numbers.get_mut(&number) {
                        rows.remove(row_id);
                        if rows.is_empty() {
                            self.numbers.remove(&number);
                        }
                    }
                }
            }
        }
    }

    /// The rows among `within` whose value an operator matches.
    pub(crate) fn matching(&self, op: &Op, within: &RoaringBitmap) -> RoaringBitmap {
        match op {
            Op::Eq(value) => self
                .equal(value)
                .map_or_else(RoaringBitmap::new, |r| r & within),
            Op::Ne(value) => self
                .equal(value)
                .map_or_else(|| within.clone(), |r| within - r),
            Op::In(values) => self.any_of(values) & within,
            Op::Nin(values) => within - self.any_of(values),
            Op::All(values) => {
                let mut left = within.clone();
                for value in values {
                    match self.equal(value) {
                        Some(rows) => left &= rows,
                        None => return RoaringBitmap::new(),
                    }
                }
                left
            }
            Op::Gt(x) => self.range(x, &[Ordering::Greater]) & within,
            Op::Gte(x) => self.range(x, &[Ordering::Greater, Ordering::Equal]) & within,
            Op::Lt(x) => self.range(x, &[Ordering::Less]) & within,
            Op::Lte(x) => self.range(x, &[Ordering::Less, Ordering::Equal]) & within,
            Op::Exists(true) => &self.present & within,
            Op::Exists(false) => within - &self.present,
        }
    }

    fn equal(&self, value: &Scalar) -> Option<&RoaringBitmap> {
        match value {
            Scalar::Text(text) => self.texts.get(text),
            Scalar::Bool(b) => self.bools.get(usize::from(*b)),
            number => self.numbers.get(&Number(number.clone())),
        }
    }

    fn any_of(&self, values: &[Scalar]) -> RoaringBitmap {
        values.iter().filter_map(|value| self.equal(value)).union()
    }

    /// The rows of which some element of the operand's type compares in one of these orders to it.
    fn range(&self, x: &Scalar, orders: &[Ordering]) -> RoaringBitmap {
        let compares = |value: &Scalar| value.compare(x).is_some_and(|o| orders.contains(&o));
        match x {
            // Texts are looked up by value far more often than they are compared.
            Scalar::Text(_) => {
                let of_text = self.texts.iter();
                let in_range = of_text.filter(|(text, _)| compares(&Scalar::Text((*text).clone())));
                in_range.map(|(_, rows)| rows).union()
            }
            Scalar::Bool(_) => {
                let in_range = [false, true].into_iter().zip(&self.bools);
                let in_range = in_range.filter(|(b, _)| compares(&Scalar::Bool(*b)));
                in_range.map(|(_, rows)| rows).union()
            }
            number => {
                let edge = || Number(number.clone());
                let bounds = match (
                    orders.contains(&Ordering::Less),
                    orders.contains(&Ordering::Equal),
                ) {
                    (true, true) => (Bound::Unbounded, Bound::Included(edge())),
                    (true, false) => (Bound::Unbounded, Bound::Excluded(edge())),
                    (false, true) => (Bound::Included(edge()), Bound::Unbounded),
                    (false, false) => (Bound::Excluded(edge()), Bound::Unbounded),
                };
                self.numbers.range(bounds).map(|(_, rows)| rows).union()
            }
        }
    }
}

/// An integer or a float, ordered by exact value.
#[derive(Clone, Debug)]
struct Number(Scalar);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // Two numbers always compare.
        self.0.compare(&other.0).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}
