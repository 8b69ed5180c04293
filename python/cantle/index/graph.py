"""What faiss is asked for. Nothing else names it.

Of a process that was forked, the threads of its parent are gone and faiss would wait for them: it
then works on one.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.index.file import DamagedIndex, Take

if TYPE_CHECKING:
    from numpy.typing import NDArray

_loaded: list[tuple[Any, int]] = []
"""The module, and the process that loaded it."""


def faiss() -> Any:
    """Return the module.

    Raises:
        ImportError: It is not installed.
    """
    if _loaded:
        module, process = _loaded[0]
        if os.getpid() != process:
            module.omp_set_num_threads(1)
        return module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its bindings' generator
            import faiss as module
    except ImportError as error:
        raise ImportError(f"Hnsw needs faiss ({error}): install cantle[search]") from None
    _loaded.append((module, os.getpid()))
    return module


def build(
    settings: dict[str, Any],
    dimensions: int,
    count: int,
    batch: int,
    part: Callable[[int], NDArray[np.float32]],
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> Any:
    """Return a graph of `count` vectors, which `part` gives from a start on; None for none."""
    if not count:
        return None
    module = faiss()
    measure = module.METRIC_L2 if settings["metric"] == "l2" else module.METRIC_INNER_PRODUCT
    if settings["fp16"]:
        kind = module.ScalarQuantizer.QT_fp16
        nodes = module.IndexHNSWSQ(dimensions, kind, settings["m"], measure)
        nodes.train(np.zeros((1, dimensions), np.float32))
    else:
        nodes = module.IndexHNSWFlat(dimensions, settings["m"], measure)
    nodes.hnsw.efConstruction = settings["ef_construction"]
    with _threads(module, threads):
        for start in range(0, count, batch):
            nodes.add(part(start))
            if progress is not None:
                progress(nodes.ntotal, count)
    return nodes


def search(nodes: Any, queries: NDArray[np.float32], width: int, ef: int) -> NDArray[np.int64]:
    """Return the nodes [queries, width] that are nearest, padded with -1."""
    module = faiss()
    queries = np.ascontiguousarray(queries)
    found = np.empty((len(queries), width), np.int64)
    distances = np.empty((len(queries), width), np.float32)
    if not len(queries):
        return found
    # The method that is wrapped by `search`, which takes as long as a search of a small graph.
    nodes.search_c(
        len(queries),
        module.swig_ptr(queries),
        width,
        module.swig_ptr(distances),
        module.swig_ptr(found),
        _asked(ef),
    )
    return found


@lru_cache(64)
def _asked(ef: int) -> Any:
    """Return the parameters of a search, which no search changes."""
    return faiss().SearchParametersHNSW(efSearch=ef)


def vectors(nodes: Any, fp16: bool) -> NDArray[Any]:
    """Return the vectors of a graph as they lie in its memory: alive as long as it is."""
    module = faiss()
    storage = module.downcast_index(nodes.storage)
    if fp16:
        raw = module.rev_swig_ptr(storage.codes.data(), nodes.ntotal * nodes.d * 2)
        found: NDArray[Any] = raw.view(np.float16)
    else:
        found = module.rev_swig_ptr(storage.get_xb(), nodes.ntotal * nodes.d)
    found = found.reshape(nodes.ntotal, nodes.d)
    found.flags.writeable = False
    return found


def write(nodes: Any, take: Take) -> None:
    """Hand a graph over in pieces, as faiss writes it.

    What `take` raises comes out unchanged: faiss would make one error of all.
    """
    if nodes is None:
        return
    module = faiss()
    raised: list[BaseException] = []

    def kept(piece: Any) -> int:
        try:
            take(piece)
        except BaseException as error:
            raised.append(error)
            return 0
        return len(piece)

    try:
        module.write_index(nodes, module.PyCallbackIOWriter(kept))
    except RuntimeError:
        if not raised:
            raise
    if raised:
        raise raised[0]


def open_mapped(path: str) -> Any:
    """Return the graph at the start of a file, mapped.

    Raises:
        DamagedIndex: There is none.
    """
    module = faiss()
    try:
        return module.read_index(path, module.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise DamagedIndex(f"{path}: no graph can be read ({error})") from None


def as_bytes(nodes: Any) -> NDArray[np.uint8] | None:
    """Return a graph in one piece."""
    if nodes is None:
        return None
    found: NDArray[np.uint8] = faiss().serialize_index(nodes)
    return found


def from_bytes(data: NDArray[np.uint8] | None) -> Any:
    """Return the graph that `as_bytes` made a piece of."""
    return None if data is None else faiss().deserialize_index(data)


@contextmanager
def _threads(module: Any, threads: int) -> Iterator[None]:
    """Have faiss work on so many threads, 0 for its own number; the number is the thread's own."""
    before = module.omp_get_max_threads()
    if threads and os.getpid() == _loaded[0][1]:
        module.omp_set_num_threads(threads)
    try:
        yield
    finally:
        module.omp_set_num_threads(before)
