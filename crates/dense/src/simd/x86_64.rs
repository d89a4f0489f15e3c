//! AVX2 with FMA.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _MM_HINT_T0, _mm_add_epi32, _mm_add_ps, _mm_add_ss,
    _mm_cvtsi128_si32, _mm_cvtss_f32, _mm_load_si128, _mm_movehl_ps, _mm_prefetch,
    _mm_shuffle_epi32, _mm_shuffle_ps, _mm256_add_epi32, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extractf128_ps, _mm256_extracti128_si256,
    _mm256_fmadd_ps, _mm256_load_ps, _mm256_load_si256, _mm256_loadu_ps, _mm256_madd_epi16,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sub_ps,
};

use crate::line::{F32Line, I8Line, I16Line};

#[target_feature(enable = "avx2,fma")]
pub(super) fn dots(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    for (row, out) in Picked::new(query.len(), rows, at).zip(out) {
        *out = dot(query, row);
    }
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn squares(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    for (row, out) in Picked::new(query.len(), rows, at).zip(out) {
        *out = square(query, row);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn quantized(query: &[I16Line], rows: &[I8Line], at: &[u32], out: &mut [i32]) {
    for (row, out) in Picked::new(query.len(), rows, at).zip(out) {
        *out = quantized_dot(query, row);
    }
}

/// Rows by their places. While one is looked at, the machine is told of one further on.
struct Picked<'a, T> {
    rows: &'a [T],
    row_len: usize,
    at: &'a [u32],
    ahead: usize,
}

impl<'a, T> Picked<'a, T> {
    fn new(row_len: usize, rows: &'a [T], at: &'a [u32]) -> Self {
        // As far ahead as memory takes for an answer.
        const AHEAD_BYTES: usize = 4_096;
        let row_bytes = (row_len * size_of::<T>()).max(1);
        Self {
            rows,
            row_len,
            at,
            ahead: (AHEAD_BYTES / row_bytes).clamp(1, 16),
        }
    }

    #[inline]
    fn row(&self, at: u32) -> &'a [T] {
        let start = at as usize * self.row_len;
        self.rows
            .get(start..start + self.row_len)
            .unwrap_or_default()
    }
}

impl<'a, T> Iterator for Picked<'a, T> {
    type Item = &'a [T];

    #[inline]
    fn next(&mut self) -> Option<&'a [T]> {
        let (first, rest) = self.at.split_first()?;
        if let Some(later) = self.at.get(self.ahead) {
            for line in self.row(*later) {
                // SAFETY: a hint may be given about any address, and this one is of a line that is
                // there.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast()) };
            }
        }
        self.at = rest;
        Some(self.row(*first))
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn dot(query: &[F32Line], row: &[F32Line]) -> f32 {
    // Four sums, so that an addition does not wait for the one before it.
    let mut sums = [_mm256_setzero_ps(); 4];
    let (row_pairs, row_rest) = row.as_chunks::<2>();
    let (query_pairs, query_rest) = query.as_chunks::<2>();
    for (q, r) in query_pairs.iter().zip(row_pairs) {
        let ([q0, q1], [q2, q3]) = (halves(&q[0]), halves(&q[1]));
        let ([r0, r1], [r2, r3]) = (halves(&r[0]), halves(&r[1]));
        sums[0] = _mm256_fmadd_ps(q0, r0, sums[0]);
        sums[1] = _mm256_fmadd_ps(q1, r1, sums[1]);
        sums[2] = _mm256_fmadd_ps(q2, r2, sums[2]);
        sums[3] = _mm256_fmadd_ps(q3, r3, sums[3]);
    }
    for (q, r) in query_rest.iter().zip(row_rest) {
        let ([q0, q1], [r0, r1]) = (halves(q), halves(r));
        sums[0] = _mm256_fmadd_ps(q0, r0, sums[0]);
        sums[1] = _mm256_fmadd_ps(q1, r1, sums[1]);
    }
    sum(sums)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn square(query: &[F32Line], row: &[F32Line]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); 4];
    let (row_pairs, row_rest) = row.as_chunks::<2>();
    let (query_pairs, query_rest) = query.as_chunks::<2>();
    for (q, r) in query_pairs.iter().zip(row_pairs) {
        let ([q0, q1], [q2, q3]) = (halves(&q[0]), halves(&q[1]));
        let ([r0, r1], [r2, r3]) = (halves(&r[0]), halves(&r[1]));
        sums[0] = add_square(q0, r0, sums[0]);
        sums[1] = add_square(q1, r1, sums[1]);
        sums[2] = add_square(q2, r2, sums[2]);
        sums[3] = add_square(q3, r3, sums[3]);
    }
    for (q, r) in query_rest.iter().zip(row_rest) {
        let ([q0, q1], [r0, r1]) = (halves(q), halves(r));
        sums[0] = add_square(q0, r0, sums[0]);
        sums[1] = add_square(q1, r1, sums[1]);
    }
    sum(sums)
}

#[target_feature(enable = "avx2,fma")]
pub(super) fn unaligned_square(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); 4];
    let (a_lines, a_rest) = a.as_chunks::<32>();
    let (b_lines, b_rest) = b.as_chunks::<32>();
    for (a, b) in a_lines.iter().zip(b_lines) {
        let ((a, _), (b, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = add_square(unaligned(a), unaligned(b), *sum);
        }
    }
    sum(sums) + super::portable::square(a_rest, b_rest)
}

#[inline]
#[target_feature(enable = "avx2")]
fn unaligned(numbers: &[f32; 8]) -> __m256 {
    // SAFETY: these are eight floats, and they may begin anywhere.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_square(q: __m256, r: __m256, sum: __m256) -> __m256 {
    let difference = _mm256_sub_ps(q, r);
    _mm256_fmadd_ps(difference, difference, sum)
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(line: &F32Line) -> [__m256; 2] {
    let start = line.0.as_ptr();
    // SAFETY: a line is 16 floats and begins at a multiple of 64 bytes.
    unsafe { [_mm256_load_ps(start), _mm256_load_ps(start.add(8))] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(sums: [__m256; 4]) -> f32 {
    let [a, b, c, d] = sums;
    let all = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
    let four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn quantized_dot(query: &[I16Line], row: &[I8Line]) -> i32 {
    let mut sums = [_mm256_setzero_si256(); 2];
    for (q, r) in query.iter().zip(row) {
        let ([q0, q1, q2, q3], [r0, r1, r2, r3]) = (quarters(q), widened(r));
        // Neighbours are multiplied and added in pairs, into 32 bits.
        sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(q0, r0));
        sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(q1, r1));
        sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(q2, r2));
        sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(q3, r3));
    }
    let all = _mm256_add_epi32(sums[0], sums[1]);
    let four = _mm_add_epi32(
        _mm256_castsi256_si128(all),
        _mm256_extracti128_si256::<1>(all),
    );
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b_01_00_11_10>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b_10_11_00_01>(two));
    _mm_cvtsi128_si32(one)
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarters(words: &I16Line) -> [__m256i; 4] {
    let start = words.0.as_ptr().cast::<__m256i>();
    // SAFETY: these are 64 numbers of 16 bits, and begin at a multiple of 64 bytes.
    [0, 1, 2, 3].map(|quarter| unsafe { _mm256_load_si256(start.add(quarter)) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn widened(bytes: &I8Line) -> [__m256i; 4] {
    let start = bytes.0.as_ptr().cast::<__m128i>();
    // SAFETY: these are 64 numbers of 8 bits, and begin at a multiple of 64 bytes.
    let quarters = [0, 1, 2, 3].map(|quarter| unsafe { _mm_load_si128(start.add(quarter)) });
    [
        _mm256_cvtepi8_epi16(quarters[0]),
        _mm256_cvtepi8_epi16(quarters[1]),
        _mm256_cvtepi8_epi16(quarters[2]),
        _mm256_cvtepi8_epi16(quarters[3]),
    ]
}
