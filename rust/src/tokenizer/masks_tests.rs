//! The classes of a window, by vectors and by words, are those of its bytes.

use proptest::prelude::*;

use super::{Lanes, Masks, Portable, WINDOW, swar};
use crate::tokenizer::classes::{BLANK, LETTER, NEWLINE, NUMBER, UPPER, class};

/// Byte by byte.
fn plain(window: &[u8; WINDOW]) -> Masks {
    let known = window.iter().position(|byte| !byte.is_ascii()).unwrap_or(WINDOW);
    let mut masks = Masks { known, ..Masks::default() };
    for (at, &byte) in window[..known].iter().enumerate() {
        let (flags, _) = class(window, at);
        for (mask, set) in [
            (&mut masks.letter, flags & LETTER != 0),
            (&mut masks.upper, flags & UPPER != 0),
            (&mut masks.number, flags & NUMBER != 0),
            (&mut masks.space, byte == b' '),
            (&mut masks.newline, flags & NEWLINE != 0),
            (&mut masks.blank, flags & BLANK != 0),
            (&mut masks.quote, byte == b'\''),
            (&mut masks.slash, byte == b'/'),
        ] {
            *mask |= u64::from(set) << at;
        }
    }
    masks
}

#[track_caller]
fn agree(window: &[u8; WINDOW]) {
    let expected = plain(window);
    assert_eq!(Portable::masks(window), expected, "{window:?}");
    assert_eq!(swar(window), expected, "{window:?}");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        assert_eq!(super::Avx2::masks(window), expected, "{window:?}");
    }
}

#[test]
fn every_byte_in_every_place() {
    for at in 0..WINDOW {
        for byte in 0..=u8::MAX {
            for around in [b'a', b' ', 0, 0x7f] {
                let mut window = [around; WINDOW];
                window[at] = byte;
                agree(&window);
            }
        }
    }
}

proptest! {
    #[test]
    fn random_windows(bytes in proptest::collection::vec(0u8..0x80, WINDOW), wide in 0usize..200) {
        let mut window = [0; WINDOW];
        window.copy_from_slice(&bytes);
        if let Some(byte) = window.get_mut(wide) {
            *byte |= 0x80;
        }
        agree(&window);
    }
}
