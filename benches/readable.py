"""Turns a file of a package into readable text: paragraphs with blank lines between them.

`VERSION` is part of what a built corpus is recorded under: raise it with any change here or in
`recipes.documents` that alters the text, so that the same packages under a new reader are a new
corpus and no contradiction.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

VERSION = 1

_BLOCKS, _SKIPPED, _CELLS = (
    frozenset(tags.split())
    for tags in (
        "address article aside blockquote body br caption center dd details dialog div dl dt "
        "fieldset figcaption figure form h1 h2 h3 h4 h5 h6 hr li main ol p pre section summary "
        "table tbody tfoot thead tr ul",
        "button footer head header nav noscript script select style svg template textarea",
        "td th",
    )
)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[str] = []
        self.open: list[str] = []
        self.skipped = self.kept = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _SKIPPED:
            self.skipped += 1
        elif tag in _BLOCKS:
            self.flush()
            self.kept += tag == "pre"
        elif tag in _CELLS:
            self.open.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self.skipped = max(0, self.skipped - 1)
        elif tag in _BLOCKS:
            self.flush()
            self.kept = max(0, self.kept - (tag == "pre"))

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        if tag in _BLOCKS:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.open.append(data)

    def flush(self) -> None:
        text = "".join(self.open)
        self.open.clear()
        text = text.strip("\n").rstrip() if self.kept else " ".join(text.split())
        if text:
            self.paragraphs.append(text)


def html(data: bytes) -> str:
    """Text of a page: blocks become paragraphs, `pre` keeps its lines, navigation is left out."""
    reader = _Reader()
    reader.feed(_decoded(data))
    reader.close()
    reader.flush()
    return "\n\n".join(reader.paragraphs)


def mallard(data: bytes) -> str:
    """Text of a page of GNOME's help, an XML dialect: its titles and paragraphs."""
    tags = {f"{{http://projectmallard.org/1.0/}}{tag}" for tag in ("title", "p", "screen")}
    found = (node for node in ElementTree.fromstring(data).iter() if node.tag in tags)
    return "\n\n".join(" ".join("".join(node.itertext()).split()) for node in found)


def messages(data: bytes) -> str:
    """Translations out of a compiled gettext catalogue (.mo), one a paragraph."""
    order = {0x950412DE: "<", 0xDE120495: ">"}.get(int.from_bytes(data[:4], "little"))
    if order is None:
        raise ValueError("not a compiled gettext catalogue")
    count, _, table = struct.unpack(f"{order}3I", data[8:20])
    lines = []
    for i in range(count):
        length, at = struct.unpack_from(f"{order}2I", data, table + 8 * i)
        # The entry of the empty string is a header; forms of plurals are parted by NUL.
        if length and not data.startswith(b"Project-Id-Version", at):
            lines.append(_decoded(data[at : at + length].split(b"\0")[0]))
    mnemonic = re.compile(r"\(~\w\)|[~_](?=\w)")
    return "\n\n".join(mnemonic.sub("", line).strip() for line in lines if line.strip())


def licence(data: bytes) -> str:
    """Text of a licence of ScanCode's collection, without the header that describes it."""
    text = plain(data)
    return text.split("\n---\n", 1)[-1].strip("\n") if text.startswith("---\n") else text


def plain(data: bytes) -> str:
    """Text as it stands, without what comes from another system: CR and BOM."""
    return _decoded(data).strip("\n")


def _decoded(data: bytes) -> str:
    text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


READERS: dict[str, Callable[[bytes], str]] = {
    "html": html,
    "htm": html,
    "xhtml": html,
    "mo": messages,
    "page": mallard,
    "license": licence,
}
"""By the end of a file's name; every other is read as it stands."""


def text(name: str, data: bytes) -> str:
    return READERS.get(name.rsplit(".", 1)[-1].lower(), plain)(data)
