//! Tables of sums by document.

/// How many sums are looked at together.
pub(super) const STRIDE: usize = 16;

/// Calls `each` with the place and value of every sum above 0 that is not below `least`, which
/// `each` may raise, and empties the table. Its length is a multiple of [`STRIDE`].
pub(super) fn scan(sums: &mut [f32], least: &mut f32, mut each: impl FnMut(u32, f32, &mut f32)) {
    for (start, some) in (0_u32..).step_by(STRIDE).zip(sums.chunks_mut(STRIDE)) {
        let at_least = least.max(f32::MIN_POSITIVE);
        // Without a branch for each, so that several are compared at once.
        let enough = some.iter().fold(false, |any, sum| any | (*sum >= at_least));
        if enough {
            for (at, sum) in (start..).zip(some.iter()) {
                if *sum >= least.max(f32::MIN_POSITIVE) {
                    each(at, *sum, least);
                }
            }
        }
        some.fill(0.0);
    }
}
