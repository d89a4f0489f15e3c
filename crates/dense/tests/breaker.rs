//! Odd numbers: what the passes leave out must be none of the best.
use shelfward_core::Metric;
use shelfward_dense::{Among, Matrix};

struct Dice(u64);
impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }
    fn unit(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}

fn number(dice: &mut Dice, how: usize) -> f32 {
    match how {
        0 => dice.unit(),
        1 => dice.unit() * 1e-40,
        2 => dice.unit() * 1e18,
        3 => dice.unit() * 10f32.powi(dice.below(60) as i32 - 30),
        4 => {
            if dice.below(2) == 0 {
                0.0
            } else {
                -0.0
            }
        }
        5 => 1.0,
        6 => {
            if dice.below(40) == 0 {
                dice.unit()
            } else {
                0.0
            }
        }
        7 => 1.0 + dice.unit() * 1e-6,
        8 => dice.unit() * 1e12,
        9 => dice.unit() * 1e-12,
        10 => f32::from_bits(dice.below(1 << 23) as u32),
        11 => {
            if dice.below(50) == 0 {
                dice.unit() * 1e6
            } else {
                dice.unit() * 1e-3
            }
        }
        12 => (dice.below(3) as f32) - 1.0,
        13 => f32::MAX * dice.unit(),
        _ => f32::from_bits(dice.roll() as u32 & 0x7f7f_ffff),
    }
}

#[test]
fn whatever_the_numbers_the_answer_is_that_of_looking_at_all() {
    let seed = std::env::var("SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    let secs = std::env::var("SECS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(20);
    let mut dice = Dice(seed);
    let begun = std::time::Instant::now();
    let mut rounds = 0;
    while begun.elapsed().as_secs() < secs {
        rounds += 1;
        let width = [
            1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 384, 1_024, 8_192, 8_193,
        ][dice.below(15)];
        let metric = [Metric::Cosine, Metric::Dot, Metric::Euclidean][dice.below(3)];
        let n = if width > 1_000 {
            300 + dice.below(300)
        } else {
            300 + dice.below(2_500)
        };
        let quantized = dice.below(4) > 0;
        let mut matrix = Matrix::new(metric, width, quantized);
        let mixed = dice.below(2) == 0;
        let base = dice.below(15);
        let mut vectors: Vec<Vec<f32>> = Vec::new();
        for slot in 0..n {
            let how = if mixed { dice.below(15) } else { base };
            let v: Vec<f32> = if slot > 10 && dice.below(5) == 0 {
                let from = dice.below(slot);
                let scale = [1.0, 1.0, 2.0, 0.5, -1.0, 1.000_000_1][dice.below(6)];
                vectors[from]
                    .iter()
                    .map(|x| x * scale)
                    .map(|x| if x.is_finite() { x } else { 1.0 })
                    .collect()
            } else {
                (0..width).map(|_| number(&mut dice, how)).collect()
            };
            matrix.set(slot as u32, &v);
            vectors.push(v);
        }
        let mut live: Vec<u32> = (0..n as u32).collect();
        for _ in 0..dice.below(60) {
            let at = dice.below(live.len());
            matrix.remove(live.remove(at));
        }
        for _ in 0..4 {
            let query: Vec<f32> = if dice.below(2) == 0 {
                let from = dice.below(n);
                vectors[from].iter().map(|x| x * 1.0).collect()
            } else {
                let how = if dice.below(2) == 0 {
                    base
                } else {
                    dice.below(15)
                };
                (0..width).map(|_| number(&mut dice, how)).collect()
            };
            let k = [1, 2, 10, 50, 10_000, 0][dice.below(6)];
            let ties = |a: u32, b: u32| (a ^ 5).cmp(&(b ^ 5));
            let all = matrix.scored(&query, live.iter().copied(), k, ties);
            let found = matrix.nearest(&query, Among::All, k, ties);
            let bits =
                |v: &[(u32, f64)]| v.iter().map(|(s, x)| (*s, x.to_bits())).collect::<Vec<_>>();
            assert!(
                bits(&found) == bits(&all),
                "seed {seed} round {rounds} {metric} width {width} n {n} k {k} base {base} mixed {mixed} q {quantized}:\n{:?}\n{:?}",
                &found[..found.len().min(5)],
                &all[..all.len().min(5)]
            );
            let some: Vec<u32> = (0..n as u32 + 50).filter(|_| dice.below(3) > 0).collect();
            let among_live: Vec<u32> = some
                .iter()
                .copied()
                .filter(|s| live.binary_search(s).is_ok())
                .collect();
            let all = matrix.scored(&query, among_live.iter().copied(), k, ties);
            let found = matrix.nearest(&query, Among::Slots(&some), k, ties);
            assert!(
                bits(&found) == bits(&all),
                "among: seed {seed} round {rounds} {metric} width {width} n {n} k {k}"
            );
        }
    }
    eprintln!("{rounds} rounds");
}
