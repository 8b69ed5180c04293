//! Products of vectors. Their sums are kept in parts that the processor adds at once, and the order
//! is fixed: a product is the same on every machine, whatever it is compiled for.

/// The parts that a sum is kept in.
const LANES: usize = 8;

/// The rows that [`quick_dots`] multiplies at once: no sum waits for the one before.
const ROWS: usize = 4;

/// Compiles a function twice, for all processors and for those with AVX2, and calls the one that this
/// processor has. Each gives the same result, the second in half the time or less.
macro_rules! widest {
    ($(#[$doc:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        $visible fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn plain($($argument: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($argument: $type),*) $(-> $result)? {
                    plain($($argument),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor was just asked for the feature.
                    return unsafe { wide($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    };
}
pub(crate) use widest;

/// The product of two vectors.
#[must_use]
#[inline(always)]
pub fn dot<A: Copy + Into<f64>, B: Copy + Into<f64>>(a: &[A], b: &[B]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let (heads, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = heads.remainder().iter().zip(others.remainder());
    let rest: f64 = rest.map(|(&x, &y)| x.into() * y.into()).sum();
    for (x, y) in heads.zip(others) {
        for lane in 0..LANES {
            sums[lane] += x[lane].into() * y[lane].into();
        }
    }
    sums.iter().sum::<f64>() + rest
}

widest! {
    /// Every row at length 1; a zero vector stays what it is.
    pub fn units(data: &[f32], width: usize) -> Vec<f32> {
        let mut units = Vec::with_capacity(data.len());
        for row in data.chunks_exact(width.max(1)) {
            let length = dot(row, row).sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 1.0 };
            units.extend(row.iter().map(|&x| (f64::from(x) * scale) as f32));
        }
        units
    }
}

widest! {
    /// The products of one vector of length 1 with each row of `rows`, where the last digits do not
    /// matter.
    pub fn quick_dots(rows: &[f32], one: &[f32], products: &mut Vec<f32>) {
        products.clear();
        let width = one.len().max(1);
        let groups = rows.chunks_exact(ROWS * width);
        for row in groups.remainder().chunks_exact(width) {
            products.push(quick_products([row], one)[0]);
        }
        let rest = products.len();
        for group in groups {
            let (a, b) = group.split_at(2 * width);
            let ((a, b), (c, d)) = (a.split_at(width), b.split_at(width));
            products.extend_from_slice(&quick_products([a, b, c, d], one));
        }
        products.rotate_left(rest);
    }
}

#[inline(always)]
fn quick_products<const N: usize>(rows: [&[f32]; N], one: &[f32]) -> [f32; N] {
    let mut sums = [[0.0_f32; LANES]; N];
    let (heads, rest) = one.as_chunks::<LANES>();
    let parts = rows.map(|row| row.as_chunks::<LANES>());
    for (i, y) in heads.iter().enumerate() {
        for (sums, (heads, _)) in sums.iter_mut().zip(&parts) {
            let x = &heads[i];
            for lane in 0..LANES {
                sums[lane] += x[lane] * y[lane];
            }
        }
    }
    let mut products = [0.0; N];
    for ((product, sums), (_, tail)) in products.iter_mut().zip(&mut sums).zip(&parts) {
        // By halves, so that no sum waits for all before it.
        for half in [LANES / 2, LANES / 4, LANES / 8] {
            for lane in 0..half {
                sums[lane] += sums[lane + half];
            }
        }
        let tail: f32 = tail.iter().zip(rest).map(|(x, y)| x * y).sum();
        *product = sums[0] + tail;
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_are_those_of_a_plain_sum(
            (width, data) in (1..40_usize).prop_flat_map(|width| {
                (Just(width), proptest::collection::vec(-1.0..1.0_f32, width..width * 14))
            })
        ) {
            let (one, rows) = data.split_at(width);
            let rows = &rows[..rows.len() / width * width];
            let mut products = vec![7.0];
            quick_dots(rows, one, &mut products);
            prop_assert_eq!(products.len(), rows.len() / width);
            for (row, &quick) in rows.chunks(width).zip(&products) {
                let slow: f64 = row.iter().zip(one).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                prop_assert!((dot(row, one) - slow).abs() < 1e-12);
                prop_assert!((f64::from(quick) - slow).abs() < 1e-4);
                // A product does not depend on what stands beside its row.
                let mut alone = Vec::new();
                quick_dots(row, one, &mut alone);
                prop_assert_eq!(&alone, &[quick]);
            }
        }
    }
}
