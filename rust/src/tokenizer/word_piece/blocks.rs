//! Classes of 64 bytes at once, a bit for each byte: words of ASCII are found by bit algebra.
//!
//! Eight bytes are tested in one machine word, each by the carry into its highest bit.

/// Bit `i` is about byte `i`. A byte that is in none of the three is ASCII punctuation.
pub(super) struct Block {
    /// ASCII letters and digits.
    pub(super) word: u64,
    /// Space, tab, line feed, carriage return.
    pub(super) blank: u64,
    /// Other control characters, and every byte of a character that is not ASCII.
    pub(super) odd: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x80 * ONES;

/// The highest bit of each byte of `bytes`, all below 0x80, that is at least `least`.
#[inline(always)]
const fn at_least(bytes: u64, least: u8) -> u64 {
    (bytes + (0x80 - least as u64) * ONES) & HIGHS
}

/// The highest bit of each byte of `bytes`, all below 0x80, that is `wanted`.
#[inline(always)]
const fn equal(bytes: u64, wanted: u8) -> u64 {
    !((bytes ^ (wanted as u64 * ONES)) + 0x7f * ONES) & HIGHS
}

/// The highest bits of the bytes, side by side.
#[inline(always)]
const fn gathered(highs: u64) -> u64 {
    (highs >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl Block {
    #[inline(always)]
    pub(super) fn of(bytes: &[u8; 64]) -> Self {
        let mut block = Self { word: 0, blank: 0, odd: 0 };
        for (place, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let eight = u64::from_le_bytes(*eight);
            let high = eight & HIGHS;
            let low = eight & !HIGHS;
            let folded = low | (0x20 * ONES);
            let letter = at_least(folded, b'a') & !at_least(folded, b'z' + 1);
            let digit = at_least(low, b'0') & !at_least(low, b'9' + 1);
            let blank =
                equal(low, b' ') | equal(low, b'\t') | equal(low, b'\n') | equal(low, b'\r');
            let control = !at_least(low, b' ') & HIGHS & !blank | equal(low, 0x7f);
            block.word |= gathered((letter | digit) & !high) << (8 * place);
            block.blank |= gathered(blank & !high) << (8 * place);
            block.odd |= gathered(high | control) << (8 * place);
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::Block;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            for around in [b'a', b' ', b'!', 0, 0xff] {
                for at in 0..64 {
                    let mut bytes = [around; 64];
                    bytes[at] = byte;
                    let block = Block::of(&bytes);
                    for (place, byte) in bytes.iter().enumerate() {
                        let has = |set: u64| set >> place & 1 != 0;
                        let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                        assert_eq!(has(block.word), byte.is_ascii_alphanumeric());
                        assert_eq!(has(block.blank), blank);
                        let odd = !byte.is_ascii() || byte.is_ascii_control() && !blank;
                        assert_eq!(has(block.odd), odd);
                    }
                }
            }
        }
    }
}
