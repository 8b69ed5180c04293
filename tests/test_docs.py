"""Every example of the README, the docs and the docstrings runs and gives what it says."""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import importlib
import io
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cantle
from cantle.strategies.text import REGISTRY
from cli_runs import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TOGETHER = ("lesson.md",)
"""Pages whose examples go on from one to the next, and so run as one."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[Any]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        own = [match for match in _BLOCK.finditer(text) if match[1] == language]
        if own and language == "python" and page.name in TOGETHER:
            found.append(pytest.param("\n".join(match[2] for match in own), id=page.name))
            continue
        for match in own:
            line = text.count("\n", 0, match.start()) + 1
            found.append(pytest.param(match[2], id=f"{page.name}:{line}"))
    return found


def expected(code: str) -> str:
    """Return what the `# -> ` lines say is printed."""
    return "".join(f"{line}\n" for line in re.findall(r"^# ->(?: |$)(.*)$", code, re.MULTILINE))


@pytest.mark.parametrize("code", blocks("python"))
def test_python_blocks(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<example>", "exec"), {"__name__": "__example__"})
    assert out.getvalue() == expected(code)
    assert "assert" in code or "# -> " in code, "an example that shows nothing"


@pytest.mark.parametrize("line", blocks("json"))
def test_json_blocks_are_rows(line: str) -> None:
    row = json.loads(line)
    chunk = cantle.split(row["text"], 512)
    assert cantle.Recursive().split(row["text"], id="a.md")[0].as_dict() == row
    assert len(chunk) == 1


@pytest.mark.parametrize("command", ["chunk", "inspect", "compare", "index", "search", "bench"])
def test_commands_use_options_that_exist(command: str) -> None:
    help_text = cli("--help", command=command).out
    lines = [line for block in blocks("") for line in block.values[0].splitlines()]
    shown = [line for line in lines if f"cantle {command} " in line]
    assert len(shown) > 2
    for line in shown:
        options = line.split(f"cantle {command} ", 1)[1].split("|")[0]
        for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", options):
            assert re.search(rf"(?<!\S){option}\b", help_text), option


def test_readme_has_ten_lines_and_says_what_it_does_not_do() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = text.split("```python\n", 1)[1].split("```", 1)[0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 10
    assert "## What it does not do" in text


def test_every_setting_of_a_strategy_is_in_the_docs() -> None:
    """The list had fallen behind: `items`, `scope`, `keys` and `header` were in none."""
    page = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([A-Z]\w+)` \| (`.*`) \|$", page, re.MULTILINE))
    told = {name: re.findall(r"`(\w+)`", settings) for name, settings in rows.items()}
    shared = ("size", "overlap", "unit", "trim", "name")
    own = {
        one.__name__: [f.name for f in dataclasses.fields(one) if f.name not in shared]
        for one in REGISTRY.values()
    }
    assert told == {name: settings for name, settings in own.items() if settings}


def anchors(page: Path) -> set[str]:
    """Return what a link into a page may name behind its `#`."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def modules() -> list[str]:
    names = [m.name for m in pkgutil.walk_packages(cantle.__path__, "cantle.")]
    return [name for name in names if name not in ("cantle.__main__", "cantle._core")]


@pytest.mark.parametrize("name", ["cantle", *modules()])
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), verbose=False)
    assert result.failed == 0


def test_some_docstring_has_an_example() -> None:
    tests = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in modules()]
    assert sum(len(test.examples) for found in tests for test in found) >= 2


def test_quickstart() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "quickstart.py")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env=None,
    )
    assert done.stdout.startswith("Chunks(")
    assert "handbook.md_recursive_3" in done.stdout
