//! Where may the next mark or newline stand? Asked of 16 bytes at once, as most bytes are none.
//!
//! On x86-64 by SSE2, which every such processor has; elsewhere byte by byte. A test holds the two
//! against each other. (Left to itself the compiler makes a test of bits of it, byte after byte.)

/// Bytes that are asked about at once.
const WINDOW: usize = 16;

/// Bytes at which the search for marks and newlines stops to look: those, and the first byte of
/// every character beyond ASCII that may be one.
pub(super) const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let bytes = b".!?;\n\r\xC2\xCD\xD6\xD8\xDB\xDC\xDF\xE0\xE1\xE2\xE3\xEA\xEF\xF0";
    let mut i = 0;
    while i < bytes.len() {
        stops[bytes[i] as usize] = true;
        i += 1;
    }
    stops
};

/// The first of [`STOPS`] at or after `from`.
pub(super) fn stop_from(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(window) = bytes.get(at..)?.first_chunk::<WINDOW>() {
        let mut bits = may_stop(window);
        while bits != 0 {
            let i = bits.trailing_zeros() as usize;
            if STOPS[window[i] as usize] {
                return Some(at + i);
            }
            bits &= bits - 1;
        }
        at += WINDOW;
    }
    Some(at + bytes[at..].iter().position(|&b| STOPS[b as usize])?)
}

/// Bit `i` is set if byte `i` is one of the stops in ASCII, or begins a character beyond.
#[inline(always)]
fn may_stop(window: &[u8; WINDOW]) -> u32 {
    // SAFETY: every x86-64 processor has SSE2, and the function reads nothing but its argument.
    #[cfg(target_arch = "x86_64")]
    let bits = unsafe { sse2(window) };
    #[cfg(not(target_arch = "x86_64"))]
    let bits = plain(window);
    bits
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sse2(window: &[u8; WINDOW]) -> u32 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: the 16 bytes that are read are those that are lent.
    let lanes = unsafe { _mm_loadu_si128(window.as_ptr().cast()) };
    // Signed, so bytes beyond ASCII lie below zero; those that begin no character lie lowest.
    let begins = _mm_and_si128(lanes, _mm_cmpgt_epi8(lanes, _mm_set1_epi8(0xC1_u8 as i8)));
    let is = |byte: u8| _mm_cmpeq_epi8(lanes, _mm_set1_epi8(byte as i8));
    let marks = _mm_or_si128(_mm_or_si128(is(b'.'), is(b'!')), _mm_or_si128(is(b'?'), is(b';')));
    let newlines = _mm_or_si128(is(b'\n'), is(b'\r'));
    // Of each byte its highest bit counts.
    _mm_movemask_epi8(_mm_or_si128(begins, _mm_or_si128(marks, newlines))) as u32
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(window: &[u8; WINDOW]) -> u32 {
    window.iter().enumerate().fold(0, |bits, (i, &byte)| {
        let may = matches!(byte, b'.' | b'!' | b'?' | b';' | b'\n' | b'\r' | 0xC2..);
        bits | u32::from(may) << i
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_roads_agree(bytes in prop::array::uniform16(0..=255_u8)) {
            prop_assert_eq!(may_stop(&bytes), plain(&bytes));
        }

        /// Stops are rare, so that windows without one are met, and any byte can follow.
        #[test]
        fn the_first_stop_is_found(
            bytes in proptest::collection::vec(
                prop_oneof![20 => Just(b'x'), 1 => 0..=255_u8],
                0..120,
            ),
            from in 0..130_usize,
        ) {
            let slow = (from..bytes.len()).find(|&at| STOPS[bytes[at] as usize]);
            prop_assert_eq!(stop_from(&bytes, from), slow);
        }
    }

    #[test]
    fn whatever_stops_may_stop() {
        for byte in 0..=255_u8 {
            let found = plain(&[byte; WINDOW]) != 0;
            assert!(found || !STOPS[byte as usize], "{byte}");
        }
    }
}
