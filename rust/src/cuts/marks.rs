//! Which characters end a sentence, close it, or open the next one.
//!
//! Only single characters are sorted here; what they mean in their place is decided in
//! `sentences`.

/// How a mark ends a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A full stop, which also abbreviates, numbers and names.
    Dot,
    /// An ellipsis, or full stops in a row: an end unless lower case follows.
    Ellipsis,
    /// The full-width full stop: an end without a blank, except between digits.
    WideDot,
    /// Ends a sentence when a blank follows: it also stands in addresses and code.
    Bang,
    /// Ends a sentence with or without a blank.
    Wide,
}

/// The mark that a character is. All of `Sentence_Break` STerm and ATerm, the ellipsis, and the
/// Greek question mark.
pub(super) fn mark(c: char) -> Option<Mark> {
    // Kana and Han, whose first bytes many marks share, are most of what is asked about.
    if matches!(c, '\u{3003}'..='\u{A4FE}') {
        return None;
    }
    Some(match c {
        '.' | '\u{2024}' | '\u{FE52}' => Mark::Dot,
        '\u{2026}' => Mark::Ellipsis,
        '\u{FF0E}' => Mark::WideDot,
        '!' | '?' | '\u{203C}' | '\u{203D}' | '\u{2047}'..='\u{2049}' | '\u{37E}' => Mark::Bang,
        _ if is_wide(c as u32) => Mark::Wide,
        _ => return None,
    })
}

fn is_wide(c: u32) -> bool {
    match c {
        0x3002 | 0xFF01 | 0xFF1F | 0xFF61 | 0xFE12 | 0xFE15..=0xFE16 | 0xFE56..=0xFE57 => true,
        0x589 | 0x61D..=0x61F | 0x6D4 | 0x700..=0x702 | 0x7F9 => true,
        0x837 | 0x839 | 0x83D..=0x83E | 0x964..=0x965 => true,
        0x104A..=0x104B | 0x1362 | 0x1367..=0x1368 | 0x166E | 0x1735..=0x1736 => true,
        0x17D4..=0x17D5 | 0x1803 | 0x1809 | 0x1944..=0x1945 | 0x1AA8..=0x1AAB => true,
        0x1B4E..=0x1B4F | 0x1B5A..=0x1B5B | 0x1B5E..=0x1B5F | 0x1B7D..=0x1B7F => true,
        0x1C3B..=0x1C3C | 0x1C7E..=0x1C7F => true,
        0x2CF9..=0x2CFB | 0x2E2E | 0x2E3C | 0x2E53..=0x2E54 => true,
        0xA4FF | 0xA60E..=0xA60F | 0xA6F3 | 0xA6F7 | 0xA876..=0xA877 => true,
        0xA8CE..=0xA8CF | 0xA92F | 0xA9C8..=0xA9C9 | 0xAA5D..=0xAA5F => true,
        0xAAF0..=0xAAF1 | 0xABEB => true,
        0x10000.. => is_wide_beyond_the_first_plane(c),
        _ => false,
    }
}

fn is_wide_beyond_the_first_plane(c: u32) -> bool {
    matches!(
        c,
        0x10A56..=0x10A57 | 0x10F55..=0x10F59 | 0x10F86..=0x10F89 | 0x11047..=0x11048
        | 0x110BE..=0x110C1 | 0x11141..=0x11143 | 0x111C5..=0x111C6 | 0x111CD
        | 0x111DE..=0x111DF | 0x11238..=0x11239 | 0x1123B..=0x1123C | 0x112A9
        | 0x113D4..=0x113D5 | 0x1144B..=0x1144C | 0x115C2..=0x115C3 | 0x115C9..=0x115D7
        | 0x11641..=0x11642 | 0x1173C..=0x1173E | 0x11944 | 0x11946 | 0x11A42..=0x11A43
        | 0x11A9B..=0x11A9C | 0x11C41..=0x11C42 | 0x11EF7..=0x11EF8 | 0x11F43..=0x11F44
        | 0x16A6E..=0x16A6F | 0x16AF5 | 0x16B37..=0x16B38 | 0x16B44 | 0x16D6E..=0x16D6F
        | 0x16E98 | 0x1BC9F | 0x1DA88
    )
}

/// Whether a character ends a line. CR LF is one end; the caller sees to it.
pub(super) fn is_newline(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character right after a mark closes something, whatever follows. Directions and
/// joiners without width, footnote numbers and pictographs count, since they too belong to what
/// they are attached to.
pub(super) fn closes(c: char) -> bool {
    match c {
        ')' | ']' | '}' | '»' | '›' | '”' | '’' | '❜' | '❞' => true,
        '」' | '』' | '）' | '】' | '》' | '〉' | '〕' | '〗' | '〙' | '〛' | '］' | '｝' | '｣'
        | '〞' | '〟' | '﹂' | '﹄' => true,
        '¹' | '²' | '³' | '⁰' | '⁴'..='⁹' | '†' | '‡' => true,
        '\u{2600}'..='\u{2767}' | '\u{2794}'..='\u{27BF}' | '\u{1F300}'..='\u{1FAFF}' => true,
        _ => is_format(c),
    }
}

/// Whether a character closes when it stands right after a mark with a blank behind it, and opens
/// otherwise: straight quotes, the quotes that languages use both ways, Markdown's emphasis.
pub(super) fn may_close(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '‘' | '«' | '‹' | '*' | '_' | '`' | '~')
}

/// Whether a character is skipped on the way to the first letter of what follows.
pub(super) fn opens(c: char) -> bool {
    match c {
        '(' | '[' | '{' | '¿' | '¡' | '„' | '‚' | '»' | '›' | '”' | '’' => true,
        '「' | '『' | '（' | '【' | '《' | '〈' | '〔' | '［' | '｛' | '｢' => true,
        _ => may_close(c) || is_format(c),
    }
}

/// An opening bracket, as opposed to a quote.
pub(super) fn is_bracket(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '（' | '【' | '［' | '〔')
}

fn is_format(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// Characters that begin no sentence, so that one goes on over a mark before them. The bar keeps
/// the rows of a table whole.
pub(super) fn continues(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | ':'
            | '|'
            | ')'
            | ']'
            | '}'
            | '，'
            | '、'
            | '；'
            | '：'
            | '）'
            | '،'
            | '؛'
            | '﹐'
            | '﹑'
    )
}

/// Han and kana: scripts that put no blank between sentences.
pub(super) fn is_han_or_kana(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// A letter of a script that has no case.
pub(super) fn is_uncased(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn marks_are_those_of_the_standard_and_two_more() {
        let pieces = |text: String| text.split_sentence_bounds().count();
        for c in ('\0'..=char::MAX).filter(|&c| !is_newline(c)) {
            // STerm ends a sentence even before lower case, ATerm only before upper case.
            let strong = pieces(format!("1{c} b")) == 2;
            let weak = !strong && pieces(format!("1{c} B")) == 2;
            let ours = mark(c);
            match c {
                '\u{2026}' | '\u{37E}' => assert!(ours.is_some()),
                _ => {
                    assert_eq!(matches!(ours, Some(Mark::Bang | Mark::Wide)), strong, "{c:?}");
                    assert_eq!(matches!(ours, Some(Mark::Dot | Mark::WideDot)), weak, "{c:?}");
                }
            }
        }
    }

    #[test]
    fn the_search_stops_at_every_mark_and_newline() {
        for c in ('\0'..=char::MAX).filter(|&c| mark(c).is_some() || is_newline(c)) {
            let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
            assert!(crate::cuts::stops::STOPS[first as usize], "{c:?}");
        }
    }

    #[test]
    fn nothing_both_closes_for_sure_and_perhaps() {
        assert!(('\0'..=char::MAX).all(|c| !(closes(c) && may_close(c))));
    }
}
