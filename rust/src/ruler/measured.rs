//! A caller's own function as ruler: it sees strings and says how long they are.
//!
//! Nothing is known about it but its answers, so positions are found by asking: a gallop from the
//! length of the last answer, then interpolation. Each question is about a stretch at most twice
//! as long as the one that fits, so the work stays linear in the text.

use std::cell::Cell;

use super::Ruler;
use crate::error::Result;

/// Asks `measure` about slices of one text.
pub struct Measured<'t, F> {
    text: &'t str,
    measure: F,
    /// Bytes that the last budget reached: where the next gallop begins.
    stride: Cell<usize>,
    /// The last span asked about and its size; the packer often asks twice.
    last: Cell<(usize, usize, usize)>,
}

impl<'t, F: Fn(&str) -> Result<usize>> Measured<'t, F> {
    /// A ruler over `text`.
    pub fn new(text: &'t str, measure: F) -> Self {
        Self { text, measure, stride: Cell::new(64), last: Cell::new((1, 0, 0)) }
    }

    fn floor(&self, at: usize) -> usize {
        self.text.floor_char_boundary(at)
    }
}

impl<F: Fn(&str) -> Result<usize>> Ruler for Measured<'_, F> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        let (start, end, size) = self.last.get();
        if (start, end) == (a, b) {
            return Ok(size);
        }
        let size = if a == b { 0 } else { (self.measure)(&self.text[a..b])? };
        self.last.set((a, b, size));
        Ok(size)
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        let end = self.text.len();
        let found = search(end - a, self.stride.get(), n, |bytes| {
            let at = self.floor(a + bytes);
            Ok((at - a, self.size(a, at)?))
        })?;
        self.stride.set(found.max(1));
        Ok(a + found)
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        let found = search(b, self.stride.get(), n, |bytes| {
            let at = self.text.ceil_char_boundary(b - bytes);
            Ok((b - at, self.size(at, b)?))
        })?;
        Ok(b - found)
    }
}

/// The longest stretch of at most `most` bytes whose size is at most `budget`, if sizes grow with
/// the stretch. `ask` rounds a length down to a possible one and gives its size.
fn search(
    most: usize,
    stride: usize,
    budget: usize,
    ask: impl Fn(usize) -> Result<(usize, usize)>,
) -> Result<usize> {
    let (mut fits, mut fits_size) = (0, 0);
    let mut step = stride.max(8);
    let (mut over, mut over_size) = loop {
        let (bytes, size) = ask((fits + step).min(most))?;
        if size > budget {
            break (bytes, size);
        }
        if bytes == most {
            return Ok(most);
        }
        (fits, fits_size) = (bytes.max(fits), size);
        step *= 2;
    };
    let mut halve = false;
    while over - fits > 1 {
        let gap = over - fits;
        let guess = if halve || over_size <= fits_size {
            gap / 2
        } else {
            // Where the budget would be met if the size grew evenly.
            gap * (budget.saturating_sub(fits_size)) / (over_size - fits_size)
        };
        halve = !halve;
        let (bytes, size) = ask(fits + guess.clamp(1, gap - 1))?;
        if bytes <= fits {
            // Rounded back to what is known to fit: try the next longer stretch there is.
            let (bytes, size) = match next_longer(fits, over, &ask)? {
                Some(found) => found,
                None => break,
            };
            if size > budget {
                break;
            }
            (fits, fits_size) = (bytes, size);
        } else if size > budget {
            (over, over_size) = (bytes, size);
        } else {
            (fits, fits_size) = (bytes, size);
        }
    }
    Ok(fits)
}

/// The shortest possible stretch longer than `fits` and shorter than `over`: a character has at
/// most four bytes.
fn next_longer(
    fits: usize,
    over: usize,
    ask: &impl Fn(usize) -> Result<(usize, usize)>,
) -> Result<Option<(usize, usize)>> {
    for longer in fits + 1..over.min(fits + 5) {
        let (bytes, size) = ask(longer)?;
        if bytes > fits {
            return Ok(Some((bytes, size)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_the_furthest_that_fit(text in "[ab é漢😀]{0,60}", n in 0usize..20) {
            let ruler = Measured::new(&text, |part| Ok(part.chars().count()));
            let borders: Vec<usize> =
                text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for (i, &a) in borders.iter().enumerate() {
                let ahead = borders[(i + n).min(borders.len() - 1)];
                prop_assert_eq!(ruler.ahead(a, n).unwrap(), ahead);
                prop_assert_eq!(ruler.behind(a, n).unwrap(), borders[i.saturating_sub(n)]);
            }
        }
    }

    #[test]
    fn a_function_that_is_never_content_ends() {
        let ruler = Measured::new("some text of 日本語", |_| Ok(9));
        assert_eq!(ruler.ahead(0, 3).unwrap(), 0);
        assert_eq!(ruler.behind(9, 3).unwrap(), 9);
    }
}
