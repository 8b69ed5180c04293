//! What a title says without its markup.

/// The longest name of a role.
const ROLE: usize = 40;

/// The words of a title: literals, roles, references and emphasis without their marks.
pub(super) fn plain(title: &str) -> String {
    if !title.contains(['`', '*', '\\']) {
        return title.to_owned();
    }
    let mut words = String::with_capacity(title.len());
    let mut at = 0;
    // Marks of these lengths that nothing closes are looked for once.
    let mut unclosed = [false; 4];
    while let Some(c) = title[at..].chars().next() {
        let rest = &title[at..];
        let skipped = role(rest);
        let (mark, slot) = match &rest[skipped..] {
            rest if rest.starts_with("``") => ("``", 0),
            rest if rest.starts_with('`') => ("`", 1),
            rest if rest.starts_with("**") => ("**", 2),
            rest if rest.starts_with('*') => ("*", 3),
            _ => ("", 0),
        };
        let from = at + skipped + mark.len();
        let opens = !mark.is_empty()
            && !unclosed[slot]
            && title[from..].starts_with(|c: char| !c.is_whitespace());
        if opens {
            if let Some(length) = title[from..].find(mark).filter(|&length| length > 0) {
                words.push_str(label(&title[from..from + length], mark));
                at = from + length + mark.len();
                if mark == "`" {
                    at += title[at..].bytes().take(2).take_while(|&b| b == b'_').count();
                }
                continue;
            }
            unclosed[slot] = true;
        }
        at += c.len_utf8();
        if c == '\\' {
            // A blank behind it is none.
            if let Some(c) = title[at..].chars().next() {
                at += c.len_utf8();
                if !c.is_whitespace() {
                    words.push(c);
                }
            }
            continue;
        }
        words.push(c);
    }
    words.trim().to_owned()
}

/// The length of a role's name before the text that it is for; 0 if there is none.
fn role(rest: &str) -> usize {
    let Some(name) = rest.strip_prefix(':') else { return 0 };
    let length = name
        .bytes()
        .take(ROLE)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+' | b':'))
        .count();
    let is_role = length > 1 && name[..length].ends_with(':') && name[length..].starts_with('`');
    if is_role { length + 1 } else { 0 }
}

/// What a reference shows: the words before its target.
fn label<'t>(text: &'t str, mark: &str) -> &'t str {
    match text.strip_suffix('>').and_then(|before| before.rsplit_once('<')) {
        Some((label, _)) if mark == "`" && !label.trim().is_empty() => label.trim_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn titles_lose_their_markup() {
        for (title, words) in [
            ("Plain words", "Plain words"),
            ("The ``code`` module", "The code module"),
            (":mod:`os` and :py:func:`open <io.open>`", "os and open"),
            ("`A site <https://example.org>`_ here", "A site here"),
            ("*Very* **bold**", "Very bold"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("an \\*escaped\\* star", "an *escaped* star"),
            ("open ` and `` tick", "open ` and `` tick"),
            ("``a`` `b", "a `b"),
        ] {
            assert_eq!(plain(title), words, "{title}");
        }
    }
}
