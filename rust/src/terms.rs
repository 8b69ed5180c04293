//! The terms of a text, as an analyser of a search engine makes them: runs of letters, of digits and
//! of punctuation, in lower case, in Latin letters, without their English endings.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// What a character is a part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letters,
    Digits,
    Marks,
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

/// Hands over each term of `text`, in order.
pub fn terms(text: &str, mut take: impl FnMut(&str)) {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut push = |run: &str| {
        let lower = run.to_lowercase();
        let latin = if lower.is_ascii() { lower } else { deunicode::deunicode(&lower) };
        if !latin.is_empty() {
            // What letters are written as may have capitals of its own.
            take(&stemmer.stem(&latin.to_lowercase()));
        }
    };
    let (mut start, mut open) = (0, Class::Between);
    for (at, c) in text.char_indices() {
        let here = class(c);
        if here != open {
            if open != Class::Between {
                push(&text[start..at]);
            }
            (start, open) = (at, here);
        }
    }
    if open != Class::Between {
        push(&text[start..]);
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

    #[test]
    fn a_term_counts_as_often_as_in_the_topic_or_the_text_whichever_is_less() {
        let topics = Topics::new(["install installation download", "install"]);
        assert_eq!(topics.counts("Installed, installing, installs."), [2, 1]);
        assert_eq!(topics.counts(""), [0, 0]);
    }
}
