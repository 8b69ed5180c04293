"""PDF and office files to text, through markitdown.

The text is the Markdown that it makes: offsets count in it, not in the file.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from typing import Any

from cantle.cli.formats import Unreadable, needed, opened
from cantle.cli.inputs import STDIN, Source
from cantle.cli.rows import Document


def document(source: Source) -> Document:
    """Return the document that a file converts to.

    Raises:
        Missing: The extra is not installed.
        Unreadable: It cannot be converted.
    """
    converter = _converter()
    if source.path == STDIN or source.compression:
        raise Unreadable("such a file is read from its place, and not compressed")
    with opened(source.path, ""):  # The system's own words, where it cannot be opened.
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = str(converter.convert_local(source.path).markdown)
    except MemoryError:
        raise
    except Exception as error:  # Five libraries with errors of their own stand behind it.
        cause = " ".join(str(error).rpartition("with message: ")[2].split())
        cause = cause or type(error).__name__
        raise Unreadable(f"markitdown cannot convert it: {cause[:200]}") from None
    return Document(source.id, text, {}, os.path.getsize(source.path), source.place)


@cache
def _converter() -> Any:
    what = "PDF and office files (.pdf .docx .pptx .xlsx)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = needed("markitdown", what, "docs").MarkItDown(enable_builtins=False)
        converters = needed("markitdown.converters", what, "docs")
    # These alone: what they refuse would otherwise be read as whatever it resembles.
    for name in ("Pdf", "Docx", "Pptx", "Xlsx"):
        made.register_converter(getattr(converters, f"{name}Converter")())
    return made
