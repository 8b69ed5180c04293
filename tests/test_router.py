"""The router: every rule hit and just missed, the order of fallbacks, `Routed` and its sources."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

import cantle
from cantle import Facts, RouteRule
from cli_runs import cli, write

PROSE = "A long day ended. Nobody spoke, and the rain went on. " * 20
CONTRACT = "\n\n".join(f"{i}.1 The parties agree on point {i} and keep to it." for i in range(1, 7))
GUIDE = "# Guide\n\nWords.\n\n## One\n\nMore words.\n\n## Two\n\nEven more.\n"
TABLE = "| port | days |\n|---|---|\n" + "".join(f"| port {i} | {i} |\n" for i in range(9))
SHEET = "port,days\nOslo,3\nBergen,4\n"
NOTES = "note\nWe called them.\nThey answered.\n"

FACTS = Facts(words=400, size=500, sentences=30)

# For each rule the facts that it holds for, what is chosen, and facts that just miss it.
CASES = {
    "declared contract": (replace(FACTS, kind="contract", clauses=3), "clauses", {"kind": "deal"}),
    "declared policy": (replace(FACTS, kind="policy", headings=1), "structural", {"kind": ""}),
    "declared notes": (replace(FACTS, kind="notes"), "recursive", {"kind": "note"}),
    "long ticket": (replace(FACTS, kind="ticket", size=513), "recursive", {"size": 512}),
    "ticket": (replace(FACTS, kind="ticket", size=512), "whole", {"kind": "case"}),
    "declared scan": (replace(FACTS, kind="scan"), "recursive", {"kind": "scanner"}),
    "mixed topics": (replace(FACTS, kind="transcript"), "recursive", {"headings": 3}),
    "source code": (replace(FACTS, form="python", headings=4), "structural", {"form": "text"}),
    "spreadsheet": (replace(FACTS, form="csv", columns=2, rows=3), "rows", {"columns": 1}),
    "spreadsheet notes": (replace(FACTS, form="tsv", columns=1), "recursive", {"form": "text"}),
    "contract": (
        replace(FACTS, clauses=6, clause_paragraphs=4), "clauses", {"clause_paragraphs": 3},
    ),
    "tables": (replace(FACTS, table_share=0.6, rows=3), "rows", {"table_share": 0.59}),
    "numbered": (replace(FACTS, clauses=5, references=2), "clauses", {"references": 1}),
    "structured": (replace(FACTS, headings=2), "structural", {"headings": 1}),
    "prose": (FACTS, "recursive", {"headings": 2}),
}  # fmt: skip


def test_every_rule_has_a_case():
    assert list(CASES) == [rule.name for rule in cantle.ROUTE_RULES]


@pytest.mark.parametrize("name", CASES)
def test_each_rule_is_hit_and_just_missed(name):
    known, strategy, missed = CASES[name]
    found = cantle.route(known)
    assert (found.rule, found.strategy.strategy) == (name, strategy)
    assert found.reasons[0].startswith(
        next(r for r in cantle.ROUTE_RULES if r.name == name).documents
    )
    assert cantle.route(replace(known, **missed)).rule != name


@pytest.mark.parametrize(
    ("text", "id", "rule", "strategy"),
    [
        (PROSE, "a.txt", "prose", "recursive"),
        (CONTRACT, "a.txt", "contract", "clauses"),
        (GUIDE, "a.md", "structured", "structural"),
        (GUIDE, "", "structured", "structural"),
        (TABLE, "a.md", "tables", "rows"),
        (SHEET, "a.csv", "spreadsheet", "rows"),
        (NOTES, "a.csv", "spreadsheet notes", "recursive"),
        (TABLE.partition("| port 2")[0], "a.xlsx", "spreadsheet", "rows"),
        (CONTRACT.replace(".1 ", ".1  ").replace("\n\n", "\n"), "a.txt", "contract", "clauses"),
        ("<h1>A</h1><p>b<h2>C</h2><p>d", "a.html", "structured", "structural"),
        ("import os\n\n\ndef f():\n    return os\n", "a.py", "source code", "structural"),
        ("", "a.txt", "prose", "recursive"),
    ],
)
def test_documents_are_routed_by_what_they_hold(text, id, rule, strategy):
    found = cantle.route(text, id=id)
    assert (found.rule, found.strategy.strategy) == (rule, strategy)
    chunks = found.strategy.split(text, id=id or None)
    assert found.cost.chunks == found.cost.embeddings == len(chunks)
    assert found.cost.units == chunks.size.sum()


CHANGELOG = """# Changelog

## 2.1.0 - 2024-05-01

### Added

- A faster way to count.

## 2.0.0 - 2024-01-15

### Changed

- Settings are keyword-only.
"""
POLICY = """Travel policy

1. Booking

Book two weeks ahead. The cheapest fare counts.

2. Meals

Up to 40 euros a day; see section 1.

3. Refunds

Within 30 days.
"""
TRANSCRIPT = """Ann: So about the fence, it is 7.2 metres.
Bob: Right. And did you call the plumber?
Ann: On 5 January. He wants 300 euros.
"""
TICKETS = "id,opened,text\n17,2024-05-01,The door sticks.\n18,2024-05-02,It leaks.\n"


@pytest.mark.parametrize(
    ("text", "id", "kind", "rule", "strategy"),
    [
        (CHANGELOG, "CHANGELOG.md", "", "structured", "structural"),
        (POLICY, "travel.txt", "policy", "declared policy", "structural"),
        (POLICY, "travel.txt", "", "structured", "structural"),
        (POLICY, "travel.txt", "terms", "declared contract", "clauses"),
        (TRANSCRIPT, "call.txt", "transcript", "mixed topics", "recursive"),
        (TRANSCRIPT, "call.txt", "", "prose", "recursive"),
        (TICKETS, "tickets.csv", "", "spreadsheet", "rows"),
        (TICKETS.replace("id,opened,", ""), "one.txt", "ticket", "ticket", "whole"),
        (TRANSCRIPT * 40, "mail.txt", "email", "long ticket", "recursive"),
    ],
)
def test_documents_in_the_shapes_that_real_ones_have(text, id, kind, rule, strategy):
    found = cantle.route(text, id=id, kind=kind)
    assert (found.rule, found.strategy.strategy) == (rule, strategy)


def test_source_code_without_its_extra_is_routed_as_text(monkeypatch):
    def missing(language):
        raise ImportError("no grammar")

    monkeypatch.setattr(cantle.code, "_load", missing)
    text = "import os\n\n\ndef f():\n    return os\n"
    found = cantle.route(text, id="a.py")
    assert (found.rule, found.strategy.strategy) == ("source code", "recursive")
    chunks = cantle.Routed(40, unit="words").split_all([text, GUIDE], ids=["a.py", "b.md"])
    assert chunks[0].text == text.strip()
    assert chunks[1].kind == "prose"


def test_facts_are_counted():
    known = cantle.facts(GUIDE + "\n- a\n- b\n\n" + TABLE, id="a.md", kind="guide", unit="chars")
    assert (known.headings, known.depth, known.items, known.tables, known.rows) == (3, 2, 2, 1, 9)
    assert (known.columns, known.form, known.kind) == (2, "markdown", "guide")
    assert known.size == known.chars
    assert known.scripts == (("Latin", 1.0),)
    assert 0.5 < known.table_share < 0.8
    contract = cantle.facts(CONTRACT + "\n\n7.1 See clause 2.1.\n")
    assert (contract.clauses, contract.clause_paragraphs, contract.references) == (7, 7, 1)
    mixed = cantle.facts("Слово и word, 漢字")
    assert [name for name, _ in mixed.scripts] == ["Cyrillic", "Latin", "Han"]
    assert cantle.facts("").scripts == ()


def test_fallbacks_say_why():
    found = cantle.route(replace(FACTS, kind="contract"))
    assert found.strategy.strategy == "recursive"
    assert found.reasons[1:] == (
        "clauses would suit, but clauses is 0 and must be >= 1",
        "structural would suit, but headings is 0 and must be >= 1",
    )
    ticket = cantle.route(replace(FACTS, kind="ticket", size=900))
    assert ticket.reasons[1] == "semantic would suit, but no embedder is given"
    for name, words in {"llm": "no model is given", "new": "this version does not have it"}.items():
        rule = RouteRule("mine", "all", (), (name,), "I want it")
        told = cantle.route(FACTS, rules=(rule,)).reasons[1]
        assert told == f"{name} would suit, but {words}"


def test_an_embedder_makes_semantic_possible():
    text = "Tea is warm. Tea pots. " * 30 + "Rain falls. " * 30
    found = cantle.route(
        text, kind="ticket", size=90, unit="words", embedder="keyword:tea pot|rain"
    )
    assert found.settings == "semantic:90"
    assert found.cost.embeddings == found.cost.chunks + found.facts.sentences
    with pytest.raises(
        cantle.SettingError, match="semantic asks a model about sentences, which Routed does not"
    ):
        cantle.Routed(sources=[cantle.Declared("*", strategy="semantic:90")])
    with pytest.raises(cantle.SettingError) as caught:
        cantle.Routed(sources=[cantle.Declared("*", strategy="nested:90")])
    message = "source '*': nested puts levels above its chunks, which Routed does not do"
    assert str(caught.value) == message


def test_semantic_over_a_structured_text_is_warned_of():
    rule = RouteRule("mine", "all", (), ("semantic", "structural"), "I want it")
    known = replace(FACTS, headings=3)
    (warning,) = cantle.route(known, rules=(rule,)).warnings
    assert warning == (
        "semantic embeds every sentence (30) to find borders that 3 headings mark already: about "
        "twenty times the cost for no gain"
    )
    assert cantle.route(replace(known, headings=2), rules=(rule,)).warnings == ()


def test_own_rules_go_first():
    rule = RouteRule("short", "short ones", (("words", "<=", 3),), ("sentence:9",), "they are")
    rules = (rule, *cantle.ROUTE_RULES)
    found = cantle.route("One. Two.", rules=rules, unit="words")
    assert found.strategy == cantle.Sentence(9, unit="words")
    assert cantle.route("One. Two. Three. Four.", rules=rules).rule == "prose"


@pytest.mark.parametrize(
    "call",
    [
        lambda: RouteRule("x", "", (("colour", "==", 1),), ("whole",), ""),
        lambda: RouteRule("x", "", (("words", "~", 1),), ("whole",), ""),
        lambda: RouteRule("x", "", (), (), ""),
        lambda: cantle.route("a", rules=()),
        lambda: cantle.route("a", size=0),
    ],
)
def test_wrong_rules_are_refused(call):
    with pytest.raises(cantle.SettingError):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RouteRule("x", "", "ab", ("whole",), ""), "rule 'x': when ('ab') must be a tuple"),
        (lambda: RouteRule("x", "", (), "whole", ""), "rule 'x': strategies ('whole') must be a"),
        (lambda: RouteRule("x", "", (), (1,), ""), "rule 'x': strategies (1) must be str"),
        (lambda: cantle.route("a", rules=5), "rules (5) must be a list of RouteRule"),
        (lambda: cantle.route("a", rules="ab"), "rules ('ab') must be a list of RouteRule"),
        (lambda: cantle.route("a", rules=[1]), "rules[0] (1) must be RouteRule"),
        (lambda: cantle.route("a", id=5), "id (5) must be str"),
        (lambda: cantle.route("a", kind=None), "kind (None) must be str"),
        (lambda: cantle.route(FACTS, kind=5), "kind (5) must be str"),
        (lambda: cantle.facts("a", id=b"x"), "id (b'x') must be str"),
    ],
)
def test_wrong_types_are_named(call, message):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "condition", [5, ("words", ">="), (["words"], "==", 1), ("words", [], 1),
                  ("words", ">=", "x"), ("kind", "in", 5)],
)  # fmt: skip
def test_conditions_that_cannot_be_compared_are_refused(condition):
    with pytest.raises(cantle.SettingError, match="must be a fact, one of"):
        RouteRule("x", "", (condition,), ("whole",), "")


def test_what_is_declared_beside_facts_counts():
    # It was ignored.
    assert cantle.route(replace(FACTS, clauses=3), kind="contract").rule == "declared contract"
    assert cantle.route(replace(FACTS, kind="policy", headings=1)).rule == "declared policy"


def fails(text):
    if "broken" in text:
        raise ValueError("cannot count")
    return len(text.split())


def test_a_unit_that_fails_for_one_document_leaves_the_others():
    # The router asks the unit before the document is cut, and ended the call.
    routed = cantle.Routed(40, unit=fails)
    texts = ["One is fine.", "This is broken.", GUIDE]
    chunks = routed.split_all(texts, ids=["a", "b", "c.md"], errors="skip")
    assert chunks.documents.ids == ("a", "b", "c.md")
    assert {chunk.doc for chunk in chunks} == {0, 2}
    assert [skipped.reason for skipped in chunks.skipped] == ["ValueError: cannot count"]
    with pytest.raises(ValueError, match="cannot count"):
        routed.split_all(texts)


def test_parts_of_a_document_are_cut_by_what_is_declared_of_it():
    declared = [cantle.Declared("*.log", strategy="window:2")]
    routed = cantle.Routed(40, unit="words", sources=declared)
    texts, ids = ["one two three", "four five six"], ["a.log", "b.txt"]
    parents = cantle.Whole(40, unit="words").split_all(texts, ids=ids)
    parts = routed.split_within(parents)
    assert parts.texts == routed.split_all(texts, ids=ids).texts == ["one two", "three", texts[1]]


@pytest.mark.parametrize("form", ["html", "py", "md"])
def test_blocks_without_any_are_cut_to_nothing(form):
    # Nothing was taken for nothing given, and the core asked to read HTML.
    for strategy in (cantle.Structural(), cantle.Clauses(), cantle.Rows(), cantle.Routed()):
        assert len(strategy.split(cantle.Blocks([]), id=f"a.{form}")) == 0
    assert cantle.route(cantle.Blocks([]), id=f"a.{form}").cost.chunks == 0
    if form == "html":
        assert cantle.facts("", id="a.html").words == 0


def test_cost_counts_what_is_stored_twice():
    cost = cantle.route(PROSE, size=20, unit="words", overlap=10).cost
    assert cost.duplicated > 0.2
    assert cantle.route(PROSE, size=20, unit="words").cost.duplicated == 0.0


FOLDER = {
    "deal.txt": CONTRACT,
    "guide.md": GUIDE,
    "ports.csv": SHEET,
    "story.txt": PROSE,
    "empty.txt": "",
}


def test_a_mixed_folder_is_cut_by_what_suits_each():
    routed = cantle.Routed(40, unit="words")
    chunks = routed.split_all(list(FOLDER.values()), ids=list(FOLDER))
    for doc, (id, text) in enumerate(FOLDER.items()):
        mine = chunks[chunks.doc == doc]
        alone = routed.route(text, id=id).strategy.split(text, id=id)
        assert mine.texts == alone.texts
        assert mine.kind.tolist() == alone.kind.tolist()
        assert mine.clause_numbers == alone.clause_numbers
        assert mine.contexts == alone.contexts
    assert chunks.ids[0] == "deal.txt_routed_0"
    for threads in (1, 3):
        assert routed.split_all(list(FOLDER.values()), ids=list(FOLDER), threads=threads) == chunks
    assert pickle.loads(pickle.dumps(chunks)).clause_numbers == chunks.clause_numbers


SOURCES = """
[[source]]
glob = "deals/*"
kind = "contract"

[[source]]
glob = "*.md"
strategy = "sentence"
target = 10

[[source]]
glob = "story*"
target = 12
"""


def test_sources_are_declared_in_a_file(tmp_path):
    file = write(tmp_path / "sources.toml", SOURCES)
    routed = cantle.Routed(40, unit="words", sources=file)
    assert routed.route(GUIDE, id="a/b.md").strategy == cantle.Sentence(10, unit="words")
    assert routed.route(GUIDE, id="a/b.md").rule == "declared"
    assert routed.route("1. A\n\n2. B\n", id="deals/x").strategy.strategy == "clauses"
    assert routed.route(PROSE, id="story.txt").strategy == cantle.Recursive(12, unit="words")
    assert routed.route(PROSE, id="else.txt").strategy == cantle.Recursive(40, unit="words")
    file.write_text("\ufeff" + file.read_text("utf-8"), "utf-8")
    assert cantle.Routed(40, unit="words", sources=file) == routed
    text = f"routed:40:0:words,sources={file}"
    assert cantle.strategy_from_text(text) == routed
    assert pickle.loads(pickle.dumps(routed)) == routed
    other = cantle.Routed(40, unit="words")
    assert other.fingerprint != routed.fingerprint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[source", "is no TOML"),
        ("a = " + "[" * 5_000, "is no TOML"),
        ("[[source]]\nkind = 'a'\n", "source 1 has no glob"),
        ("[[source]]\nglob = '*'\ncolour = 1\n", "'colour' must be one of glob, kind, strategy"),
        ("[[source]]\nglob = '*'\ntarget = 'x'\n", "target ('x') must be a whole number"),
        ("[[source]]\nglob = '*'\nstrategy = 'x'\n", "source '*': strategy ('x') must be one of"),
        ("[[source]]\nglob = '*'\nstrategy = 'routed'\n", "routed cannot be routed to itself"),
        ("[[source]]\nglob = '*'\nstrategy = 'window:9:0:chars'\n", "its unit (chars) must be"),
        ("[other]\n", "'other' is unknown"),
    ],
)
def test_wrong_sources_are_refused(tmp_path, content, message):
    file = write(tmp_path / "sources.toml", content)
    with pytest.raises(cantle.SettingError) as raised:
        cantle.Routed(40, unit="words", sources=file)
    assert message in str(raised.value)


def test_the_readme_has_the_same_rules():
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    part = readme.split("<!-- rules -->", 1)[1].split("<!-- end of rules -->", 1)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.split("\n") if line]
    assert rows[2:] == [
        [rule.documents, ", ".join(f"`{name}`" for name in rule.strategies), rule.why]
        for rule in cantle.ROUTE_RULES
    ]


def test_the_command_routes_a_folder(tmp_path):
    for name, text in FOLDER.items():
        write(tmp_path / "in" / name, text)
    result = cli(tmp_path / "in", "-s", "routed", "--size", "40", "--unit", "words")
    kinds = {row["source"]: row["kind"] for row in result.rows}
    assert kinds["deal.txt"] == "clause"
    assert kinds["ports.csv"] == "row"
