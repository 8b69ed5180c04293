"""Documents read by their forms, for the strategies that go by blocks."""

from __future__ import annotations

from contextlib import suppress

from cantle import _core
from cantle.documents import Documents
from cantle.forms import form_of, in_place
from cantle.structure import blocks


def readable(form: str) -> bool:
    """Whether what reads a form is installed."""
    try:
        blocks("", format=form)
    except ImportError:
        return False
    return True


def forms_of(documents: Documents, format: str, *, missing: bool = False) -> list[object] | None:
    """Return for each document its blocks, its form's name or None, or None for all of it.

    Documents whose blocks are not read where their text lies are read now. With `missing`, forms
    that need an extra which is not installed are left out.
    """
    if format != "auto":
        named: list[object] = [format] * len(documents)
    elif documents.ids is None:
        return documents.forms()
    else:
        named = [form_of(name) for name in documents.ids]
        if missing:
            known = {form: readable(str(form)) for form in {*named} if form is not None}
            named = [form if form is not None and known[form] else None for form in named]
    if not all(form is None or in_place(str(form)) for form in named):
        _read(documents, named)
    given = documents.forms()
    if format != "auto" or not any(named):
        return given
    if given is None:
        return named
    # Blocks that are handed in count, even where there are none.
    return [b if a is None else a for a, b in zip(given, named, strict=True)]


def _read(documents: Documents, forms: list[object]) -> None:
    """Read the documents whose blocks are not read where their text lies."""
    found = {}
    for doc, form in enumerate(forms):
        if form is None or in_place(str(form)):
            continue
        if documents.blocks is not None and documents.blocks[doc] is not None:
            continue
        # A text that is not UTF-8 stays as it is: the call tells of it with all the others.
        with suppress(_core.TextError, TypeError):
            found[doc] = blocks(documents.texts[doc], format=str(form))
        # What is read is cut by its blocks, and what is not fails.
        forms[doc] = None
    if found:
        documents.read(found)
