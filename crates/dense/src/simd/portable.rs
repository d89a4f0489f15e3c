//! The loops in plain Rust: for machines without wider ones, and what those are tested against.

use crate::line::{F32Line, FLOATS, I8Line, I16Line};

pub(crate) fn dots(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    each_row(query, rows, at, out, |q, r| q * r);
}

pub(crate) fn squares(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    each_row(query, rows, at, out, |q, r| (q - r) * (q - r));
}

// One sum for each place of a line, which the compiler turns into vectors.
fn each_row(
    query: &[F32Line],
    rows: &[F32Line],
    at: &[u32],
    out: &mut [f32],
    term: impl Fn(f32, f32) -> f32,
) {
    for (row, out) in picked(query.len(), rows, at).zip(out) {
        let mut sums = [0.0_f32; FLOATS];
        for (q, r) in query.iter().zip(row) {
            for ((sum, q), r) in sums.iter_mut().zip(q.0).zip(r.0) {
                *sum += term(q, r);
            }
        }
        *out = sums.iter().sum();
    }
}

pub(crate) fn quantized(query: &[I16Line], rows: &[I8Line], at: &[u32], out: &mut [i32]) {
    for (row, out) in picked(query.len(), rows, at).zip(out) {
        let of_line = |(q, r): (&I16Line, &I8Line)| -> i32 {
            let products = q.0.iter().zip(r.0);
            products.map(|(q, r)| i32::from(*q) * i32::from(r)).sum()
        };
        *out = query.iter().zip(row).map(of_line).sum();
    }
}

pub(crate) fn square(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; FLOATS];
    let (a_lines, a_rest) = a.as_chunks::<FLOATS>();
    let (b_lines, b_rest) = b.as_chunks::<FLOATS>();
    for (a, b) in a_lines.iter().zip(b_lines) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (a - b) * (a - b);
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += (a - b) * (a - b);
    }
    sums.iter().sum()
}

/// Rows by their places.
pub(super) fn picked<'a, T>(
    row_len: usize,
    rows: &'a [T],
    at: &'a [u32],
) -> impl Iterator<Item = &'a [T]> {
    at.iter().map(move |at| {
        let start = *at as usize * row_len;
        rows.get(start..start + row_len).unwrap_or_default()
    })
}
