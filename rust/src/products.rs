//! Products of vectors. Sums are kept in parts that the processor adds at once, and their order is
//! fixed: a product is the same on every machine, with AVX2 or without.

/// The parts that a sum in double precision is kept in.
const LANES: usize = 16;

/// The same in single precision.
const QUICK_LANES: usize = 32;

/// The product of two vectors in double precision.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::dot(a, b) };
    }
    mixed_dot(a, b)
}

/// The product of each row of a table with one vector, all of length 1, where the last digits do not
/// matter.
pub fn quick_dots(rows: &[f32], one: &[f32], products: &mut Vec<f32>) {
    products.clear();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::quick_dots(rows, one, products) };
    }
    products.extend(rows.chunks_exact(one.len().max(1)).map(|row| plain_quick_dot(row, one)));
}

/// The product of two vectors, of numbers of either precision.
#[must_use]
pub fn mixed_dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let ((heads, rest), (others, other_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (x, y) in heads.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += x[lane].into() * y[lane].into();
        }
    }
    let rest: f64 = rest.iter().zip(other_rest).map(|(&x, &y)| x.into() * y.into()).sum();
    halved(sums) + rest
}

fn plain_quick_dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; QUICK_LANES];
    let (heads, rest) = a.as_chunks::<QUICK_LANES>();
    let (others, other_rest) = b.as_chunks::<QUICK_LANES>();
    for (x, y) in heads.iter().zip(others) {
        for lane in 0..QUICK_LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = rest.iter().zip(other_rest).map(|(x, y)| x * y).sum();
    halved(sums) + rest
}

/// The sum of all parts: halves are added until one is left, so that no sum waits for all before it.
fn halved<T: Copy + std::ops::AddAssign, const N: usize>(mut sums: [T; N]) -> T {
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            let other = sums[lane + half];
            sums[lane] += other;
        }
        half /= 2;
    }
    sums[0]
}

/// The same by AVX2, told what to do: left to itself the compiler adds two parts at a time.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256, __m256d, _mm_add_pd, _mm_add_ps, _mm_add_sd, _mm_add_ss, _mm_cvtsd_f64,
        _mm_cvtss_f32, _mm_loadu_ps, _mm_movehdup_ps, _mm_movehl_ps, _mm_unpackhi_pd,
        _mm256_add_pd, _mm256_add_ps, _mm256_castpd256_pd128, _mm256_castps256_ps128,
        _mm256_cvtps_pd, _mm256_extractf128_pd, _mm256_extractf128_ps, _mm256_loadu_ps,
        _mm256_mul_pd, _mm256_mul_ps, _mm256_setzero_pd, _mm256_setzero_ps,
    };

    use super::{LANES, QUICK_LANES};

    /// As many registers as hold the parts of a sum.
    type Parts = [__m256d; LANES / 4];
    type QuickParts = [__m256; QUICK_LANES / 8];

    #[target_feature(enable = "avx2")]
    pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
        let mut sums = [_mm256_setzero_pd(); LANES / 4];
        let ((heads, rest), (others, other_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
        let whole = heads.len() / sums.len() * sums.len();
        for (x, y) in heads[..whole].chunks_exact(LANES / 4).zip(others.chunks_exact(LANES / 4)) {
            for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                // SAFETY: the four numbers that are read are those that are lent.
                let (x, y) = unsafe { (_mm_loadu_ps(x.as_ptr()), _mm_loadu_ps(y.as_ptr())) };
                *sum = _mm256_add_pd(*sum, _mm256_mul_pd(_mm256_cvtps_pd(x), _mm256_cvtps_pd(y)));
            }
        }
        let left = heads[whole..].as_flattened().iter().chain(rest);
        let other = others.get(whole..heads.len()).unwrap_or(&[]).as_flattened().iter();
        let left = left.zip(other.chain(other_rest));
        halved(sums) + left.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>()
    }

    /// Two rows at a time: what is read of the one vector serves both.
    #[target_feature(enable = "avx2")]
    pub(super) fn quick_dots(rows: &[f32], one: &[f32], found: &mut Vec<f32>) {
        let width = one.len().max(1);
        let mut pairs = rows.chunks_exact(2 * width);
        for pair in &mut pairs {
            let (first, second) = pair.split_at(width);
            found.extend_from_slice(&products([first, second], one));
        }
        for row in pairs.remainder().chunks_exact(width) {
            found.extend_from_slice(&products([row], one));
        }
    }

    #[target_feature(enable = "avx2")]
    fn products<const N: usize>(rows: [&[f32]; N], one: &[f32]) -> [f32; N] {
        let mut sums = [[_mm256_setzero_ps(); QUICK_LANES / 8]; N];
        let (heads, rest) = one.as_chunks::<QUICK_LANES>();
        let rows = rows.map(|row| row.as_chunks::<QUICK_LANES>());
        for (at, head) in heads.iter().enumerate() {
            let head = head.as_chunks::<8>().0;
            for (sums, (row, _)) in sums.iter_mut().zip(&rows) {
                let Some(row) = row.get(at) else { continue };
                for ((sum, x), y) in sums.iter_mut().zip(row.as_chunks::<8>().0).zip(head) {
                    // SAFETY: the eight numbers that are read are those that are lent.
                    let (x, y) =
                        unsafe { (_mm256_loadu_ps(x.as_ptr()), _mm256_loadu_ps(y.as_ptr())) };
                    *sum = _mm256_add_ps(*sum, _mm256_mul_ps(x, y));
                }
            }
        }
        let mut products = [0.0; N];
        for (product, (sums, (_, row))) in products.iter_mut().zip(sums.into_iter().zip(&rows)) {
            let rest = row.iter().zip(rest).map(|(x, y)| x * y).sum::<f32>();
            *product = quick_halved(sums) + rest;
        }
        products
    }

    /// The sum of all parts, in the order of [`super::halved`].
    #[target_feature(enable = "avx2")]
    fn halved(sums: Parts) -> f64 {
        let [a, b, c, d] = sums;
        let four = _mm256_add_pd(_mm256_add_pd(a, c), _mm256_add_pd(b, d));
        let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }

    #[target_feature(enable = "avx2")]
    fn quick_halved(sums: QuickParts) -> f32 {
        let [a, b, c, d] = sums;
        let eight = _mm256_add_ps(_mm256_add_ps(a, c), _mm256_add_ps(b, d));
        let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

/// Every row at length 1; a zero vector stays what it is.
#[must_use]
pub fn units(data: &[f32], width: usize) -> Vec<f32> {
    let mut units = Vec::with_capacity(data.len());
    for row in data.chunks_exact(width.max(1)) {
        add_unit(&mut units, row, dot(row, row));
    }
    units
}

/// Adds a row at length 1, of the square of its length.
pub fn add_unit(units: &mut Vec<f32>, row: &[f32], square: f64) {
    let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
    units.extend(row.iter().map(|&x| (f64::from(x) * scale) as f32));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_a_plain_sum(
            pairs in proptest::collection::vec((-1.0..1.0_f32, -1.0..1.0_f32), 0..200),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let slow: f64 = a.iter().zip(&b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
            prop_assert!((dot(&a, &b) - slow).abs() < 1e-12);
                        // To the last bit, whatever the processor can do.
            prop_assert_eq!(dot(&a, &b).to_bits(), mixed_dot(&a, &b).to_bits());
        }

        #[test]
        fn products_of_rows_are_those_of_each(
            rows in 0..6_usize,
            row in proptest::collection::vec(-1.0..1.0_f32, 1..200),
            data in proptest::collection::vec(-1.0..1.0_f32, 1200),
        ) {
            let (data, mut found) = (&data[..rows * row.len()], vec![5.0]);
            quick_dots(data, &row, &mut found);
            let plain: Vec<f32> =
                data.chunks_exact(row.len()).map(|other| plain_quick_dot(other, &row)).collect();
            prop_assert_eq!(&found, &plain);
            for (product, other) in found.iter().zip(data.chunks_exact(row.len())) {
                prop_assert!((f64::from(*product) - dot(other, &row)).abs() < 1e-4);
            }
        }

        #[test]
        fn rows_have_length_1(data in proptest::collection::vec(-1.0..1.0_f32, 0..60)) {
            let units = units(&data, 3);
            for (row, unit) in data.chunks_exact(3).zip(units.chunks_exact(3)) {
                let long = dot(row, row).sqrt();
                let one = if long > 0.0 { 1.0 } else { 0.0 };
                prop_assert!((dot(unit, unit) - one).abs() < 1e-6);
                prop_assert!((dot(row, unit) - long).abs() < 1e-6);
            }
        }
    }
}
