"""`cantle index`, `search`, `sync` and `info`: documents in, answers out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cantle
from cli_runs import Result, cli, write

EMBEDDER = "keyword:tea pot|rain cloud|key rotate"
KEYS = "# Keys\n\nRotate the key every quarter, and tell the owner of it.\n"
TEA = "Warm the pot before the tea. Then pour the tea slowly.\n"


@pytest.fixture(autouse=True)
def folder(in_own_folder: Path) -> Path:
    write("docs/keys.md", KEYS)
    write("docs/tea.txt", TEA)
    return in_own_folder


def index(*more: str) -> Result:
    return cli("docs", "-o", "kb.cantle", "--embedder", EMBEDDER, *more, command="index")


def search(*arguments: str, **given: Any) -> dict[str, Any]:
    result = cli("kb.cantle", *arguments, "--json", command="search", **given)
    assert result.err == ""
    return json.loads(result.out)  # type: ignore[no-any-return]


def counts(result: Result) -> list[dict[str, int]]:
    told = json.loads(result.out)
    return [told["documents"], told["chunks"]]


def test_what_was_indexed_is_found() -> None:
    assert index().status == 0
    found = search("how do I rotate the key?", "--k", "1", "--mode", "dense")
    (hit,) = found["hits"]
    start, end = hit["spans"][0]
    assert hit["id"] == "keys.md_recursive_0"
    assert hit["passage"] == KEYS[start:end] == KEYS.strip()
    assert hit["score"] == pytest.approx(1)
    shown = cli("kb.cantle", "tea", "--explain", command="search")
    assert shown.status == 0
    assert "tea.txt" in shown.out
    assert "reciprocal rank fusion" in shown.out
    assert search("Warm slowly", "--mode", "text")["hits"][0]["source"] == "tea.txt"


def test_a_second_run_touches_nothing_and_a_change_is_followed() -> None:
    index()
    assert counts(index("--json")) == [
        {"unchanged": 2, "changed": 0, "new": 0, "gone": 0},
        {"unchanged": 2, "moved": 0, "new": 0, "gone": 0},
    ]
    Path("docs/tea.txt").rename("docs/drinks.txt")
    dry = cli("kb.cantle", "--dry-run", "--price", "2", "--json", "--embedder", EMBEDDER,
              command="sync")  # fmt: skip
    done = cli("kb.cantle", "--json", command="sync")
    assert (
        counts(dry)
        == counts(done)
        == [
            {"unchanged": 1, "changed": 0, "new": 1, "gone": 1},
            {"unchanged": 1, "moved": 1, "new": 0, "gone": 0},
        ]
    )
    assert json.loads(done.out)["embedded"] == 0
    assert [hit["source"] for hit in search("tea", "--mode", "text")["hits"]] == ["drinks.txt"]


def test_nothing_is_removed_where_an_input_cannot_be_read() -> None:
    index()
    write("docs/keys.md", b"\xff\xfe")
    Path("docs/tea.txt").unlink()
    done = cli("kb.cantle", command="sync")
    assert done.status == 1
    assert "nothing was removed" in done.err
    assert search("pot tea", "--mode", "text")["hits"]
    write("docs/keys.md", KEYS)
    assert cli("kb.cantle", command="sync").status == 0
    assert cli("kb.cantle", "slowly", "--mode", "text", command="search").status == 1


@pytest.mark.parametrize(
    ("options", "passage"),
    [
        (["--expand", "parent:document"], KEYS),
        (["--expand", "neighbours"], KEYS.strip()),
        (["--budget", "60"], KEYS.strip()),
    ],
)
def test_more_is_read_than_was_found(options: list[str], passage: str) -> None:
    index()
    found = search("rotate a key", "--k", "1", *options, "--where", "source=keys.md")["hits"]
    assert [hit["passage"] for hit in found] == [passage]
    assert found[0]["id"] == "keys.md_recursive_0"


def test_rows_of_a_table_are_documents_with_metadata() -> None:
    rows = [
        {"text": f"Pour the tea of {year} from the pot.", "year": year} for year in (2019, 2024)
    ]
    write("rows.jsonl", "\n".join(map(json.dumps, rows)))
    done = cli("rows.jsonl", "-o", "kb.cantle", "--embedder", EMBEDDER, command="index")
    assert done.status == 0
    (hit,) = search("tea", "--where", "year>=2020")["hits"]
    assert (hit["source"], hit["metadata"]) == ("rows.jsonl:2", {"year": 2024})


def test_a_store_holds_strategies_beside_each_other() -> None:
    index()
    index("--strategy", "sentence:12:0:words")
    told = json.loads(cli("kb.cantle", "--json", command="info").out)
    assert [(row["name"], row["chunks"]) for row in told["strategies"]] == [
        ("recursive", 2),
        ("sentence", 2),
    ]
    found = search("tea", "--mode", "dense", "--where", "strategy=sentence")["hits"]
    assert [(hit["strategy"], hit["source"]) for hit in found] == [
        ("sentence", "tea.txt"),
        ("sentence", "keys.md"),
    ]


def test_info_checks_the_file() -> None:
    index()
    fine = cli("kb.cantle", "--check", "--json", command="info")
    assert (fine.status, json.loads(fine.out)["problems"]) == (0, [])
    assert "checked: nothing is wrong" in cli("kb.cantle", "--check", command="info").out
    data = bytearray(Path("kb.cantle").read_bytes())
    at = data.index(b"Rotate the key")
    data[at : at + 6] = b"Rotten"
    Path("kb.cantle").write_bytes(data)
    broken = cli("kb.cantle", "--check", command="info")
    assert broken.status == 1
    assert "keys.md" in broken.err


@pytest.mark.parametrize(
    ("command", "arguments", "status", "message"),
    [
        ("search", ["none.cantle", "a"], 2, "none.cantle: no such store; cantle index DOCS -o "
         "none.cantle makes one"),
        ("info", ["docs/tea.txt"], 1, "docs/tea.txt: "),
        ("index", ["docs", "-o", "no/kb.cantle"], 2, "cannot write no/kb.cantle: no such folder"),
        ("index", ["docs", "-o", "x.cantle", "--index", "fast"], 2, "--index ('fast') must be one "
         "of auto, exact, hnsw"),
        ("index", ["docs", "-o", "x.cantle", "--price", "1"], 2, "--price means nothing without "
         "--dry-run"),
        ("search", ["kb.cantle", "a", "--where", "year"], 2, "where ('year') must be NAME=VALUE, "
         "or with !=, >=, <=, > or <"),
        ("search", ["kb.cantle", "a", "--where", "year=1"], 2, "where: 'year' is not there; there "
         "are strategy, source, kind, heading"),
        ("search", ["kb.cantle", "a", "--expand", "more"], 2, "--expand ('more') must be one of "
         "neighbours, window, adaptive, auto_merge, parent"),
        ("search", ["kb.cantle", "a", "--expand", "window:x"], 2, "--expand ('window:x'): 'x' "
         "must be a whole number"),
        ("search", ["kb.cantle", "a", "--expand", "adaptive:x"], 2, "--expand ('adaptive:x'): 'x' "
         "must be a number"),
        ("search", ["kb.cantle", "a", "--mode", "both"], 2, "mode ('both') must be one of 'dense', "
         "'text', 'hybrid'"),
        ("search", ["kb.cantle", "a", "--budget", "9", "--expand", "neighbours"], 2, "--budget and "
         "--expand are given: a budget chooses its own passages"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    command: str, arguments: list[str], status: int, message: str
) -> None:
    index()
    result = cli(*arguments, command=command)
    assert result.status == status
    assert result.out == ""
    assert message in result.err
    assert not Path("x.cantle").exists()


def test_a_dry_run_makes_no_store() -> None:
    done = index("--dry-run", "--price", "1000000", "--json")
    told = json.loads(done.out)
    assert told["documents"]["new"] == 2
    assert told["price"] == told["units"] > 10
    # It read "price: 3.4e-07" where `chunk --estimate` writes four places.
    assert "price: 0.0000" in index("--dry-run", "--price", "0.02").err.splitlines()
    assert not Path("kb.cantle").exists()


def test_the_command_and_the_library_read_one_store() -> None:
    index("--index", "hnsw", "--half", "--no-blend")
    with cantle.Store.open("kb.cantle") as store:
        assert store.info()["precision"] == "float16"
        assert store.search("rotate a key", k=1).ids == ["keys.md_recursive_0"]
