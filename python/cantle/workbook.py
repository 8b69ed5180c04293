"""`sheets`: the sheets of a workbook (.xlsx) as blocks, a heading and a table each.

Read by openpyxl, which the extra `cantle[sheets]` brings; it is loaded when it is called.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator
from typing import Any

from cantle import _core
from cantle.structure import Block, Blocks


def sheets(path: str | os.PathLike[str]) -> Blocks:
    """Return the blocks of a workbook: for each sheet its name as a heading, then its rows.

    A row is a line, `| cell | cell |`, the first one the header. Of formulas it is the value that
    was saved; a line break inside of a cell becomes a blank. Rows without a value stay where others
    follow. A sheet without any has no blocks. The `page` of a block is the number of its sheet.

    Args:
        path: A file in the format of Excel since 2007 (.xlsx, .xlsm).

    Raises:
        ImportError: openpyxl is not installed.
        TypeError: It is no path.
        OSError: The file cannot be read.
        TextError: It is no workbook.
    """
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "openpyxl":
            raise
        raise ImportError(
            'reading workbooks needs one more package: pip install "cantle[sheets]"'
        ) from None
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path ({path!r}) must be a path")
    with open(path, "rb") as stream:
        try:
            book = load_workbook(stream, read_only=True, data_only=True)
            return Blocks(_blocks(book.worksheets))
        except (_core.TextError, OSError, ImportError, MemoryError):
            raise
        except Exception as error:  # What a broken file makes of a reader of XML may be anything.
            raise _core.TextError(f"{os.fspath(path)} is no workbook: {error}") from None


def _blocks(worksheets: Iterable[Any]) -> Iterator[Block]:
    for number, sheet in enumerate(worksheets, 1):
        lines: list[str] = []
        empty: list[str] = []
        for row in sheet.iter_rows(values_only=True):
            cells = [_cell(value) for value in row]
            line = f"| {' | '.join(cells)} |"
            if not any(cells):
                empty.append(line)
                continue
            # What stands above the first row is no table.
            lines += [*empty, line] if lines else [line]
            empty = []
        if lines:
            title = " ".join(str(sheet.title).split()) or f"Sheet {number}"
            yield Block(title, kind="heading", level=1, page=number)
            yield Block("\n".join(lines), kind="table", header=1, page=number)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return " ".join(str(value).split()).replace("|", "\\|")
