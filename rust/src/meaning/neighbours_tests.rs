//! Neighbours joined, against the definition taken literally.

use super::*;
use crate::meaning::vectors::Vectors;

/// Numbers that repeat in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// The sum of squares within a group: how far its rows, at length 1, are from their mean. A zero vector
/// gets a dimension of its own.
fn within(rows: &[Vec<f64>]) -> f64 {
    let zeros = rows.iter().filter(|row| row.iter().all(|&x| x == 0.0)).count();
    let width = rows[0].len();
    let mut own = 0;
    let rows: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let mut unit: Vec<f64> = row.iter().map(|x| x / length.max(1e-300)).collect();
            unit.resize(width + zeros, 0.0);
            if length == 0.0 {
                unit[width + own] = 1.0;
                own += 1;
            }
            unit
        })
        .collect();
    let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..width + zeros).map(mean).collect();
    rows.iter().flat_map(|row| row.iter().zip(&means)).map(|(x, m)| (x - m) * (x - m)).sum()
}

/// The same by trying every pair at every step.
fn slow(
    rows: &[Vec<f64>],
    bonds: &[Bond],
    until: Until,
    groups: &mut Vec<(usize, usize)>,
    fits: &dyn Fn(usize, usize) -> bool,
) {
    while groups.len() > until.groups {
        let mut best: Option<(Bond, u64, usize)> = None;
        for (i, pair) in groups.windows(2).enumerate() {
            let ((a, b), (_, c)) = (pair[0], pair[1]);
            let bond = bonds[b - 1];
            let added = within(&rows[a..c]) - within(&rows[a..b]) - within(&rows[b..c]);
            let key = if bond == Bond::None { parts(added) } else { 0 };
            if fits(a, c) && (bond != Bond::None || key <= parts(until.far)) {
                best = Some(best.map_or((bond, key, i), |best| best.min((bond, key, i))));
            }
        }
        let Some((_, _, i)) = best else { return };
        let (_, end) = groups.remove(i + 1);
        groups[i].1 = end;
    }
}

fn flat(rows: &[Vec<f64>]) -> Vec<f32> {
    rows.iter().flatten().map(|&x| x as f32).collect()
}

/// Rows of few different numbers, so that many pairs are equal; or of many.
fn made(numbers: &mut Numbers, n: usize, width: usize, values: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..width).map(|_| numbers.next(values) as f64).collect()).collect()
}

#[test]
fn it_equals_the_definition_taken_literally() {
    let mut numbers = Numbers(7);
    for case in 0..3_000 {
        let (n, width) = (numbers.next(13), 1 + numbers.next(9));
        let rows = made(&mut numbers, n, width, [2, 3, 1_000][case % 3]);
        let sizes: Vec<usize> = (0..n).map(|_| 1 + numbers.next(9)).collect();
        let bonds: Vec<Bond> = (1..n)
            .map(|_| match numbers.next(12) {
                0 => Bond::Whole,
                1 => Bond::Heading,
                _ => Bond::None,
            })
            .collect();
        let data = flat(&rows);
        let mut neighbours = Neighbours::new(Vectors::new(&data, width), bonds.clone());
        let mut groups: Vec<(usize, usize)> = (0..n).map(|i| (i, i + 1)).collect();
        let mut most = 0;
        // One level above the other.
        for _ in 0..3 {
            most += numbers.next(25);
            let fits = |a: usize, b: usize| sizes[a..b].iter().sum::<usize>() <= most;
            let far = [f64::INFINITY, numbers.next(150) as f64 / 100.0][numbers.next(2)];
            let until = Until { far, groups: [1, numbers.next(5)][numbers.next(2)] };
            let guard = Guard::never();
            neighbours.join(until, &guard, &mut |a, b| Ok(fits(a, b))).unwrap();
            slow(&rows, &bonds, until, &mut groups, &fits);
            let firsts: Vec<usize> = groups.iter().map(|group| group.0).collect();
            assert_eq!(
                neighbours.groups(),
                firsts,
                "{rows:?} {sizes:?} {bonds:?} {most} {until:?}"
            );
        }
    }
}

#[test]
fn what_joining_two_rows_adds_is_their_distance() {
    let rows = [vec![1.0, 0.0], vec![3.0, 3.0], vec![0.0, 0.0], vec![0.0, 0.0]];
    let data = flat(&rows);
    let all = Vectors::new(&data, 2);
    let neighbours = Neighbours::new(all, vec![Bond::None; 3]);
    for (i, distance) in all.distances(&all.squares()).into_iter().enumerate() {
        assert!((neighbours.added(i, i + 1, i + 2) - distance).abs() < 1e-12);
    }
}

#[test]
fn of_equal_pairs_the_leftmost_goes_first() {
    let data = [1.0_f32; 10];
    let mut neighbours = Neighbours::new(Vectors::new(&data, 2), vec![Bond::None; 4]);
    let until = Until { far: 0.0, groups: 1 };
    neighbours.join(until, &Guard::never(), &mut |a, b| Ok(b - a <= 3)).unwrap();
    assert_eq!(neighbours.groups(), [0, 3]);
}

#[test]
fn twice_the_rows_are_twice_the_questions() {
    let mut numbers = Numbers(3);
    let mut asked = Vec::new();
    for n in [2_000, 4_000] {
        let data = flat(&made(&mut numbers, n, 4, 100));
        let mut neighbours = Neighbours::new(Vectors::new(&data, 4), vec![Bond::None; n - 1]);
        let mut questions = 0;
        let until = Until { far: f64::INFINITY, groups: 1 };
        neighbours
            .join(until, &Guard::never(), &mut |_, _| {
                questions += 1;
                Ok(true)
            })
            .unwrap();
        assert_eq!(neighbours.groups(), [0]);
        assert!(questions <= 3 * n);
        asked.push(questions);
    }
    assert!(asked[1] <= 2 * asked[0] + 50, "{asked:?}");
}

#[test]
fn a_call_can_be_stopped() {
    let data = vec![1.0_f32; 4_000];
    let mut neighbours = Neighbours::new(Vectors::new(&data, 2), vec![Bond::None; 1_999]);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let until = Until { far: 9.0, groups: 1 };
    let stopped = neighbours.join(until, &Guard::new(&stop, None), &mut |_, _| Ok(true));
    assert!(matches!(stopped, Err(crate::error::Error::Interrupted)));
}
