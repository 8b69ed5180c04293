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
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the features.
        return unsafe { widest::quick_dots(rows, one, products) };
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::quick_dots(rows, one, products) };
    }
    plain_quick_dots(rows, one, products);
}

fn plain_quick_dots(rows: &[f32], one: &[f32], products: &mut Vec<f32>) {
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
    halved(sums) + product_of_few(rest, other_rest)
}

fn product_of_few(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
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

    use super::{LANES, QUICK_LANES, product_of_few};

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
            found.extend_from_slice(&two(first, second, one));
        }
        for row in pairs.remainder().chunks_exact(width) {
            found.push(two(row, row, one)[0]);
        }
    }

    #[target_feature(enable = "avx2")]
    fn two(a: &[f32], b: &[f32], one: &[f32]) -> [f32; 2] {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks(), b.as_chunks());
        let (heads, rest) = one.as_chunks::<QUICK_LANES>();
        let mut sums = [[_mm256_setzero_ps(); QUICK_LANES / 8]; 2];
        for ((head, a), b) in heads.iter().zip(a).zip(b) {
            let [head, a, b] = [parts(head), parts(a), parts(b)];
            for i in 0..head.len() {
                sums[0][i] = _mm256_add_ps(sums[0][i], _mm256_mul_ps(a[i], head[i]));
                sums[1][i] = _mm256_add_ps(sums[1][i], _mm256_mul_ps(b[i], head[i]));
            }
        }
        let [first, second] = sums;
        [
            quick_halved(first) + product_of_few(a_rest, rest),
            quick_halved(second) + product_of_few(b_rest, rest),
        ]
    }

    #[target_feature(enable = "avx2")]
    fn parts(numbers: &[f32; QUICK_LANES]) -> QuickParts {
        let eights = numbers.as_chunks::<8>().0;
        let mut parts = [_mm256_setzero_ps(); QUICK_LANES / 8];
        for (part, eight) in parts.iter_mut().zip(eights) {
            // SAFETY: the eight numbers that are read are those that are lent.
            *part = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        }
        parts
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add_row(sum: &mut [f32], row: &[f32]) {
        super::plain_add_row(sum, row);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn add_scaled(units: &mut Vec<f32>, row: &[f32], scale: f64) {
        super::add_scaled(units, row, scale);
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
        eight_halved(_mm256_add_ps(_mm256_add_ps(a, c), _mm256_add_ps(b, d)))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn eight_halved(eight: __m256) -> f32 {
        let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

/// The same by AVX-512.
#[cfg(target_arch = "x86_64")]
mod widest {
    use std::arch::x86_64::{
        __m512, _mm256_add_ps, _mm256_castpd_ps, _mm512_add_ps, _mm512_castps_pd,
        _mm512_castps512_ps256, _mm512_extractf64x4_pd, _mm512_loadu_ps, _mm512_mul_ps,
        _mm512_setzero_ps,
    };

    use super::{QUICK_LANES, product_of_few, wide};

    type QuickParts = [__m512; QUICK_LANES / 16];

    /// Four rows at a time.
    #[target_feature(enable = "avx2,avx512f")]
    pub(super) fn quick_dots(rows: &[f32], one: &[f32], found: &mut Vec<f32>) {
        let width = one.len().max(1);
        let mut fours = rows.chunks_exact(4 * width);
        for four in &mut fours {
            let (pair, other) = four.split_at(2 * width);
            let ((a, b), (c, d)) = (pair.split_at(width), other.split_at(width));
            let (heads, rest) = one.as_chunks::<QUICK_LANES>();
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks(), b.as_chunks());
            let ((c, c_rest), (d, d_rest)) = (c.as_chunks(), d.as_chunks());
            let mut sums = [[_mm512_setzero_ps(); QUICK_LANES / 16]; 4];
            for ((((head, a), b), c), d) in heads.iter().zip(a).zip(b).zip(c).zip(d) {
                let head = parts(head);
                add(&mut sums[0], parts(a), head);
                add(&mut sums[1], parts(b), head);
                add(&mut sums[2], parts(c), head);
                add(&mut sums[3], parts(d), head);
            }
            let [a, b, c, d] = sums;
            found.extend_from_slice(&[
                quick_halved(a) + product_of_few(a_rest, rest),
                quick_halved(b) + product_of_few(b_rest, rest),
                quick_halved(c) + product_of_few(c_rest, rest),
                quick_halved(d) + product_of_few(d_rest, rest),
            ]);
        }
        wide::quick_dots(fours.remainder(), one, found);
    }

    #[target_feature(enable = "avx2,avx512f")]
    fn add(sums: &mut QuickParts, a: QuickParts, b: QuickParts) {
        for i in 0..sums.len() {
            sums[i] = _mm512_add_ps(sums[i], _mm512_mul_ps(a[i], b[i]));
        }
    }

    #[target_feature(enable = "avx2,avx512f")]
    fn parts(numbers: &[f32; QUICK_LANES]) -> QuickParts {
        let sixteens = numbers.as_chunks::<16>().0;
        let mut parts = [_mm512_setzero_ps(); QUICK_LANES / 16];
        for (part, sixteen) in parts.iter_mut().zip(sixteens) {
            // SAFETY: the sixteen numbers that are read are those that are lent.
            *part = unsafe { _mm512_loadu_ps(sixteen.as_ptr()) };
        }
        parts
    }

    #[target_feature(enable = "avx2,avx512f")]
    fn quick_halved(sums: QuickParts) -> f32 {
        let [a, b] = sums;
        let sixteen = _mm512_add_ps(a, b);
        let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(sixteen)));
        wide::eight_halved(_mm256_add_ps(_mm512_castps512_ps256(sixteen), high))
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

/// Adds a row to a sum of rows.
pub fn add_row(sum: &mut [f32], row: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::add_row(sum, row) };
    }
    plain_add_row(sum, row);
}

#[inline(always)]
fn plain_add_row(sum: &mut [f32], row: &[f32]) {
    for (sum, x) in sum.iter_mut().zip(row) {
        *sum += x;
    }
}

/// Adds a row at length 1, of the square of its length.
pub fn add_unit(units: &mut Vec<f32>, row: &[f32], square: f64) {
    let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::add_scaled(units, row, scale) };
    }
    add_scaled(units, row, scale);
}

#[inline(always)]
fn add_scaled(units: &mut Vec<f32>, row: &[f32], scale: f64) {
    let (heads, rest) = row.as_chunks::<8>();
    for head in heads {
        let mut scaled = [0.0_f32; 8];
        for lane in 0..8 {
            scaled[lane] = (f64::from(head[lane]) * scale) as f32;
        }
        units.extend_from_slice(&scaled);
    }
    units.extend(rest.iter().map(|&x| (f64::from(x) * scale) as f32));
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
            let data = &data[..rows * row.len()];
            let (mut found, mut plain) = (vec![5.0], Vec::new());
            quick_dots(data, &row, &mut found);
            plain_quick_dots(data, &row, &mut plain);
            prop_assert_eq!(&found, &plain);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                found.clear();
                // SAFETY: the processor was just asked for the feature.
                unsafe { wide::quick_dots(data, &row, &mut found) };
                prop_assert_eq!(&found, &plain);
            }
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
