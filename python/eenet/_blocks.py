"""Arms without features: arm i is the context in block i of a vector.

Use it when the arms are the same in every round and only the context changes, such as the classes of a data set or the
items of a short list. Give the neural policies the option `blocks` too: it adds a separate output for each block.

>>> import eenet
>>> arms = eenet.blocks([0.5, 2.0], 3)
>>> arms
SparseArms(arms=3, dim=6, entries=6)
>>> arms.toarray()
array([[0.5, 2. , 0. , 0. , 0. , 0. ],
       [0. , 0. , 0.5, 2. , 0. , 0. ],
       [0. , 0. , 0. , 0. , 0.5, 2. ]], dtype=float32)
>>> bandit = eenet.Bandit("eenet", dim=6, seed=1, blocks=3)
>>> bandit.decide(arms).arm in (0, 1, 2)
True
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SparseArms", "blocks"]


class SparseArms:
    """The sparse arms of a round, in the layout of scipy's csr_matrix; scipy is not required.

    Arm i has the entries indptr[i] to indptr[i + 1] of indices (in ascending order) and data.

    >>> import eenet
    >>> eenet.SparseArms([0, 1, 3], [4, 0, 2], [1, 1, 1], (2, 5)).toarray()
    array([[0., 0., 0., 0., 1.],
           [1., 0., 1., 0., 0.]], dtype=float32)
    """

    __slots__ = ("indptr", "indices", "data", "shape")

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    shape: Tuple[int, int]

    def __init__(self, indptr: Any, indices: Any, data: Any, shape: Tuple[int, int]) -> None:
        self.indptr = numpy.asarray(indptr)
        self.indices = numpy.asarray(indices)
        self.data = numpy.asarray(data, numpy.float32)
        self.shape = shape

    def toarray(self) -> NDArray[Any]:
        """The arms as a dense float32 array of shape (arms, dim)."""
        dense = numpy.zeros(self.shape, numpy.float32)
        rows = numpy.repeat(numpy.arange(self.shape[0]), numpy.diff(self.indptr))
        numpy.add.at(dense, (rows, self.indices), self.data)
        return dense

    def __repr__(self) -> str:
        return f"SparseArms(arms={self.shape[0]}, dim={self.shape[1]}, entries={len(self.data)})"


def blocks(context: Any, arms: int) -> SparseArms:
    """One arm per block: arm i has the context in block i of arms * len(context) features.

    context: a vector (a 1-dimensional array or a list), or one sparse row (scipy, shape (1, features)).
    arms: how many. Also pass blocks=arms to the bandit.
    """
    if isinstance(arms, bool) or not isinstance(arms, (int, numpy.integer)):
        raise TypeError(f"arms: expected an integer, got {type(arms).__name__}")
    if arms < 1:
        raise ValueError(f"arms: expected at least 1, got {arms}")
    return _layout(int(arms)).arms(context)


class BlockLayout:
    """Which of `total` blocks the arms of a round use, and whether a constant 1 precedes the context.

    With the constant each arm has an intercept, so that a context of zeros still distinguishes the arms. The adapters
    keep one layout while their arms stay the same.
    """

    def __init__(self, total: int, places: Optional[Sequence[int]] = None, constant: bool = False) -> None:
        self.total = total
        self.places = tuple(range(total)) if places is None else tuple(places)
        self.constant = constant
        self._frame: Tuple[Any, ...] = (-1,)

    def dim(self, features: int) -> int:
        """The features of an arm whose context has this many."""
        return self.total * (features + self.constant)

    def arms(self, context: Any) -> SparseArms:
        """One round: the context in each of the blocks."""
        if hasattr(context, "tocsr") or hasattr(context, "indptr"):
            return self._sparse(context)
        values = numpy.asarray(context, numpy.float32)
        if values.ndim != 1:
            raise ValueError(f"context: expected 1 dimension, got {values.ndim}")
        size = len(values) + self.constant
        frame = self._frame  # read once: another thread may put a frame of another size here meanwhile
        if frame[0] != size:
            indptr, indices, shape = self._place(numpy.arange(size), size)
            indptr.flags.writeable = indices.flags.writeable = False
            frame = self._frame = size, indptr, indices, shape
        data = numpy.empty((len(self.places), size), numpy.float32)
        if self.constant:
            data[:, 0] = 1
        data[:, self.constant :] = values
        return SparseArms(frame[1], frame[2], data.reshape(-1), frame[3])

    def _place(self, inside: NDArray[Any], size: int) -> Tuple[Any, ...]:
        """indptr, indices and shape of the arms of a context of this size, with entries at these positions."""
        indptr = numpy.arange(len(self.places) + 1, dtype=numpy.int64) * len(inside)
        starts = numpy.asarray(self.places, numpy.int64) * size
        indices = (starts[:, None] + inside).reshape(-1).astype(numpy.uint32)
        return indptr, indices, (len(self.places), self.total * size)

    def _sparse(self, context: Any) -> SparseArms:
        row = context if getattr(context, "format", "csr") == "csr" else context.tocsr()
        if len(row.shape) > 1 and row.shape[0] != 1:
            raise ValueError(f"context: expected one sparse row, got {row.shape[0]}")
        size = row.shape[-1] + self.constant  # a row of scipy's newer arrays has one dimension
        # scipy's rows may be unsorted and have duplicate indices: sort and sum them.
        inside, places = numpy.unique(numpy.asarray(row.indices, numpy.int64) + self.constant, return_inverse=True)
        values = numpy.bincount(places, row.data, len(inside)).astype(numpy.float32)
        if self.constant:
            inside = numpy.concatenate((numpy.zeros(1, numpy.int64), inside))
            values = numpy.concatenate((numpy.ones(1, numpy.float32), values))
        indptr, indices, shape = self._place(inside, size)
        return SparseArms(indptr, indices, numpy.tile(values, len(self.places)), shape)


@lru_cache(maxsize=64)
def _layout(arms: int) -> BlockLayout:
    return BlockLayout(arms)
