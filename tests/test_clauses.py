"""`Clauses`: numbers, titles and parents on chunks; references and notes; what is no clause.

The recognisers have their own tests beside them in the core.
"""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cli_runs import cli, write

X6 = (
    "7.2  Invoices fall due thirty days after issue.\n"
    "7.3  Clause 7.2 does not bind customers on a deferred plan,\n"
    "     whose invoices fall due after sixty days."
)

LEASE = """LEASE OF FLAT 3

This lease is made on 5 January 2024 between the parties.

1. DEFINITIONS

1.1 In this lease the following words have these meanings:

(a) Rent: 1,250.00 EUR a month, or 7.2 million over the term;

(b) Term: the period in clause 2.

1.2 Headings do not matter. Schedule 1 is a part of this lease.

2. TERM

2.1 The term is
3.5 years from 1 May 2024 (see clauses 1.1(b) and 3.1 to 3.3).

3. TENANT'S DUTIES

3.1 Rent. The tenant pays as clause 4 says.

3.2 Noise. None after 10 pm.

3.3 Keys. Two sets, listed in paragraph 2 of Schedule 1.

4. PAYMENT

By the third day; clause 3.1 of the Housing Act applies.

Schedule 1: Inventory

1. Furniture

Two chairs.

2. Keys

Two sets; clause 3.3 applies.
"""


def seen(chunks):
    return [(chunk.clause_number, chunk.clause_title, chunk.clause_parent) for chunk in chunks]


def test_the_example_of_the_requirements():
    chunks = cantle.Clauses(60, unit="words").split(X6, id="terms")
    assert chunks.clause_numbers == ["7.2", "7.3"]
    assert chunks.notes == ["(See also clause 7.3.)", ""]
    assert chunks.texts == X6.split("\n", 1)
    assert chunks[0].embed_text == f"7.2\n\n{chunks[0].text}\n\n(See also clause 7.3.)"


def test_a_contract():
    chunks = cantle.Clauses(80, unit="words").split(LEASE, id="lease.txt")
    assert seen(chunks) == [
        ("", "", ""),
        ("1.1", "", "1"),
        ("1.2", "", "1"),
        ("2.1", "", "2"),
        ("3.1", "Rent", "3"),
        ("3.2", "Noise", "3"),
        ("3.3", "Keys", "3"),
        ("4", "PAYMENT", ""),
        ("Schedule 1, 1", "Furniture", "Schedule 1"),
        ("Schedule 1, 2", "Keys", "Schedule 1"),
    ]
    notes = {chunk.clause_number: chunk.notes for chunk in chunks if chunk.notes}
    assert notes == {
        "1.1": "(See also clause 2.1.)",
        "2.1": "(See also clause 1.1(b).)",
        "3.1": "(See also clause 2.1.)",
        "3.2": "(See also clause 2.1.)",
        "3.3": "(See also clause 2.1 and Schedule 1, 2.)",
        "4": "(See also clause 3.1.)",
        "Schedule 1, 1": "(See also clauses 1.2 and 3.3.)",
        "Schedule 1, 2": "(See also clause 3.3.)",
    }
    assert chunks[1].text.startswith("1. DEFINITIONS\n\n1.1 In this lease")
    assert chunks[1].heading_path == ("1 DEFINITIONS", "1.1")
    assert chunks[6].kind == "clause"


def test_a_licence_that_is_installed():
    text = (Path(__file__).parents[1] / "LICENSE-APACHE").read_text("utf-8")
    chunks = cantle.Clauses(600).split(text, id="LICENSE.txt")
    numbering = chunks.numbering
    assert numbering.number == [
        *("1", "2", "3", "4", "4(a)", "4(b)", "4(c)", "4(d)", "5", "6", "7", "8", "9")
    ]
    assert numbering.title[0] == "Definitions"
    assert numbering.title[2] == "Grant of Patent License"
    assert numbering.reference_key == [str(i) for i in (1, *range(2, 9), 9)]
    notes = dict(zip(chunks.clause_numbers, chunks.notes, strict=True))
    assert notes["9"] == "(See also clause 1.)"
    assert cantle.route(text, id="LICENSE.txt").rule == "numbered"


def test_items_may_be_chunks():
    chunks = cantle.Clauses(80, unit="words", items=True).split(LEASE, id="lease.txt")
    assert [number for number in chunks.clause_numbers if "(" in number] == ["1.1(a)", "1.1(b)"]
    (item,) = [chunk for chunk in chunks if chunk.clause_number == "1.1(b)"]
    assert (item.clause_parent, item.notes) == ("1.1", "(See also clause 2.1.)")


def test_a_clause_over_the_size_is_divided_at_its_items():
    text = "1. Duties\n\n1.1 The seller\n\n"
    text += "".join(f"({at}) delivers the goods of lot {at} in time;\n\n" for at in "abcdef")
    text += "1.2 The buyer pays under clause 1.1(c).\n"
    chunks = cantle.Clauses(20, unit="words").split(text)
    assert chunks.clause_numbers == ["1.1", "1.1(b)", "1.1(d)", "1.1(f)", "1.2"]
    assert chunks[2].text.startswith("(d) delivers")
    # The note stands by the part that holds the item, and by no other.
    assert [bool(note) for note in chunks.notes] == [False, True, False, False, False]


def test_markdown_and_plain_text_agree():
    markdown = re.sub(r"(?m)^(\d\. [A-Z' ]+|Schedule 1: .*)$", r"## \1", LEASE)
    plain = cantle.Clauses(80, unit="words").split(LEASE)
    marked = cantle.Clauses(80, unit="words").split(markdown)
    assert seen(marked) == seen(plain)
    assert marked.notes == plain.notes
    assert marked.heading_paths == plain.heading_paths


def test_headings_without_a_number_stand_in_the_path():
    text = "# Terms\n\n## Payment\n\n1.1 Pay.\n\n1.2 Soon.\n\n## Notice\n\n1.3 Write.\n"
    chunks = cantle.Clauses(80, unit="words").split(text)
    assert chunks.heading_paths == [
        ("Terms", "Payment", "1.1"),
        ("Terms", "Payment", "1.2"),
        ("Terms", "Notice", "1.3"),
    ]


def test_documents_refer_to_each_other_within_a_scope_alone():
    order = "1.1 Clause 2.1 of the Master Agreement applies.\n\n1.2 See clause 1.1.\n"
    master = "2.1 Price.\n\n2.2 Term; see clause 2.1.\n"
    ids = ["order", "master"]
    alone = cantle.Clauses(80, unit="words").split_all([order, master], ids=ids)
    assert alone.notes == ["(See also clause 1.2.)", "", "(See also clause 2.2.)", ""]
    scope = {"Master Agreement": "master"}
    strategy = cantle.Clauses(80, unit="words", scope=scope)
    linked = strategy.split_all([order, master], ids=ids)
    assert linked.notes == [
        "(See also clause 1.2.)",
        "",
        "(See also clause 2.2.) (See also clause 1.1 of order.)",
        "",
    ]
    numbering = linked.numbering
    row = numbering.reference_key.index("2.1")
    assert numbering.number[numbering.target[row]] == "2.1"
    assert numbering.doc[numbering.target[row]] == 1
    assert strategy.split(order, id="order").notes == ["(See also clause 1.2.)", ""]
    again = pickle.loads(pickle.dumps(linked))
    assert again == linked
    assert again.notes == linked.notes
    assert hash(strategy) == hash(pickle.loads(pickle.dumps(strategy)))


def test_a_document_may_call_itself_by_its_name():
    master = (
        "2.1 The price.\n\n2.2 See clause 2.1 of the Master Agreement and clause 2.1.\n\n"
        "2.3 See clause 2.1 and 2.3 of the Master Agreement.\n\n2.4 See clause 2.1.\n"
    )
    scope = {"Master": "other.txt", "Master Agreement": "master.txt", "master agreement": "x"}
    for size in (60, 2):
        clauses = cantle.Clauses(size, unit="words", scope=scope)
        texts = [master, "1.1 Clause 2.1 of the Master Agreement applies.\n\n2.1 No.\n"]
        chunks = clauses.split_all(texts, ids=["master.txt", "other.txt"])
        notes = {chunk.clause_number: chunk.notes for chunk in chunks if chunk.doc == 0}
        assert notes == {
            "2.1": "(See also clauses 2.2 and 2.4.) (See also clause 2.3.) "
            "(See also clause 1.1 of other.txt.)",
            "2.2": "",
            "2.3": "",
            "2.4": "",
        }
        assert not any(chunk.notes for chunk in chunks if chunk.doc == 1)


def test_notes_of_all_parts_of_a_clause_have_room_in_a_prefix():
    text = "1. Term\n\n1.1 " + "It goes on.\n\n" * 20 + "1.2 See clause 1.1.\n"
    chunks = cantle.Clauses(18, unit="words", prefix="{path}\n{notes}").split(text)
    parts = [chunk for chunk in chunks if chunk.clause_number == "1.1"]
    assert len(parts) > 2
    for chunk in parts:
        assert chunk.notes == "(See also clause 1.2.)"
        assert chunk.notes in chunk.embed_text
        assert not chunk.flags & cantle.SHORTENED
        assert len(chunk.embed_text.split()) <= 18


def test_blocks_that_are_handed_in_keep_their_numbers_and_pages():
    # A block is divided where clauses start in it; the pages behind it were those of others.
    found = cantle.Blocks(
        [
            cantle.Block("Terms", kind="heading", level=1, page=1),
            cantle.Block("1.1 Pay now.\n1.2 See clause 1.1.\n1.3 More.", page=2),
            cantle.Block("1.4 End.", page=3),
        ]
    )
    chunks = cantle.Clauses(60, unit="words").split(found)
    assert chunks.clause_numbers == ["1.1", "1.2", "1.3", "1.4"]
    assert [[*chunk.blocks] for chunk in chunks] == [[0, 1], [1], [1], [2]]
    assert chunks.page.tolist() == [1, 2, 2, 3]


def test_notes_count_with_a_prefix():
    text = "1.1 Pay.\n\n" + "".join(f"1.{i} Clause 1.1 applies here too.\n\n" for i in range(2, 9))
    chunks = cantle.Clauses(16, unit="words", prefix="path").split(text)
    assert all(len(chunk.embed_text.split()) <= 16 for chunk in chunks)
    assert chunks[0].embed_text.endswith("1.7 and 1.8.)")
    short = cantle.Clauses(8, unit="words", prefix="path").split(text)
    assert all(len(chunk.embed_text.split()) <= 8 for chunk in short)
    assert short[0].flags & cantle.SHORTENED


def test_columns_go_out(tmp_path):
    chunks = cantle.Clauses(80, unit="words").split(X6, id="terms")
    table = pa.table(chunks).to_pydict()
    assert table["clause_number"] == ["7.2", "7.3"]
    assert table["notes"] == ["(See also clause 7.3.)", None]
    row = chunks[0].as_dict()
    assert (row["clause_number"], row["notes"]) == ("7.2", "(See also clause 7.3.)")
    file = write(tmp_path / "terms.txt", X6)
    result = cli(file, "-s", "clauses", "--unit", "words", "--size", "80")
    assert result.rows[0] == row | {"id": "terms.txt_clauses_0", "source": "terms.txt"}
    out = tmp_path / "x.parquet"
    assert cli(file, "-s", "clauses", "-o", out).status == 0
    assert pa.parquet.read_table(out).column("clause_number").to_pylist() == ["7.2", "7.3"]


CHANGELOG = "# Changelog\n\n## 2.1.0\n\nFaster.\n\n## 2.0.1\n\nMended.\n\n## 1.9.0\n\nFirst.\n"
TICKET = "On\n12.05.2024, version 3.2.1:\n\n7 of 12 pumps fail at 3.5 bar.\n\nFigure 2 shows.\n"


@pytest.mark.parametrize("text", [CHANGELOG, TICKET, "Plain words.", "# One\n\n## Two\n\nWords.\n"])
def test_false_friends_are_no_clauses(text):
    chunks = cantle.Clauses(80, unit="words").split(text)
    assert set(chunks.clause_numbers) <= {""}
    assert len(chunks.numbering) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"items": 1}, TypeError, "items (1) must be True or False"),
        ({"scope": ["x"]}, TypeError, "scope (['x']) must be a mapping from names to ids of"),
        ({"scope": (1,)}, TypeError, "scope ((1,)) must be a mapping from names to ids of"),
        ({"scope": ("ab",)}, TypeError, "scope (('ab',)) must be a mapping from names to ids"),
        ({"scope": {"\ud800": "a"}}, cantle.SettingError, "scope ('\\ud800') holds a lone surr"),
        ({"prefix": "{path}\ud800"}, cantle.SettingError, "prefix ('{path}\\ud800') holds a lone"),
        ({"scope": {"A": "a"}, "prefix": "path"}, cantle.SettingError, "prefix ('path') does not"),
        ({"format": "docx"}, cantle.SettingError, "format ('docx') must be one of 'auto', "),
    ],
)
def test_wrong_settings(call, error, message):
    with pytest.raises(error) as raised:
        cantle.Clauses(**call)
    assert str(raised.value).startswith(message)


numbers = st.sampled_from(["1", "2", "3", "1.1", "1.2", "2.1", "9.9"])
mentions = st.lists(numbers, min_size=0, max_size=3)
contracts = st.lists(st.tuples(st.integers(0, 2), mentions, st.booleans()), min_size=1, max_size=7)


@given(contracts)
def test_references_are_closed_and_no_note_is_its_own_or_twice(drawn):
    """The oracle knows which clauses it wrote and what each mentions."""
    text, wrote, said = "", [], {}
    for i, (below, mention, heading) in enumerate(drawn, 1):
        keys = [str(i), *(f"{i}.{j}" for j in range(1, below + 1))]
        for key in keys:
            mark = "## " if heading and "." not in key else ""
            text += f"{mark}{key}. Title\n\n" if "." not in key else f"{key} Words.\n\n"
            wrote.append(key)
        if mention:
            joined = " and ".join(
                [", ".join(mention[:-1]), mention[-1]] if mention[1:] else mention
            )
            text += f"It is as clauses {joined} say.\n\n"
            said[keys[-1]] = mention
    chunks = cantle.Clauses(10_000, unit="chars").split(text)
    numbering = chunks.numbering
    assert numbering.key == wrote
    wanted = {}
    for source, mention in said.items():
        for target in mention:
            inside = source == target or source.startswith(f"{target}.")
            if target in wrote and not inside:
                wanted.setdefault(target, []).append(source)
    for source, target in zip(numbering.source, numbering.target, strict=True):
        assert -1 <= target < len(wrote)
        assert -1 <= source < len(wrote)
    for chunk in chunks:
        noted = re.findall(r"[\d.]+\d|\d", chunk.notes)
        assert len(noted) == len(set(noted))
        inside = [k for k in wrote if re.search(rf"(?m)^(## )?{re.escape(k)}\.? ", chunk.text)]
        order = {source for key in inside for source in wanted.get(key, ())} - set(inside)
        assert noted == sorted(order, key=wrote.index)
