"""Source code as blocks: classes and functions are headings, what they hold is code.

The syntax tree is that of tree-sitter, from the packages of the extra `cantle[code]`; they hold the
grammars and load nothing at run time. The tree is asked by one query for each language, so that no
nesting of the source needs a stack of calls here, and a source with errors has a tree all the same.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tree_sitter import Language, Node, Query

HEADING = 1
"""The number of a heading among the kinds of blocks."""
CODE = 4
"""The number of a block of code among the kinds of blocks."""


@dataclass(frozen=True)
class _Grammar:
    """Where a grammar is found and what it calls the parts that matter."""

    module: str
    function: str
    # Definitions (`@def`) with what stands around them (`@outer`), and what may stand before one
    # and belongs to it (`@lead`).
    query: str


_C = """
(function_definition) @def
(struct_specifier body: (_)) @def
(union_specifier body: (_)) @def
(enum_specifier body: (_)) @def
(type_definition type: (_ body: (_)) @def) @outer
(declaration type: (_ body: (_)) @def) @outer
(comment) @lead
"""
_CPP = (
    _C
    + """
(class_specifier body: (_)) @def
(namespace_definition) @def
(template_declaration (_) @def) @outer
"""
)
_JAVASCRIPT = """
(function_declaration) @def
(generator_function_declaration) @def
(class_declaration) @def
(method_definition) @def
(variable_declarator value: [(arrow_function) (function_expression) (class)]) @def
(lexical_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (class)]) @def) @outer
(variable_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (class)]) @def) @outer
(export_statement declaration: (_) @def) @outer
(export_statement declaration: (lexical_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (class)]) @def)) @outer
(comment) @lead
"""
_TYPESCRIPT = (
    _JAVASCRIPT
    + """
(abstract_class_declaration) @def
(interface_declaration) @def
(enum_declaration) @def
(internal_module) @def
(module) @def
(decorator) @lead
"""
)

_GRAMMARS = {
    "python": _Grammar(
        "tree_sitter_python",
        "language",
        """
        (function_definition) @def
        (class_definition) @def
        (decorated_definition definition: (_) @def) @outer
        (comment) @lead
        """,
    ),
    "rust": _Grammar(
        "tree_sitter_rust",
        "language",
        """
        [(function_item) (function_signature_item) (struct_item) (enum_item) (union_item)
         (trait_item) (impl_item) (mod_item) (macro_definition)] @def
        [(line_comment) (block_comment) (attribute_item)] @lead
        """,
    ),
    "javascript": _Grammar("tree_sitter_javascript", "language", _JAVASCRIPT),
    "typescript": _Grammar("tree_sitter_typescript", "language_typescript", _TYPESCRIPT),
    "tsx": _Grammar("tree_sitter_typescript", "language_tsx", _TYPESCRIPT),
    "go": _Grammar(
        "tree_sitter_go",
        "language",
        """
        [(function_declaration) (method_declaration)] @def
        (type_declaration (type_spec type: [(struct_type) (interface_type)]) @def) @outer
        (comment) @lead
        """,
    ),
    "java": _Grammar(
        "tree_sitter_java",
        "language",
        """
        [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)
         (annotation_type_declaration) (method_declaration) (constructor_declaration)
         (compact_constructor_declaration)] @def
        [(line_comment) (block_comment)] @lead
        """,
    ),
    "c": _Grammar("tree_sitter_c", "language", _C),
    "cpp": _Grammar("tree_sitter_cpp", "language", _CPP),
}

LANGUAGES = tuple(_GRAMMARS)
"""The languages that `blocks` reads."""

SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    ".rs": "rust",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
}
"""The language of a file by the end of its name."""


# What a line of more than punctuation holds.
_WORDS = frozenset(byte for byte in range(256) if chr(byte).isalnum() or byte >= 0x80)


@dataclass(frozen=True)
class CodeBlocks:
    """The blocks of one source, as columns. Offsets are bytes of its UTF-8.

    Attributes:
        kind: `HEADING` or `CODE`, `uint8 [n]`.
        level: A heading's level, from 1: how many definitions it stands in and itself;
            0 for code. `uint16 [n]`.
        byte_start: Where each block starts, at the start of a line. `int64 [n]`.
        byte_end: Behind its last line. `int64 [n]`.
        scope: The heading in force at each block, as an index into `titles`, -1 for none; a
            heading's own index for itself. `int64 [n]`.
        titles: What the headings define, in order.
        parent: The heading that each heading stands in, -1 for none. `int64 [len(titles)]`.
    """

    kind: NDArray[np.uint8]
    level: NDArray[np.uint16]
    byte_start: NDArray[np.int64]
    byte_end: NDArray[np.int64]
    scope: NDArray[np.int64]
    titles: tuple[str, ...]
    parent: NDArray[np.int64]

    def path(self, block: int) -> tuple[str, ...]:
        """Return the titles of the definitions that a block stands in, outermost first."""
        path = []
        at = int(self.scope[block])
        while at >= 0:
            path.append(self.titles[at])
            at = int(self.parent[at])
        return tuple(reversed(path))


@dataclass(frozen=True)
class _Definition:
    """A definition by its lines: from its comments to behind its signature to behind its body."""

    title: str
    first: int
    signature_end: int
    end: int


def language_of(name: str) -> str | None:
    """Return the language of a file by the end of its name, or None for a name that tells none."""
    return SUFFIXES.get(PurePath(name).suffix.lower())


def blocks(text: str, language: str) -> CodeBlocks:
    """Return the blocks of a source: the signatures of its definitions and the code between.

    A signature is a heading and takes the decorators and comments right above it. The code of a
    definition ends where the definition ends: what follows it in its class belongs to the class.
    A source with errors is read as far as its tree goes.

    Args:
        text: The source.
        language: One of `LANGUAGES`.

    Raises:
        ValueError: For a language that is not known.
        ImportError: If the packages of `cantle[code]` are not installed.
    """
    from tree_sitter import Parser, QueryCursor

    parsed, query = _load(language)
    source = text.encode("utf-8", "surrogatepass")
    starts = _line_starts(source)
    tree = Parser(parsed).parse(source)
    matches = QueryCursor(query).matches(tree.root_node)
    found = _definitions((captured for _, captured in matches), source, starts)
    return _columns(found, source, starts)


@functools.cache
def _load(language: str) -> tuple[Language, Query]:
    grammar = _GRAMMARS.get(language)
    if grammar is None:
        known = ", ".join(LANGUAGES)
        raise ValueError(f"language ({language!r}) is not known; it may be {known}")
    try:
        from tree_sitter import Language, Query

        module = importlib.import_module(grammar.module)
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"language ({language!r}) needs the package {missing.name}: pip install 'cantle[code]'"
        ) from None
    parsed = Language(getattr(module, grammar.function)())
    return parsed, Query(parsed, grammar.query)


def _line_starts(source: bytes) -> NDArray[np.int64]:
    """Return where each line starts, and the end of the source as one more."""
    breaks = np.flatnonzero(np.frombuffer(source, np.uint8) == ord("\n")) + 1
    starts = np.concatenate([[0], breaks]).astype(np.int64)
    return starts if starts[-1] == len(source) else np.append(starts, len(source))


class _Visible:
    """Where the text of each line starts and ends that is no blank; looked up once for each line.

    A line may hold all of a source, and thousands of definitions.
    """

    def __init__(self, source: bytes, starts: NDArray[np.int64]) -> None:
        self._source = source
        self._starts = starts
        self._known: dict[int, tuple[int, int]] = {}

    def of(self, row: int) -> tuple[int, int]:
        """Return where it starts and ends; of a blank line, its end and its start."""
        if row not in self._known:
            start, end = int(self._starts[row]), int(self._starts[row + 1])
            line = self._source[start:end]
            self._known[row] = end - len(line.lstrip()), start + len(line.rstrip())
        return self._known[row]


def _definitions(
    matches: Iterator[dict[str, list[Node]]], source: bytes, starts: NDArray[np.int64]
) -> list[_Definition]:
    """Return the definitions that start a line, in the order of the source, outer ones first."""
    nodes: dict[tuple[int, int], Node] = {}
    outer: dict[tuple[int, int], list[Node]] = {}
    # The first line of what may stand before a definition, by its last line.
    leads: dict[int, int] = {}
    visible = _Visible(source, starts)
    for captured in matches:
        for lead in captured.get("lead", ()):
            row, (last, end) = lead.start_point[0], lead.end_point
            # Some grammars count a comment's line break to it.
            last -= end == 0 and last > row
            first_of_line, end_of_line = visible.of(row)[0], visible.of(last)[1]
            if lead.start_byte <= first_of_line and end_of_line <= lead.end_byte:
                leads[last] = row
        for node in captured.get("def", ()):
            span = (node.start_byte, node.end_byte)
            nodes.setdefault(span, node)
            outer.setdefault(span, []).extend(captured.get("outer", ()))
    found = []
    for span in sorted(nodes, key=lambda span: (span[0], -span[1])):
        node = nodes[span]
        around = (node, *outer[span])
        title = next(filter(None, (_title(part, source) for part in around)), None)
        start = min(part.start_byte for part in around)
        row = min(part.start_point[0] for part in around)
        end = max(part.end_point[0] + (part.end_point[1] > 0) for part in around)
        if title is None or visible.of(row)[0] < start:
            continue
        first = row
        while first - 1 in leads:
            first = leads[first - 1]
        found.append(_Definition(title, first, max(_signature_end(node), row + 1), end))
    return found


def _signature_end(node: Node) -> int:
    """Return the line behind a definition's signature: that of its brace or its colon."""
    value = node.child_by_field_name("value") or node.child_by_field_name("type")
    inner = value if node.type in ("variable_declarator", "type_spec") and value else node
    last = node.start_point[0]
    for child in inner.children:
        if child.type == "{":
            return child.start_point[0] + 1
        if child.child_count and (opening := child.child(0)) and opening.type == "{":
            return opening.start_point[0] + 1
        if child.type == "block":
            return last + 1
        if child.type != "comment":
            last = child.end_point[0]
    return last + 1


def _title(node: Node, source: bytes) -> str | None:
    """Return what a definition defines, or None for one without a name."""

    def words(part: Node) -> str:
        return " ".join(source[part.start_byte : part.end_byte].decode("utf-8", "replace").split())

    if node.type == "impl_item":
        body = node.child_by_field_name("body")
        end = body.start_byte if body is not None else node.end_byte
        return " ".join(source[node.start_byte : end].decode("utf-8", "replace").split())
    if node.type == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        name = node.child_by_field_name("name")
        kind = words(receiver).strip("()").split(" ")[-1].lstrip("*")
        return f"{kind}.{words(name)}" if name is not None else None
    name = node.child_by_field_name("name")
    # Of C, the name stands inside of what is declared: a pointer, a function, an array.
    inner: Node | None = node
    while name is None and inner is not None:
        inner = inner.child_by_field_name("declarator")
        if inner is not None and inner.child_by_field_name("declarator") is None:
            name = inner
    return words(name) if name is not None else None


def _columns(found: Sequence[_Definition], source: bytes, starts: NDArray[np.int64]) -> CodeBlocks:
    """Return the blocks: lines of signatures, and the code between them by what it stands in."""
    rows: list[tuple[int, int, int, int, int]] = []
    titles: list[str] = []
    parent: list[int] = []
    # The definitions that are open: their index and the line behind them.
    stack: list[tuple[int, int]] = []
    at = 0

    def code(end: int) -> None:
        nonlocal at
        if end > at:
            rows.append((CODE, 0, at, end, stack[-1][0] if stack else -1))
            at = end

    def until(line: int) -> None:
        while stack and stack[-1][1] <= line:
            code(min(stack[-1][1], line))
            stack.pop()
        code(line)

    for definition in found:
        first = max(definition.first, at)
        # A second definition of one line is part of the first.
        if definition.signature_end <= first:
            continue
        until(first)
        titles.append(definition.title)
        parent.append(stack[-1][0] if stack else -1)
        # A definition ends at the latest where that ends which it stands in.
        end = min(definition.end, stack[-1][1]) if stack else definition.end
        behind = min(definition.signature_end, max(end, first + 1))
        rows.append((HEADING, len(stack) + 1, first, behind, len(titles) - 1))
        at = behind
        stack.append((len(titles) - 1, end))
    until(len(starts) - 1)

    kept: list[tuple[int, int, int, int, int]] = []
    for kind, level, first, end, scope in rows:
        while first < end and not source[int(starts[first]) : int(starts[first + 1])].strip():
            first += 1
        while first < end and not source[int(starts[end - 1]) : int(starts[end])].strip():
            end -= 1
        if first == end:
            continue
        lines = source[int(starts[first]) : int(starts[end])]
        # Closing braces say nothing of their own.
        if kept and kind == CODE and not any(c in _WORDS for c in lines):
            kept[-1] = (*kept[-1][:3], int(starts[end]), kept[-1][4])
        else:
            kept.append((kind, min(level, 0xFFFF), int(starts[first]), int(starts[end]), scope))
    table = np.array(kept, np.int64).reshape(-1, 5)
    return CodeBlocks(
        kind=table[:, 0].astype(np.uint8),
        level=table[:, 1].astype(np.uint16),
        byte_start=table[:, 2].copy(),
        byte_end=table[:, 3].copy(),
        scope=table[:, 4].copy(),
        titles=tuple(titles),
        parent=np.array(parent, np.int64),
    )
