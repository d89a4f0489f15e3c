//! The three loops that a scan is made of, by the widest instructions that this machine has.
//!
//! This module holds the only `unsafe` of the workspace. There are two reasons for it, and no third:
//! a function that was compiled for instructions is called after the machine was asked whether it has
//! them, and a line is loaded into a register, or announced to the machine, through a pointer to it. What each architecture answers
//! is compared with the portable loops by tests, within the bounds that
//! [`bound`](crate::bound) proves for any order of summing.

#![expect(
    unsafe_code,
    reason = "instructions that not every machine has; see above"
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::OnceLock;

use crate::line::{F32Line, I8Line, I16Line};

/// The instructions that the loops of this process use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Instructions {
    /// 256-bit vectors with fused multiplication and addition.
    Avx2,
    /// 128-bit vectors of 64-bit ARM.
    Neon,
    /// Whatever the compiler makes of plain loops.
    Portable,
}

/// Which instructions this process uses; found out once.
pub fn instructions() -> Instructions {
    kernels().instructions
}

/// The loops. Rows stand one behind another, each as long as the query; those at the places `at` are
/// looked at, and `out` has a place for each of them.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    pub(crate) instructions: Instructions,
    /// The dot product of the query and each row.
    pub(crate) dots: Loop<F32Line, F32Line, f32>,
    /// The square of the distance between the query and each row.
    pub(crate) squares: Loop<F32Line, F32Line, f32>,
    /// The dot product of the quantized query and each quantized row, exactly.
    pub(crate) quantized: Loop<I16Line, I8Line, i32>,
    /// The square of the distance between two vectors of one width, wherever they lie.
    pub(crate) square: fn(&[f32], &[f32]) -> f32,
}

/// The square of the distance between two vectors, summed in 32 bits. Of two widths, what both have
/// counts.
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    (kernels().square)(a, b)
}

pub(crate) type Loop<Q, R, S> = fn(query: &[Q], rows: &[R], at: &[u32], out: &mut [S]);

pub(crate) fn kernels() -> &'static Kernels {
    static KERNELS: OnceLock<Kernels> = OnceLock::new();
    KERNELS.get_or_init(|| native().unwrap_or(PORTABLE))
}

pub(crate) const PORTABLE: Kernels = Kernels {
    instructions: Instructions::Portable,
    dots: portable::dots,
    squares: portable::squares,
    quantized: portable::quantized,
    square: portable::square,
};

/// The loops of this architecture, where the machine has what they need.
#[cfg(target_arch = "x86_64")]
fn native() -> Option<Kernels> {
    // SAFETY (of each closure): the kernels are made only where both were detected.
    let there = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    there.then_some(Kernels {
        instructions: Instructions::Avx2,
        dots: |query, rows, at, out| unsafe { x86_64::dots(query, rows, at, out) },
        squares: |query, rows, at, out| unsafe { x86_64::squares(query, rows, at, out) },
        square: |a, b| unsafe { x86_64::unaligned_square(a, b) },
        quantized: |query, rows, at, out| unsafe { x86_64::quantized(query, rows, at, out) },
    })
}

/// Every 64-bit ARM has the instructions.
#[cfg(target_arch = "aarch64")]
fn native() -> Option<Kernels> {
    Some(Kernels {
        instructions: Instructions::Neon,
        dots: aarch64::dots,
        squares: aarch64::squares,
        ..PORTABLE
    })
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native() -> Option<Kernels> {
    None
}
