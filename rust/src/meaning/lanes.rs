//! The least of many sums, for several penalties at once: each has a lane, and no lane waits for
//! another. Sums are compared, never added up, so they are the same with AVX2 and without.

/// How many penalties are tried at once.
pub(super) const LANES: usize = 4;

/// For each lane the least of what stands before plus the variance at the same place, and the first
/// place where it is. Infinity at 0 if there is none.
#[must_use]
pub(super) fn least(before: &[[f64; LANES]], variances: &[f32]) -> ([f64; LANES], [u64; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just asked for the feature.
        return unsafe { wide::least(before, variances) };
    }
    plain(before, variances)
}

fn plain(before: &[[f64; LANES]], variances: &[f32]) -> ([f64; LANES], [u64; LANES]) {
    let (mut least, mut places) = ([f64::INFINITY; LANES], [0; LANES]);
    for (place, (before, &variance)) in (0..).zip(before.iter().zip(variances)) {
        for lane in 0..LANES {
            let sum = before[lane] + f64::from(variance);
            if sum < least[lane] {
                (least[lane], places[lane]) = (sum, place);
            }
        }
    }
    (least, places)
}

/// The same by AVX2. Two sums at a time, so that one comparison does not wait for the one before.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256d, _CMP_EQ_OQ, _CMP_LT_OQ, _mm_set1_ps, _mm256_add_epi64, _mm256_add_pd,
        _mm256_and_pd, _mm256_blendv_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmp_pd,
        _mm256_cmpgt_epi64, _mm256_cvtps_pd, _mm256_loadu_pd, _mm256_min_pd, _mm256_or_pd,
        _mm256_set1_epi64x, _mm256_set1_pd, _mm256_storeu_pd, _mm256_storeu_si256,
    };

    use super::LANES;

    #[target_feature(enable = "avx2")]
    fn sum(before: &[f64; LANES], variance: f32) -> __m256d {
        // SAFETY: the four numbers that are read are those that are lent.
        let before = unsafe { _mm256_loadu_pd(before.as_ptr()) };
        _mm256_add_pd(before, _mm256_cvtps_pd(_mm_set1_ps(variance)))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn least(
        before: &[[f64; LANES]],
        variances: &[f32],
    ) -> ([f64; LANES], [u64; LANES]) {
        let mut least = [_mm256_set1_pd(f64::INFINITY); 2];
        let mut at = [_mm256_castsi256_pd(_mm256_set1_epi64x(0)); 2];
        let mut place = [_mm256_set1_epi64x(0), _mm256_set1_epi64x(1)];
        let step = _mm256_set1_epi64x(2);
        let ((pairs, last), (others, other_last)) =
            (before.as_chunks::<2>(), variances.as_chunks::<2>());
        for (pair, other) in pairs.iter().zip(others) {
            for i in 0..2 {
                let sum = sum(&pair[i], other[i]);
                let less = _mm256_cmp_pd::<_CMP_LT_OQ>(sum, least[i]);
                at[i] = _mm256_blendv_pd(at[i], _mm256_castsi256_pd(place[i]), less);
                least[i] = _mm256_min_pd(sum, least[i]);
                place[i] = _mm256_add_epi64(place[i], step);
            }
        }
        for (before, &variance) in last.iter().zip(other_last) {
            let sum = sum(before, variance);
            let less = _mm256_cmp_pd::<_CMP_LT_OQ>(sum, least[0]);
            at[0] = _mm256_blendv_pd(at[0], _mm256_castsi256_pd(place[0]), less);
            least[0] = _mm256_min_pd(sum, least[0]);
        }
        // Of two that are equal the one that comes first.
        let (even, odd) = (_mm256_castpd_si256(at[0]), _mm256_castpd_si256(at[1]));
        let before = _mm256_castsi256_pd(_mm256_cmpgt_epi64(even, odd));
        let equal = _mm256_cmp_pd::<_CMP_EQ_OQ>(least[1], least[0]);
        let less = _mm256_cmp_pd::<_CMP_LT_OQ>(least[1], least[0]);
        let other = _mm256_or_pd(less, _mm256_and_pd(equal, before));
        let (mut sums, mut places) = ([0.0; LANES], [0; LANES]);
        let at = _mm256_castpd_si256(_mm256_blendv_pd(at[0], at[1], other));
        // SAFETY: the four numbers that are written are those that are lent, twice.
        unsafe {
            _mm256_storeu_pd(sums.as_mut_ptr(), _mm256_min_pd(least[1], least[0]));
            _mm256_storeu_si256(places.as_mut_ptr().cast(), at);
        }
        (sums, places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Few different numbers: many sums are equal, and some are infinite.
        #[test]
        fn the_first_of_the_least_sums_is_found_in_every_lane(
            rows in proptest::collection::vec((prop::array::uniform4(0..4_u8), 0..5_u8), 0..40),
        ) {
            let before: Vec<[f64; LANES]> =
                rows.iter().map(|(before, _)| before.map(f64::from)).collect();
            let variance = |&x: &u8| if x == 4 { f32::INFINITY } else { f32::from(x) };
            let variances: Vec<f32> = rows.iter().map(|(_, x)| variance(x)).collect();
            let found = least(&before, &variances);
            prop_assert_eq!(found, plain(&before, &variances));
            for lane in 0..LANES {
                let sums = before.iter().zip(&variances).map(|(b, &v)| b[lane] + f64::from(v));
                let sums: Vec<f64> = sums.collect();
                let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
                let place = sums.iter().position(|&sum| sum == least && sum.is_finite());
                prop_assert_eq!((found.0[lane], found.1[lane]), (least, place.unwrap_or(0) as u64));
            }
        }
    }
}
