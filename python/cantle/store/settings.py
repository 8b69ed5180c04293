"""What a store remembers of how it is used: its embedder, its index, its blending."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from types import EllipsisType
from typing import TYPE_CHECKING

from cantle import _core, units
from cantle.chunk import preview
from cantle.embed.door import Embedder, identity, reads_documents, token_limit
from cantle.embed.named import resolve
from cantle.index import Auto, Exact, Hnsw
from cantle.store.database import Database, set_setting, setting
from cantle.store.searching import Blend, checked_blend

if TYPE_CHECKING:
    import sqlite3


_DEFAULT = "static"
_MOST_SHOWN = 80
"""Characters of an embedder's identity in a message."""
_KINDS: dict[str, type[Auto | Exact | Hnsw]] = {"auto": Auto, "exact": Exact, "hnsw": Hnsw}


@dataclass(frozen=True)
class Settings:
    """The settings of one opened store."""

    embedder: Embedder | str | None
    """What was given, or the name that the store knows."""
    identity: str
    """What tells the embedder from others."""
    index: Auto | Exact | Hnsw
    blend: Blend
    precision: str | None
    """None where nothing was said: the store's, `"float32"` of a new one."""
    by_document: bool
    """Whether the embedder makes vectors of whole documents: see `parts.hashes_of`."""

    @classmethod
    def of(
        cls,
        database: Database,
        embedder: Embedder | str | None,
        index: Auto | Exact | Hnsw | None,
        blend: Blend | EllipsisType,
        precision: str | None,
    ) -> Settings:
        """Return the settings of a store, checked against what it remembers.

        Raises:
            SettingError: They contradict it.
        """
        if index is not None and not isinstance(index, Auto | Exact | Hnsw):
            raise TypeError(f"index ({index!r}) must be Exact(), Hnsw() or Auto()")
        if precision not in (None, "float32", "float16"):
            raise _core.SettingError(f"precision ({precision!r}) must be 'float32' or 'float16'")
        with database.read() as connection:
            kept = setting(connection, "precision")
            known = setting(connection, "embedder")
            name = setting(connection, "embedder_name")
            told = setting(connection, "index")
            by_document = bool(setting(connection, "by_document", 0))
            kept_blend = setting(connection, "blend", '"auto"')
        if kept is not None and precision not in (None, kept):
            raise _core.SettingError(f"precision ({precision!r}): the store's is {kept!r}")
        if embedder is None and known is not None:
            embedder, given = name, known
        else:
            embedder = _DEFAULT if embedder is None else embedder
            resolved = resolve(embedder)
            given, by_document = identity(resolved), reads_documents(resolved)
        index = index or _index_from(told)
        if isinstance(blend, EllipsisType):
            blend = checked_blend(json.loads(kept_blend))
        settings = cls(embedder, given, index, blend, precision or kept, by_document)
        with database.read() as connection:
            settings._check_vectors(connection)
        return settings

    @property
    def callable(self) -> Embedder:
        """What embeds.

        Raises:
            SettingError: It is not known.
            ImportError: A package that it needs is not installed.
        """
        if self.embedder is None:
            raise _core.SettingError(
                "embedder: the store's was an object without a name: open it with embedder="
            )
        return resolve(self.embedder)

    @property
    def token_limit(self) -> tuple[int, units.Unit] | None:
        """The most tokens of a text that the embedder takes, and what counts them.

        None where it takes any; and where it is not at hand, as texts may be loaded without it.
        """
        try:
            embedder = self.callable
        except (_core.SettingError, ImportError):
            return None
        return token_limit(embedder)

    def with_embedder(self, embedder: Embedder | str) -> Settings:
        """Return the settings with another embedder."""
        resolved = resolve(embedder)
        return replace(
            self,
            embedder=embedder,
            identity=identity(resolved),
            by_document=reads_documents(resolved),
        )

    def check_embedder(self, known: str | None) -> None:
        """Check the embedder against the one that the store's vectors are of; None: there are none.

        Raises:
            SettingError: It is another one.
        """
        if known is None or known == self.identity:
            return
        there, given = (
            preview(units.readable(told), _MOST_SHOWN) for told in (known, self.identity)
        )
        if there == given:
            given = "one with other code or values"
        raise _core.SettingError(
            f"embedder: the store's vectors are of {there}, not of {given}; "
            "open it without embedder=, then change_embedder makes them anew"
        )

    def _check_vectors(self, connection: sqlite3.Connection) -> None:
        known = setting(connection, "embedder")
        self.check_embedder(known)
        if known is not None and bool(setting(connection, "by_document", 0)) != self.by_document:
            given, there = "texts", "whole documents"
            if self.by_document:
                given, there = there, given
            raise _core.SettingError(
                f"embedder ({self.embedder!r}): it makes vectors of {given}, and the store's are "
                f"of {there}; open it without embedder=, then change_embedder makes them anew"
            )

    def write(self, connection: sqlite3.Connection) -> None:
        """Remember them; called by every transaction that writes chunks or vectors.

        Raises:
            SettingError: They are no longer the store's: another process wrote since it was opened.
        """
        self._check_vectors(connection)
        kept = setting(connection, "precision", self.precision or "float32")
        if self.precision not in (None, kept):
            raise _core.SettingError(f"precision ({self.precision!r}): the store's is {kept!r}")
        set_setting(connection, "precision", kept)
        set_setting(connection, "index", _as_text(self.index))
        set_setting(connection, "blend", json.dumps(self.blend))
        if setting(connection, "embedder") is None and self.embedder is not None:
            set_setting(connection, "embedder", self.identity)
            name = self.embedder if isinstance(self.embedder, str) else None
            set_setting(connection, "embedder_name", name)
            set_setting(connection, "by_document", int(self.by_document))


def _as_text(index: Auto | Exact | Hnsw) -> str:
    return json.dumps([type(index).__name__.lower(), asdict(index)])


def _index_from(text: str | None) -> Auto | Exact | Hnsw:
    if text is None:
        return Auto()
    name, values = json.loads(text)
    if name == "auto":
        values["hnsw"] = Hnsw(**values["hnsw"])
    return _KINDS[name](**values)
