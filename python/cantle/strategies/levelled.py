"""What strategies do alike that put levels of groups above their chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cantle import _core
from cantle.chunks import Chunks
from cantle.documents import Documents
from cantle.limits import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHARES = (16, 4)
"""How many times as large as a chunk levels 1 and 2 are, if nothing is said."""
_SPAN = ("byte_start", "byte_end", "char_start", "char_end")


class Levelled:
    """Goes before `Splitting`: chunks at level 3, groups of level 2, and groups of these."""

    size: int
    name: str | None
    strategy: ClassVar[str]
    parent_sizes: tuple[int, int] | None

    @property
    def limits(self) -> tuple[int, int]:
        """Most units in a chunk of level 1, and of level 2."""
        return self._check_parent_sizes()

    def _check_parent_sizes(self) -> tuple[int, int]:
        """Return the sizes of levels 1 and 2, checked, or what stands for them."""
        size = self.size if isinstance(self.size, int | np.integer) else 1
        if self.parent_sizes is None:
            largest = 2**62
            return min(_SHARES[0] * int(size), largest), min(_SHARES[1] * int(size), largest)
        first, second = pair("parent_sizes", self.parent_sizes)
        sizes = (whole("parent_sizes", first, 1), whole("parent_sizes", second, 1))
        object.__setattr__(self, "parent_sizes", sizes)
        if not sizes[0] >= sizes[1] >= size:
            raise _core.SettingError(
                f"parent_sizes ({sizes}) must be those of levels 1 and 2, none smaller than the "
                f"one that follows, nor than size ({size})"
            )
        return sizes

    def _chunks(
        self,
        columns: dict[str, Any],
        documents: Documents,
        *,
        name: str | None = None,
        parents: Chunks | None = None,
    ) -> Chunks:
        made: Callable[..., Chunks] = super()._chunks  # type: ignore[misc]
        nothing = (np.empty(0, np.int64), np.empty(0, np.int64))
        levels = columns.pop("levels", [nothing, nothing])
        name = name or self.name or self.strategy
        sizes = self.limits
        parent = columns.get("parent")
        above: NDArray[np.int64] | None = None
        for number, (ends, size) in enumerate(reversed(levels), 1):
            first = np.append(0, ends)[:-1]
            own = _union(columns, first, ends - 1) | {"size": size}
            own["flags"] = np.where(size > sizes[number - 1], _core.OVERSIZE, 0).astype(np.uint32)
            if above is not None:
                own["parent"] = np.searchsorted(above, first, "right")
            elif parent is not None:
                own["parent"] = parent[first]
            forms = documents.forms() if "structure" in columns else None
            if forms is not None:
                spans = (own["doc"], own["byte_start"], own["byte_end"])
                own |= _core.carried(documents.texts, forms, *spans)
                own["flags"] |= own.pop("part")
            for column in own.values():
                if isinstance(column, np.ndarray):
                    column.setflags(write=False)
            parents = made(own, documents, name=f"{name}_level{number}", parents=parents)
            parents.limit = sizes[number - 1]
            above = ends
        rows = np.arange(len(columns["doc"]))
        within = np.searchsorted(above, rows, "right") if above is not None else rows
        within.setflags(write=False)
        return made(columns | {"parent": within}, documents, name=name, parents=parents)


def _union(
    columns: dict[str, Any], first: NDArray[np.int64], last: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the documents, places and ordinals of groups of chunks, from the first to the last."""
    doc = columns["doc"][first]
    rows = np.arange(len(doc))
    ordinal = (rows - np.searchsorted(doc, doc)).astype(np.int32)
    spans = {side: columns[side][first if side.endswith("start") else last] for side in _SPAN}
    if columns["char_start"] is columns["byte_start"]:
        spans["char_start"], spans["char_end"] = spans["byte_start"], spans["byte_end"]
    return {"doc": doc, "ordinal": ordinal} | spans


def pair(name: str, value: object) -> tuple[object, object]:
    """Return a setting that is two values, one for level 1 and one for level 2.

    Raises:
        TypeError: It is anything else.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(f"{name} ({value!r}) must be two values, for levels 1 and 2")
    return value[0], value[1]
