"""The house keeps its rules: where things live, what an import loads, what a file may say."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import cantle
import cantle.strategies
from cantle.strategies.splitting import Splitting
from cantle.strategies.text import REGISTRY

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "cantle"
_IGNORED = {".git", ".venv", "target", "dist", "__pycache__"}


def files() -> list[Path]:
    """Return the repository's own text files."""
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part not in (".ci", ".gitignore") for part in parts)
        if path.is_file() and not hidden and not _IGNORED & set(parts):
            found.append(path)
    return found


def test_the_binding_is_named_in_one_folder_only() -> None:
    inside = ROOT / "rust" / "src" / "py"
    naming = {path for path in (ROOT / "rust").rglob("*.rs") if "pyo3" in path.read_text("utf-8")}
    assert naming
    assert [path for path in naming if inside not in path.parents] == []


def test_import_loads_numpy_and_the_package_only() -> None:
    code = """
import sys, numpy
before = set(sys.modules)
import cantle
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "cantle" in loaded
    assert loaded - set(sys.stdlib_module_names) <= {"cantle", "numpy"}
    assert "cantle.cli" not in done.stdout.split()
    # Each of these takes milliseconds, and the first call or none at all wants it.
    heavy = {
        "hashlib",
        "html",
        "numpy.typing",
        "random",
        "statistics",
        "tempfile",
        "urllib.request",
    }
    assert heavy & set(done.stdout.split()) == set()
    assert done.stderr == ""


def test_no_file_of_the_package_is_long() -> None:
    lengths = {
        path: path.read_text("utf-8").count("\n")
        for path in PACKAGE.rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    assert len(lengths) > 10
    assert {path.name: n for path, n in lengths.items() if n > 500} == {}


@pytest.mark.parametrize(
    "name", [n for n in cantle.__all__ if n not in ("OVERSIZE", "__version__")]
)
def test_public_names_are_described(name: str) -> None:
    public = getattr(cantle, name)
    assert inspect.getdoc(public), name
    if inspect.isclass(public):
        for method, value in vars(public).items():
            if not method.startswith("_") and callable(getattr(public, method)):
                assert inspect.getdoc(getattr(public, method)), f"{name}.{method}"
            if isinstance(value, property):
                assert value.__doc__, f"{name}.{method}"


def test_all_is_whole() -> None:
    public = {
        name
        for name, value in vars(cantle).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public | {"__version__"} == set(cantle.__all__)


def strategies() -> list[type[Splitting]]:
    """Return every strategy of the package, listed or not."""
    for module in pkgutil.iter_modules(cantle.strategies.__path__, "cantle.strategies."):
        importlib.import_module(module.name)

    def below(parent: type[Splitting]) -> Iterable[type[Splitting]]:
        for child in parent.__subclasses__():
            yield child
            yield from below(child)

    return [cls for cls in below(Splitting) if cls.__module__.startswith("cantle.")]


def unlisted(classes: Iterable[type[Splitting]]) -> list[str]:
    return [cls.__name__ for cls in classes if cls not in REGISTRY.values()]


def test_every_strategy_is_listed() -> None:
    assert len(strategies()) >= 4
    assert unlisted(strategies()) == []


def test_a_strategy_that_is_not_listed_is_noticed() -> None:
    class New(Splitting):
        strategy = "new"

    assert unlisted([*strategies(), New]) == ["New"]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_strategy_has_one_name_everywhere(name: str) -> None:
    strategy = REGISTRY[name]
    assert strategy.strategy == name
    assert strategy.__name__.lower() == name
    assert strategy.__module__ == f"cantle.strategies.{name}"
    assert strategy.__name__ in cantle.__all__
    assert f"\n## {strategy.__name__} (" in (ROOT / "docs" / "strategies.md").read_text("utf-8")


# Written in parts, so that this file may be read as well.
_PLACES = re.compile(
    "|".join(
        [
            "/" + r"(root|home|Users)/[a-z]",
            "/" + r"(work|workspace|mnt|private)/",
            r"[A-Z]:\\" + "Users",
            "pypi" + r"\.org",
            "pythonhosted" + r"\.org",
            "index" + r"\.crates\.io",
            r"static\." + r"crates\.io",
        ]
    )
)


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = []
    for path in files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if match := _PLACES.search(text):
            found.append(f"{path.relative_to(ROOT)}: {match[0]}")
    assert len(files()) > 50
    assert found == []


def test_the_version_is_one() -> None:
    cargo = (ROOT / "Cargo.toml").read_text("utf-8")
    assert f'version = "{cantle.__version__}"' in cargo
    assert f"\n## {cantle.__version__} - " in (ROOT / "CHANGELOG.md").read_text("utf-8")
