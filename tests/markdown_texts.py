"""Markdown from what is installed anyway: the specification's examples, and real files."""

from __future__ import annotations

import json
import re
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

import samples

ROOT = Path(__file__).parent.parent


@cache
def parser_sources() -> Path:
    """Return the folder of the parser's crate, which the library is built with."""
    call = ["cargo", "metadata", "--format-version=1", "--offline"]
    told = subprocess.run(call, cwd=ROOT, capture_output=True, check=True)
    packages = json.loads(told.stdout)["packages"]
    found = (p["manifest_path"] for p in packages if p["name"] == "pulldown-cmark")
    return Path(next(found)).parent


@cache
def examples() -> tuple[str, ...]:
    """Return the examples of CommonMark and of GitHub's tables, and what broke the parser once."""
    texts = []
    for name in ("spec", "gfm_table", "table", "gfm_strikethrough", "gfm_tasklist", "regression"):
        code = (parser_sources() / "tests" / "suite" / f"{name}.rs").read_text("utf-8")
        texts += re.findall(r'let original = r##"(.*?)"##;', code, re.DOTALL)
    return tuple(texts)


@cache
def real_files() -> tuple[str, ...]:
    """Return the Markdown of the crates and of the Python packages that are installed."""
    folders = [parser_sources().parent, Path(sysconfig.get_paths()["purelib"])]
    texts = set()
    for folder in folders:
        for path in [*folder.rglob("*.md"), *folder.glob("*.dist-info/METADATA")]:
            text = path.read_bytes().decode("utf-8", "replace")
            texts.add(text.partition("\n\n")[2] if path.name == "METADATA" else text)
    return tuple(sorted(texts))


FRAGMENTS = [
    *("# A\n", "## B *b* `c`\n", "### C #\n", "T\n===\n", "T\n---\n", "#\n", "#no\n", "   ## D\n"),
    *("para\n", "two\nlines\n", "\n", "\n\n", "    code\n", "\t", "***\n", "---\n", "> ", ">\n"),
    *("- ", "  - ", "1. ", "* x\n", "  cont\n", "- [ ] task\n", "-\n"),
    *("```\n", "```py\n# no\n", "~~~\n", "<!--\n", "-->\n", "<div>\n", "</div>\n\n"),
    *("| a | b |\n|---|---|\n", "| 1 | `x|y` |\n", "|---|\n", "[^1]: note\n", "[^1]", "[a]: /u\n"),
    *("\r\n", "\r", "\ufeff", "\x00", "&amp;", "\\", "  \n", "e\u0301", "\U0001f1e9", "\u3000"),
]

documents = st.lists(st.one_of(st.sampled_from(FRAGMENTS), samples.fragments), max_size=30).map(
    "".join
)
"""Markdown of all kinds, most of it odd."""

sections = st.lists(
    st.one_of(
        st.tuples(st.integers(1, 6), st.sampled_from(["A", "B *b*", "C & D", "A"])).map(
            lambda pair: f"{'#' * pair[0]} {pair[1]}\n\n"
        ),
        st.integers(1, 12).map(lambda n: f"{'some words here. ' * n}\n\n"),
        st.integers(1, 8).map(lambda n: "| h | i |\n|---|---|\n" + "| cell | other |\n" * n + "\n"),
        st.integers(1, 8).map(lambda n: "```py\n" + "call(it)\n\n" * n + "```\n\n"),
        st.integers(1, 6).map(lambda n: "- an item\n  - below\n" * n + "\n"),
    ),
    max_size=14,
).map("".join)
"""Documents as people write them."""
