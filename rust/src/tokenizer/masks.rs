//! The classes of 64 bytes as one word of bits each.
//!
//! On x86-64 by AVX2 where the processor has it, else by SSE2, which all have; elsewhere eight bytes at a time in a `u64`. A
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
    pub(super) fn of<L: Lanes>(window: &[u8; WINDOW]) -> Self {
        L::masks(window)
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

/// How many bytes are looked at together.
pub(super) trait Lanes {
    /// The classes of a window.
    fn masks(window: &[u8; WINDOW]) -> Masks;
}

/// What every processor has.
pub(super) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn masks(window: &[u8; WINDOW]) -> Masks {
        // SAFETY: every x86-64 processor has SSE2, and the function reads nothing but its argument.
        #[cfg(target_arch = "x86_64")]
        let masks = unsafe { x86::sse2(window) };
        #[cfg(not(target_arch = "x86_64"))]
        let masks = swar(window);
        masks
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Masks, Part, WINDOW};

    /// A function over vectors of one width.
    macro_rules! classes {
        ($(#[$doc:meta])* $name:ident, $feature:literal, $bytes:literal, $mask:ty, $load:expr,
         $and:ident, $or:ident, $equal:ident, $above:ident, $bits:ident, $set:ident) => {
            $(#[$doc])*
            #[target_feature(enable = $feature)]
            #[inline]
            pub(super) fn $name(window: &[u8; WINDOW]) -> Masks {
                let bits = |lanes| u64::from($bits(lanes) as $mask);
                let is = |bytes, byte: u8| $equal(bytes, $set(byte as i8));
                // Signed, so a byte that is not ASCII lies below all others.
                let within = |bytes, first: u8, last: u8| {
                    $and($above(bytes, $set(first as i8 - 1)), $above($set(last as i8 + 1), bytes))
                };
                let mut masks = Masks::default();
                let mut wide = 0;
                for (at, bytes) in (0..).step_by($bytes).zip(window.as_chunks::<$bytes>().0) {
                    let bytes = $load(bytes);
                    let space = is(bytes, b' ');
                    wide |= bits(bytes) << at;
                    masks.put(
                        at,
                        &Part {
                            letter: bits(within($or(bytes, $set(0x20)), b'a', b'z')),
                            upper: bits(within(bytes, b'A', b'Z')),
                            number: bits(within(bytes, b'0', b'9')),
                            space: bits(space),
                            newline: bits($or(is(bytes, b'\n'), is(bytes, b'\r'))),
                            blank: bits($or(space, within(bytes, b'\t', b'\r'))),
                            quote: bits(is(bytes, b'\'')),
                            slash: bits(is(bytes, b'/')),
                        },
                    );
                }
                masks.cut(wide)
            }
        };
    }

    classes!(
        sse2,
        "sse2",
        16,
        u16,
        // SAFETY: sixteen bytes are read from an array of as many; no alignment is asked for.
        |bytes: &[u8; 16]| unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) },
        _mm_and_si128,
        _mm_or_si128,
        _mm_cmpeq_epi8,
        _mm_cmpgt_epi8,
        _mm_movemask_epi8,
        _mm_set1_epi8
    );
    classes!(
        /// As [`sse2`].
        avx2, "avx2", 32, u32,
        // SAFETY: 32 bytes are read from an array of as many; no alignment is asked for.
        |bytes: &[u8; 32]| unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) },
        _mm256_and_si256, _mm256_or_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
        _mm256_movemask_epi8, _mm256_set1_epi8
    );

    /// Vectors of 32 bytes. Used only where the processor was asked for AVX2.
    pub(in super::super) struct Avx2;

    impl super::Lanes for Avx2 {
        #[inline(always)]
        fn masks(window: &[u8; WINDOW]) -> Masks {
            debug_assert!(is_x86_feature_detected!("avx2"));
            // SAFETY: `BytePair::run` names this type only behind a test for AVX2.
            unsafe { avx2(window) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::Avx2;

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
