"""Hypothesis profiles for all tests, and what pytest itself is told.

The fast profile is the default and takes the same examples in every run. The slow one looks for
new ones: `make test-long`, or `CANTLE_SLOW_TESTS=1 pytest`.
"""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SLOW = bool(os.environ.get("CANTLE_SLOW_TESTS"))

# A deadline would be a wall-clock assertion: on a busy machine it fails for no reason of ours.
_common = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("fast", max_examples=40, derandomize=True, database=None, **_common)
settings.register_profile("slow", max_examples=2_000, **_common)
settings.load_profile("slow" if SLOW else "fast")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the collector of garbage look no more at all that the tests are made of.

    Each of its rounds went through the modules of thousands of tests, and some calls ask for one.
    """
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name functions by their argument: where they lie in memory differs between workers."""
    return argname if " at 0x" in repr(val) and not isinstance(val, str) else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a test may make a store."""
    return tmp_path / "kb.cantle"


@pytest.fixture
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run a test in a folder that is empty; return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
