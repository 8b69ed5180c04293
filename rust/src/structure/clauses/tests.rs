use proptest::prelude::*;

use super::*;

fn read(text: &str) -> (Clauses, Blocks) {
    let blocks = form(text).blocks(text);
    let clauses = Clauses::read(text, &blocks, &[], &Guard::never()).expect("no one stops it");
    (clauses, blocks)
}

/// Each clause as its number, its title and the number above.
fn seen(text: &str) -> Vec<String> {
    let clauses = read(text).0;
    let above = |clause: &Clause| {
        clause.above.map_or(String::new(), |above| format!(" < {}", clauses.list[above].number))
    };
    let line = |clause: &Clause| format!("{} {}{}", clause.number, clause.title, above(clause));
    clauses.list.iter().map(|clause| line(clause).replace("  ", " ").trim().to_owned()).collect()
}

/// Each clause that is referred to, with its note.
fn notes(text: &str) -> Vec<String> {
    let clauses = read(text).0;
    let said = |(i, from): (usize, &Vec<u32>)| {
        let from = from.iter().map(|&at| &clauses.list[at as usize]);
        let note = note(from.map(|clause| (clause.word, &clause.number[..])));
        (!note.is_empty()).then(|| format!("{}: {note}", clauses.list[i].number))
    };
    clauses.referrers.iter().enumerate().filter_map(said).collect()
}

#[test]
fn the_example_of_the_requirements() {
    for gap in ["\n", "\n\n"] {
        let text = format!(
            "7.2  Invoices fall due thirty days after issue.{gap}7.3  Clause 7.2 does not bind \
             customers on a deferred plan,\n     whose invoices fall due after sixty days."
        );
        assert_eq!(seen(&text), ["7.2", "7.3"]);
        assert_eq!(notes(&text), ["7.2: (See also clause 7.3.)"]);
    }
}

#[test]
fn a_gap_behind_a_number_makes_no_table() {
    let text = "7.1  Invoices fall due.\n7.2  They are paid at once.\n7.3  Clause 7.1 stands.\n";
    assert_eq!(seen(text), ["7.1", "7.2", "7.3"]);
    assert_eq!(notes(text), ["7.1: (See also clause 7.3.)"]);
    assert_eq!(seen("1.1  Apples  30\n1.2  Pears   40\n1.3  Plums   50\n"), [""; 0]);
}

#[test]
fn numbers_nest() {
    let text = "AGREEMENT\n\n1. Definitions\n\n1.1 In this Agreement:\n\n(a) words mean things;\n\n    \
                (i) some; and\n\n    (ii) others;\n\n(b) more do.\n\n1.2 Headings are ignored.\n\n2. \
                Payment\n\n2.1 The price is 7.2 million.\n\nSchedule 1: Prices\n\n1. Goods\n\n(a) \
                Tea.\n\nSchedule 2\n\n1. Times\n";
    assert_eq!(
        seen(text),
        [
            "1 Definitions",
            "1.1 < 1",
            "1.1(a) < 1.1",
            "1.1(a)(i) < 1.1(a)",
            "1.1(a)(ii) < 1.1(a)",
            "1.1(b) < 1.1",
            "1.2 < 1",
            "2 Payment",
            "2.1 < 2",
            "Schedule 1 Prices",
            "Schedule 1, 1 Goods < Schedule 1",
            "Schedule 1, 1(a) < Schedule 1, 1",
            "Schedule 2",
            "Schedule 2, 1 Times < Schedule 2",
        ]
    );
}

#[test]
fn a_reference_over_a_line_break_starts_no_clause() {
    let text = "5. Conveying\n\n    a) The work must carry notices.\n\n    b) It is released under \
                section\n    7.  This requirement modifies section 4.\n\n    c) You must license it.\n\n\
                6. Forms\n";
    assert_eq!(seen(text), ["5 Conveying", "5(a) < 5", "5(b) < 5", "5(c) < 5", "6 Forms"]);
    let licence = "0. Definitions.\n\nWords.\n\n1. Source.\n\nMore.\n";
    assert_eq!(seen(licence), ["0 Definitions", "1 Source"]);
}

#[test]
fn articles_sections_and_paragraphs() {
    let text = "Article 1\nScope\n\n1. This applies.\n\n2. It ends.\n\nArticle 2 - Words\n\n(a) one;\n\
                (b) two.\n\n§ 3 Zahlung\n\n§ 3a Verzug\n";
    assert_eq!(
        seen(text),
        [
            "1 Scope",
            "1(1) < 1",
            "1(2) < 1",
            "2 Words",
            "2(a) < 2",
            "2(b) < 2",
            "3 Zahlung",
            "3a Verzug",
        ]
    );
    let us = "ARTICLE VII\n\nSection 7.01. Payment. The buyer pays.\n\nSection 7.02. Notice.\n";
    assert_eq!(seen(us), ["VII", "7.01 Payment < VII", "7.02 < VII"]);
}

#[test]
fn markdown_headings_and_lists_are_clauses() {
    let text = "# Terms\n\n## 7 Payment\n\n### 7.1 When\n\nSoon.\n\n- (a) by card;\n- (b) in cash.\n\n\
                ### 7.2 How\n\n```\n8. not this\n```\n\n| 9. | nor this |\n|---|---|\n| 10. | x |\n";
    assert_eq!(
        seen(text),
        ["7 Payment", "7.1 When < 7", "7.1(a) < 7.1", "7.1(b) < 7.1", "7.2 How < 7"]
    );
}

#[test]
fn what_only_looks_like_a_number_is_no_clause() {
    for text in [
        "Changes\n\n## 1.2.0 - 2024-01-15\n\nFixed.\n\n## 1.1.0 - 2023-10-01\n\nAdded.\n",
        "# 2.1.0\n\nFixed it.\n\n# 2.0.0\n\nBroke it.\n\n# 1.9.3\n\nNothing.\n",
        "The price rose by\n7.2 million dollars in\n2024. It fell by\n3.5 percent.\n",
        "On\n5 January 2024 they met.\n\n6 January 2024 was quiet.\n",
        "Figure 7.2 Payment\n\nTable 3 Prices\n\nPage 12\n\n12\n",
        "Contents\n\n1 Definitions ........ 3\n2 Payment .......... 14\n2.1 When\t15\n",
        "It is set out in clause\n7.2 Invoices and in section\n7.3 Payments of it.\n",
        "Python\n\n3.11 Python is needed.\n\n2.7 It was once.\n",
    ] {
        assert_eq!(seen(text), [""; 0], "{text}");
    }
}

#[test]
fn a_number_that_does_not_follow_is_no_clause() {
    let text = "1. Scope\n\nIt costs\n\n12.5 Euro notes.\n\n1.1 It applies.\n\n2. Term\n\n99.9 Availability is promised.\n\n3. End\n";
    assert_eq!(seen(text), ["1 Scope", "1.1 < 1", "2 Term", "3 End"]);
}

#[test]
fn references_stand_in_lists_and_ranges_forward_and_back() {
    let body = |words: &str| {
        let mut text = String::new();
        for i in 1..=9 {
            let said = if i == 5 { words } else { "Words." };
            text.push_str(&format!("{i}. Title\n\n{i}.1 {said}\n\n{i}.2 Words.\n\n"));
        }
        text
    };
    let targets = |words: &str| -> Vec<String> {
        let clauses = read(&body(words)).0;
        let to = |one: &Reference| clauses.list[one.to? as usize].number.clone().into();
        clauses.references.iter().filter_map(to).collect()
    };
    for (words, want) in [
        ("See clause 7.2.", &["7.2"][..]),
        ("See clauses 7.2, 7.1 and 3.1.", &["7.2", "7.1", "3.1"]),
        ("Under clauses 3 to 5, it ends.", &["3", "4", "5"]),
        ("Under Clauses 3–5.", &["3", "4", "5"]),
        ("See clause 3 and clause 4; also section 6.2 or 6.1.", &["3", "4", "6.2", "6.1"]),
        ("See clause 7.2(b) and (c).", &["7.2", "7.2"]),
        ("See clause\n7.2 and others.", &["7.2"]),
        ("See §§ 3, 4.", &["3", "4"]),
        ("Pay under clause 3, 4 days late.", &["3"]),
        ("See clause 77.", &[]),
        ("See clause 7.2 of the Companies Act.", &[]),
        ("See Article 6 GDPR.", &[]),
        ("See clause 7.2 of this Agreement.", &["7.2"]),
        ("See clause 7.2 of the Agreement.", &["7.2"]),
        ("Version 7.2, figure 3 and page 4.", &[]),
    ] {
        assert_eq!(targets(words), want, "{words}");
    }
    assert_eq!(
        notes(
            "1. A\n\nSee clause 2.\n\n2. B\n\nSee clauses 1 and 2.\n\n3. C\n\nSee clause 2 and clause 2.\n"
        ),
        ["1: (See also clause 2.)", "2: (See also clauses 1 and 3.)"]
    );
}

#[test]
fn schedules_are_referred_to_by_name() {
    let text = "1. Price\n\nThe price is in Schedule 1, paragraph 2, and paragraph 1 of Schedule 1.\n\n\
                2. Term\n\nSoon.\n\nSchedule 1\n\n1. Tea\n\nParagraph 2 and clause 2 apply.\n\n2. Milk\n";
    assert_eq!(
        notes(text),
        [
            "2: (See also Schedule 1, 1.)",
            "Schedule 1: (See also clause 1.)",
            "Schedule 1, 1: (See also clause 1.)",
            "Schedule 1, 2: (See also clause 1 and Schedule 1, 1.)",
        ]
    );
}

const PARTS: &[&str] = &[
    "1. ",
    "2. ",
    "1.1 ",
    "1.2 ",
    "7.2 ",
    "(a) ",
    "(b) ",
    "(i) ",
    "(ii) ",
    "a) ",
    "Article 1",
    "§ 2 ",
    "Section 7(b) ",
    "Schedule 1",
    "Part 2",
    "## ",
    "- ",
    "Words here. ",
    "clause 1.1",
    "clauses 1 to 3",
    "Section 2",
    "paragraph (a)",
    " and ",
    ", ",
    "of Schedule 1",
    "of the Act ",
    "million",
    "2024",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "**",
    "```",
    "| a |",
];

fn keeps_the_laws(text: &str) {
    let (clauses, blocks) = read(text);
    let mut keys = std::collections::HashSet::new();
    let mut before = None;
    for (i, clause) in clauses.list.iter().enumerate() {
        assert!(before < Some(clause.start) && clause.start <= clause.words);
        assert!(clause.words <= text.len() && text.is_char_boundary(clause.words));
        assert!(clause.above.is_none_or(|above| above < i));
        assert!(keys.insert(clauses.key(clause)), "twice {clause:?}");
        before = Some(clause.start);
    }
    for reference in &clauses.references {
        assert!(reference.start < reference.end);
        assert!(text.get(reference.start..reference.end).is_some());
        assert!(reference.to.is_none_or(|to| (to as usize) < clauses.list.len()));
    }
    for (to, from) in clauses.referrers.iter().enumerate() {
        assert!(from.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(from.iter().all(|&from| !clauses.is_within(from as usize, to)));
    }
    let (made, outline) = clauses.outline(text, &blocks);
    crate::structure::cutting::check(text, &made.blocks).expect("blocks in order");
    assert_eq!(made.titles.len(), outline.headings.len());
    let starts = clauses.sections(&made, &outline, true);
    assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_text_may_begin_with_a_wide_blank() {
    // Its first block starts behind the blank, and a number stands at its end.
    keeps_the_laws("\u{a0}Word1.1 ");
}

#[test]
fn a_line_break_may_be_written_in_every_way() {
    let text = "1. Price\n\nIt is set in paragraph 2 of\nSchedule 1.\n\n2. Term\n\nSee clause\n1. It ends \
                with the clause\n\n3. End\n\nSchedule 1\n\n1. Tea\n\nDear.\n\n2. Milk\n";
    let found = notes(text);
    assert_eq!(
        found,
        [
            "1: (See also clause 2.)",
            "Schedule 1: (See also clause 1.)",
            "Schedule 1, 2: (See also clause 1.)",
        ]
    );
    for lines in ["\r\n", "\r"] {
        assert_eq!(notes(&text.replace('\n', lines)), found, "{lines:?}");
    }
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    for text in [
        "1.1 Words.\n\n1.2 See clause 1.1.\n",
        "## 1 Terms\n\n1.1 Words.\n\n1.2 See clause 1.1.\n",
        "Schedule 1: Prices\n\n1. Tea\n\nSee Schedule 1.\n",
        "| 1. | a |\n|---|---|\n| 2. | b |\n",
    ] {
        let marked = format!("\u{feff}{text}");
        assert_eq!(form(&marked), form(text), "{text}");
        assert_eq!(seen(&marked), seen(text));
        assert_eq!(notes(&marked), notes(text));
        for format in [Format::Markdown, Format::Plain] {
            let read = |text: &str| {
                let blocks = format.blocks(text);
                let clauses =
                    Clauses::read(text, &blocks, &[], &Guard::never()).expect("never stopped");
                clauses
                    .list
                    .into_iter()
                    .map(|clause| (clause.key, clause.title))
                    .collect::<Vec<_>>()
            };
            assert_eq!(read(&marked), read(text), "{text}");
        }
    }
}

#[test]
fn a_word_is_whole_in_every_alphabet() {
    let text = "1. A\n\nPart 2 is meant.\n\nPart 2\n\n2. B\n\nDépart 2, à l’art. 1.\n";
    let clauses = read(text).0;
    let said: Vec<&str> = clauses.references.iter().map(|one| &one.key[..]).collect();
    assert_eq!(said, ["part 2", "1"]);
}

#[test]
fn a_section_of_an_article_is_called_a_section() {
    let text = "ARTICLE VII\n\nSection 1. Payment. Soon.\n\nARTICLE VIII\n\nSection 1. Notice. Section 1 of \
                this Agreement and Article VII apply.\n";
    assert_eq!(notes(text), ["VII: (See also section VIII, 1.)"]);
}

#[test]
fn keys_are_short_whatever_is_written() {
    let many = "(a)".repeat(1_000);
    let text = format!(
        "1. A\n\nSee clause 1{many} and 1(b){many}; clause 2(a){}.\n\n2{many} B\n\n2. C\n",
        ", (a)(b)".repeat(1_000)
    );
    let clauses = read(&text).0;
    assert!(clauses.list.iter().all(|clause| clause.key.len() <= 64 && clause.number.len() <= 64));
    assert!(clauses.references.iter().all(|one| one.key.len() <= 64));
    assert!(clauses.references.iter().any(|one| one.to == Some(1)));
}

#[test]
fn parts_of_a_clause_share_its_note() {
    let text = "1. A\n\n1.1 Words.\n\n1.2 See clause 1.1.\n\n1.3 See clause 1.1.\n";
    let clauses = read(text).0;
    let start = clauses.list[1].start;
    let mut notes = Notes::new(&clauses);
    let first = notes.beside(start, start + 4, Some(1));
    assert_eq!(&*first, "(See also clauses 1.2 and 1.3.)");
    assert!(Arc::ptr_eq(&first, &notes.beside(start + 4, start + 8, Some(1))));
    let other = notes.beside(clauses.list[2].start, text.len(), Some(2));
    assert_eq!(&*other, "");
    assert_eq!(notes.beside(start, start + 8, Some(1)), first);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn any_text_keeps_the_laws_of_clauses(text in crate::blocks::laws::texts(PARTS)) {
        keeps_the_laws(&text);
    }
}
