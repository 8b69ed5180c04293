//! Where do the sentences of a text end?
//!
//! Here lives the walk over marks, newlines and blank stretches, and what each means in its
//! place. Which characters are marks is listed in `marks`, which words abbreviate in
//! `abbreviations`. The marks are those of UAX #29; its rules are not used as they stand, because
//! they cut at every newline, join sentences before lower case, give an opening `「` to the
//! sentence before it, and cannot tell `Dr.` from an end. (Its implementation in
//! `unicode-segmentation` is also quadratic on `. ` followed by many blanks; ours is linear.)
//!
//! Every byte is looked at a bounded number of times: blanks and closing marks behind a mark once
//! there and once in passing, words around a mark within `NEAR` bytes.

use super::abbreviations::{self, Case, Follow};
use super::graphemes::Graphemes;
use super::line_starts::{begins_block, is_heading};
use super::marks::{self, Mark};
use super::stops::stop_from;
use crate::error::Result;
use crate::guard::{ASK, Guard};

/// How far a mark looks around for words, brackets and the like, in bytes.
const NEAR: usize = 48;

/// Appends the end offsets (bytes, ascending, the last one `text.len()`) of the sentences of
/// `text`. Together they tile the text; blanks after a sentence belong to it, up to the start of
/// the line that the next one begins. Nothing is appended for an empty text.
///
/// ```
/// use cantle::guard::{Guard, NEVER};
///
/// let mut ends = Vec::new();
/// let text = "Ask Dr. Muster. He knows.";
/// cantle::cuts::sentences::sentence_ends(text, &Guard::new(&NEVER, None), &mut ends)?;
/// assert_eq!(ends, [16, 25]);
/// # Ok::<(), cantle::error::Error>(())
/// ```
pub fn sentence_ends(text: &str, guard: &Guard<'_>, ends: &mut Vec<usize>) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    Walk { text, graphemes: Graphemes::new(text), ends, start: 0, line: 0 }.run(guard)
}

struct Walk<'t, 'e> {
    text: &'t str,
    graphemes: Graphemes<'t>,
    ends: &'e mut Vec<usize>,
    /// Where the sentence now open starts.
    start: usize,
    /// Where the line now open starts.
    line: usize,
}

/// A stretch of blanks and newlines, possibly empty.
struct Gap {
    /// Where it ends.
    next: usize,
    /// How many newlines it holds.
    newlines: usize,
    /// Where the line that holds `next` starts, if the gap holds a newline.
    line: Option<usize>,
}

/// Marks in a row, and what closes behind them.
struct Stop {
    mark: Mark,
    /// Where the marks start.
    start: usize,
    /// Where the marks end.
    marks_end: usize,
    /// Where the closing quotes and brackets end.
    end: usize,
}

impl<'t> Walk<'t, '_> {
    fn run(&mut self, guard: &Guard<'_>) -> Result<()> {
        let len = self.text.len();
        let gap = self.gap(0);
        self.line = gap.line.unwrap_or(0);
        let mut at = gap.next;
        if is_heading(self.text, at) {
            at = self.end_heading(at);
        }
        let mut asked = 0;
        while let Some((found, c)) = self.find(at) {
            if at - asked > ASK {
                guard.check()?;
                asked = at;
            }
            at = if marks::is_newline(c) { self.at_newline(found) } else { self.at_mark(found) };
        }
        if self.start < len {
            self.ends.push(len);
        }
        Ok(())
    }

    /// The next mark or newline at or after `at`.
    fn find(&self, at: usize) -> Option<(usize, char)> {
        let bytes = self.text.as_bytes();
        let mut from = at;
        loop {
            let stop = stop_from(bytes, from)?;
            let c = self.char_at(stop)?;
            if self.mark_at(stop, c).is_some() || marks::is_newline(c) {
                work(stop - at);
                return Some((stop, c));
            }
            from = stop + c.len_utf8();
        }
    }

    fn mark_at(&self, at: usize, c: char) -> Option<Mark> {
        if c == ';' {
            // The Greek question mark, as it is typed.
            return self
                .char_before(at)
                .filter(|c| matches!(c, '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}'))
                .map(|_| Mark::Bang);
        }
        marks::mark(c)
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text.get(..at)?.chars().next_back()
    }

    /// The blanks and newlines from `at` on.
    fn gap(&self, at: usize) -> Gap {
        let mut gap = Gap { next: at, newlines: 0, line: None };
        while let Some(c) = self.char_at(gap.next).filter(|c| c.is_whitespace()) {
            gap.next += c.len_utf8();
            if marks::is_newline(c) {
                if c == '\r' && self.char_at(gap.next) == Some('\n') {
                    gap.next += 1;
                }
                gap.newlines += 1;
                gap.line = Some(gap.next);
            }
        }
        work(gap.next - at);
        gap
    }

    /// Ends the sentence after `gap`, and headings that follow at once; where to go on.
    fn cut(&mut self, gap: &Gap) -> usize {
        // A blank may carry a combining mark; both then open the next sentence.
        let end = self.graphemes.floor(gap.line.unwrap_or(gap.next));
        self.ends.push(end);
        self.start = end;
        match gap.line {
            None => gap.next,
            Some(line) => {
                self.line = line;
                if is_heading(self.text, gap.next) { self.end_heading(gap.next) } else { gap.next }
            }
        }
    }

    /// Ends the sentence that the heading at `at` is, and headings that follow at once.
    fn end_heading(&mut self, at: usize) -> usize {
        let mut at = at;
        loop {
            let rest = &self.text[at..];
            let end = at + rest.find(marks::is_newline).unwrap_or(rest.len());
            work(end - at);
            let gap = self.gap(end);
            if gap.next == self.text.len() {
                return gap.next;
            }
            let start = gap.line.unwrap_or(gap.next);
            self.ends.push(start);
            (self.start, self.line, at) = (start, start, gap.next);
            if !is_heading(self.text, at) {
                return at;
            }
        }
    }

    fn at_newline(&mut self, at: usize) -> usize {
        let gap = self.gap(at);
        if gap.next == self.text.len() {
            return gap.next;
        }
        if gap.newlines > 1 || begins_block(self.text, gap.next) || self.is_rule(at) {
            return self.cut(&gap);
        }
        self.line = gap.line.unwrap_or(gap.next);
        gap.next
    }

    /// Whether the line that ends at `end` is a rule or underlines a heading: `-----`, `=====`.
    fn is_rule(&self, end: usize) -> bool {
        let line = self.text.as_bytes().get(self.line..end).unwrap_or_default();
        let Some(&first) = line.iter().find(|b| !b" \t".contains(b)) else { return false };
        let other = line.iter().position(|b| *b != first && !b" \t".contains(b));
        work(other.unwrap_or(line.len()));
        b"-=_*".contains(&first)
            && other.is_none()
            && line.iter().filter(|b| **b == first).count() > 2
    }

    fn at_mark(&mut self, at: usize) -> usize {
        let mut stop = self.marks_from(at);
        stop.end = self.closing(&stop);
        let gap = self.gap(stop.end);
        if gap.next == self.text.len() {
            return gap.next;
        }
        // A newline that ends the sentence by itself is met next.
        let by_newline =
            gap.newlines > 1 || (gap.newlines == 1 && begins_block(self.text, gap.next));
        if !by_newline && self.ends_at(&stop, &gap) { self.cut(&gap) } else { stop.end }
    }

    /// The marks in a row at `at`; the strongest says what they are.
    fn marks_from(&self, at: usize) -> Stop {
        let (mut end, mut count, mut mark) = (at, 0, Mark::Dot);
        while let Some(c) = self.char_at(end) {
            let Some(found) = self.mark_at(end, c) else { break };
            mark = mark.max(found);
            // A mark may carry variation selectors and the like.
            end = self.graphemes.next(end);
            count += 1;
        }
        if mark == Mark::Dot && count > 1 {
            mark = Mark::Ellipsis;
        }
        work(end - at);
        Stop { mark, start: at, marks_end: end, end }
    }

    /// Where the quotes, brackets and note numbers end that close behind the marks.
    fn closing(&self, stop: &Stop) -> usize {
        let from = stop.marks_end;
        let (mut end, mut sure) = (from, None);
        while let Some(c) = self.char_at(end) {
            if marks::closes(c) {
                end = self.graphemes.next(end);
            } else if marks::may_close(c) {
                sure.get_or_insert(end);
                end = self.graphemes.next(end);
            } else if c == '[' && self.note(end).is_some() {
                end = self.note(end).unwrap_or(end);
            } else {
                break;
            }
        }
        work(end - from);
        let next = self.char_at(end);
        let closed = next.is_none_or(|c| c.is_whitespace() || marks::continues(c));
        if let (Some(sure), false) = (sure, closed) {
            return if self.closes_quote(stop, sure) { sure + 1 } else { sure };
        }
        self.spaced_quote(end).unwrap_or(end)
    }

    /// Whether the straight quote at `at`, with no blank behind it, closes one that the sentence
    /// opened: `他说"好。"然后走了`. Asked of wide marks alone, since they end the sentence either
    /// way and the count of its quotes is then made only once.
    fn closes_quote(&self, stop: &Stop, at: usize) -> bool {
        if stop.mark != Mark::Wide || self.char_at(at) != Some('"') {
            return false;
        }
        work(at - self.start);
        let open = &self.text.as_bytes()[self.start..stop.start];
        open.iter().filter(|&&b| b == b'"').count() % 2 == 1
    }

    /// The end of a reference to a note such as `[12]` or `[3, 5]`.
    fn note(&self, at: usize) -> Option<usize> {
        let near = &self.text.as_bytes()[at + 1..(at + NEAR).min(self.text.len())];
        let len = near.iter().position(|&b| !(b.is_ascii_digit() || b", -".contains(&b)))?;
        (len > 0 && near[0].is_ascii_digit() && near[len] == b']').then_some(at + len + 2)
    }

    /// The end of a closing quote that stands apart, as in `« Oui. » Il`.
    fn spaced_quote(&self, end: usize) -> Option<usize> {
        let blank = self.char_at(end).filter(|&c| c.is_whitespace() && !marks::is_newline(c))?;
        let quote = end + blank.len_utf8();
        let after = quote + '»'.len_utf8();
        let apart = self.char_at(after).is_none_or(char::is_whitespace);
        (self.char_at(quote) == Some('»') && apart).then_some(after)
    }

    /// Whether a sentence ends at `stop`, which blanks (`gap`) or something else follows.
    fn ends_at(&self, stop: &Stop, gap: &Gap) -> bool {
        let before = self.char_before(stop.start).filter(|_| stop.start > self.start);
        let after = self.char_at(gap.next);
        let Some(after) = after else { return true };
        let closed = stop.end > stop.marks_end;
        // `(!)`, `[...]`: an aside about the sentence. And marks alone are none.
        if closed && before.is_some_and(marks::is_bracket) || self.is_bare(stop.start) {
            return false;
        }
        let spaced = gap.next > stop.end;
        if spaced && stop.mark < Mark::Wide && marks::continues(after) {
            return false;
        }
        let digits = || before.is_some_and(char::is_numeric) && after.is_numeric();
        match stop.mark {
            Mark::Wide | Mark::WideDot if !spaced => {
                let full_width = |c: char| matches!(c, '\u{FF10}'..='\u{FF5A}');
                let named = before.is_some_and(full_width) && full_width(after);
                !digits()
                    && !(stop.mark == Mark::WideDot
                        && (named || self.enumerates(stop, self.word_before(stop.start))))
                    && !marks::continues(after)
                    && !self.is_quoted_by(stop, gap.next)
            }
            Mark::Wide => true,
            Mark::WideDot => !self.enumerates(stop, self.word_before(stop.start)),
            Mark::Bang if !spaced => marks::is_uncased(after) && !self.is_address(stop.start),
            Mark::Dot if !spaced => {
                before.is_some_and(marks::is_han_or_kana)
                    && marks::is_han_or_kana(after)
                    && !self.is_address(stop.start)
            }
            Mark::Ellipsis if !spaced => false,
            Mark::Bang => {
                let follow = self.follow(gap.next);
                // `a ? b : c`, `the #! line`: no word stands before the mark.
                let apart =
                    before.is_none_or(|c| c.is_whitespace() || "#<=>/\\|&$@^+-*".contains(c));
                !(follow.case == Case::Mark || follow.case == Case::Lower && (closed || apart))
            }
            Mark::Ellipsis => !matches!(self.follow(gap.next).case, Case::Mark | Case::Lower),
            Mark::Dot => self.dot_ends(stop, before, &self.follow(gap.next)),
        }
    }

    /// Whether a sentence ends at a single full stop with a blank behind it.
    fn dot_ends(&self, stop: &Stop, before: Option<char>, follow: &Follow) -> bool {
        let word = self.word_before(stop.start);
        if matches!(follow.case, Case::Mark | Case::Continues) || self.enumerates(stop, word) {
            return false;
        }
        if follow.case == Case::Lower {
            let apart = before.is_none_or(|c| c.is_whitespace());
            // `"Stop." he said`, `(see above.) and`, `. . . and`.
            if stop.end > stop.marks_end || apart && self.follows_mark(stop.start) {
                return false;
            }
        }
        word.is_empty() || !abbreviations::goes_on(word, follow)
    }

    /// Whether what stands before the marks at `at` is nothing, so that they end no sentence.
    fn is_bare(&self, at: usize) -> bool {
        at - self.start < NEAR
            && self.text[self.start..at].chars().all(|c| c.is_whitespace() || marks::opens(c))
    }

    /// Whether the word before the stop numbers what follows: at the start of a line or a
    /// sentence, or behind a colon.
    fn enumerates(&self, stop: &Stop, word: &str) -> bool {
        if word.is_empty() || !abbreviations::is_enumerator(word) {
            return false;
        }
        let start = stop.start - word.len();
        let open = self.line.max(self.start);
        let low = self.near_before(start).max(open);
        let lead = &self.text[low..start];
        let filler = |c: char| c.is_whitespace() || marks::opens(c) || ">-+#•".contains(c);
        (low == open && lead.chars().all(filler)) || lead.ends_with(": ") || lead.ends_with('：')
    }

    /// The start of the stretch before `at` that is looked at.
    fn near_before(&self, at: usize) -> usize {
        let low = at.saturating_sub(NEAR);
        (low..=at).find(|&i| self.text.is_char_boundary(i)).unwrap_or(at)
    }

    /// The run of letters, digits, and dots, hyphens and the like between them, before `at`.
    fn word_before(&self, at: usize) -> &'t str {
        work(NEAR);
        let near = &self.text[self.near_before(at).max(self.start)..at];
        let inner = |c: char| {
            is_plain_letter(c)
                || c.is_alphanumeric()
                || ".-'’_/&+#°%$€£=@".contains(c)
                || is_vowel_sign(c)
        };
        let start = near.char_indices().rev().take_while(|&(_, c)| inner(c)).last();
        let word = start.map_or("", |(start, _)| &near[start..]);
        word.trim_start_matches(|c: char| ".-'’_/&".contains(c))
    }

    /// Whether the blank before `at` follows a full stop, as in `. . .`.
    fn follows_mark(&self, at: usize) -> bool {
        let near = &self.text[self.near_before(at)..at];
        near.trim_end().ends_with(['.', '…'])
    }

    /// Whether `at` lies inside a web or mail address.
    fn is_address(&self, at: usize) -> bool {
        work(NEAR);
        let near = &self.text[self.near_before(at)..at];
        let word = near.rsplit(char::is_whitespace).next().unwrap_or(near);
        word.contains("://") || word.contains("www.") || word.contains('@')
    }

    /// Whether a Japanese quotation goes on with its particle: `「行こう。」と言った`.
    fn is_quoted_by(&self, stop: &Stop, next: usize) -> bool {
        let quoted = self.text[stop.marks_end..stop.end].ends_with(['」', '』']);
        quoted && ["と", "って"].iter().any(|particle| self.text[next..].starts_with(particle))
    }

    /// What begins at `at`.
    fn follow(&self, at: usize) -> Follow<'t> {
        work(NEAR);
        let mut follow = Follow { case: Case::Other, word: "", bracket: false, stopped: false };
        let mut start = at;
        for c in self.text[at..].chars().take(NEAR / 4) {
            if marks::opens(c) {
                follow.bracket |= marks::is_bracket(c);
            } else if !(matches!(c, '-' | '–' | '—') || start > at && c == ' ') {
                break;
            }
            start += c.len_utf8();
        }
        let Some(first) = self.char_at(start) else { return follow };
        let near = &self.text[start..self.near_after(start)];
        follow.case = match first {
            _ if first.is_lowercase() => Case::Lower,
            _ if first.is_uppercase() => Case::Upper,
            _ if first.is_alphabetic() => Case::Uncased,
            _ if first.is_numeric() => Case::Digit,
            _ if marks::continues(first) => Case::Continues,
            _ if self.mark_at(start, first).is_some() => {
                let rest = near.trim_start_matches(|c| marks::mark(c).is_some());
                match rest.chars().next() {
                    Some(c) if c.is_alphanumeric() => Case::Other,
                    _ => Case::Mark,
                }
            }
            _ => Case::Other,
        };
        let len = near
            .find(|c: char| !(is_plain_letter(c) || c.is_alphabetic() || c == '\''))
            .unwrap_or(near.len());
        follow.word = &near[..len];
        follow.stopped = near[len..].starts_with('.');
        follow
    }

    fn near_after(&self, at: usize) -> usize {
        let high = (at + NEAR).min(self.text.len());
        (at..=high).rev().find(|&i| self.text.is_char_boundary(i)).unwrap_or(at)
    }
}

/// Letters of the larger scripts, all of them alphanumeric: the table that knows all is slow.
fn is_plain_letter(c: char) -> bool {
    matches!(c,
        'a'..='z'
        | '\u{3B1}'..='\u{3C9}'
        | '\u{400}'..='\u{481}'
        | '\u{5D0}'..='\u{5EA}'
        | '\u{620}'..='\u{64A}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30A1}'..='\u{30FA}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7A3}')
}

/// Signs inside the words of scripts whose vowels are marks.
fn is_vowel_sign(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{900}'..='\u{DFF}')
}

/// Counts the bytes looked at, so that a test can prove the walk linear.
#[cfg(not(test))]
#[inline]
fn work(_bytes: usize) {}

#[cfg(test)]
fn work(bytes: usize) {
    tests::WORK.with(|work| work.set(work.get() + bytes as u64 + 1));
}

#[cfg(test)]
mod tests;
