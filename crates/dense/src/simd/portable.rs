//! The loops in plain Rust: for machines without wider ones, and what those are tested against.

use crate::line::{Bytes, FLOATS, Line, Words};

pub(crate) fn dots(query: &[Line], rows: &[Line], out: &mut [f32]) {
    each_row(query, rows, out, |q, r| q * r);
}

pub(crate) fn squares(query: &[Line], rows: &[Line], out: &mut [f32]) {
    each_row(query, rows, out, |q, r| (q - r) * (q - r));
}

// One sum for each place of a line, which the compiler turns into vectors.
fn each_row(query: &[Line], rows: &[Line], out: &mut [f32], term: impl Fn(f32, f32) -> f32) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        let mut sums = [0.0_f32; FLOATS];
        for (q, r) in query.iter().zip(row) {
            for ((sum, q), r) in sums.iter_mut().zip(q.0).zip(r.0) {
                *sum += term(q, r);
            }
        }
        *out = sums.iter().sum();
    }
}

pub(crate) fn quantized(query: &[Words], rows: &[Bytes], out: &mut [i32]) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        let of_line = |(q, r): (&Words, &Bytes)| -> i32 {
            let products = q.0.iter().zip(r.0);
            products.map(|(q, r)| i32::from(*q) * i32::from(r)).sum()
        };
        *out = query.iter().zip(row).map(of_line).sum();
    }
}
