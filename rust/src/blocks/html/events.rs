//! From the tokenizer's calls to text and tags.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, Tokenizer};

use super::Page;
use super::elements::Element;
use super::page::Writer;

/// What an anchor that points at its own heading shows; such an anchor is no text.
const ANCHORS: [&str; 5] = ["¶", "#", "§", "🔗", "\u{200b}"];

pub(super) fn read(html: &str) -> Page {
    let mut writer = Writer::new(html);
    let events = Events {
        html: html.as_bytes(),
        writer: &mut writer,
        at: 0,
        taken: 0,
        name: Vec::new(),
        is_end: false,
        is_closed: false,
        last_start: Vec::new(),
        text: Text::Shown,
        skipped: None,
        is_anchor: false,
    };
    let Ok(()) = Tokenizer::new_with_emitter(html, events).finish();
    writer.finish()
}

/// What becomes of text, up to the next tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Shown,
    Title,
    Dropped,
}

/// Follows the tokenizer through the HTML and hands the text and the tags on.
struct Events<'h, 'w> {
    html: &'h [u8],
    writer: &'w mut Writer,
    /// How far the tokenizer has read.
    at: usize,
    /// Behind the last text or markup.
    taken: usize,
    /// The name of the tag that is being read.
    name: Vec<u8>,
    is_end: bool,
    is_closed: bool,
    last_start: Vec<u8>,
    text: Text,
    /// An element that is dropped with all its tags, and how many of its kind are open.
    skipped: Option<(Element, usize)>,
    /// The last tag started an anchor.
    is_anchor: bool,
}

impl Events<'_, '_> {
    /// Takes text that the tokenizer has just read.
    fn take(&mut self, piece: &[u8]) {
        let (from, at) = (self.taken, self.at);
        if piece.is_empty() {
            return;
        }
        self.taken = at;
        // The tree of a body drops U+0000.
        if self.skipped.is_some() || self.text == Text::Dropped || piece == b"\0" {
            return;
        }
        if self.text == Text::Title {
            self.writer.title(piece);
            return;
        }
        let is_anchor = std::mem::take(&mut self.is_anchor);
        if is_anchor
            && ANCHORS.iter().any(|mark| mark.as_bytes() == piece)
            && self.html[at..].starts_with(b"</a")
        {
            return;
        }
        let copied = at.saturating_sub(piece.len());
        let is_copied = self.html.get(copied..at) == Some(piece)
            // The tokenizer makes one line break of the pair CR LF when it sees what follows.
            && (copied == from || (copied == from + 1 && self.html[from] == b'\n'));
        if is_copied {
            let mark = if copied == 0 && piece.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
            self.writer.copy(&piece[mark..], copied + mark);
        } else if piece == b"\n" && at - from == 1 {
            // A lone CR.
            self.writer.copy(piece, from);
        } else {
            self.writer.say(piece, from..at);
        }
    }

    fn start(&mut self, element: Element) -> Option<State> {
        if let Some((skipped, depth)) = &mut self.skipped {
            if *skipped == element && !self.is_closed {
                *depth += 1;
            }
            // As the standard has it, an element of HTML ends a drawing that was left open.
            let ends = *skipped == Element::Drawing
                && matches!(
                    element,
                    Element::Block
                        | Element::Paragraph
                        | Element::Heading
                        | Element::List
                        | Element::Item
                        | Element::Table
                        | Element::Pre
                        | Element::Quote
                );
            if !ends {
                return None;
            }
            self.skipped = None;
        }
        match element {
            Element::Template => self.skipped = Some((element, 1)),
            Element::Drawing if !self.is_closed => self.skipped = Some((element, 1)),
            Element::Title => {
                self.text = if self.writer.has_title() { Text::Dropped } else { Text::Title };
                return Some(State::RcData);
            }
            Element::Dropped => {
                self.text = Text::Dropped;
                let is_script = self.name == b"script";
                return Some(if is_script { State::ScriptData } else { State::RawText });
            }
            Element::Anchor => self.is_anchor = true,
            Element::Drawing | Element::Other => {}
            _ => {
                let level = match (element, self.name.last()) {
                    (Element::Heading, Some(digit)) => u16::from(digit - b'0'),
                    (Element::List, _) => u16::from(self.name == b"ol"),
                    _ => 0,
                };
                self.writer.start(element, level);
                return match self.name.as_slice() {
                    b"textarea" => Some(State::RcData),
                    b"xmp" => Some(State::RawText),
                    b"plaintext" => Some(State::PlainText),
                    _ => None,
                };
            }
        }
        None
    }

    fn end(&mut self, element: Element) {
        if let Some((skipped, depth)) = &mut self.skipped {
            if *skipped == element {
                *depth -= 1;
                if *depth == 0 {
                    self.skipped = None;
                }
            }
            return;
        }
        match element {
            Element::Template
            | Element::Drawing
            | Element::Title
            | Element::Dropped
            | Element::Anchor
            | Element::Other => {}
            _ => self.writer.end(element),
        }
    }
}

impl Emitter for Events<'_, '_> {
    type Token = Infallible;

    fn move_position(&mut self, offset: isize) {
        self.at = self.at.saturating_add_signed(offset);
    }

    fn emit_string(&mut self, piece: &[u8]) {
        self.take(piece);
    }

    fn init_start_tag(&mut self) {
        self.name.clear();
        (self.is_end, self.is_closed) = (false, false);
    }

    fn init_end_tag(&mut self) {
        self.name.clear();
        (self.is_end, self.is_closed) = (true, false);
    }

    fn push_tag_name(&mut self, piece: &[u8]) {
        self.name.extend_from_slice(piece);
    }

    fn set_self_closing(&mut self) {
        self.is_closed = true;
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.taken = self.at;
        self.text = Text::Shown;
        self.is_anchor = false;
        let element = Element::from_name(&self.name);
        if self.is_end {
            self.end(element);
            return None;
        }
        self.last_start.clone_from(&self.name);
        self.start(element)
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.name.is_empty() && self.name == self.last_start
    }

    fn emit_current_comment(&mut self) {
        self.taken = self.at;
    }

    fn emit_current_doctype(&mut self) {
        self.taken = self.at;
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start.clear();
        self.last_start.extend_from_slice(name.unwrap_or_default());
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    // What is read and means nothing for the text.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
