//! The terms of a text, as an analyser of a search engine makes them: runs of letters, of digits and
//! of punctuation, in lower case, in Latin letters, without their English endings. What texts are
//! searched by ([`Terms`]) leaves punctuation out, and reads scripts without blanks as well.

use std::borrow::Cow;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// What a character is a part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letters,
    Digits,
    Marks,
    /// Of a script that has no blanks between words; for searching alone.
    Unspaced,
    Between,
}

fn class(c: char) -> Class {
    if c.is_alphabetic() {
        Class::Letters
    } else if c.is_numeric() {
        Class::Digits
    } else if c.is_ascii_punctuation() {
        Class::Marks
    } else {
        Class::Between
    }
}

/// What a character is a part of, for searching: accents stay with their letters.
fn class_for_search(c: char) -> Class {
    if c.is_ascii() {
        // No mark, and no script without blanks: looking that up takes longer than all else.
        class(c)
    } else if is_unspaced(c) {
        Class::Unspaced
    } else if c.is_mark() {
        Class::Letters
    } else {
        class(c)
    }
}

/// Whether words stand side by side in its script: Thai, Lao, Myanmar, Khmer, kana, Han. Hangul is
/// counted among them, since its words carry particles.
fn is_unspaced(c: char) -> bool {
    let is_script = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}' | '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}');
    (is_script && (c.is_alphabetic() || c.is_mark())) || is_ideograph(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Hands over each run of one class.
fn runs(text: &str, class: impl Fn(char) -> Class, mut take: impl FnMut(Class, &str)) {
    let (mut start, mut open) = (0, Class::Between);
    for (at, c) in text.char_indices() {
        let here = class(c);
        if here != open {
            if open != Class::Between {
                take(open, &text[start..at]);
            }
            (start, open) = (at, here);
        }
    }
    if open != Class::Between {
        take(open, &text[start..]);
    }
}

/// A run in lower case, in Latin letters, without its ending; none where no letter is left.
fn stem(stemmer: &Stemmer, run: &str) -> Option<String> {
    let lower = run.to_lowercase();
    let latin = if lower.is_ascii() { lower } else { deunicode::deunicode(&lower) };
    // What letters are written as may have capitals of its own.
    (!latin.is_empty()).then(|| stemmer.stem(&latin.to_lowercase()).into_owned())
}

/// Hands over each term of `text`, in order.
pub fn terms(text: &str, mut take: impl FnMut(&str)) {
    let stemmer = Stemmer::create(Algorithm::English);
    runs(text, class, |_, run| {
        if let Some(term) = stem(&stemmer, run) {
            take(&term);
        }
    });
}

/// The terms that texts are searched by, each known by a number.
pub struct Terms {
    stemmer: Stemmer,
    /// The number of each run that was met, by its spelling; none where it gives no term.
    of_run: FxHashMap<String, Option<i32>>,
    of_term: FxHashMap<String, i32>,
    vocabulary: Vec<String>,
    ids: Vec<i32>,
    ends: Vec<i64>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            of_run: FxHashMap::default(),
            of_term: FxHashMap::default(),
            vocabulary: Vec::new(),
            ids: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Terms {
    /// Reads a text: runs of letters and of digits; where words have no blanks between them every
    /// pair of characters, every ideograph, and a character that stands alone. Spellings that
    /// Unicode holds compatible (NFKC) are one.
    pub fn read(&mut self, text: &str) {
        let plain: Cow<'_, str> =
            if text.is_ascii() { text.into() } else { text.nfkc().collect::<String>().into() };
        runs(&plain, class_for_search, |class, run| match class {
            Class::Unspaced => self.push_pairs(run),
            Class::Letters | Class::Digits => self.push_run(run),
            Class::Marks | Class::Between => {}
        });
        self.ends.push(self.ids.len() as i64);
    }

    /// The numbers of all terms in order, where those of each text end, and each number's term.
    #[must_use]
    pub fn finish(self) -> (Vec<i32>, Vec<i64>, Vec<String>) {
        (self.ids, self.ends, self.vocabulary)
    }

    fn push_run(&mut self, run: &str) {
        let known = if let Some(&known) = self.of_run.get(run) {
            known
        } else {
            let number = stem(&self.stemmer, run).map(|term| self.number(&term));
            self.of_run.insert(run.to_owned(), number);
            number
        };
        self.ids.extend(known);
    }

    fn push_pairs(&mut self, run: &str) {
        let mut before = None;
        for (at, c) in run.char_indices() {
            let end = at + c.len_utf8();
            if let Some(start) = before {
                self.push_term(&run[start..end]);
            }
            if is_ideograph(c) || (at == 0 && end == run.len()) {
                self.push_term(&run[at..end]);
            }
            before = Some(at);
        }
    }

    fn push_term(&mut self, term: &str) {
        let number = self.number(term);
        self.ids.push(number);
    }

    fn number(&mut self, term: &str) -> i32 {
        if let Some(&number) = self.of_term.get(term) {
            return number;
        }
        let number = self.vocabulary.len() as i32;
        self.of_term.insert(term.to_owned(), number);
        self.vocabulary.push(term.to_owned());
        number
    }
}

/// Topics, each of them the terms of a few words.
pub struct Topics {
    /// For each term the topics that hold it, and how often each does.
    of_term: HashMap<String, Vec<(usize, u32)>>,
    len: usize,
}

impl Topics {
    /// Reads the words of each topic.
    #[must_use]
    pub fn new<'t>(topics: impl IntoIterator<Item = &'t str>) -> Self {
        let mut of_term: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
        let mut len = 0;
        for topic in topics {
            terms(topic, |term| {
                let held = of_term.entry(term.to_owned()).or_default();
                match held.last_mut() {
                    Some((last, times)) if *last == len => *times += 1,
                    _ => held.push((len, 1)),
                }
            });
            len += 1;
        }
        Self { of_term, len }
    }

    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many terms of each topic `text` holds. A term that stands in both several times counts as
    /// often as in the one that has it less often.
    #[must_use]
    pub fn counts(&self, text: &str) -> Vec<u32> {
        let mut counts = vec![0; self.len];
        let mut seen: HashMap<&str, u32> = HashMap::new();
        terms(text, |term| {
            let Some((term, held)) = self.of_term.get_key_value(term) else { return };
            let seen = seen.entry(term).or_default();
            *seen += 1;
            for &(topic, times) in held {
                counts[topic] += u32::from(*seen <= times);
            }
        });
        counts
    }

    /// Adds to `out` the counts, divided by their Euclidean length; zeros where nothing counts.
    pub fn vector(&self, text: &str, out: &mut Vec<f32>) {
        let counts = self.counts(text);
        let squares: f64 = counts.iter().map(|&n| f64::from(n) * f64::from(n)).sum();
        let length = if squares > 0.0 { squares.sqrt() } else { 1.0 };
        out.extend(counts.iter().map(|&n| (f64::from(n) / length) as f32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_runs_of_one_class_in_latin_letters_without_endings() {
        let mut found = Vec::new();
        terms("Caf\u{e9}s abc123_x \u{442}\u{43e}\u{43a}\u{435}\u{43d} \u{2603}!", |t| {
            found.push(t.to_owned());
        });
        assert_eq!(found, ["cafe", "abc", "123", "_", "x", "token", "!"]);
    }

    fn searched(texts: &[&str]) -> Vec<Vec<String>> {
        let mut terms = Terms::default();
        texts.iter().for_each(|text| terms.read(text));
        let (ids, ends, vocabulary) = terms.finish();
        let mut start = 0;
        let mut found = Vec::new();
        for end in ends {
            let own = &ids[start as usize..end as usize];
            found.push(own.iter().map(|&id| vocabulary[id as usize].clone()).collect());
            start = end;
        }
        found
    }

    #[test]
    fn texts_are_searched_by_letters_and_digits() {
        let found = searched(&["Keys, a key: E404_x!", "", "...", "KEY caf\u{e9} cafe\u{301}"]);
        assert_eq!(found[0], ["key", "a", "key", "e", "404", "x"]);
        assert!(found[1].is_empty() && found[2].is_empty());
        assert_eq!(found[3], ["key", "cafe", "cafe"]);
    }

    #[test]
    fn scripts_without_blanks_are_searched_by_pairs() {
        let found = searched(&[
            "\u{732b}\u{306f}\u{5bdd}",
            "\u{732b}",
            "\u{e41}\u{e21}\u{e27} x",
            "\u{ff76}\u{ff9e}\u{ff7d}",
        ]);
        assert_eq!(found[0], ["\u{732b}", "\u{732b}\u{306f}", "\u{306f}\u{5bdd}", "\u{5bdd}"]);
        assert_eq!(found[1], ["\u{732b}"]);
        assert_eq!(found[2], ["\u{e41}\u{e21}", "\u{e21}\u{e27}", "x"]);
        // Half-width kana are written out in full.
        assert_eq!(found[3], ["\u{30ac}\u{30b9}"]);
    }

    #[test]
    fn a_word_of_a_script_with_signs_above_and_below_stays_whole() {
        assert_eq!(searched(&["\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}"])[0].len(), 1);
    }

    #[test]
    fn a_term_counts_as_often_as_in_the_topic_or_the_text_whichever_is_less() {
        let topics = Topics::new(["install installation download", "install"]);
        assert_eq!(topics.counts("Installed, installing, installs."), [2, 1]);
        assert_eq!(topics.counts(""), [0, 0]);
    }
}
