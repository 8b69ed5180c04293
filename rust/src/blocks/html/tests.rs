use proptest::prelude::*;

use super::*;
use crate::blocks::{Kind, laws};

/// Each block as its kind, its depth and its text; a heading's level stands for its depth.
fn seen(html: &str) -> Vec<(Kind, u16, String)> {
    let page = read(html);
    check(html, &page);
    let blocks = page.blocks.blocks.iter();
    blocks
        .map(|block| {
            let depth = if block.kind == Kind::Heading { block.level } else { block.depth };
            (block.kind, depth, page.text[block.start..block.end].trim_end().to_owned())
        })
        .collect()
}

fn check(html: &str, page: &Page) {
    laws::check(&page.text, &page.blocks, |_| false);
    let texts: Vec<_> = page
        .blocks
        .blocks
        .iter()
        .map(|block| page.text[block.start..block.end].trim_end())
        .collect();
    assert_eq!(page.text, texts.join("\n\n"), "blocks are joined by a blank line: {html:?}");
    let runs = page.origin.runs();
    for run in runs {
        let text = page.text.as_bytes()[run.text..].iter().take(run.copied);
        let there = html.as_bytes()[run.html..].iter().take(run.copied);
        assert_eq!(text.len(), run.copied);
        assert!(
            text.eq(there.map(|byte| if matches!(byte, b'\t' | b'\x0c' | b'\r') {
                &b' '
            } else {
                byte
            })) || text_is_near(&page.text[run.text..], &html.as_bytes()[run.html..], run.copied),
            "{run:?} of {html:?}"
        );
    }
    for pair in runs.windows(2) {
        assert!(pair[0].text + pair[0].copied <= pair[1].text, "{runs:?} of {html:?}");
        assert!(pair[0].html + pair[0].copied <= pair[1].html, "{runs:?} of {html:?}");
    }
    for block in &page.blocks.blocks {
        let span = block.start..block.start + page.text[block.start..block.end].trim_end().len();
        let there = page.origin.locate(span.clone());
        assert!(!there.is_empty(), "{block:?} of {html:?}");
        assert!(html.is_char_boundary(there.start) && html.is_char_boundary(there.end));
    }
}

/// Whether both say the same, blanks aside.
fn text_is_near(text: &str, html: &[u8], length: usize) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
    text.as_bytes()[..length].iter().zip(html).all(|(a, b)| a == b || (blank(a) && blank(b)))
}

fn block(kind: Kind, depth: u16, text: &str) -> (Kind, u16, String) {
    (kind, depth, text.to_owned())
}

#[test]
fn blocks_of_a_page() {
    let html = "<!DOCTYPE html><html><head><title>The\n  page &amp; more</title>\
        <style>p { color: red }</style><script>if (a < b) document.write('<p>no</p>')</script></head>\
        <body><h1>Top <em>title</em><a class=headerlink href=#top>&para;</a></h1>\n\
        <p>One  two\n\tthree<br>four</p><ul><li>first<li><p>second</p><p>more</p>\
        <ol><li>inner</ol>tail</ul><blockquote>said</blockquote>\
        <pre>\n\n  let a = 1;\n\n  b &lt; c\n</pre><hr>end &nbsp;</body></html>";
    use Kind::{Code, Heading, Item, Prose};
    assert_eq!(
        seen(html),
        [
            block(Heading, 1, "Top title"),
            block(Prose, 0, "One two three\nfour"),
            block(Item, 2, "first"),
            block(Item, 2, "second"),
            block(Prose, 2, "more"),
            block(Item, 4, "inner"),
            block(Prose, 2, "tail"),
            block(Prose, 1, "said"),
            block(Code, 0, "  let a = 1;\n\n  b < c"),
            block(Prose, 0, "end"),
        ]
    );
    let page = read(html);
    assert_eq!(page.title, "The page & more");
    assert_eq!(page.blocks.titles, ["Top title"]);
    let shared: Vec<_> = page.blocks.blocks.iter().map(|block| block.shared).collect();
    assert_eq!(shared, [0, 0, 0, 1, 2, 2, 2, 0, 0, 0]);
}

#[test]
fn a_table_is_lines_of_cells() {
    let html = "<table><caption>Prices</caption><thead><tr><th></th><th>Apple</th><th>Pear</th></tr></thead>\
        <tbody><tr><th>kg</th><td><p>1</p><p>2</p></td><td></td></tr><tr><td>t<td><td>9<br>8</table>\
        <table><tr><td>plain<tr><td>rows</table>";
    use Kind::{Prose, Table};
    assert_eq!(
        seen(html),
        [
            block(Prose, 0, "Prices"),
            block(Table, 0, "| Apple | Pear\nkg | 1 2\nt | | 9 8"),
            block(Table, 0, "plain\nrows"),
        ]
    );
    let page = read(html);
    let heads: Vec<_> =
        page.blocks.blocks.iter().map(|block| &page.text[block.start..block.head]).collect();
    assert_eq!(heads, ["", "| Apple | Pear\n", ""]);
}

#[test]
fn a_table_that_holds_headings_is_a_layout() {
    let html =
        "<table><tr><td>menu<td><h2>Title</h2>text<table><tr><td>a<td>b</table>more</table>end";
    use Kind::{Heading, Prose, Table};
    assert_eq!(
        seen(html),
        [
            block(Table, 0, "menu"),
            block(Heading, 2, "Title"),
            block(Prose, 0, "text"),
            block(Table, 0, "a | b"),
            block(Prose, 0, "more"),
            block(Prose, 0, "end"),
        ]
    );
}

#[test]
fn what_is_broken_reads_as_a_browser_reads_it() {
    use Kind::{Code, Heading, Item, Prose};
    type Case<'a> = (&'a str, &'a [(Kind, u16, &'a str)]);
    let cases: [Case<'_>; 12] = [
        (
            "<h2>open<p>text</h2>more",
            &[(Heading, 2, "open"), (Prose, 0, "text"), (Prose, 0, "more")],
        ),
        ("<h1>a<h2>b</h1>c", &[(Heading, 1, "a"), (Heading, 2, "b"), (Prose, 0, "c")]),
        ("<div><h3>a</div>b", &[(Heading, 3, "a"), (Prose, 0, "b")]),
        ("</div></p></li>a</table>b", &[(Prose, 0, "ab")]),
        ("a < b && c &unknown; &amp", &[(Prose, 0, "a < b && c &unknown; &")]),
        ("<ul><li>a<p>b</ul>c", &[(Item, 2, "a"), (Prose, 2, "b"), (Prose, 0, "c")]),
        ("a<td>b<tr>c", &[(Prose, 0, "abc")]),
        ("<script>never closed <p>a", &[]),
        ("<svg><title>no</title><text>x<p>yes", &[(Prose, 0, "yes")]),
        ("<template><p>no<template></template>no</template>yes", &[(Prose, 0, "yes")]),
        ("<pre>a<p>b</p>c", &[(Code, 0, "a\nb\nc")]),
        ("<p>a<br><br>b<!-- <h1>no</h1> --><h1> </h1>", &[(Prose, 0, "a"), (Prose, 0, "b")]),
    ];
    for (html, want) in cases {
        let want: Vec<_> =
            want.iter().map(|&(kind, depth, text)| block(kind, depth, text)).collect();
        assert_eq!(seen(html), want, "{html:?}");
    }
}

#[test]
fn spans_lead_back_into_the_html() {
    let html = "\u{feff}<p>Caf\u{e9} &amp; <b>bar</b>\r\n  &nGt;x&lt;</p><pre>a\r\n  b</pre>";
    let page = read(html);
    assert_eq!(page.text, "Caf\u{e9} & bar \u{226b}\u{20d2}x<\n\na\n  b");
    let locate = |part: &str| {
        let start = page.text.find(part).unwrap();
        &html[page.origin.locate(start..start + part.len())]
    };
    for (part, want) in [
        ("Caf\u{e9}", "Caf\u{e9}"),
        ("&", "&amp;"),
        ("& bar", "&amp; <b>bar"),
        ("bar \u{226b}\u{20d2}", "bar</b>\r\n  &nGt;"),
        ("\u{226b}\u{20d2}", "&nGt;"),
        ("\u{20d2}", "&nGt;"),
        ("x<", "x&lt;"),
        ("<", "&lt;"),
        ("a\n  b", "a\r\n  b"),
        ("<\n\na", "&lt;</p><pre>a"),
    ] {
        assert_eq!(locate(part), want, "{part:?}");
    }
    assert_eq!(page.origin.locate(0..0), 3 + 3..3 + 3);
    assert_eq!(read("").origin.locate(0..0), 0..0);
}

const HOSTILE: &[(&str, &str, &str)] = &[
    ("<div>", "a", "</div>"),
    ("<blockquote>", "a", ""),
    ("<ul><li>", "a", "</li></ul>"),
    ("<table><tr><td>", "a", ""),
    ("<p><b>", "a", ""),
    ("<h1>", "a", ""),
    ("<svg>", "a", "</svg>"),
    ("<template>", "a", ""),
    ("</div></table></td></li>", "a", ""),
    ("<div>", "a", "</p></table></h1>"),
    ("<table><tr><td>x<h1>y", "a", "</h1>"),
    ("<table><tr><td>", "a", "</table>a"),
    ("<table><tr>", "<td>a", "<tr><td><td>"),
    ("<table>", "<td>a", "<td>"),
    ("<table><td>", "", "<td>a<tr>"),
    ("<pre> ", "a", "\n"),
    ("<pre>", "\n", "\n \t"),
    ("&amp", "a", "&#x41"),
    ("<a>\u{a0}</a>", "a", "<"),
    ("\u{a0}", "a", "\u{a0}"),
    ("<td>", "a", "<br>"),
    ("<title>a", "b", "</title>"),
    ("<ul>", "", "<li>a<p>b"),
    ("<dl><dt>a<dd>", "b", "<br><br>c"),
    ("<plaintext>", "a", "</p>"),
    ("<textarea>", "<", "</"),
    ("<!--", "-", "-->"),
    ("<p a='", "'", "' b=\""),
];

/// How much work a writer has with a page of so many marks, and how many bytes that is.
fn work(times: usize, (open, text, close): (&str, &str, &str)) -> (usize, usize) {
    let html = [&open.repeat(times), text, &close.repeat(times)].concat();
    let page = read(&html);
    assert!(page.text.len() <= 2 * html.len());
    assert!(page.origin.runs().len() <= 2 * html.len());
    (page.work, html.len())
}

#[test]
fn twice_the_page_is_twice_the_work() {
    for &marks in HOSTILE {
        let ((small, _), (large, bytes)) = (work(2_000, marks), work(4_000, marks));
        assert!(large <= 2 * small + 100, "{marks:?}: {small}, then {large}");
        assert!(large <= 4 * bytes, "{marks:?}: {large} for {bytes} bytes");
    }
}

/// A reader with a call for each depth would need a stack of gigabytes for these.
#[test]
fn no_depth_needs_a_stack() {
    for &marks in HOSTILE {
        work(200_000, marks);
    }
}

const PARTS: &[&str] = &[
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<h1>",
    "</h1>",
    "<h3 class=a>",
    "</h3>",
    "<ul>",
    "</ul>",
    "<ol>",
    "<li>",
    "</li>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    "<blockquote>",
    "</blockquote>",
    "<pre>",
    "</pre>",
    "<table>",
    "</table>",
    "<thead>",
    "<tbody>",
    "</tbody>",
    "<tr>",
    "</tr>",
    "<td>",
    "</td>",
    "<th>",
    "</th>",
    "<caption>",
    "</caption>",
    "<br>",
    "<br/>",
    "<hr>",
    "<a>",
    "</a>",
    "<a>#</a>",
    "<b>",
    "</b>",
    "<script>",
    "</script>",
    "<style>x</style>",
    "<title>",
    "</title>",
    "<svg>",
    "</svg>",
    "<template>",
    "</template>",
    "<option>",
    "<textarea>",
    "</textarea>",
    "&amp;",
    "&lt",
    "&nbsp;",
    "&nGt;",
    "&#0;",
    "&#32;",
    "&#10;",
    "&#xA;",
    "&semi;",
    "&x",
    "&",
    "<",
    ">",
    "</",
    "<!--",
    "-->",
    "<!",
    "<?",
    "\0",
    "\u{feff}",
    "\r",
    "\x0c",
    "word",
    "one two  three",
    "  ",
    "\n  ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_page_keeps_the_laws(html in laws::texts(PARTS)) {
        let page = read(&html);
        check(&html, &page);
    }
}
