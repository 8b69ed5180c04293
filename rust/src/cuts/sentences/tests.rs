//! Tables of texts with `¦` at every place where a sentence ends, then laws and counted work.

use std::cell::Cell;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::guard::NEVER;

thread_local! {
    pub(super) static WORK: Cell<u64> = const { Cell::new(0) };
}

fn ends_of(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    sentence_ends(text, &Guard::new(&NEVER, None), &mut ends).unwrap();
    ends
}

fn marked(text: &str) -> String {
    let mut out = String::new();
    let mut start = 0;
    for end in ends_of(text) {
        out.push_str(&text[start..end]);
        if end < text.len() {
            out.push('¦');
        }
        start = end;
    }
    out
}

fn holds(cases: &[&str]) {
    let wrong: Vec<_> = cases
        .iter()
        .map(|case| (case, marked(&case.replace('¦', ""))))
        .filter(|(case, ours)| *case != ours)
        .map(|(case, ours)| format!("want {case:?}\n got {ours:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn plain_sentences() {
    holds(&[
        "",
        " ",
        "\n\n",
        "One line without a mark",
        "The kettle sang. ¦We woke.",
        "Wait here.   ¦Then   walk\ton.\t¦Rest.\n",
        "Red was first. ¦Blue was next. ¦nobody saw the rest",
        "It rained!  ¦Did it stop? ¦No.",
        "What?! ¦Never!! ¦Go on.",
        "  Indented. ¦Next.",
        "He left. ¦12 people stayed.",
        "The share was 50%. ¦Then it fell.",
        "She writes C++. ¦He does not.",
        "I like F#. ¦You do not.",
        "They ship .NET tools. ¦.NET is old.",
        "That is all. ¦iPhones ring.",
        "We saw it. ¦it was small. ¦we left.",
        "…and so on. ¦Next.",
        "Good!🎉 ¦Next one.",
        "Good! ¦🎉 Next one.",
        "No blank.Here or here?No.",
        "A mark alone ! ¦And one more ? ¦Yes.",
        "Is it a ? b : c here. ¦Yes.",
        "Look at the #! line. ¦Then go.",
        "Set `x != y` first. ¦Then run.",
    ]);
}

#[test]
fn abbreviations() {
    holds(&[
        "Dr. Muster saw Mrs. Probe at 7 p.m. on Friday. ¦They left.",
        "Ask Prof. Then about it. ¦He knows.",
        "Ask Dr.\nWinter about it. ¦He knows.",
        "Take a blunt tool, e.g. a spoon, i.e. no knife. ¦Stir.",
        "The U.S. army left. ¦The U.K. stayed.",
        "They moved to the U.S. ¦They liked it.",
        "We met at 5 p.m. ¦The talk was short.",
        "Bring nails, screws, etc. ¦Paint is here.",
        "Bring nails, screws, etc. and paint. ¦Go.",
        "Muster et al. [2001] agree, as do Probe et al. (2003). ¦We differ.",
        "See Fig. 4, Sec. 3.2 and Vol. IV for more. ¦Or ask.",
        "See Fig. ?? for more. ¦Or ask.",
        "It is on pp. 12-14 of No. 7. ¦Look there.",
        "No. ¦The answer is no.",
        "Is it 12? ¦No. ¦It is 13.",
        "Example Ltd. ¦The firm is old.",
        "Example Inc. bought Sample Corp. shares. ¦All fell.",
        "Sample Co. Chairman Muster left. ¦He was old.",
        "J. R. Muster wrote it. ¦A. B. Probe read it.",
        "It was J. Muster. ¦He wrote it.",
        "We chose plan B. ¦Then we left.",
        "So did I. ¦Mary stayed.",
        "I. M. Sample built it. ¦It stands.",
        "He has a Ph.D. in law. ¦She has none.",
        "Probe v. Muster was heard. ¦He lost.",
        "It costs approx. five coins. ¦Pay.",
        "The mtg. is at 9 hrs. sharp. ¦Come.",
        "On Jan. 5 and Sept. 9 we close. ¦Note it.",
        "We start in Oct. ¦The rest is open.",
        "He lives on Main St. ¦She does not.",
        "St. Example is a town. ¦It is small.",
        "Muster Jr. spoke. ¦Muster Sr. slept.",
        "It ran for 5 ms. ¦Then it slept.",
        "Ms. Then slept. ¦It was late.",
        "He didn't. ¦she did. ¦Good.",
        "Cats vs. Dogs is a game. ¦Play.",
        "(See Fig. 3.) ¦It shows more.",
        "They sell tea (Muster Inc.) and cups. ¦Buy.",
        "Louis XIV. reigned long. ¦We know.",
        "Henry VIII. ¦He had six.",
        "We sell to firms (AG, Ltd., etc.) and to you. ¦Ask.",
        "It takes 150 ms. ¦`unit` is one of these.",
        "We like HTML. ¦it is old.",
        "x is 3 and y is z. ¦Hence it holds.",
    ]);
}

#[test]
fn numbers_and_addresses() {
    holds(&[
        "Release 2.10.3 costs $4.75 a seat. ¦Buy now.",
        "It grew by 3.5. ¦Then it fell by 1.25. ¦then it stopped.",
        "It was 1999. ¦Then came 2000.",
        "It was in 1999. ¦nobody knew.",
        "Open https://www.example.org/a.b/c?d=e.f!g and read. ¦Done.",
        "Look at http://example.org. ¦Then write.",
        "Is it at example.com? ¦Yes.",
        "Write to first.last@mail.example.org. ¦We answer.",
        "Edit config.toml and src/main.rs. ¦Save both.",
        "Call std::fs::read(x)?.len() first. ¦Then stop.",
        "The net 10.0.0.1 is down. ¦Wait.",
        "At 9.30 a.m. it rang. ¦Up!",
        "The net https://例子.中国/路?x=中 is up. ¦Good.",
    ]);
}

#[test]
fn ellipses() {
    holds(&[
        "Well... that is odd. ¦Yes.",
        "Well… that is odd. ¦Yes.",
        "Well... ¦That is odd.",
        "Well… ¦That is odd.",
        "He came . . . and went. ¦Good.",
        "He came. . . . ¦They went.",
        "Wait...what is it? ¦Go.",
        "He said [...] little. ¦She said [...] More.",
        "“Well . . .” ¦He paused.",
        "他走了……然后回来。¦好。",
        "Why...? ¦Because.",
    ]);
}

#[test]
fn quotes_and_brackets() {
    holds(&[
        "He called, “Come in.” ¦She came. ¦(It was cold.) ¦None spoke.",
        "He called, \"Come in.\" ¦She came.",
        "He called, 'Come in.' ¦She came.",
        "“Stop!” he called. ¦“Why?” she asked.",
        "\"Stop.\" she said. ¦\"No.\" ¦\"Yes.\"",
        "“Stop!” — he ran. ¦Good.",
        "Done (was it good?) and gone. ¦Next.",
        "An odd thing (!) was seen. ¦Yes (?) Perhaps.",
        "He ended. ¦\"Then what?\" ¦Nothing.",
        "He ended. ¦(Then what?) ¦Nothing.",
        "**Bold end.** ¦Next _one._ ¦Last.",
        "Some end. ¦**Bold start** goes. ¦Last.",
        "„Komm her.“ ¦Er kam. ¦»Nein!« ¦Sie ging.",
        "« Oui. » ¦Il part. ¦« Non ! » ¦Fin.",
        "«Oui.» ¦Il part. ¦Elle dit : «Non.» ¦Fin.",
        "It is known.[12] ¦It is old.[3, 4][5] ¦We agree.",
        "It is known.¹ ¦It is old.",
        "The \"!\" sign is loud. ¦Yes.",
        "Is it \"Muster Inc.\"? ¦Yes.",
        "She read “Why?”, then slept. ¦Good.",
        "Stop.) ¦Next.",
        "That’s it. ¦‘Go.’ ¦Good.",
    ]);
}

#[test]
fn enumerations() {
    holds(&[
        "1. First thing\n¦2. Second thing\n¦3. Third thing",
        "1. First thing. ¦More.\n¦2. Second thing.",
        "1) First\n¦2) Second",
        "a) first\n¦b) second",
        "(a) first\n¦(b) second\n¦(iv) last",
        "Steps: 1. Open it. ¦2. Close it.",
        "2.1. Scope of it. ¦More.",
        "IV. The end. ¦More.",
        "A. First of all. ¦More.",
        "Take:\n¦- milk\n¦- eggs\n¦* bread\n¦+ salt\n¦• tea",
        "Take:\n¦  - milk\n¦\t- eggs. ¦Fresh ones.\n¦  - bread",
        "> 1. Quoted step. ¦More.",
        "It costs - 5 coins\nor -5 more. ¦Yes.",
        "- one\n  goes on\n¦- two",
        "1999. ¦That was it.",
        "步骤\n¦1、开门\n¦2、关门\n¦三、走",
        "1．概要を見る。¦2．次を見る。",
    ]);
}

#[test]
fn newlines() {
    holds(&[
        "A wrapped line\ngoes on here. ¦Next.",
        "A wrapped line\nGoes on here.\n¦Next one.",
        "Step one\n\n¦Step two\n\n¦Step three",
        "Step one\n \t \n¦Step two",
        "Stop here.\r\n¦Go here.\r\n\r\n¦Rest here.",
        "a\r\nb\r\n\r\n¦c\r\r¦d\n\r\n¦e",
        "a\u{2028}b\u{2028}\u{2028}¦c\u{85}d\u{2029}e\u{2029}\u{85}¦f",
        "\n\nLead in. ¦Next.\n\n",
        "# Name. Of it\n¦Text here. ¦More.",
        "Text\n¦## Part 1. Who?\n¦### Part 2\n\n¦Text",
        "#hash tag. ¦#1 is good",
        "####### seven\nis none",
        "# One\n¦# Two\n¦# Three",
        "#\n¦Text",
        "  # Far in. Yes\r\n¦Text",
        "Title\n=====\n¦Text on\n---\n¦More",
        "Stop.\n¦    indented code. ¦more",
        "Ends with abbr. e.g.\n\n¦New part",
        "He met Mr.\n\n¦New part",
        "She lives in the U.S.\nArmy town. ¦Yes.",
        "Trailing blanks.   \n¦  Next.",
        "One.\u{A0}¦Two.\u{3000}¦Three.",
        "One.\u{C}¦Two.",
    ]);
}

#[test]
fn german_french_spanish_and_others() {
    holds(&[
        "Das gilt z.B. für Holz, d.h. nicht für Stein. ¦Gut.",
        "Das gilt z. B. Anfang Mai, d. h. bald. ¦Gut.",
        "Holz, Stein usw. sind da. ¦Eisen bzw. Stahl fehlt.",
        "Siehe Nr. 5 und Abb. 3 auf S. 12. ¦Dort steht es.",
        "Am 3. Mai und am 24. Dezember ist zu. ¦Danach ist offen.",
        "Im 19. Jahrhundert war das so. ¦Heute nicht.",
        "Es war um 300 v. Chr. und danach. ¦Gut.",
        "Herr Dr. Muster und Hr. Probe kamen. ¦Sie blieben.",
        "Es kostet 1.250,50 Euro. ¦Teuer!",
        "M. Exemple et Mme. Modèle sont là. ¦Ils parlent.",
        "Voir p. 12 et p. ex. la suite. ¦C’est tout !  ¦Vraiment ? ¦Oui.",
        "El Sr. Prueba y la Sra. Muestra viven en EE.UU. desde hace años. ¦Bien.",
        "Hola. ¦¿Vienes hoy? ¦¡Claro que sí!",
        "Uds. pueden venir. ¦Hay sitio.",
        "Il costo è di 5 euro. ¦È poco.",
        "Он живёт в г. Москва, т.е. далеко. ¦Это так.",
        "Это было в 1999 г. ¦Он уехал.",
        "Τι είναι αυτό; ¦Δεν ξέρω. ¦Πάμε!",
        "Kupiono chleb, mleko itd. ¦Potem obiad.",
        "Byl 5. května doma. ¦Pak odešel.",
    ]);
}

#[test]
fn scripts_without_blanks_between_sentences() {
    holds(&[
        "朝は寒い。¦昼は暖かい！¦夜は？¦知らない。",
        "外は雨だ．¦家にいる．",
        "値は３．１４だ。¦Ｕ．Ｓも出る。",
        "猫だ｡¦犬だ｡",
        "他说：“走吧。”¦我们走了。¦(真的。)¦好",
        "他说\"好。\"¦然后走了。",
        "他走了。¦\"好\"是他说的。",
        "他走了。¦“好”是他说的。",
        "他走了。¦「好」は言葉だ。",
        "「行こう。」と彼は言った。¦「はい。」¦返事だ。",
        "真的吗？！¦是的。",
        "你好吗?¦我很好!¦再见.¦走了.",
        "版本3.2发布了。¦下载吧。",
        "第一行\n第二行。¦第三行",
        "好。\n¦坏。\n\n¦完",
        "好。  ¦坏。",
        "文。︀¦次の文。",
        "눈이 온다. ¦길이 하얗다! ¦정말? ¦그렇다.",
        "สวัสดี. ¦ไปไหน? ¦ไปตลาด",
    ]);
}

#[test]
fn other_scripts() {
    holds(&[
        "वह आया। ¦वह गया। ¦ठीक है॥ ¦अच्छा",
        "वह आया।¦वह गया।",
        "डॉ. राम आए। ¦वे गए।",
        "وہ آیا۔ ¦وہ گیا۔ ¦کیوں؟ ¦پتا نہیں۔",
        "هل جئت؟ ¦نعم. ¦ذهب د. محمد. ¦شكرا!",
        "Նա եկավ։ ¦Նա գնաց։",
        "እሱ መጣ። ¦እሷ ሄደች። ¦ለምን፧ ¦አላውቅም",
        "သူလာသည်။ ¦သူသွားသည်။",
        "គាត់មក។ ¦គាត់ទៅ។",
        "הוא בא. ¦היא הלכה! ¦למה? ¦ככה.",
        "הוא בא.\u{200F} ¦היא הלכה.",
        "ოქრო არის. ¦ვერცხლი არა.",
    ]);
}

#[test]
fn texts_of_many_kinds() {
    holds(&[
        // Letters, minutes, manuals.
        "Dear Ms. Muster,\n\n¦Thank you for your note of Sept. 3. ¦We will reply.\n\n¦Yours,\nP. Probe",
        "Present: A. Muster, B. Probe, C. Sample.\n¦Absent: none.",
        "Warning! ¦Do not open. ¦Call tel. 0123 456 first.",
        "Press Ctrl+C. ¦Press it twice. ¦Wait 5 sec. ¦Then stop.",
        "Q. Who came? ¦A. Nobody came.",
        "Q: Who came?\n¦A: Nobody came.",
        // Law and contracts.
        "Under Art. 5 para. 2 lit. b the firm pays. ¦It has 30 days.",
        "As per § 12 Abs. 3 Nr. 4 gilt das. ¦Sonst nicht.",
        "The Buyer (Sample Ltd.) pays. ¦The Seller (Muster Inc.) ships.",
        "7.2 Invoices fall due. ¦See clause 7.3. ¦No more.",
        // Science.
        "We used E. coli and S. aureus. ¦Both grew at 37 °C. ¦Fig. 2 shows it.",
        "Let x = 1.5. ¦Then f(x) > 2. ¦Q.E.D.",
        "It fell (p < .05). ¦It rose (n = 12; cf. Tab. 3). ¦Why?",
        "The mean was approx. 5.2 (SD = 1.1), i.e. low. ¦See also Eq. (4). ¦End.",
        // Dialogue.
        "“Why?” ¦“Because.” ¦“Oh . . . well.” ¦She left.",
        "“I know,” he said. ¦“You know?” ¦“Yes.”",
        "'Mr. Muster!' ¦'Yes?' ¦'Come!'",
        "“It ends here.”\n¦“Does it?”",
        // Chat and code.
        "lol!!! ¦are you there?? ¦yes. ¦ok.",
        "Use a.b.c() and e.f. ¦Then call g().",
        "See README.md. ¦It says more.",
        "The file is at C:\\tmp\\a.txt. ¦Open it.",
        "Run `make test.` ¦Then push.",
        "Rated 4.5/5. ¦Best of 2023!",
        "It is 10:30. ¦We go at 11. ¦Be there.",
        "She is 1.80 m tall. ¦He is 1.75.",
        // News.
        "Gen. Muster and Sen. Probe met Gov. Sample in Washington, D.C. on Tues. ¦They talked.",
        "WASHINGTON (XY) - Shares fell 2.5%. ¦Bonds rose. ¦Oil, too.",
        "The U.S.A. and the U.N. agreed. ¦All signed.",
        "It closed at 4 p.m. EST. ¦Trading resumes at 9 a.m. ¦We wait.",
        "Mt. Sample is 5,000 ft. high. ¦Climb it.",
        "He was born c. 1850 and d. 1900. ¦She was not.",
        "Tickets are $5. ¦Kids pay $2.50. ¦Dogs: free.",
        // Markdown.
        "## Set up\n¦Run it. ¦Read on.\n\n¦- one. ¦Two\n¦- three\n\n¦1. four\n¦2. five",
        "A [link.](http://example.org/a.b) here. ¦Next.",
        "See the table below:\n\n¦| a | b. |\n|---|---|\n| c | d |",
        "***Loud.*** ¦Soft.",
        "Text with note.[^1] Next one.",
        // Languages mixed.
        "He said 好。¦Then left. ¦再见！¦Bye.",
        "She wrote “猫。” ¦We read it.",
    ]);
}

/// Marks at which other splitters lost text, hung or panicked; the law alone is asked.
#[test]
fn odd_texts_tile() {
    for unit in [
        "a",
        ".",
        "\n",
        "Dr. ",
        " ",
        " .",
        "\"",
        ".\"",
        "- \n",
        "。",
        "。\"",
        "\"a。\"",
        "(",
        ".(",
        "[1]",
        ".[1]",
        "…",
        "\r",
        "\r\n",
        "# \n",
        "1. ",
        "a) ",
        "«",
        ". »",
        "=",
        "=\n",
        "\u{301}",
        ".\u{301}",
        "\u{FE0F}",
        "🇩",
        "🇩.",
        "👩\u{200D}",
        ";",
        "α;",
        "A. ",
        "z. B. ",
        ": 1. ",
        "¹",
        ".¹",
        "?!",
        "? ",
        "a? ",
        "www.",
        ".中",
        "中.",
        "!中",
        "\u{85}",
        "\u{2028} ",
        "\u{200F}",
        ".\u{200F}",
        "*",
        ".*",
        "x.* ",
        "'",
        "。」と",
        "U.S. ",
    ] {
        for count in [1, 2, 3, 50, 300] {
            laws(&unit.repeat(count));
            laws(&format!("a{}.", unit.repeat(count)));
        }
    }
}

/// Twice the text, at most twice the bytes looked at; and never many times the text.
#[test]
fn work_is_linear() {
    let looked = |text: &str| {
        WORK.with(|work| work.set(0));
        ends_of(text);
        WORK.with(Cell::get)
    };
    for unit in [
        "a",
        ".",
        "\n",
        "Dr. ",
        " ",
        " .",
        "\"",
        ".\"",
        "- \n",
        "。",
        "\"。\"",
        "a.\"",
        "[1]",
        ".[1]",
        "…",
        "\r",
        "# \n",
        "#",
        "=",
        "= ",
        "1. ",
        "\u{301}",
        "🇩",
        "α;",
        "z. B. ",
        "?!",
        "a? ",
        ".中",
        "x.* ",
        "*",
        "。」と",
        "(",
        ".(",
        "a.\n",
        "a.\n ",
        "\u{2028}",
        "He met a dog. It ran. ",
    ] {
        for (head, tail) in [("", ""), ("a.", ""), ("a. ", "b"), ("。", "x"), ("(", ".")] {
            let text = |len: usize| format!("{head}{}{tail}", unit.repeat(len / unit.len()));
            let (once, twice) = (looked(&text(20_000)), looked(&text(40_000)));
            assert!(twice <= once * 21 / 10 + 1_000, "{head:?} {unit:?}: {once}, {twice}");
            // A mark looks around within NEAR bytes on both sides, a few times over.
            assert!(twice < 40_000 * 5 * NEAR as u64, "{head:?} {unit:?}: {twice}");
        }
    }
}

fn laws(text: &str) {
    let ends = ends_of(text);
    assert_eq!(ends.last().copied().unwrap_or(0), text.len(), "{text:?}");
    assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{ends:?} of {text:?}");
    assert!(ends.first() != Some(&0));
    let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    for end in &ends {
        assert!(*end == text.len() || borders.binary_search(end).is_ok(), "{end} of {text:?}");
    }
    // No sentence but the only one of a blank text is blank.
    let mut start = 0;
    for &end in &ends {
        let blank = text[start..end].trim().is_empty();
        assert!(!blank || (start, end) == (0, text.len()), "{start}..{end} of {text:?}");
        start = end;
    }
    // A blank line always ends a sentence, wherever something stands on both sides.
    for (at, gap) in text.match_indices("\n\n") {
        let after = text[at..].trim_start();
        if !text[..at].trim().is_empty() && !after.is_empty() {
            let next = text.len() - after.len();
            assert!(ends.iter().any(|&end| at < end && end <= next), "{at} {gap:?} {text:?}");
        }
    }
}

/// Simple sentences are cut where UAX #29 cuts them.
#[test]
fn agrees_with_the_standard_on_simple_sentences() {
    let words = ["Rivers", "run", "stones", "café", "Мир", "Ωμέγα", "rain", "42", "ab-cd", "it’s"];
    let stops = [". ", "! ", "? ", "?! ", ".” ", ".) ", "!\n", ".\n\n", "。", "！", "। "];
    let mut text = String::new();
    let mut seed = 7_usize;
    for _ in 0..2_000 {
        text.push_str("So");
        for _ in 0..seed % 7 {
            seed = (seed * 1_103 + 12_345) % 65_536;
            text.push(' ');
            text.push_str(words[seed % words.len()]);
        }
        seed = (seed * 1_103 + 12_345) % 65_536;
        text.push_str(" end");
        text.push_str(stops[seed % stops.len()]);
    }
    // Except that a blank line is a sentence of its own there.
    let standard: Vec<usize> = text
        .split_sentence_bound_indices()
        .filter(|(_, sentence)| !sentence.trim().is_empty())
        .map(|(start, _)| start)
        .skip(1)
        .chain([text.len()])
        .collect();
    assert_eq!(ends_of(&text), standard);
}

fn spiky_text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a", "B", "word", "Dr", "e.g", "U.S", "1", "42", ".", ".", ".", "!", "?", "…", "。", "．",
        "？", "۔", "।", " ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\r", "\u{2028}", "\t", "\"",
        "'", "“", "”", "«", "»", "(", ")", "[", "]", "「", "」", "-", "*", "#", "# ", "- ", "1. ",
        "a) ", "=", ";", "α", "中", "と", "한", "क", "\u{94D}", "\u{301}", "\u{FE0F}", "\u{200D}",
        "🇩", "👩", "\u{200F}", "\u{600}", "@", "://", ",", "—", "·", "¹", "\u{3000}",
    ]);
    prop::collection::vec(bits, 0..60).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn laws_hold_on_spiky_text(text in spiky_text()) {
        laws(&text);
    }

    #[test]
    fn laws_hold_on_any_text(text in any::<String>()) {
        laws(&text);
    }

    /// What stands before a blank line does not change how the rest is cut.
    #[test]
    fn paragraphs_are_cut_by_themselves(first in spiky_text(), second in spiky_text()) {
        let (first, second) = (format!("x{first}x"), format!("x{second}"));
        let mut apart = ends_of(&first);
        let shift = first.len() + 2;
        apart.pop();
        apart.push(shift);
        apart.extend(ends_of(&second).iter().map(|end| end + shift));
        prop_assert_eq!(ends_of(&format!("{first}\n\n{second}")), apart);
    }
}

#[test]
fn plain_letters_are_alphanumeric() {
    assert!(('\0'..=char::MAX).filter(|&c| is_plain_letter(c)).all(char::is_alphanumeric));
}
