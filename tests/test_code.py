"""Source code as blocks: against Python's own tree, and over sources that are broken or deep."""

from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from cantle import code
from cantle.code import CODE, HEADING, CodeBlocks, blocks, language_of

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def sources(count: int) -> list[Path]:
    """Return some modules of the standard library, the same in every run."""
    library = Path(sysconfig.get_path("stdlib"))
    left_out = {"site-packages", "test", "tests", "idle_test", "lib2to3", "__pycache__"}
    found = [
        path
        for path in sorted(library.rglob("*.py"))
        if not left_out & set(path.relative_to(library).parts)
    ]
    return random.Random(1).sample(found, min(count, len(found)))


def check(text: str, found: CodeBlocks) -> None:
    """Check what holds of the blocks of any source."""
    data = text.encode()
    start, end = found.byte_start.tolist(), found.byte_end.tolist()
    assert all(a < b for a, b in zip(start, end, strict=True))
    assert all(a <= b for a, b in zip(end, start[1:], strict=False))
    assert all(a == 0 or data[a - 1 : a] == b"\n" for a in start)
    gaps = zip([0, *end], [*start, len(data)], strict=True)
    assert all(not data[a:b].strip() for a, b in gaps)
    heads = found.kind == HEADING
    assert np.array_equal(heads, found.level > 0)
    assert set(found.kind.tolist()) <= {HEADING, CODE}
    assert found.scope[heads].tolist() == list(range(len(found.titles)))
    assert len(found.parent) == len(found.titles)
    assert all(parent < i for i, parent in enumerate(found.parent.tolist()))


def definitions(tree: ast.Module) -> list[tuple[str, ...]]:
    """Return the path of every definition of a module, in the order of its lines."""
    found = []
    todo: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while todo:
        node, path = todo.pop()
        if isinstance(node, _DEFINITIONS):
            path = (*path, node.name)
            found.append((node.lineno, path))
        todo.extend((child, path) for child in ast.iter_child_nodes(node))
    return [path for _, path in sorted(found)]


def bodies(tree: ast.Module) -> list[tuple[int, tuple[str, ...]]]:
    """Return the line of every statement that defines nothing, with what it stands in."""
    found = []
    todo: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while todo:
        node, path = todo.pop()
        inner = (*path, node.name) if isinstance(node, _DEFINITIONS) else path
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and not isinstance(child, _DEFINITIONS):
                found.append((child.lineno, inner))
            todo.append((child, inner))
    return found


def test_python_is_read_as_python_reads_it() -> None:
    read = differ = 0
    for path in sources(120):
        try:
            text = path.read_text("utf-8")
            tree = ast.parse(text)
        except (UnicodeDecodeError, SyntaxError):
            continue
        found = blocks(text, "python")
        check(text, found)
        read += 1
        heads = np.flatnonzero(found.kind == HEADING).tolist()
        if [found.path(row) for row in heads] != definitions(tree):
            differ += 1
            continue
        assert found.level[heads].tolist() == [len(found.path(row)) for row in heads]
        starts = np.cumsum([0, *map(len, text.encode().splitlines(keepends=True))])
        for line, inner in bodies(tree):
            row = int(np.searchsorted(found.byte_start, starts[line - 1], "right")) - 1
            # A definition of one line is all signature.
            assert found.path(row) == inner, f"{path.name}:{line}"
    assert read > 100
    assert differ <= read // 100  # Files that the grammar itself cannot read.


LANGUAGES = {
    "python": (
        "import os\n\n# Why.\n@dec\nclass A(B):\n    x = 1\n\n    def f(\n        self,\n    ):\n"
        "        return 1\n\n    y = 2\n\nprint()\n",
        [
            ("", "import os"),
            ("A", "# Why.\n@dec\nclass A(B):"),
            ("A", "    x = 1"),
            ("A f", "    def f(\n        self,\n    ):"),
            ("A f", "        return 1"),
            ("A", "    y = 2"),
            ("", "print()"),
        ],
    ),
    "rust": (
        "use a;\n/// Doc\n#[derive(X)]\nstruct S {\n  a: u8,\n}\nimpl Tr for S {\n"
        "    fn f(&self) {\n        g()\n    }\n}\n",
        [
            ("", "use a;"),
            ("S", "/// Doc\n#[derive(X)]\nstruct S {"),
            ("S", "  a: u8,\n}"),
            ("impl Tr for S", "impl Tr for S {"),
            ("impl Tr for S f", "    fn f(&self) {"),
            ("impl Tr for S f", "        g()\n    }\n}"),
        ],
    ),
    "javascript": (
        "/** Doc */\nexport default class A {\n  m() {\n    return 1;\n  }\n}\n"
        "export const f = async (x) => {\n  x;\n};\n",
        [
            ("A", "/** Doc */\nexport default class A {"),
            ("A m", "  m() {"),
            ("A m", "    return 1;\n  }\n}"),
            ("f", "export const f = async (x) => {"),
            ("f", "  x;\n};"),
        ],
    ),
    "typescript": (
        "export interface I {\n  a: string;\n}\nclass A {\n  @In() x: number;\n  @Get()\n"
        "  m(): void {\n    this;\n  }\n}\nenum E { A }\n",
        [
            ("I", "export interface I {"),
            ("I", "  a: string;\n}"),
            ("A", "class A {"),
            ("A", "  @In() x: number;"),
            ("A m", "  @Get()\n  m(): void {"),
            ("A m", "    this;\n  }\n}"),
            ("E", "enum E { A }"),
        ],
    ),
    "go": (
        "package a\n\n// T is.\ntype T struct {\n\tA int\n}\n\n"
        "func (t *T) F() int {\n\treturn 1\n}\n",
        [
            ("", "package a"),
            ("T", "// T is.\ntype T struct {"),
            ("T", "\tA int\n}"),
            ("T.F", "func (t *T) F() int {"),
            ("T.F", "\treturn 1\n}"),
        ],
    ),
    "java": (
        "/** Doc */\n@Ann\npublic class A {\n  int x;\n  @Override\n  public int m() {\n"
        "    return 1;\n  }\n}\n",
        [
            ("A", "/** Doc */\n@Ann\npublic class A {"),
            ("A", "  int x;"),
            ("A m", "  @Override\n  public int m() {"),
            ("A m", "    return 1;\n  }\n}"),
        ],
    ),
    "c": (
        "#include <a.h>\n/* Doc */\nstatic int *f(int a)\n{\n  return 0;\n}\ntypedef struct {\n"
        "  int b;\n} T;\n",
        [
            ("", "#include <a.h>"),
            ("f", "/* Doc */\nstatic int *f(int a)\n{"),
            ("f", "  return 0;\n}"),
            ("T", "typedef struct {"),
            ("T", "  int b;\n} T;"),
        ],
    ),
    "cpp": (
        "namespace n {\n// Doc\ntemplate <class T>\nclass A : B {\n public:\n  int f() {\n"
        "    return 1;\n  }\n};\n}\n",
        [
            ("n", "namespace n {"),
            ("n A", "// Doc\ntemplate <class T>\nclass A : B {"),
            ("n A", " public:"),
            ("n A f", "  int f() {"),
            ("n A f", "    return 1;\n  }\n};\n}"),
        ],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_definitions_are_headings(language: str) -> None:
    text, want = LANGUAGES[language]
    found = blocks(text, language)
    check(text, found)
    data = text.encode()
    spans = zip(found.byte_start.tolist(), found.byte_end.tolist(), strict=True)
    seen = [
        (" ".join(found.path(row)), data[start:end].decode().rstrip("\n"))
        for row, (start, end) in enumerate(spans)
    ]
    assert seen == want


@pytest.mark.parametrize("language", code.LANGUAGES)
def test_no_source_fails(language: str) -> None:
    parts = [part for text, _ in LANGUAGES.values() for part in text.splitlines(keepends=True)]
    parts += ["{", "}", "(", '"', "'''", "\n", "é漢", "\t", "/*", "#", "\r\n", "\0"]
    chance = random.Random(7)
    for size in (0, 1, 3, 10, 40):
        for _ in range(8):
            text = "".join(chance.choice(parts) for _ in range(size))
            check(text, blocks(text, language))


@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("python", lambda i: " " * i + "class A:\n", ""),
        ("javascript", lambda i: "function f() {\n", "}\n"),
        ("rust", lambda i: "mod a {\n", "}\n"),
        ("cpp", lambda i: "namespace a {\n", "}\n"),
        ("c", lambda i: "{(\n", ""),
    ],
)
def test_deep_nesting_needs_no_stack(language: str, opening: object, closing: str) -> None:
    depth = 300 if language == "python" else 5_000
    text = "".join(opening(i) for i in range(depth)) + closing * depth  # type: ignore[operator]
    found = blocks(text, language)
    check(text, found)
    if language in ("javascript", "rust"):
        assert int(found.level.max()) == depth


def test_names_tell_languages() -> None:
    assert language_of("a/b.py") == "python"
    assert language_of("B.TSX") == "tsx"
    assert language_of("a.md") is None
    with pytest.raises(ValueError, match=r"language \('cobol'\) is not known; it may be python, "):
        blocks("", "cobol")


class Counted(bytes):
    """A source that keeps account of what is taken from it."""

    taken = 0

    def __getitem__(self, part):
        found = super().__getitem__(part)
        Counted.taken += len(found) if isinstance(part, slice) else 1
        return found


class Source(str):
    """A text whose bytes keep account."""

    def encode(self, *settings):
        return Counted(super().encode(*settings))


def taken(text: str, language: str) -> int:
    Counted.taken = 0
    blocks(Source(text), language)
    return Counted.taken


@pytest.mark.parametrize(
    ("language", "part"),
    [
        # A minified source is one line: each of its definitions once asked for all that precedes.
        ("javascript", "function a(){}"),
        ("javascript", "class A{b(){}}"),
        ("javascript", "const a=()=>1,b=()=>2;"),
        ("typescript", "interface A{}"),
        ("c", "/**/"),
        ("c", "int (((f)))(){}"),
        ("cpp", "namespace a{"),
        ("rust", "#[a]"),
        ("rust", "mod a{"),
        ("go", "type A struct{};"),
        ("java", "class A{}"),
        ("python", "def f(): pass\n"),
        ("python", "#\n"),
        ("python", "class A:\n  " * 3 + "\n"),
    ],
)
def test_twice_the_source_is_twice_the_work(language: str, part: str) -> None:
    small, large = taken(part * 500, language), taken(part * 1000, language)
    assert large <= 2.2 * small + 200
    assert large <= 8 * len(part) * 1000
