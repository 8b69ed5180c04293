//! One word as the model sees it: its characters, and where each stood in the text.

use super::characters::{Characters, GONE, MANY};

/// A normalised word. Kept between words, so that most need no memory of their own.
#[derive(Default)]
pub(super) struct Word {
    text: String,
    /// For each of its bytes: where a token ends that ends with it, in bytes of the word as it stood.
    ends: Vec<usize>,
    /// Marks that are not yet in order, with their combining classes.
    marks: Vec<(u8, char)>,
    /// Ends of the characters, in the order in which they stood.
    stood: Vec<usize>,
}

impl Word {
    /// The word, and the end for each of its bytes.
    pub(super) fn parts(&self) -> (&[u8], &[usize]) {
        (self.text.as_bytes(), &self.ends)
    }

    /// Takes in `text`, a run of characters that belong to words. Says no as soon as it becomes more
    /// than `most` characters.
    pub(super) fn read(&mut self, characters: &Characters, text: &str, most: usize) -> bool {
        self.text.clear();
        self.ends.clear();
        let mut left = most;
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            let (kind, becomes) = characters.mapped(c);
            match kind {
                GONE => {
                    if let Some(last) = self.ends.last_mut() {
                        *last = end;
                    }
                }
                MANY => return self.read_many(characters, text, most),
                _ if left == 0 => return false,
                _ => {
                    left -= 1;
                    self.text.push(becomes);
                    self.ends.resize(self.text.len(), end);
                }
            }
        }
        true
    }

    /// As [`Word::read`], with marks put in order. A mark that changes places ends where that stood in
    /// whose place it comes to stand.
    #[cold]
    fn read_many(&mut self, characters: &Characters, text: &str, most: usize) -> bool {
        let settings = characters.settings();
        self.text.clear();
        self.marks.clear();
        self.stood.clear();
        for (at, c) in text.char_indices() {
            let before = self.stood.len();
            settings.parts(c, |part, class, kept| {
                if class == 0 {
                    self.settle(characters);
                }
                if kept {
                    self.marks.push((class, part));
                    settings.lower(part, |_| self.stood.push(at + 1 + self.stood.len() - before));
                }
            });
            if let Some(last) = self.stood.last_mut() {
                *last = at + c.len_utf8();
            }
            if self.stood.len() > most {
                return false;
            }
        }
        self.settle(characters);
        self.ends.clear();
        for (c, &end) in self.text.chars().zip(&self.stood) {
            self.ends.extend(std::iter::repeat_n(end, c.len_utf8()));
        }
        true
    }

    /// Writes the marks that wait, in order.
    fn settle(&mut self, characters: &Characters) {
        self.marks.sort_by_key(|&(class, _)| class);
        for &(_, mark) in &self.marks {
            characters.settings().lower(mark, |c| self.text.push(c));
        }
        self.marks.clear();
    }
}
