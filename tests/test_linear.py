"""Work grows linearly on every input that made another splitter slow: counted, not timed.

A callable unit keeps account of its calls and of the characters it was shown, for a text and for
one twice as long, for twice as many texts, and for chunks of any size. The account is what a ruler
is asked; that the rulers themselves are linear is tested beside them, in Rust.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import cantle
from cases import builders

HOSTILE: dict[str, Callable[[int], str]] = {
    "one character": lambda n: "q" * n,
    "no spaces": lambda n: ("thequickbrownfoxjumps" * n)[:n],
    "no spaces, CJK": lambda n: ("\u5c71\u6c34\u4e91\u6708\u98ce" * n)[:n],
    "base64": lambda n: builders.blob(n),
    "newlines": lambda n: "\n" * n,
    "blanks": lambda n: " " * n,
    "blanks and a word": lambda n: " " * n + "x",
    "CRLF": lambda n: "\r\n" * (n // 2),
    "combining marks": lambda n: "a" + "\u0301" * n,
    "clusters": lambda n: "e\u0301\u0323" * (n // 3),
    "regional indicators": lambda n: "\U0001f1e9\U0001f1ea" * (n // 2),
    "ZWJ": lambda n: "\U0001f468\u200d" * (n // 2),
    "short lines": lambda n: "x\n" * (n // 2),
    "short sentences": lambda n: ". " * (n // 2),
    "short paragraphs": lambda n: "x\n\n" * (n // 3),
    "stops": lambda n: "." * n,
    "abbreviations": lambda n: "e.g. " * (n // 5),
    "open brackets": lambda n: "(\u201c" * (n // 2),
    "prose": lambda n: builders.prose(n // 6),
    "one line": lambda n: builders.json_line(n // 4),
    # Dense where ten characters hold as many units as a thousand elsewhere.
    "sparse and dense": lambda n: ("." * 1_000 + "aeiou" * 200) * (n // 2_000),
    "sparse then dense": lambda n: "." * (n // 2) + "a" * (n // 2),
}

STRATEGIES = {
    "recursive": lambda unit, overlap, size=100: cantle.Recursive(size, overlap, unit),
    "sentence": lambda unit, overlap, size=100: cantle.Sentence(size, overlap, unit),
    "window": lambda unit, overlap, size=100: cantle.Window(size, overlap, unit),
    "recursive, untrimmed, merged": lambda unit, overlap, size=100: cantle.Recursive(
        size, overlap, unit, trim=False, min_size=40
    ),
    "rows": lambda unit, overlap, size=100: cantle.Rows(size, overlap, unit, format="csv"),
    "clauses": lambda unit, overlap, size=100: cantle.Clauses(size, overlap, unit),
    "separators": lambda unit, overlap, size=100: cantle.Recursive(
        size, overlap, unit, separators=["\n\n", "\n", ". ", " "]
    ),
}


class Account:
    """A unit that keeps account: of its calls, the characters it saw, and the longest text."""

    def __init__(self, weight: Callable[[str], int]) -> None:
        self.weight = weight
        self.calls = self.characters = self.longest = 0

    def __call__(self, text: str) -> int:
        self.calls += 1
        self.characters += len(text)
        self.longest = max(self.longest, len(text))
        return self.weight(text)


def dense(text: str) -> int:
    """Count letters a hundredfold: a stop weighs 1, a letter 100."""
    return sum(100 if c.isalpha() else 1 for c in text)


WEIGHTS = {"even": len, "uneven": dense}


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("overlap", [0, 30])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_twice_the_text_is_twice_the_work(hostile, strategy, overlap, weight):
    accounts = []
    for n in (4_000, 8_000):
        account = Account(WEIGHTS[weight])
        STRATEGIES[strategy](account, overlap).split(HOSTILE[hostile](n))
        accounts.append(account)
    small, large = accounts
    # Twice, and a little for the ends of the text.
    assert large.calls <= 2.2 * small.calls + 50
    assert large.characters <= 2.2 * small.characters + 20_000
    # One call and a few characters per character of text, not per chunk of it.
    assert large.characters <= 60 * 8_001 * (3 if overlap else 1)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("overlap", [0, 30])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_larger_chunks_are_no_more_work(strategy, overlap, weight):
    n = 4_000
    for name, hostile in HOSTILE.items():
        text = hostile(n)
        for size in (50, 200, 800, 3_200):
            account = Account(WEIGHTS[weight])
            STRATEGIES[strategy](account, overlap * size // 100, size).split(text)
            # As many times the text as anywhere, whatever the number of chunks.
            assert account.characters <= 60 * (n + 1) * (3 if overlap else 1), (name, size)


FORMS: dict[str, list[str]] = {
    "markdown": ["# A\n\n", "- a\n", "> ", "| a |\n|---|\n", "```\n", "[a]: b\n", "a\n---\n"],
    "html": ["<h1>a", "<li>a<p>b", "<td>a", "<tr><td>a", "<pre>a\n", "a<br>", "<blockquote>a"],
    "rst": ["A\n=\n\n", "- a\n\n", "a::\n\n  b\n\n", ":a: b\n", "=\n", "+--+\n| a|\n"],
    "text": ["1. A\n\n", "- a\n", "a  b\n", "Chapter 1\n\n", "----\n"],
    "csv": ["a,b\n", '"', ",", '"a\n",', "\n"],
    "tsv": ["a\tb\n", "\t"],
    "python": ["def f():\n    a\n", "x = 1\n", "class A: pass\n", "# a\n"],
}


@pytest.mark.parametrize("prefix", [None, "path"])
@pytest.mark.parametrize("form", FORMS)
def test_twice_the_structure_is_twice_the_work(form, prefix):
    for part in FORMS[form]:
        accounts = []
        for n in (4_000, 8_000):
            account = Account(len)
            text = part * (n // len(part))
            cantle.Structural(100, 20, account, format=form, prefix=prefix).split(text)
            accounts.append(account)
        small, large = accounts
        assert large.calls <= 2.2 * small.calls + 50, part
        assert large.characters <= 2.2 * small.characters + 20_000, part


def test_a_deep_path_is_shortened_in_few_steps():
    """One heading after the other was lost, for each chunk: hours for a few thousand levels."""
    calls = []
    for n in (100, 200):
        rows = [
            row
            for level in range(1, n + 1)
            for row in (cantle.Block("h", kind="heading", level=level), cantle.Block("words"))
        ]
        account = Account(len)
        cantle.Structural(30, 0, account, depth="all", prefix="path").split(cantle.Blocks(rows))
        calls.append(account.calls)
    assert calls[1] <= 2.5 * calls[0]


@pytest.mark.parametrize("overlap", [0, 30])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_twice_the_texts_is_twice_the_work(strategy, overlap):
    texts = [hostile(500) for hostile in HOSTILE.values()]
    once, twice = Account(len), Account(len)
    STRATEGIES[strategy](once, overlap).split_all(texts)
    STRATEGIES[strategy](twice, overlap).split_all(texts + texts)
    assert (twice.calls, twice.characters) == (2 * once.calls, 2 * once.characters)
