"""Documents in reStructuredText and HTML that are installed anyway, with what else reads them."""

from __future__ import annotations

import functools
import io
from importlib import metadata
from pathlib import Path

import docutils.core
import docutils.nodes
import docutils.utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser

from conftest import SLOW

_SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "syntax_highlight": "none",
    "embed_stylesheet": False,
    "stylesheet_path": None,
}


@functools.cache
def rst() -> tuple[tuple[str, str], ...]:
    """Return names and texts: what packages say of themselves, and files beside their modules."""
    found: dict[str, str] = {}
    for package in metadata.distributions():
        told = package.metadata
        name = told["Name"]
        text = told.get_payload() or told.get("Description")
        kind = told.get("Description-Content-Type") or "text/x-rst"
        if "x-rst" in kind and isinstance(text, str) and len(text) > 500:
            found[name] = text.replace("\r\n", "\n")
        for file in package.files or ():
            path = Path(str(package.locate_file(file)))
            if path.suffix == ".rst" and path.is_file():
                found[f"{name}/{file}"] = path.read_text("utf-8")
    return tuple(sorted(found.items()))


@functools.cache
def html() -> tuple[tuple[str, str], ...]:
    """Return names and pages: the texts of `rst` as docutils shows them, and pages of Debian.

    Docutils writes two kinds of HTML. Every second text is shown in the one, the others in the
    other; the slow tests see all in both.
    """
    found = {}
    for number, (name, text) in enumerate(rst()):
        for writer in ("html5", "html4") if SLOW else (("html5", "html4")[number % 2],):
            page = docutils.core.publish_string(
                text,
                writer=writer,
                settings_overrides=_SETTINGS | {"warning_stream": io.StringIO()},
            )
            found[f"{name} ({writer})"] = page.decode("utf-8")
    for path in sorted(Path("/usr/share/doc").glob("*/**/*.html"))[:200]:
        try:
            found[str(path)] = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return tuple(found.items())


def sections(text: str) -> tuple[list[tuple[int, str]], bool]:
    """Return the titles of a text with their levels, and whether docutils finds no fault."""
    settings = get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    settings.warning_stream = io.StringIO()
    document = docutils.utils.new_document("text", settings)
    Parser().parse(text, document)
    found = []
    todo: list[tuple[docutils.nodes.Node, int]] = [(document, 0)]
    while todo:
        node, level = todo.pop()
        level += isinstance(node, docutils.nodes.section)
        if isinstance(node, docutils.nodes.title) and isinstance(
            node.parent, docutils.nodes.section
        ):
            found.append((level, node.astext()))
        todo.extend((child, level) for child in reversed(node.children))
    faults = document.findall(docutils.nodes.system_message)
    # Roles and directives that are Sphinx's say nothing about titles.
    sound = all(fault["level"] < 3 or "Unknown" in fault.astext() for fault in faults)
    return found, sound
