//! Does the full stop after this word abbreviate it, or end the sentence?
//!
//! The answer rests on the word before the stop and on what follows it. Where both readings are
//! possible the sentence goes on, unless the next word is one that seldom stands capitalised
//! inside a sentence (`The`, `Dann`, `Il`). Lists are in lower case, words parted by blanks.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// What stands behind the blank that follows a full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// A letter in lower case.
    Lower,
    /// A letter in upper or title case.
    Upper,
    /// A letter of a script without case.
    Uncased,
    /// A digit.
    Digit,
    /// A mark that stands by itself, as in `Fig. ??`.
    Mark,
    /// A comma or another character that begins nothing.
    Continues,
    /// Anything else.
    Other,
}

/// The beginning of the text after a full stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follow<'t> {
    /// What its first letter is, brackets and quotes apart.
    pub(super) case: Case,
    /// Its first word, cut short when long.
    pub(super) word: &'t str,
    /// Whether a bracket stands before the word.
    pub(super) bracket: bool,
    /// Whether a full stop follows the word.
    pub(super) stopped: bool,
}

/// Forms of address: a name follows, whatever it looks like. Only capitalised, for `5 ms. The`.
const TITLES: &str = "\
    adm capt cmdr col dir dott dr dra fr gen gov hon hr ing lic lt maj mgr mlle mme mmes mr mrs ms \
    msgr mx pr pres prof pvt rep rev sen sgt sig sra srta г-н д-р проф डॉ";

/// Words that lead to what follows and so never end a sentence.
const LEADING: &str = "\
    bhf bspw bzgl bzw ca cf env fa gem id d.h e.g eg evtl exkl ggf i.e ie inkl insb messrs n.b p.ej p.ex resp sog \
    t.ex u.u vgl viz vs z.b zzgl напр т.е т.н";

/// Words that abbreviate before a number, and may be words of their own elsewhere.
const NUMBERED: &str = "\
    abb abs abschn app art bd cap ch chap eq eqs fig figs kap lfd lit mar no nos nr num núm op pag \
    par para pp pt pág págs rdnr ref refs rm sat sec secs sect sun tab suppl ver vol vols ziff гл илл \
    рис стр табл";

/// Those of [`NUMBERED`] that lower case does not prove to be abbreviations.
const WORDS: &str = "\
    app art cap mar no par para sat sun tab";

/// Words that may end a sentence, but more often do not.
const USUAL: &str = "\
    abbr abbrev abk abt al allg approx av apr apt asst aug avda ave bldg blvd boul bros chr cia cie \
    co cont corp dec dept depto dez dist ed eds ee.uu ej engl esq ex excl ext feb febr franz fri \
    ft hrsg hwy inc incl jan jh jhd jr jul jun lat llc ltd med min misc mt mtg nov oct okt orig pers ph.d \
    phd plc prov rd repr sep sept sr st ste str tel trans thu thur thurs tue tues ud uds univ vd vds \
    акад г гг др им млн млрд пр руб тыс ул";

/// Words that close a list: a capital after them begins a sentence.
const CLOSING: &str = "\
    etc itd itp usf usw";

/// Nouns that an ordinal number with a stop stands before: `3. Mai`, `19. Jahrhundert`.
const ORDINAL_NOUNS: &str = "\
    abschnitt april auflage august band dezember etage februar geburtstag jahrhundert jahrhunderts \
    januar juli juni jänner kapitel klasse mai mal märz november oktober platz runde september \
    stock tag teil weltkrieg weltkriegs";

/// Words whose capital says that a sentence begins.
const OPENING: &str = "\
    a after all also although an and another are as at auch auf aus because before bei both but by \
    can ce ces cette con danach dann dans darum das dem den der des did die dies diese dieser \
    dieses do doch does during each ein eine einer either el ella elle elles en er es este every \
    few finally first for from für he hence her here his how however i ich if ihr il ils im in \
    instead is it its la las later le les los mais many meanwhile mit most my nach next no nobody \
    none not nothing nous now of on once one only or our pero please pour see seit several she sie \
    since so some soon still such that the their then there therefore these they this those though \
    thus to today two un una und une unless until vom von vous was we wenn were what when where \
    whether which while who why wir with y yes yet you your zu zum zur в вот и он она они это";

/// Units, which may well end a sentence that lower case follows.
const UNITS: &str = "cm dm ft gb hz kb kg km lb mb mg ml mm ms nm ns pt px tb th";

/// Letters that stand before a number: page, note, number, circa, verse.
const NUMBERED_LETTERS: &str = "bcdflnpsvzLNPSZ";

/// How a word abbreviates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Title,
    Leading,
    Numbered,
    Usual,
    Closing,
}

/// The classes of the listed words; one look-up answers for all lists.
static CLASSES: LazyLock<FxHashMap<&str, Class>> = LazyLock::new(|| {
    let lists = [
        (TITLES, Class::Title),
        (LEADING, Class::Leading),
        (NUMBERED, Class::Numbered),
        (USUAL, Class::Usual),
        (CLOSING, Class::Closing),
    ];
    lists.iter().flat_map(|(list, class)| words(list).map(|word| (word, *class))).collect()
});

static OPENING_WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| words(OPENING).collect());

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// The longest listed word in bytes.
const LONGEST: usize = 14;

/// Whether the sentence goes on after `word` and its full stop, before `follow`.
///
/// `word` is the run of letters, digits and inner dots, hyphens and apostrophes before the stop.
pub(super) fn goes_on(word: &str, follow: &Follow) -> bool {
    let opening = || !follow.stopped && OPENING_WORDS.contains(follow.word.to_lowercase().as_str());
    let numbered = follow.case == Case::Digit || follow.bracket || follow.case == Case::Mark;
    if follow.case == Case::Lower && has_no_vowel(word) {
        return true;
    }
    let usual = || !(follow.case == Case::Upper && opening());
    match class(word) {
        Some(Class::Leading | Class::Title) => return true,
        Some(Class::Numbered) => {
            let word_of_its_own = || words(WORDS).any(|own| own == word.to_lowercase());
            return match follow.case {
                Case::Lower => numbered || !word_of_its_own(),
                Case::Upper => numbered || is_label(follow.word),
                _ => numbered,
            };
        }
        Some(Class::Closing) => return follow.case != Case::Upper || follow.bracket,
        Some(Class::Usual) => return usual(),
        None => {}
    }
    if let Some(letter) = only_char(word) {
        return goes_on_after_letter(letter, follow, opening);
    }
    if word.starts_with(char::is_numeric) && word.chars().all(char::is_numeric) {
        let short = word.chars().count() <= 2;
        return short && (follow.case == Case::Lower || is_ordinal_noun(follow));
    }
    if is_roman(word) {
        return follow.case == Case::Lower || is_ordinal_noun(follow);
    }
    is_dotted(word) && usual()
}

/// The list that a word is in. Titles count only when capitalised: `5 ms. The`, `a rep. Then`.
fn class(word: &str) -> Option<Class> {
    if word.len() > LONGEST {
        return None;
    }
    let class = match word.bytes().any(|b| b.is_ascii_uppercase() || b >= 0x80) {
        true => CLASSES.get(word.to_lowercase().as_str()),
        false => CLASSES.get(word),
    };
    let small = || word.starts_with(char::is_lowercase);
    class.copied().filter(|class| *class != Class::Title || !small())
}

/// Initials (`J. Smith`), page letters (`p. 12`), spaced abbreviations (`z. B.`).
fn goes_on_after_letter(letter: char, follow: &Follow, opening: impl Fn() -> bool) -> bool {
    match follow.case {
        Case::Mark | Case::Continues => true,
        Case::Digit => NUMBERED_LETTERS.contains(letter),
        Case::Other => false,
        Case::Lower => letter.is_alphabetic(),
        // An Arabic letter alone abbreviates; a Han character or a syllable alone is a word.
        Case::Uncased => letter.is_uppercase() || ('\u{620}'..='\u{64A}').contains(&letter),
        Case::Upper => {
            let spaced = follow.stopped && follow.word.chars().count() <= 3;
            match letter {
                'I' => spaced,
                'v' | 'n' => true,
                _ if letter.is_uppercase() => !opening(),
                // Russian shortens to one small letter before names: `г. Москва`.
                'а'..='я' => !opening(),
                _ => spaced,
            }
        }
    }
}

/// Whether a word and its stop, alone at the beginning of a line or sentence, number what
/// follows: `1.`, `2.1.`, `a.`, `iv.`
pub(super) fn is_enumerator(word: &str) -> bool {
    let parts = || word.split('.');
    let numbers = parts()
        .all(|part| (1..=3).contains(&part.chars().count()) && part.chars().all(char::is_numeric));
    let letter = only_char(word).is_some_and(|c| c.is_lowercase() || c.is_uppercase());
    numbers
        || letter
        || is_roman(word)
        || (word.len() <= 4 && word.bytes().all(|b| b"ivx".contains(&b)))
}

fn only_char(word: &str) -> Option<char> {
    let mut chars = word.chars();
    chars.next().filter(|c| c.is_alphabetic() && chars.next().is_none())
}

/// Letters of one or two, joined by dots: `U.S`, `p.m`, `J.-P`, `S.p.A`.
fn is_dotted(word: &str) -> bool {
    word.contains('.')
        && word
            .split(['.', '-'])
            .all(|part| part.chars().count() <= 2 && part.chars().all(char::is_alphabetic))
}

/// The label of a figure, section or part that is no number: `Sec. A`, `Vol. IV`.
fn is_label(word: &str) -> bool {
    only_char(word).is_some_and(|c| !matches!(c, 'A' | 'I')) || is_roman(word)
}

fn is_roman(word: &str) -> bool {
    (2..=6).contains(&word.len()) && word.bytes().all(|b| b"IVXLC".contains(&b))
}

fn is_ordinal_noun(follow: &Follow) -> bool {
    follow.case == Case::Upper
        && words(ORDINAL_NOUNS).any(|noun| noun == follow.word.to_lowercase())
}

/// Latin letters without a vowel are hardly a word: `hrs`, `mgmt`, `Bldg`. Units and acronyms are.
fn has_no_vowel(word: &str) -> bool {
    word.len() >= 2
        && word.bytes().all(|b| b.is_ascii_alphabetic() && !b"aeiouyAEIOUY".contains(&b))
        && !word.bytes().skip(1).any(|b| b.is_ascii_uppercase())
        && !words(UNITS).any(|unit| unit == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_looked_up() {
        let all = [TITLES, LEADING, NUMBERED, USUAL, CLOSING];
        assert_eq!(CLASSES.len(), all.iter().map(|list| words(list).count()).sum::<usize>());
        assert!(CLASSES.keys().all(|word| word.len() <= LONGEST));
        for list in all.iter().chain(&[WORDS, ORDINAL_NOUNS, OPENING]) {
            assert_eq!(*list, list.to_lowercase());
        }
        assert!(words(WORDS).all(|word| words(NUMBERED).any(|numbered| numbered == word)));
    }
}
