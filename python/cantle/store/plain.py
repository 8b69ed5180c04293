"""Metadata as JSON: what stands in the file, and what it is compared with."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from cantle import _core


def as_json(value: Any, called: str) -> str:
    """Return a value as JSON text; what JSON does not know, as a date, by its string.

    Raises:
        SettingError: It cannot be written so; the message begins with `called`.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise _core.SettingError(f"{called} cannot be written as JSON: {error}") from None
    return text


def plain(value: Any, called: str) -> Any:
    """Return a value as it is read again.

    Raises:
        SettingError: It cannot be written.
    """
    return json.loads(as_json(value, called))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):  # In an order that is the same in every process.
        return sorted(value, key=lambda each: (type(each).__qualname__, str(each)))
    kind = type(value)
    own = {name for cls in kind.__mro__[:-1] for name in vars(cls)}
    if not own & {"__str__", "__repr__"}:
        # Its string is where it lies in memory.
        raise TypeError(f"{kind.__qualname__} has no string of its own")
    return str(value)
