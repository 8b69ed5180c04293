//! Where may a blank line begin? Asked of 64 bytes at once, as most line breaks end no paragraph.
//!
//! On x86-64 by SSE2, which every such processor has; elsewhere byte by byte. A test holds the two
//! against each other.

/// Bytes that are asked about.
pub(super) const WINDOW: usize = 64;

/// Bit `i` is set if byte `i` is LF or CR and the byte behind it may be of a blank character: one of
/// ASCII that is not graphic, or not ASCII.
#[inline(always)]
pub(super) fn may_begin(window: &[u8; WINDOW + 1]) -> u64 {
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
fn sse2(window: &[u8; WINDOW + 1]) -> u64 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: the 16 bytes that are read are those that are lent.
    let lanes = |bytes: &[u8; 16]| unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    let here = window[..WINDOW].as_chunks::<16>().0;
    let behind = window[1..].as_chunks::<16>().0;
    let mut bits = 0;
    for (at, (here, behind)) in (0..).step_by(16).zip(here.iter().zip(behind)) {
        let here = lanes(here);
        let breaks = _mm_or_si128(
            _mm_cmpeq_epi8(here, _mm_set1_epi8(b'\n' as i8)),
            _mm_cmpeq_epi8(here, _mm_set1_epi8(b'\r' as i8)),
        );
        // Signed, so a byte that is not ASCII lies below all others.
        let blank = _mm_cmplt_epi8(lanes(behind), _mm_set1_epi8(b'!' as i8));
        bits |= u64::from(_mm_movemask_epi8(_mm_and_si128(breaks, blank)) as u16) << at;
    }
    bits
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(window: &[u8; WINDOW + 1]) -> u64 {
    let pairs = window.iter().zip(&window[1..]);
    pairs.enumerate().fold(0, |bits, (i, (&here, &behind))| {
        let may = matches!(here, b'\n' | b'\r') && (behind <= b' ' || behind >= 0x80);
        bits | u64::from(may) << i
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_roads_agree(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'x'), 0..=255_u8],
                WINDOW + 1,
            ),
        ) {
            let window = bytes.as_slice().try_into().expect("it is as long");
            prop_assert_eq!(may_begin(window), plain(window));
        }
    }
}
