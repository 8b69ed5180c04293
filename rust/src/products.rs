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

/// The product of two vectors of length 1, where the last digits do not matter.
#[must_use]
pub fn quick_dot(a: &[f32], b: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::quick_dot(a, b) };
    }
    plain_quick_dot(a, b)
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
        _mm_loadu_ps, _mm256_add_pd, _mm256_add_ps, _mm256_cvtps_pd, _mm256_loadu_ps,
        _mm256_mul_pd, _mm256_mul_ps, _mm256_setzero_pd, _mm256_setzero_ps, _mm256_storeu_pd,
        _mm256_storeu_ps,
    };

    use super::{LANES, QUICK_LANES, halved};

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
        let mut parts = [0.0_f64; LANES];
        for (part, sum) in parts.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
            // SAFETY: the four numbers that are written are those that are lent.
            unsafe { _mm256_storeu_pd(part.as_mut_ptr(), sum) };
        }
        let left = heads[whole..].as_flattened().iter().chain(rest);
        let other = others.get(whole..heads.len()).unwrap_or(&[]).as_flattened().iter();
        let left = left.zip(other.chain(other_rest));
        halved(parts) + left.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>()
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn quick_dot(a: &[f32], b: &[f32]) -> f32 {
        let mut sums = [_mm256_setzero_ps(); QUICK_LANES / 8];
        let (heads, rest) = a.as_chunks::<QUICK_LANES>();
        let (others, other_rest) = b.as_chunks::<QUICK_LANES>();
        for (x, y) in heads.iter().zip(others) {
            let (x, y) = (x.as_chunks::<8>().0, y.as_chunks::<8>().0);
            for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                // SAFETY: the eight numbers that are read are those that are lent.
                let (x, y) = unsafe { (_mm256_loadu_ps(x.as_ptr()), _mm256_loadu_ps(y.as_ptr())) };
                *sum = _mm256_add_ps(*sum, _mm256_mul_ps(x, y));
            }
        }
        let mut parts = [0.0_f32; QUICK_LANES];
        for (part, sum) in parts.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
            // SAFETY: the eight numbers that are written are those that are lent.
            unsafe { _mm256_storeu_ps(part.as_mut_ptr(), sum) };
        }
        halved(parts) + rest.iter().zip(other_rest).map(|(x, y)| x * y).sum::<f32>()
    }
}

/// Every row at length 1; a zero vector stays what it is.
#[must_use]
pub fn units(data: &[f32], width: usize) -> Vec<f32> {
    let mut units = Vec::with_capacity(data.len());
    for row in data.chunks_exact(width.max(1)) {
        let length = dot(row, row).sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 1.0 };
        units.extend(row.iter().map(|&x| (f64::from(x) * scale) as f32));
    }
    units
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
            prop_assert!((f64::from(quick_dot(&a, &b)) - slow).abs() < 1e-4);
            // To the last bit, whatever the processor can do.
            prop_assert_eq!(dot(&a, &b).to_bits(), mixed_dot(&a, &b).to_bits());
            prop_assert_eq!(quick_dot(&a, &b).to_bits(), plain_quick_dot(&a, &b).to_bits());
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
