"""The forms of documents, and how the ending of a name tells one."""

from __future__ import annotations

from pathlib import PurePath

from cantle import _core, code

_IN_PLACE = tuple(_core.FORMATS)
FORMATS: tuple[str, ...] = (*_IN_PLACE, "html", *code.LANGUAGES)
"""The forms of documents whose blocks are read. Languages of source code need `cantle[code]`."""

SUFFIXES = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".rst", ".rest"), "rst"),
    **dict.fromkeys((".txt", ".text"), "text"),
    ".csv": "csv",
    ".tsv": "tsv",
    **code.SUFFIXES,
}
"""Which form a document has whose name ends so."""
_PACKED = (".gz", ".zst")
OTHERWISE = "markdown"
"""The form of a document whose name tells none."""


def form_of(name: str) -> str | None:
    """Return the form that a document's name tells, behind `.gz` and `.zst` too; None if none."""
    path = PurePath(name)
    if path.suffix.lower() in _PACKED:
        path = path.with_suffix("")
    return SUFFIXES.get(path.suffix.lower())


def in_place(form: str) -> bool:
    """Whether a document of this form is cut as it is, by what the core reads off it."""
    return form in _IN_PLACE


def check_format(format: object) -> None:
    """Check what a caller says of a form: one of `FORMATS`, or `"auto"`.

    Raises:
        TypeError: It is no string.
        SettingError: It is no form that is known.
    """
    if not isinstance(format, str):
        raise TypeError(f"format ({format!r}) must be str")
    if format not in ("auto", *FORMATS):
        known = ", ".join(map(repr, ("auto", *FORMATS)))
        raise _core.SettingError(f"format ({format!r}) must be one of {known}")
