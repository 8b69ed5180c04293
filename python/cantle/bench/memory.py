"""The memory that this process holds, and held at most."""

from __future__ import annotations

import sys


def held() -> int:
    """Return the bytes that are held now; 0 where the system does not tell."""
    return _status("VmRSS") or _usage()


def peak() -> int:
    """Return the bytes that were held at most since `forget_peak`; 0 where nobody tells.

    Without Linux's `/proc` it is since the process began: less what was held before a call it is
    then no more than what the call added.
    """
    return _status("VmHWM") or _usage()


def forget_peak() -> None:
    """Begin to look for a new peak, where the system can."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def _status(line: str) -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next((int(row.split()[1]) << 10 for row in file if row.startswith(line)), 0)
    except OSError:
        return 0


def _usage() -> int:
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
