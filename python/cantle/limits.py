"""Settings that are numbers: of the right type, and within their limits."""

from __future__ import annotations

import math

import numpy as np

from cantle import _core


def number(name: str, value: object, least: float, most: float = math.inf) -> float:
    """Return a setting that is a number from `least` to `most`.

    Raises:
        TypeError: It is no number.
        SettingError: It lies outside, or is NaN.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} ({value!r}) must be a number")
    found = float(value)
    if not least <= found <= most:
        bounds = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise _core.SettingError(f"{name} ({value!r}) must be {bounds}")
    return found


def whole(name: str, value: object, least: int) -> int:
    """Return a setting that is a whole number of at least `least`.

    Raises:
        TypeError: It is no whole number.
        SettingError: It is smaller.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} ({value!r}) must be a whole number")
    if value < least:
        raise _core.SettingError(f"{name} ({value}) must be at least {least}")
    return int(value)
