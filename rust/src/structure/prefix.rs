//! What stands before a chunk when it is embedded: its document's title, its headings, the header of
//! its table, in an order that a template tells. It is no part of the chunk's text.

use crate::error::{Error, Result};

/// What a template may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Path,
    Context,
    Notes,
    Text,
}

const FIELDS: [(&str, Field); 5] = [
    ("title", Field::Title),
    ("path", Field::Path),
    ("context", Field::Context),
    ("notes", Field::Notes),
    ("text", Field::Text),
];

/// Between the headings of a path.
const STEP: &str = " > ";
/// Before the text, where the template does not place it.
const GAP: &str = "\n\n";

/// The template that is used where none is given.
pub const TEMPLATE: &str = "{title} > {path}\n\n{context}\n{text}\n\n{notes}";

/// A template, read. What stands between two fields is written only between two that are there;
/// of what stands around a field that is not, the part with the most line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Each field with what stands before it.
    parts: Vec<(String, Field)>,
    tail: String,
}

/// What a template is filled with. Empty strings are not there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fill<'a> {
    /// The document's title.
    pub title: &'a str,
    /// The chunk's headings, outermost first.
    pub path: &'a [&'a str],
    /// What the chunk is a part of: a table's header, a fence's first line.
    pub context: &'a str,
    /// What a strategy says about the chunk beside its text.
    pub notes: &'a str,
}

impl Template {
    /// Reads a template: `{title}`, `{path}`, `{context}`, `{notes}`, `{text}`; `{{` and `}}` stand
    /// for braces. Without `{text}` the text follows after a blank line.
    pub fn new(template: &str) -> Result<Self> {
        let refuse = |words: String| Err(Error::Setting(format!("prefix ({template:?}) {words}")));
        let (mut parts, mut open) = (Vec::new(), String::new());
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            open.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                open.push_str(brace);
                rest = after;
                continue;
            }
            let Some((name, after)) = rest.split_once('}').filter(|_| brace == "{") else {
                return refuse("has a brace without its pair".into());
            };
            let Some(&(_, field)) = FIELDS.iter().find(|(known, _)| *known == name) else {
                let known = FIELDS.map(|(name, _)| format!("{{{name}}}")).join(", ");
                return refuse(format!("names {{{name}}}; known are {known}"));
            };
            if parts.iter().any(|(_, other)| *other == field) {
                return refuse(format!("names {{{name}}} twice"));
            }
            parts.push((std::mem::take(&mut open), field));
            rest = after;
        }
        open.push_str(rest);
        if !parts.iter().any(|(_, field)| *field != Field::Text) {
            return refuse("names none of {title}, {path}, {context} and {notes}".into());
        }
        if !parts.iter().any(|(_, field)| *field == Field::Text) {
            parts.push((open + GAP, Field::Text));
            open = String::new();
        }
        Ok(Self { parts, tail: open })
    }

    fn has(&self, field: Field) -> bool {
        self.parts.iter().any(|(_, other)| *other == field)
    }

    /// Whether it shows the headings above a chunk.
    #[must_use]
    pub fn shows_path(&self) -> bool {
        self.has(Field::Path)
    }

    /// How many steps there are from all that the template shows to nothing.
    #[must_use]
    pub fn steps(&self, fill: &Fill<'_>) -> usize {
        usize::from(self.title(fill).is_some())
            + if self.has(Field::Path) { fill.path.len() } else { 0 }
            + usize::from(self.has(Field::Context) && !fill.context.is_empty())
            + usize::from(self.has(Field::Notes) && !fill.notes.is_empty())
            + usize::from(self.is_framed())
    }

    /// Whether words of the template stay around the text where no field is left.
    fn is_framed(&self) -> bool {
        let opens = |(words, field): &(String, Field)| *field == Field::Text && !words.is_empty();
        !self.tail.is_empty() || self.parts.first().is_some_and(opens)
    }

    /// The title, unless the path starts with it anyway.
    fn title<'a>(&self, fill: &Fill<'a>) -> Option<&'a str> {
        let twice = self.has(Field::Path) && fill.path.first() == Some(&fill.title);
        (self.has(Field::Title) && !fill.title.is_empty() && !twice).then_some(fill.title)
    }

    /// What stands before the text and behind it, without the first `lost` of title, headings from
    /// the outermost on, context, notes and the words around the text.
    #[must_use]
    pub fn render(&self, fill: &Fill<'_>, lost: usize) -> (String, String) {
        let (mut before, mut behind) = (String::new(), String::new());
        if lost > 0 && lost >= self.steps(fill) {
            return (before, behind);
        }
        let mut left = lost;
        let mut lose = |here: usize| {
            let gone = left.min(here);
            left -= gone;
            gone
        };
        let title = self.title(fill).filter(|_| lose(1) == 0).unwrap_or_default();
        let path = if self.has(Field::Path) { fill.path } else { &[] };
        let path = path[lose(path.len())..].join(STEP);
        let context = if self.has(Field::Context) { fill.context } else { "" };
        let context = if context.is_empty() || lose(1) > 0 { "" } else { context };
        let notes = if self.has(Field::Notes) { fill.notes } else { "" };
        let notes = if notes.is_empty() || lose(1) > 0 { "" } else { notes };
        let mut seen = false;
        let mut text = false;
        // Of the separators around what is not there, the one with the most line breaks stays.
        let mut gap = "";
        for (i, (literal, field)) in self.parts.iter().enumerate() {
            let value = match field {
                Field::Title => title,
                Field::Path => &path,
                Field::Context => context,
                Field::Notes => notes,
                Field::Text => "",
            };
            if breaks(literal) > breaks(gap) || gap.is_empty() {
                gap = literal;
            }
            if value.is_empty() && *field != Field::Text {
                continue;
            }
            let out = if text { &mut behind } else { &mut before };
            if seen || i == 0 {
                out.push_str(gap);
            }
            out.push_str(value);
            seen = true;
            gap = "";
            text |= *field == Field::Text;
        }
        behind.push_str(&self.tail);
        (before, behind)
    }
}

fn breaks(literal: &str) -> usize {
    literal.matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(template: &str, fill: &Fill<'_>, lost: usize) -> String {
        let (before, behind) = Template::new(template).expect("a template").render(fill, lost);
        format!("{before}TEXT{behind}")
    }

    #[test]
    fn what_is_not_there_takes_its_separator_along() {
        let path = ["A", "B > C"];
        let all = Fill { title: "T", path: &path, context: "| h |", notes: "(See.)" };
        assert_eq!(shown(TEMPLATE, &all, 0), "T > A > B > C\n\n| h |\nTEXT\n\n(See.)");
        assert_eq!(
            shown(TEMPLATE, &Fill { title: "", ..all }, 0),
            "A > B > C\n\n| h |\nTEXT\n\n(See.)"
        );
        assert_eq!(shown(TEMPLATE, &Fill { path: &[], ..all }, 0), "T\n\n| h |\nTEXT\n\n(See.)");
        let bare = Fill { context: "", notes: "", ..all };
        assert_eq!(shown(TEMPLATE, &bare, 0), "T > A > B > C\n\nTEXT");
        assert_eq!(shown(TEMPLATE, &Fill::default(), 0), "TEXT");
        assert_eq!(shown("Section: {path}", &bare, 0), "Section: A > B > C\n\nTEXT");
        assert_eq!(shown("{{{path}}}: {text}.", &bare, 0), "{A > B > C}: TEXT.");
    }

    #[test]
    fn the_outermost_goes_first_and_all_of_it_at_last() {
        let path = ["A", "B"];
        let fill = Fill { title: "T", path: &path, context: "| h |", notes: "" };
        let template = "In {title} > {path}\n\n{context}\n{text}";
        let seen: Vec<String> = (0..6).map(|lost| shown(template, &fill, lost)).collect();
        let want = [
            "In T > A > B\n\n| h |\nTEXT",
            "A > B\n\n| h |\nTEXT",
            "B\n\n| h |\nTEXT",
            "| h |\nTEXT",
            "TEXT",
            "TEXT",
        ];
        assert_eq!(seen, want);
        let same = Fill { title: "A", ..fill };
        assert_eq!(shown(TEMPLATE, &same, 0), "A > B\n\n| h |\nTEXT", "a title is not said twice");
    }

    #[test]
    fn words_around_the_text_are_lost_last() {
        let fill = Fill { path: &["A"], notes: "(N)", ..Fill::default() };
        for (template, want) in [
            ("{path}: {text}\n--", ["A: TEXT\n--", "TEXT\n--", "TEXT"]),
            ("<<{text}|{path}", ["<<TEXT|A", "<<TEXT", "TEXT"]),
            ("<{path}|{text}|{notes}>", ["<A|TEXT|(N)>", "TEXT|(N)>", "TEXT>"]),
        ] {
            let seen: Vec<String> = (0..3).map(|lost| shown(template, &fill, lost)).collect();
            assert_eq!(seen, want);
            assert_eq!(
                shown(template, &fill, Template::new(template).unwrap().steps(&fill)),
                "TEXT"
            );
        }
    }

    #[test]
    fn a_template_that_makes_no_sense_is_refused() {
        let cases = [
            ("{path", "has a brace without its pair"),
            ("path}", "has a brace without its pair"),
            ("{heading}", "names {heading}; known are {title}, {path}, {context}, {notes}, {text}"),
            ("{path}{path}", "names {path} twice"),
            ("{text}", "names none of {title}, {path}, {context} and {notes}"),
            ("", "names none of {title}, {path}, {context} and {notes}"),
        ];
        for (template, want) in cases {
            let error = Template::new(template).expect_err(template).to_string();
            assert_eq!(error, format!("prefix ({template:?}) {want}"));
        }
    }
}
