//! A memo gives what was made, and no key stands for two texts.

use proptest::prelude::*;

use super::{Key, LONG, Memo, Pool, SHORT};

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
