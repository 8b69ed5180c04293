//! From the readable text back into the HTML.

use std::ops::Range;

/// A stretch of the text that stands in the HTML.
///
/// The first `copied` bytes of it stand there as they are, from `html` on. What follows up to the
/// next run was put in, or, where `copied` is 0, is said by other characters (as `&` by `&amp;`)
/// which end where the next run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it starts in the text, in bytes.
    pub text: usize,
    /// Where it starts in the HTML, in bytes.
    pub html: usize,
    /// How many bytes are the same in both.
    pub copied: usize,
}

/// The runs of one text, in its order, which is the order of the HTML as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    runs: Vec<Run>,
}

impl Origin {
    /// An origin of these runs, if they are in order.
    #[must_use]
    pub fn from_runs(runs: Vec<Run>) -> Option<Self> {
        let follows = |one: &Run, other: &Run| {
            let end = |start: usize| start.checked_add(one.copied);
            end(one.text).is_some_and(|end| end <= other.text)
                && end(one.html).is_some_and(|end| end <= other.html)
        };
        runs.windows(2).all(|pair| follows(&pair[0], &pair[1])).then_some(Self { runs })
    }

    /// The runs. Two may start at one place in the text; the first of them is then empty there.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Where the HTML says what stands in `span` of the text: from the first character's start to
    /// behind the last one. Markup between the two is inside, markup around them is not.
    #[must_use]
    pub fn locate(&self, span: Range<usize>) -> Range<usize> {
        let start = self.start(span.start);
        if span.is_empty() {
            return start..start;
        }
        start..self.end(span.end).max(start)
    }

    /// Where the character stands that starts at `at` of the text. Of one that was put in: where
    /// the next one stands that was not.
    fn start(&self, at: usize) -> usize {
        let next = self.runs.partition_point(|run| run.text <= at);
        let Some(run) = next.checked_sub(1).map(|i| self.runs[i]) else {
            return self.runs.first().map_or(0, |run| run.html);
        };
        let inside = at - run.text;
        match self.runs.get(next) {
            Some(next) if run.copied > 0 && inside >= run.copied => next.html,
            _ => run.html + inside.min(run.copied),
        }
    }

    /// Behind the character that ends at `at` of the text.
    fn end(&self, at: usize) -> usize {
        let next = self.runs.partition_point(|run| run.text < at);
        let Some(run) = next.checked_sub(1).map(|i| self.runs[i]) else { return 0 };
        match self.runs.get(next) {
            Some(next) if run.copied == 0 => next.html,
            _ => run.html + run.copied.min(at - run.text),
        }
    }

    /// `length` bytes at `text` are copied from `html`.
    pub(super) fn copied(&mut self, text: usize, html: usize, length: usize) {
        if let Some(run) = self.runs.last_mut()
            && run.text + run.copied == text
            && run.html + run.copied == html
        {
            run.copied += length;
            return;
        }
        self.runs.push(Run { text, html, copied: length });
    }

    /// What stands at `text` is said by the characters of `html`.
    pub(super) fn said(&mut self, text: Range<usize>, html: Range<usize>) {
        if self.runs.last() != Some(&Run { text: text.start, html: html.start, copied: 0 }) {
            self.runs.push(Run { text: text.start, html: html.start, copied: 0 });
        }
        self.runs.push(Run { text: text.end, html: html.end, copied: 0 });
    }

    /// Whether something at or behind `at` of the text stands in the HTML.
    pub(super) fn reaches(&self, at: usize) -> bool {
        self.runs.last().is_some_and(|run| run.text >= at || run.text + run.copied > at)
    }

    /// The text now ends at `at`, which is earlier than it was.
    pub(super) fn truncate(&mut self, at: usize) {
        // One that starts there may tell where a reference before it ends.
        while self.runs.pop_if(|run| run.text > at).is_some() {}
        if let Some(run) = self.runs.last_mut() {
            run.copied = run.copied.min(at - run.text);
        }
    }
}
