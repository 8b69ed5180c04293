use super::carried::{PART, carried};
use super::depth::{Chosen, choose};
use super::*;
use crate::blocks::markdown;
use crate::text::Text;

/// Sections of a document with headings of these levels, each with so many bytes of body.
fn made(parts: &[(u16, usize)]) -> String {
    let mark = |level: u16| "#".repeat(level.into());
    let body = |n: usize| if n > 0 { format!("{}\n\n", "x".repeat(n)) } else { String::new() };
    parts.iter().map(|&(level, n)| format!("{} h\n\n{}", mark(level), body(n))).collect()
}

fn chosen(parts: &[(u16, usize)], target: usize) -> Chosen {
    let text = made(parts);
    let blocks = markdown::blocks(&text);
    choose(&blocks.blocks, &Outline::new(&blocks), text.len(), target, &|a, b| Ok(b - a))
        .expect("sizes do not fail")
}

#[test]
fn one_heading_of_the_second_level_and_forty_of_the_third_take_the_third() {
    let mut parts = vec![(2, 0)];
    parts.extend([(3, 390); 40]);
    let found = chosen(&parts, 800);
    assert_eq!(found.depth, 3);
    assert_eq!(found.sections[..2], [1, 40]);
    assert!(found.median[0] > 15_000.0 && found.median[1] < 410.0);
    assert!(found.median[2].is_nan(), "what comes after is not tried");
}

#[test]
fn the_second_level_is_the_last_resort() {
    assert_eq!(chosen(&[(2, 10), (3, 10), (4, 10)], 800).depth, 2);
    assert_eq!(chosen(&[(1, 9_000), (1, 9_000)], 800).depth, 2);
    let none = chosen(&[], 800);
    assert_eq!((none.depth, none.sections), (2, [0; 3]));
    // The mean of the middle two.
    let found = chosen(&[(2, 94), (2, 194), (2, 294), (2, 394)], 800);
    assert!((found.median[0] - 252.0).abs() < 0.1, "{found:?}");
}

#[test]
fn a_heading_without_a_body_opens_the_section_that_follows() {
    let text = "intro\n\n# A\n\n## B\n\n---\n\n### C\n\ntext\n\n## D\n";
    let blocks = markdown::blocks(text);
    let starts = |level| sections(&blocks.blocks, &Outline::new(&blocks), level);
    assert_eq!(starts(6), [0, 7, text.find("## D").expect("it is there")]);
    assert_eq!(starts(1), [0, 7]);
    assert_eq!(starts(0), [0]);
    assert_eq!(sections(&[], &Outline::default(), 6), [0]);
}

#[test]
fn headings_in_lists_and_quotes_start_nothing() {
    let text = "# A\n\ntext\n\n> # quoted\n>\n> more\n\n- # listed\n\nend\n";
    let blocks = markdown::blocks(text);
    let outline = Outline::new(&blocks);
    assert_eq!(sections(&blocks.blocks, &outline, 6), [0]);
    assert_eq!(outline.headings.len(), 1);
    assert_eq!(blocks.titles, ["A", "quoted", "listed"]);
}

#[test]
fn paths_are_exact_after_any_change_of_level() {
    let text = "# A\n\n### C\n\nc\n\n## B\n\nb\n\n# A\n\n#### D\n\nd\n\n### E\n\ne\n";
    let blocks = markdown::blocks(text);
    let outline = Outline::new(&blocks);
    let titles = |probe: &str| {
        let at = text.find(probe).expect("it is there");
        let block = blocks.blocks.iter().position(|b| b.end > at).expect("it is there");
        let path = outline.path(outline.in_force(block)).into_iter();
        path.map(|h| &blocks.titles[outline.headings[h].title][..]).collect::<Vec<_>>().join("/")
    };
    assert_eq!(titles("c\n"), "A/C");
    assert_eq!(titles("b\n"), "A/B");
    assert_eq!(titles("d\n"), "A/D");
    assert_eq!(titles("e\n"), "A/E");
}

#[test]
fn a_section_may_end_before_the_next_heading() {
    use crate::blocks::Kind;
    // A class with a method, then more of the class, then what stands outside.
    let block = |kind, level, at: usize| Block { level, ..Block::new(kind, at, at + 10) };
    let (head, code) = (Kind::Heading, Kind::Code);
    let blocks = vec![
        block(head, 1, 0),
        block(head, 2, 10),
        block(code, 0, 20),
        block(code, 0, 30),
        block(code, 0, 40),
    ];
    let titles = vec!["C".to_owned(), "m".to_owned()];
    let scopes = Some(vec![Some(0), Some(1), Some(1), Some(0), None]);
    let blocks = Blocks { blocks, titles, scopes };
    let outline = Outline::new(&blocks);
    let in_force: Vec<_> = (0..5).map(|i| outline.in_force(i)).collect();
    assert_eq!(in_force, [Some(0), Some(1), Some(1), Some(0), None]);
    assert_eq!(outline.headings[1].parent, Some(0));
    assert_eq!(sections(&blocks.blocks, &outline, 2), [0, 30, 40]);
    assert_eq!(sections(&blocks.blocks, &outline, 1), [0, 40]);
}

#[test]
fn a_chunk_carries_the_head_of_the_table_that_it_is_a_later_part_of() {
    let text = "# T\n\n| a |\n|---|\n| 1 |\n| 2 |\n\nafter\n";
    let blocks = markdown::blocks(text);
    let outline = Outline::new(&blocks);
    let whole = Text::new(text, true);
    let at = |probe: &str| text.find(probe).expect("it is there");
    let carry = |a, b| carried(&whole, &blocks.blocks, &outline, a, b);
    let head = (at("| a"), at("|---|") + 5);
    let later = carry(at("| 2"), text.len());
    assert_eq!((later.context, later.flags), (Some(head), PART));
    let first = carry(0, at("| 2"));
    assert_eq!((first.context, first.flags, first.heading), (None, PART, Some(0)));
    let all = carry(at("| a"), at("| 2") + 5);
    assert_eq!((all.context, all.flags), (None, 0), "its last break is no part of a table");
    assert_eq!(carry(0, 3).kind, crate::blocks::Kind::Heading);
}
