//! The words that stand around numbers: what names a clause, what counts, what says that none is meant.

use super::labels::Mark;

/// The words that name a clause by its number, and the clause that a reference means.
const NAMED: &[&str] =
    &["article", "artikel", "clause", "klausel", "section", "sec.", "abschnitt", "art.", "§"];
/// The words that name a part with numbers of its own.
const ATTACHED: &[&str] =
    &["schedule", "annex", "annexe", "appendix", "exhibit", "attachment", "anlage", "anhang"];
/// The words that name a part whose clauses are mostly counted on.
const PARTS: &[&str] = &["part", "chapter", "teil", "kapitel", "title"];

/// What follows an amount and no number of a clause.
const UNITS: &[&str] = &[
    "million",
    "millions",
    "billion",
    "trillion",
    "thousand",
    "percent",
    "per",
    "percentage",
    "days",
    "day",
    "weeks",
    "week",
    "months",
    "month",
    "years",
    "year",
    "hours",
    "hour",
    "minutes",
    "seconds",
    "times",
    "of",
    "eur",
    "usd",
    "gbp",
    "chf",
    "jpy",
    "cents",
    "euros",
    "dollars",
    "pounds",
    "kg",
    "km",
    "cm",
    "mm",
    "m",
    "g",
    "l",
    "gb",
    "mb",
    "kb",
    "tb",
    "ghz",
    "mhz",
    "hz",
    "kw",
    "kwh",
    "mw",
    "mbps",
    "x",
    "am",
    "pm",
    "copies",
    "pages",
    "items",
    "and",
    "or",
    "to",
    "business",
    "working",
];
/// Those of them that also a capital does not make a title of.
const MONEY: &[&str] = &[
    "million", "billion", "trillion", "thousand", "percent", "eur", "usd", "gbp", "chf", "jpy",
    "gb", "mb", "kb", "tb", "ghz", "mhz", "kwh", "kg", "km", "mbps",
];
/// What follows the day of a month, or a year.
const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
];
/// What follows the number of a version.
const RELEASES: &[&str] =
    &["released", "release", "unreleased", "alpha", "beta", "rc", "rc1", "yanked"];

/// What a line ends with whose sentence goes on with a number.
pub(super) const CUES: &[&str] = &[
    "clause",
    "clauses",
    "section",
    "sections",
    "article",
    "articles",
    "paragraph",
    "paragraphs",
    "sub-clause",
    "subclause",
    "subsection",
    "schedule",
    "annex",
    "appendix",
    "and",
    "or",
    "to",
    "of",
    "in",
    "under",
    "with",
    "by",
    "see",
    "version",
    "page",
    "figure",
    "table",
    "no",
    "number",
];

/// The word that names a clause or a part at the start of a text, in any case, and its length. A
/// plural means the same.
pub(super) fn word(rest: &str) -> Option<(Mark, &'static str, usize)> {
    if rest.starts_with('§') {
        let length = if rest.starts_with("§§") { 2 } else { 1 } * '§'.len_utf8();
        return Some((Mark::Named, "§", length));
    }
    let letters = rest.bytes().take(16).take_while(u8::is_ascii_alphabetic).count();
    let length = letters + usize::from(rest[letters..].starts_with('.') && letters <= 3);
    let mut lower = [0; 16];
    let lower = lower.get_mut(..length.min(16))?;
    lower.copy_from_slice(&rest.as_bytes()[..length]);
    lower.make_ascii_lowercase();
    let given = std::str::from_utf8(lower).ok()?;
    let singular = match given {
        "annexes" | "annexures" => "annex",
        "appendices" => "appendix",
        _ => given.strip_suffix('s').unwrap_or(given),
    };
    let known = |all: &[&'static str]| {
        all.iter().find(|known| **known == given || **known == singular).copied()
    };
    known(NAMED)
        .map(|word| (Mark::Named, word, length))
        .or_else(|| known(ATTACHED).map(|word| (Mark::Attached, word, length)))
        .or_else(|| known(PARTS).map(|word| (Mark::Part, word, length)))
}

/// Whether what follows a number lets it be that of a clause: `None` if not, else whether only the
/// next number in order may be believed.
pub(super) fn reads(words: &str, parts: &[u32]) -> Option<bool> {
    let Some(first) = words.chars().next() else { return Some(false) };
    let inner = words.trim_start_matches(['–', '—', '-', ':', '(', '[', ' ']);
    // A date, a version, an amount, a row of figures.
    if inner.starts_with(|c: char| c.is_numeric() || "%$€£¥+=<>/°".contains(c)) {
        return None;
    }
    let end = words.find(|c: char| !c.is_alphanumeric()).unwrap_or(words.len());
    let lower = words[..end].to_lowercase();
    let is = |all: &[&str]| all.contains(&&lower[..]);
    if is(MONEY) || (parts.len() <= 2 && is(MONTHS) && end < words.len()) || is(RELEASES) {
        return None;
    }
    if first.is_lowercase() {
        return if is(UNITS) { None } else { Some(true) };
    }
    (first.is_alphabetic() || "\"“«‘'([*_`".contains(first)).then_some(false)
}

/// Whether a number before these words counts things.
pub(super) fn is_amount(after: &str) -> bool {
    let word = after.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let unit = matches!(
        &word.to_ascii_lowercase()[..],
        "days"
            | "day"
            | "months"
            | "month"
            | "years"
            | "year"
            | "weeks"
            | "hours"
            | "business"
            | "working"
            | "calendar"
            | "percent"
            | "per"
            | "million"
            | "eur"
            | "usd"
            | "gbp"
            | "times"
            | "copies"
    );
    unit || after.starts_with(['%', '€', '$', '£'])
}
