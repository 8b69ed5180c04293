//! Separators of the caller's: a literal or a regular expression, each with its side.

use memchr::memmem;
use regex::Regex;

use crate::error::{Error, Result};
use crate::guard::Guard;

/// Which piece keeps the separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It stays with what precedes.
    End,
    /// It goes with what follows.
    Start,
}

/// A checked separator.
#[derive(Clone, Debug)]
pub struct Separator {
    pattern: Pattern,
    side: Side,
}

#[derive(Clone, Debug)]
enum Pattern {
    Literal(Box<memmem::Finder<'static>>),
    Regex(Regex),
}

impl Separator {
    /// A literal. Without a side, one that begins with a line break and holds something visible
    /// (`"\n## "`) goes with what follows; any other stays with what precedes.
    pub fn literal(text: &str, side: Option<Side>) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::Setting(
                "separators: an empty literal stands for graphemes and must come last".into(),
            ));
        }
        let opens = text.starts_with(['\n', '\r']) && text.chars().any(|c| !c.is_whitespace());
        let side = side.unwrap_or(if opens { Side::Start } else { Side::End });
        let finder = memmem::Finder::new(text).into_owned();
        Ok(Self { pattern: Pattern::Literal(Box::new(finder)), side })
    }

    /// A regular expression of the linear-time kind: no look-around, no back-references.
    pub fn regex(pattern: &str, side: Option<Side>) -> Result<Self> {
        let regex = Regex::new(pattern).map_err(|error| {
            let words = error.to_string();
            let reason = if words.contains("look-around") {
                "look-around cannot be matched in linear time; put the separator on a side instead"
                    .into()
            } else if words.contains("backreferences") {
                "back-references cannot be matched in linear time (nor are octal escapes known)"
                    .into()
            } else {
                words.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            };
            Error::Setting(format!("separators: the pattern {pattern:?} cannot be used: {reason}"))
        })?;
        Ok(Self { pattern: Pattern::Regex(regex), side: side.unwrap_or(Side::End) })
    }

    /// Reports the cut at each separator found in `text[start..end]`.
    ///
    /// One search takes linear time. A pattern that reads far ahead of each hit it reports can
    /// read the same text for many hits.
    pub fn cuts(
        &self,
        text: &str,
        start: usize,
        end: usize,
        guard: &Guard<'_>,
        found: &mut impl FnMut(usize),
    ) -> Result<()> {
        let part = &text[start..end];
        match &self.pattern {
            Pattern::Literal(finder) => {
                let length = finder.needle().len();
                for at in finder.find_iter(part.as_bytes()) {
                    found(start + at + if self.side == Side::End { length } else { 0 });
                }
            }
            Pattern::Regex(regex) => {
                for hit in regex.find_iter(part) {
                    guard.check()?;
                    found(start + if self.side == Side::End { hit.end() } else { hit.start() });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::NEVER;

    fn cut(separator: &Separator, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let guard = Guard::new(&NEVER, None);
        separator.cuts(text, 0, text.len(), &guard, &mut |at| found.push(at)).unwrap();
        found
    }

    #[test]
    fn the_default_side_follows_the_literal() {
        let text = "a. b\n## c\n\nd";
        for (literal, want) in [(". ", vec![3]), ("\n## ", vec![4]), ("\n\n", vec![11])] {
            assert_eq!(cut(&Separator::literal(literal, None).unwrap(), text), want, "{literal:?}");
        }
        assert_eq!(cut(&Separator::literal(". ", Some(Side::Start)).unwrap(), text), [1]);
        assert_eq!(cut(&Separator::regex(r"\s+", None).unwrap(), text), [3, 5, 8, 11]);
    }

    #[test]
    fn what_is_not_linear_is_refused() {
        for pattern in ["a(?=b)", r"(a)\1", "("] {
            let words = Separator::regex(pattern, None).unwrap_err().to_string();
            assert!(words.contains(&format!("{pattern:?}")), "{words}");
        }
        assert!(Separator::literal("", None).is_err());
    }
}
