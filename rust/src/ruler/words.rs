//! Words: runs of anything but Unicode White_Space.

use super::Ruler;
use super::bits::{Bits, Ranked};
use crate::cuts::words;
use crate::error::Result;

/// The words of one text.
pub struct Words<'t> {
    text: &'t str,
    starts: Ranked,
}

impl<'t> Words<'t> {
    /// Finds every word once.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let mut starts = Bits::new(text.len());
        words::starts(text, 0, text.len(), &mut |at| starts.set(at, 1));
        Self { text, starts: Ranked::new(starts, Vec::new()) }
    }

    /// Whether `at` stands inside a word, behind its first character.
    fn inside(&self, at: usize) -> bool {
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        !blank(self.text[at..].chars().next()) && !blank(self.text[..at].chars().next_back())
    }
}

impl Ruler for Words<'_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        if a == b {
            return Ok(0);
        }
        Ok(self.starts.rank(b) - self.starts.rank(a) + usize::from(self.inside(a)))
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        if n == 0 {
            return Ok(a);
        }
        // The first word counted is the one that `a` stands inside, else the next one.
        let first = self.starts.rank(a) - usize::from(self.inside(a));
        let last = first.saturating_add(n - 1);
        let Some(start) = self.starts.select(last) else { return Ok(self.text.len()) };
        let rest = &self.text[start..];
        Ok(start + rest.find(char::is_whitespace).unwrap_or(rest.len()))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        if n == 0 {
            return Ok(b);
        }
        let first = self.starts.rank(b).checked_sub(n);
        Ok(first.and_then(|first| self.starts.select(first)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn size_is_the_slices_own(text in "[a é\u{301}\n\u{1c}漢\u{3000}]{0,40}") {
            let ruler = Words::new(&text);
            let borders: Vec<usize> =
                text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for &a in &borders {
                for &b in borders.iter().filter(|&&b| b >= a) {
                    let want = text[a..b].split_whitespace().count();
                    prop_assert_eq!(ruler.size(a, b).unwrap(), want);
                }
                for n in 0..4 {
                    let ahead = ruler.ahead(a, n).unwrap();
                    prop_assert!(ruler.size(a, ahead).unwrap() <= n);
                    let behind = ruler.behind(a, n).unwrap();
                    prop_assert!(ruler.size(behind, a).unwrap() <= n);
                }
            }
        }
    }
}
