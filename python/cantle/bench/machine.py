"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from typing import Any


def machine() -> dict[str, Any]:
    """Return processor, cores, memory and system; None where it cannot be told."""
    return {
        "cpu": _line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": cores(),
        "memory_bytes": _memory(),
        "os": platform.platform(),
    }


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int | None:
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _line(path: str, key: str) -> str | None:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if colon and name.strip() == key:
                return value.strip()
    return None
