//! The classes of 64 bytes as one word of bits each.
//!
//! On x86-64 by SSE2, which every such processor has; elsewhere eight bytes at a time in a `u64`. A
//! test holds the two against each other and against `classes.rs`.

/// Bytes in a window.
pub(super) const WINDOW: usize = 64;

/// Bit `i` is set if byte `i` is of the class. No bit is set from the first byte on that is not ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// How many bytes stand before that one.
    pub(super) known: usize,
    pub(super) letter: u64,
    pub(super) upper: u64,
    pub(super) number: u64,
    pub(super) space: u64,
    pub(super) newline: u64,
    /// White space, newlines included.
    pub(super) blank: u64,
    pub(super) quote: u64,
    pub(super) slash: u64,
}

/// The bits below `n`, which is at most 64.
#[inline(always)]
pub(super) fn below(n: usize) -> u64 {
    if n >= WINDOW { u64::MAX } else { !(u64::MAX << n) }
}

impl Masks {
    #[inline(always)]
    pub(super) fn of(window: &[u8; WINDOW]) -> Self {
        // SAFETY: every x86-64 processor has SSE2, and the function reads nothing but its argument.
        #[cfg(target_arch = "x86_64")]
        let masks = unsafe { sse2(window) };
        #[cfg(not(target_arch = "x86_64"))]
        let masks = swar(window);
        masks
    }

    /// `part` bits each of the classes, and of what is not ASCII, from lane `at` on.
    #[inline(always)]
    fn put(&mut self, at: u32, part: &Part) {
        self.letter |= part.letter << at;
        self.upper |= part.upper << at;
        self.number |= part.number << at;
        self.space |= part.space << at;
        self.newline |= part.newline << at;
        self.blank |= part.blank << at;
        self.quote |= part.quote << at;
        self.slash |= part.slash << at;
    }

    /// Leaves the bytes before the first of `wide`.
    #[inline(always)]
    fn cut(mut self, wide: u64) -> Self {
        self.known = wide.trailing_zeros() as usize;
        let known = below(self.known);
        for class in [
            &mut self.letter,
            &mut self.upper,
            &mut self.number,
            &mut self.space,
            &mut self.newline,
            &mut self.blank,
            &mut self.quote,
            &mut self.slash,
        ] {
            *class &= known;
        }
        self
    }
}

/// The classes of some bytes.
struct Part {
    letter: u64,
    upper: u64,
    number: u64,
    space: u64,
    newline: u64,
    blank: u64,
    quote: u64,
    slash: u64,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sse2(window: &[u8; WINDOW]) -> Masks {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8,
    };
    let bits = |lanes: __m128i| u64::from(_mm_movemask_epi8(lanes) as u16);
    let is = |bytes, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
    // Signed, so a byte that is not ASCII lies below all others.
    let within = |bytes, first: u8, last: u8| {
        _mm_and_si128(
            _mm_cmpgt_epi8(bytes, _mm_set1_epi8(first as i8 - 1)),
            _mm_cmpgt_epi8(_mm_set1_epi8(last as i8 + 1), bytes),
        )
    };
    let mut masks = Masks::default();
    let mut wide = 0;
    for (at, bytes) in (0..).step_by(16).zip(window.as_chunks::<16>().0) {
        let word = u128::from_le_bytes(*bytes);
        let bytes = _mm_set_epi64x((word >> 64) as i64, word as i64);
        let space = is(bytes, b' ');
        wide |= bits(bytes) << at;
        masks.put(
            at,
            &Part {
                letter: bits(within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', b'z')),
                upper: bits(within(bytes, b'A', b'Z')),
                number: bits(within(bytes, b'0', b'9')),
                space: bits(space),
                newline: bits(_mm_or_si128(is(bytes, b'\n'), is(bytes, b'\r'))),
                blank: bits(_mm_or_si128(space, within(bytes, b'\t', b'\r'))),
                quote: bits(is(bytes, b'\'')),
                slash: bits(is(bytes, b'/')),
            },
        );
    }
    masks.cut(wide)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn swar(window: &[u8; WINDOW]) -> Masks {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = EACH << 7;
    // The top bit of each byte, gathered: bit 7 of byte `i` is moved to bit 56 + i.
    let bits = |lanes: u64| ((lanes & TOP) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    // Of bytes below 128: the sum of two such does not reach the next byte.
    let from = |bytes: u64, first: u8| bytes + EACH * u64::from(128 - first);
    let within = |bytes: u64, first: u8, last: u8| from(bytes, first) & !from(bytes, last + 1);
    let mut masks = Masks::default();
    let mut wide = 0;
    for (at, bytes) in (0..).step_by(8).zip(window.as_chunks::<8>().0) {
        let word = u64::from_le_bytes(*bytes);
        let bytes = word & !TOP;
        let is = |byte: u8| within(bytes, byte, byte);
        let space = is(b' ');
        wide |= bits(word) << at;
        masks.put(
            at,
            &Part {
                letter: bits(within(bytes | EACH << 5, b'a', b'z')),
                upper: bits(within(bytes, b'A', b'Z')),
                number: bits(within(bytes, b'0', b'9')),
                space: bits(space),
                newline: bits(is(b'\n') | is(b'\r')),
                blank: bits(space | within(bytes, b'\t', b'\r')),
                quote: bits(is(b'\'')),
                slash: bits(is(b'/')),
            },
        );
    }
    masks.cut(wide)
}

#[cfg(test)]
#[path = "masks_tests.rs"]
mod tests;
