//! A memo gives what was made, and no key stands for two texts.

use proptest::prelude::*;

use super::{Key, LONG, Memo, Place, Pool, ROW, ROWS, SETS, SHORT, at};
use crate::error::Error;

#[test]
fn length_is_part_of_a_key() {
    let mut memo = Memo::new();
    for length in 1..=SHORT {
        let key = Key::of(&[0; 40], 3, length);
        assert_eq!(memo.ends(key, || length as u64), length as u64);
    }
    // All of these share a set, and the last one put there stays.
    for length in SHORT + 1..=LONG {
        assert_eq!(memo.long_ends(&vec![0; length], || length as u64), length as u64);
        assert_eq!(memo.long_ends(&vec![0; length], || unreachable!()), length as u64);
    }
}

/// A pretoken may be a token that no merges make; the same bytes within another one are not.
#[test]
fn a_part_of_a_pretoken_is_not_the_pretoken() {
    let mut memo = Memo::new();
    let key = Key::of("漢字".as_bytes(), 0, 6);
    assert_eq!(memo.ends(key, || 1 << 5), 1 << 5);
    assert_eq!(memo.ends(key.inside(), || 0b100100), 0b100100);
    assert_eq!(memo.ends(key, || unreachable!()), 1 << 5);
}

/// The hash once left out the last bytes of words of seven and eight, which then drove each other out.
#[test]
fn words_that_differ_anywhere_are_spread_over_the_sets() {
    for length in 2..=SHORT {
        for differs in 0..length {
            let mut sets: Vec<_> = (b'a'..=b'z')
                .map(|letter| {
                    let mut word = *b"incomprehension";
                    word[differs] = letter;
                    at(Place::from(Key::of(&word[..length], 0, length)).mixed)
                })
                .collect();
            sets.sort_unstable();
            sets.dedup();
            assert!(sets.len() > 20, "byte {differs} of {length}: {} of {SETS} sets", sets.len());
        }
    }
}

#[test]
fn rows_that_share_a_place_are_told_apart() {
    let mut memo = Memo::new();
    let rows: Vec<Vec<u8>> = (0..2 * ROWS).map(|i| format!("{i:-<60}").into_bytes()).collect();
    for round in 0..2 {
        for (i, row) in rows.iter().enumerate() {
            let made = memo.row_ends(row, |ends| {
                ends[0] = i as u64;
                Ok(())
            });
            assert_eq!(made.unwrap()[0], i as u64, "round {round}");
        }
    }
    let last = rows.last().unwrap();
    assert!(memo.row_ends(last, |_| unreachable!()).is_ok());
    assert!(memo.row_ends(&last[..59], |_| Ok(())).unwrap() == [0; ROW / 64]);
}

#[test]
fn a_row_that_fails_is_not_remembered() {
    let mut memo = Memo::new();
    let row = [b'-'; ROW];
    assert!(memo.row_ends(&row, |_| Err(Error::Interrupted)).is_err());
    let made = memo.row_ends(&row, |ends| {
        *ends = [7; ROW / 64];
        Ok(())
    });
    assert_eq!(made.unwrap(), [7; ROW / 64]);
}

#[test]
fn a_pool_lends_the_same_memo_again() {
    let pool = Pool::default();
    let key = Key::of(b"tokens", 0, 6);
    assert_eq!(pool.with(|memo| memo.ends(key, || 32)), 32);
    assert_eq!(pool.with(|memo| memo.ends(key, || unreachable!())), 32);
}

proptest! {
    #[test]
    fn a_key_is_the_bytes_wherever_they_stand(
        before in proptest::collection::vec(any::<u8>(), 0..20),
        piece in proptest::collection::vec(any::<u8>(), 1..=SHORT),
        after in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let text = [&before[..], &piece, &after].concat();
        let key = Key::of(&text, before.len(), piece.len());
        prop_assert!(key == Key::of(&piece, 0, piece.len()));
        prop_assert!(key.low != 0 || key.high != 0);
    }

    #[test]
    fn every_answer_is_the_one_made(
        pieces in proptest::collection::vec("[ab]{1,48}", 1..300),
    ) {
        let mut memo = Memo::new();
        for piece in &pieces {
            let piece = piece.as_bytes();
            let made = piece.iter().fold(0, |ends, &byte| ends << 1 | u64::from(byte == b'a'));
            let given = if piece.len() <= SHORT {
                memo.ends(Key::of(piece, 0, piece.len()), || made)
            } else {
                memo.long_ends(piece, || made)
            };
            prop_assert_eq!(given, made);
        }
    }
}
