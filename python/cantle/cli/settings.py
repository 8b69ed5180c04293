"""What a run was made with, for a program to read: settings and versions."""

from __future__ import annotations

import sys
from dataclasses import fields
from importlib import metadata
from typing import Any

import cantle
from cantle import units
from cantle.strategies import Splitting


def settings_of(strategy: Splitting) -> dict[str, Any]:
    """Return a strategy's settings and their fingerprint as values that JSON has."""
    settings: dict[str, Any] = {"strategy": strategy.strategy}
    for field in fields(strategy):  # type: ignore[arg-type]
        value = getattr(strategy, field.name)
        if field.name == "unit":
            value = units.describe(units.resolve(value))
        plain = value is None or isinstance(value, str | int | float)
        settings[field.name] = value if plain else repr(value)
    return settings | {"fingerprint": strategy.fingerprint}


def versions() -> dict[str, str]:
    """Return the versions of cantle, Python and what is loaded of other packages."""
    found = {"cantle": cantle.__version__, "python": sys.version.partition(" ")[0]}
    for name in ("numpy", "pyarrow", "markitdown"):
        if name in sys.modules:
            found[name] = metadata.version(name)
    return found
