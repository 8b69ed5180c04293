//! A text without the marks inside its lines, which say nothing about blocks.
//!
//! Reading emphasis, code spans and links takes the parser nearly half of its time, and none of it is
//! asked for but what headings say. So the marks become letters, each in its place, before the parser
//! sees them; except where a mark may be one of a block:
//!
//! * at the start of a line, up to the first character that belongs to no list, quote or rule;
//! * in a line that starts with what opens a fence, a definition, a tag or a heading;
//! * from a bracket at the start of a line to the next blank line: labels and titles of definitions
//!   may take several;
//! * in a paragraph above a line that may make a heading of it.
//!
//! What closes HTML (`]]>`, `</`) is no mark.

use memchr::memchr2_iter;

/// What a mark becomes.
const LETTER: u8 = b'x';

/// The text, as long as it is, without the marks inside its lines.
pub(super) fn quiet(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = bytes.iter().map(|&b| if is_mark(b) { LETTER } else { b }).collect();
    // Where the lines start that a rule below may make a heading of, and whether they stay as they
    // are: a definition may be open.
    let (mut paragraph, mut is_open) = (0, false);
    let mut start = 0;
    let ends = memchr2_iter(b'\n', b'\r', bytes)
        .map(|at| at + 1)
        .filter(|&end| bytes[end - 1] == b'\n' || bytes.get(end) != Some(&b'\n'))
        .chain([bytes.len()]);
    for end in ends {
        let line = &bytes[start..end];
        let lead = line.iter().take_while(|&&b| may_lead(b)).count();
        match line.get(lead) {
            None => {
                let is_rule = line.iter().any(|b| matches!(b, b'-' | b'='));
                let from = if is_rule { paragraph } else { start };
                out[from..end].copy_from_slice(&bytes[from..end]);
                if is_rule || line.trim_ascii().is_empty() {
                    (paragraph, is_open) = (end, is_open && is_rule);
                }
            }
            Some(first) => {
                is_open |= *first == b'[';
                let stays = is_open || matches!(first, b'`' | b'~' | b'<' | b'#' | b':');
                let until = if stays { end } else { start + lead };
                out[start..until].copy_from_slice(&bytes[start..until]);
            }
        }
        start = end;
    }
    // Marks are single bytes, and so is what they become: this never fails.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Marks of emphasis, code, links, references of characters.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'~' | b'`' | b'[' | b'&')
}

/// Whether a byte may stand before the first word of a line: in marks of lists, quotes and rules.
fn may_lead(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | b'>' | b'-' | b'=' | b'*' | b'_' | b'+' | b'.' | b')')
        || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::blocks::laws;
    use crate::blocks::markdown::{read, read_by};

    const PARTS: &[&str] = &[
        "# A *b* [c]\n",
        "T *b* `c`\n",
        "===\n",
        "---\n",
        "- ",
        "1. ",
        "> ",
        "```",
        "``` a`b\n",
        "~~~",
        "    ",
        "| a | *b* | `c|d` |\n",
        "|---|---|---|\n",
        "a | `b|c` | d\n",
        "-|-|-\n",
        "[a]: b\n",
        "[a",
        "b[c]: /u\n",
        "[^1]: ",
        "[a]: /u '\n",
        "*'\n",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "<script>",
        "x</script>\n",
        "<![CDATA[",
        "]]>",
        "***",
        "_ _ _\n",
        "* * *\n",
        "**b**",
        "_c_",
        "word",
        "*em*",
        "`code`",
        "[x](y)",
        "![x][a]",
        "&amp;",
        "\\",
        "\\|",
        "<b>",
        "<http://a_b>",
        "- [ ] ",
        "\n",
        "\n\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6000))]

        #[test]
        fn blocks_and_titles_are_those_of_the_text_itself(text in laws::texts(PARTS)) {
            // A carriage return that stands alone never comes here.
            let text = text.replace("\r\n", "\u{1}").replace('\r', "\n").replace('\u{1}', "\r\n");
            prop_assert_eq!(quiet(&text).len(), text.len());
            prop_assert_eq!(read(&text), read_by(&text, str::to_owned));
        }
    }

    #[test]
    fn what_marks_no_block_is_quiet() {
        for (text, want) in [
            ("a *b* `c` [d](e) &amp;\n", "a xbx xcx xd](e) xamp;\n"),
            ("- *a* b\n> _ _ _\n* * *\n", "- *ax b\n> _ _ _\n* * *\n"),
            ("# *a*\n``` `b`\nc `d`\n", "# *a*\n``` `b`\nc xdx\n"),
            ("a `b`\nc\n===\nd `e`\n", "a `b`\nc\n===\nd xex\n"),
            ("[a *b*\nc *d*]: e\n\nf *g*", "[a *b*\nc *d*]: e\n\nf xgx"),
        ] {
            assert_eq!(quiet(text), want);
        }
    }
}
