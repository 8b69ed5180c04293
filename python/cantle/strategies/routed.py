"""`Routed`: every document by the strategy that suits it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cantle import _core, units
from cantle.documents import Documents, Text
from cantle.reading import forms_of
from cantle.strategies.splitting import Splitting
from cantle.structure import Blocks
from cantle.units import Unit

if TYPE_CHECKING:
    from cantle.router import Route


@dataclass(frozen=True)
class Declared:
    """What is declared of the documents whose ids match a glob.

    Args:
        glob: A pattern of ids; `*` stands for anything, folders included.
        kind: What they are: `contract`, `policy`, `ticket`; see `cantle.route`.
        strategy: What they are cut by, as text; empty: what the router chooses.
        target: About how many units a chunk should have: for `Structural` its `target`, for others
            the size, where that is larger. 0: nothing is said.
    """

    glob: str
    _: KW_ONLY
    kind: str = ""
    strategy: str = ""
    target: int = 0

    def __post_init__(self) -> None:
        for name in ("glob", "kind", "strategy"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} ({getattr(self, name)!r}) must be str")
        if not self.glob:
            raise _core.SettingError("glob ('') must not be empty")
        if isinstance(self.target, bool) or not isinstance(self.target, int):
            raise TypeError(f"target ({self.target!r}) must be a whole number")
        if self.target < 0:
            raise _core.SettingError(f"target ({self.target}) must not be negative")


@dataclass(frozen=True)
class Routed(Splitting):
    """Every document by what is declared of it, else by the rules of `cantle.route`.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        sources: What is declared: the path of a TOML file with a table `[[source]]` for each, or
            `Declared`s. The first whose glob matches a document's id counts.
        name: The name in the chunks' ids. Default: `routed`.
    """

    strategy = "routed"
    _routing = True

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    sources: str | os.PathLike[str] | Iterable[Declared] = ()
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", read_sources(self.sources))
        self._build(core="recursive")
        for declared in self._declared:
            if declared.strategy or declared.target:
                self._declared_strategy(declared, "recursive")

    @property
    def _declared(self) -> tuple[Declared, ...]:
        """What is declared, read."""
        return self.sources  # type: ignore[return-value]

    def declared(self, id: str) -> Declared | None:
        """Return what is declared of a document."""
        return next((one for one in self._declared if fnmatchcase(id, one.glob)), None)

    def route(self, document: Text | Blocks, *, id: str = "", cost: bool = True) -> Route:
        """Return what cuts a document, and why.

        Args:
            document: The text, or its blocks.
            id: Its id.
            cost: Whether to cut it to see what that costs.
        """
        return self._route(document, id, self.declared(id), cost=cost)

    def _route(
        self, document: Text | Blocks, id: str, declared: Declared | None, *, cost: bool
    ) -> Route:
        from cantle import router

        kind = declared.kind if declared is not None else ""
        settings = {"overlap": self.overlap, "trim": self.trim}
        common = {"id": id, "size": self.size, "unit": self.unit}
        found = router.route(document, kind=kind, cost=False, **common, **settings)  # type: ignore[arg-type]
        strategy, rule, reasons = found.strategy, found.rule, found.reasons
        warnings = found.warnings
        if declared is not None and (declared.strategy or declared.target):
            strategy = self._declared_strategy(declared, strategy.strategy)
            if declared.strategy:
                rule, reasons = "declared", (f"declared for {declared.glob}",)
                warnings = tuple(router.structured_warning(found.facts, strategy.strategy))
        made = router.cost_of(strategy, document, found.facts) if cost else None
        return router.Route(strategy, rule, reasons, warnings, found.facts, made)

    def _declared_strategy(self, declared: Declared, chosen: str) -> Splitting:
        from cantle.strategies.levelled import Levelled
        from cantle.strategies.pieces import ByPieces
        from cantle.strategies.text import REGISTRY, strategy_from_text, strategy_name

        settings: dict[str, Any] = {
            "size": self.size,
            "overlap": self.overlap,
            "unit": self.unit,
            "trim": self.trim,
        }
        text = declared.strategy or chosen
        name = strategy_name(text)
        if name == self.strategy:
            raise _core.SettingError(f"source {declared.glob!r}: routed cannot be routed to itself")
        if name in REGISTRY and issubclass(REGISTRY[name], ByPieces):
            raise _core.SettingError(
                f"source {declared.glob!r}: {name} asks a model about sentences, which "
                "Routed does not do"
            )
        if name in REGISTRY and issubclass(REGISTRY[name], Levelled):
            raise _core.SettingError(
                f"source {declared.glob!r}: {name} puts levels above its chunks, which Routed does "
                "not do"
            )
        if declared.target and name in REGISTRY:
            if "target" in {field.name for field in fields(REGISTRY[name])}:  # type: ignore[arg-type]
                settings["target"] = declared.target
            else:
                settings["size"] = min(self.size, declared.target)
                settings["overlap"] = min(self.overlap, settings["size"] - 1)
        try:
            made = strategy_from_text(text, **settings)
        except _core.SettingError as error:
            raise _core.SettingError(f"source {declared.glob!r}: {error}") from None
        if units.resolve(made.unit) != units.resolve(self.unit):
            raise _core.SettingError(
                f"source {declared.glob!r}: its unit ({units.describe(units.resolve(made.unit))}) "
                f"must be that of all ({self._unit_name})"
            )
        return made

    def _forms(self, documents: Documents) -> list[object] | None:
        return forms_of(documents, "auto", missing=True)

    def _routes(
        self, documents: Documents, names: Sequence[str] | None = None
    ) -> tuple[_core.Splitter, list[int] | None]:
        ids = documents.ids if names is None else names
        measures = callable(units.resolve(self.unit))
        known: dict[str, int] = {}
        splitters: list[_core.Splitter] = []
        routes = []
        for doc, text in enumerate(documents.texts):
            given = None if documents.blocks is None else documents.blocks[doc]
            declared = self.declared("" if ids is None else ids[doc])
            # A part of a document is not in its form.
            id = "" if documents.ids is None else documents.ids[doc]
            try:
                strategy = self._route(
                    text if given is None else given, id, declared, cost=False
                ).strategy
            except _core.SettingError:
                raise
            except Exception as error:
                # What cannot be read, or that a caller's own unit fails for, is told of when it is
                # cut, by what all are cut by otherwise.
                if not (measures or isinstance(error, _core.TextError | TypeError)):
                    raise
                routes.append(len(documents.texts))
                continue
            if strategy.fingerprint not in known:
                known[strategy.fingerprint] = len(splitters)
                splitters.append(strategy._splitter)
            routes.append(known[strategy.fingerprint])
        return self._splitter.routed(splitters), routes


def read_sources(sources: object) -> tuple[Declared, ...]:
    """Return what a file, or a caller, declares.

    Raises:
        OSError: The file cannot be read.
        SettingError: The file is no TOML, or declares what is not known.
    """
    if isinstance(sources, str | os.PathLike):
        return _from_file(Path(sources))
    if not isinstance(sources, Iterable):
        raise TypeError(f"sources ({sources!r}) must be a path or a list of Declared")
    declared = tuple(sources)
    for i, one in enumerate(declared):
        if not isinstance(one, Declared):
            raise TypeError(f"sources[{i}] ({one!r}) must be Declared")
    return declared


def _from_file(path: Path) -> tuple[Declared, ...]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ModuleNotFoundError:
            raise ImportError(
                'before Python 3.11 reading TOML needs one more package: pip install "tomli"'
            ) from None
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _core.SettingError(f"{path} is no TOML: {error}") from None
    rows = tables.pop("source", [])
    if tables:
        key = next(iter(tables))
        raise _core.SettingError(f"{path}: {key!r} is unknown: it has [[source]] alone")
    if not isinstance(rows, list):
        raise _core.SettingError(f"{path}: source must be a list of tables: [[source]]")
    known = ("glob", "kind", "strategy", "target")
    made = []
    for i, row in enumerate(rows):
        place = f"{path}: source {i + 1}"
        if not isinstance(row, Mapping) or "glob" not in row:
            raise _core.SettingError(f"{place} has no glob")
        if unknown := [key for key in row if key not in known]:
            raise _core.SettingError(f"{place}: {unknown[0]!r} must be one of {', '.join(known)}")
        try:
            made.append(Declared(**row))
        except (TypeError, ValueError) as error:
            raise _core.SettingError(f"{place}: {error}") from None
    return tuple(made)
