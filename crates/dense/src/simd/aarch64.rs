//! NEON, which every 64-bit ARM has.

use std::arch::aarch64::{
    float32x4_t, vaddq_f32, vaddvq_f32, vdupq_n_f32, vfmaq_f32, vld1q_f32, vsubq_f32,
};

use super::portable::picked;
use crate::line::F32Line;

pub(super) fn dots(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    each_row(query, rows, at, out, |sum, q, r| {
        // SAFETY: every 64-bit ARM has NEON.
        unsafe { vfmaq_f32(sum, q, r) }
    });
}

pub(super) fn squares(query: &[F32Line], rows: &[F32Line], at: &[u32], out: &mut [f32]) {
    each_row(query, rows, at, out, |sum, q, r| {
        // SAFETY: every 64-bit ARM has NEON.
        unsafe {
            let difference = vsubq_f32(q, r);
            vfmaq_f32(sum, difference, difference)
        }
    });
}

#[inline]
fn each_row(
    query: &[F32Line],
    rows: &[F32Line],
    at: &[u32],
    out: &mut [f32],
    add: impl Fn(float32x4_t, float32x4_t, float32x4_t) -> float32x4_t,
) {
    for (row, out) in picked(query.len(), rows, at).zip(out) {
        // SAFETY: every 64-bit ARM has NEON.
        let mut sums = unsafe { [vdupq_n_f32(0.0); 4] };
        for (q, r) in query.iter().zip(row) {
            let (q, r) = (q.0.as_ptr(), r.0.as_ptr());
            for (sum, at) in sums.iter_mut().zip([0, 4, 8, 12]) {
                // SAFETY: a line is 16 floats, and these are four of them.
                let (q, r) = unsafe { (vld1q_f32(q.add(at)), vld1q_f32(r.add(at))) };
                *sum = add(*sum, q, r);
            }
        }
        let [a, b, c, d] = sums;
        // SAFETY: every 64-bit ARM has NEON.
        *out = unsafe { vaddvq_f32(vaddq_f32(vaddq_f32(a, b), vaddq_f32(c, d))) };
    }
}
