"""The arms of a round in all the ways that Python has them: right, or refused in words."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import pytest
from conftest import refuses

import eenet

ARMS = np.random.default_rng(3).integers(-8, 8, (6, 4)).astype(np.float32) / 4
WHOLE = np.arange(24).reshape(6, 4)


@pytest.fixture(scope="module")
def bandit() -> eenet.Bandit:
    """One that has learned something, so that other arms give other scores."""
    bandit = eenet.Bandit("linucb", 4)
    for arms in np.random.default_rng(0).standard_normal((30, 6, 4), dtype=np.float32):
        decision = bandit.decide(arms)
        bandit.learn(decision, arms[decision.arm].sum())
    return bandit


def unaligned(array: np.ndarray) -> np.ndarray:
    room = np.zeros(array.nbytes + 1, np.uint8)
    view = room[1:].view(array.dtype).reshape(array.shape)
    view[:] = array
    assert not view.flags.aligned
    return view


class Subclass(np.ndarray):
    """With __array_struct__ of its own, which must not be believed."""

    @property
    def __array_struct__(self) -> Any:
        raise RuntimeError("not to be asked")


class HasArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return ARMS.astype(dtype or np.float32)


class HasInterface:
    __array_interface__ = ARMS.__array_interface__
    kept = ARMS


ALIKE = {
    "float64": ARMS.astype(np.float64),
    "float16": ARMS.astype(np.float16),
    "long double": ARMS.astype(np.longdouble),
    "big-endian float32": ARMS.astype(">f4"),
    "big-endian float64": ARMS.astype(">f8"),
    "Fortran order": np.asfortranarray(ARMS),
    "every other row and column": np.repeat(np.repeat(ARMS, 2, 0), 2, 1)[::2, ::2],
    "backwards": ARMS[::-1, ::-1].copy()[::-1, ::-1],
    "float64 backwards": ARMS[::-1].astype(np.float64)[::-1],
    "unaligned float32": unaligned(ARMS),
    "unaligned float64": unaligned(ARMS.astype(np.float64)),
    "read-only": np.frombuffer(ARMS.tobytes(), np.float32).reshape(6, 4),
    "objects": ARMS.astype(object),
    "a list of lists": ARMS.tolist(),
    "a list of lists of whole numbers": [[int(x) if x == int(x) else x for x in row] for row in ARMS.tolist()],
    "a list of lists of true and false": [[bool(x) if x in (0, 1) else x for x in row] for row in ARMS.tolist()],
    "a list of lists and tuples": [tuple(row) if i % 2 else row for i, row in enumerate(ARMS.tolist())],
    "a list of arrays": list(ARMS),
    "a tuple of tuples": tuple(map(tuple, ARMS.tolist())),
    "a list of arrays of one number each": [[np.float64(x) for x in row] for row in ARMS],
    "numpy's matrix": ARMS.view(np.matrix),
    "a subclass": ARMS.view(Subclass),
    "a masked array without a mask": np.ma.masked_array(ARMS),
    "a record of memory": memoryview(ARMS),
    "what has __array__": HasArray(),
    "what has __array_interface__": HasInterface(),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_the_same_numbers_are_the_same_arms(kind: str, bandit: eenet.Bandit) -> None:
    assert bandit.score(ALIKE[kind]) == bandit.score(ARMS)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8", "f2", "f8"])
def test_whole_numbers_are_converted(dtype: str, bandit: eenet.Bandit) -> None:
    numbers = WHOLE.astype(dtype)
    assert bandit.score(numbers) == bandit.score(numbers.astype(np.float32))
    assert bandit.score(numbers[::2, ::-1]) == bandit.score(numbers[::2, ::-1].astype(np.float32))


def megabytes_more(call: Callable[[], Any]) -> int:
    """By how much a call raises the memory of this process, at most."""

    def resident(which: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next((int(line.split()[1]) // 1024 for line in lines if line.startswith(which)), 0)

    try:
        Path("/proc/self/clear_refs").write_text("5")  # the most begins anew
    except OSError:
        pytest.skip("this system does not measure it")
    before = resident("VmRSS")
    call()
    return resident("VmHWM") - before


def test_float32_in_c_order_is_read_where_it_is() -> None:
    arms = np.ones((4, 4_000_000), np.float32)
    uniform = eenet.Bandit("uniform", arms.shape[1])
    if megabytes_more(arms.copy) < 50:
        pytest.skip("this system does not measure it")
    assert megabytes_more(lambda: uniform.score(arms)) < 10
    assert megabytes_more(lambda: uniform.score(arms[:, ::-1])) > 50  # which is copied


def test_frames_of_numbers(bandit: eenet.Bandit) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ARMS, columns=list("abcd"))
    assert bandit.score(frame) == bandit.score(ARMS)
    assert bandit.score(frame.astype(float)) == bandit.score(ARMS)
    frame["e"] = 1
    refuses(eenet.BadInput, "the dimension is 5", bandit.decide, frame)
    frame["d"] = "text"
    refuses((TypeError, ValueError), "arms: expected numbers", bandit.decide, frame[list("abcd")])


def test_tensors(bandit: eenet.Bandit) -> None:
    torch = pytest.importorskip("torch")
    assert bandit.score(torch.from_numpy(ARMS)) == bandit.score(ARMS)


# ---- sparse ----


@pytest.fixture(scope="module")
def scipy_sparse() -> Any:
    return pytest.importorskip("scipy.sparse")


SPARSE = np.where(np.abs(ARMS) > 1, ARMS, 0).astype(np.float32)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_scipys_formats(kind: str, dtype: str, bandit: eenet.Bandit, scipy_sparse: Any) -> None:
    numbers = SPARSE.astype(dtype)
    expected = bandit.score(eenet.SparseArms(*csr_parts(numbers), numbers.shape))
    for maker in (f"{kind}_matrix", f"{kind}_array"):
        if hasattr(scipy_sparse, maker):
            assert bandit.score(getattr(scipy_sparse, maker)(numbers)) == expected
    assert np.allclose(expected.scores, bandit.score(numbers).scores, atol=1e-6)


def csr_parts(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(numbers)
    return np.searchsorted(rows, np.arange(len(numbers) + 1)), columns, numbers[rows, columns]


@pytest.mark.parametrize("indices", [[3, 0, 1, 2, 1], [0, 0, 3, 1, 2], [3, 0, 0, 2, 1]], ids=["order", "twice", "both"])
def test_sparse_rows_in_disorder_are_put_in_order(bandit: eenet.Bandit, scipy_sparse: Any, indices: list[int]) -> None:
    starts, values = [0, 3, 5], np.array([1, 2, 3, 4, 5], np.float32)
    matrix = scipy_sparse.csr_matrix((values, indices, starts), (2, 4))
    tidy = scipy_sparse.csr_matrix(matrix.toarray())
    assert bandit.score(matrix) == bandit.score(tidy)
    assert matrix.nnz == 5 and list(matrix.indices) == indices, "it is the caller's, and stays as it was"


def test_sparse_slices_and_empty_rows(bandit: eenet.Bandit, scipy_sparse: Any) -> None:
    matrix = scipy_sparse.csr_matrix(SPARSE)
    assert bandit.score(matrix[2:5]) == bandit.score(scipy_sparse.csr_matrix(SPARSE[2:5]))
    empty = scipy_sparse.csr_matrix((3, 4), dtype=np.float32)
    assert np.array_equal(bandit.score(empty).exploitation, bandit.score(np.zeros((3, 4))).exploitation)
    wide = scipy_sparse.csr_matrix(SPARSE)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert bandit.score(wide) == bandit.score(matrix)


def sparse_like(**changed: Any) -> SimpleNamespace:
    parts = {"indptr": [0, 1, 3], "indices": [0, 1, 3], "data": [1.0, 2.0, 3.0], "shape": (2, 4)}
    return SimpleNamespace(**{**parts, **changed})


def test_anything_in_csr_form_will_do(bandit: eenet.Bandit) -> None:
    dense = [[1, 0, 0, 0], [0, 2, 0, 3]]
    assert np.allclose(bandit.score(sparse_like()).scores, bandit.score(dense).scores)
    assert bandit.score(sparse_like(shape=[2, 4])) == bandit.score(sparse_like())
    longer = sparse_like(indices=[0, 1, 3, 9], data=[1.0, 2.0, 3.0, 4.0, 5.0])  # as scipy leaves room
    assert bandit.score(longer) == bandit.score(sparse_like())


@pytest.mark.parametrize("changed, sentence", [
    ({"indptr": [0, 1]}, "expected one more entry in indptr"),
    ({"indptr": [0, 1, 9]}, "indptr implies 9 entries"),
    ({"indptr": [0, 2, 1]}, "indptr must start at 0 and never decrease"),
    ({"indptr": [1, 2, 3]}, "indptr must start at 0"),
    ({"indptr": [-1, 2, 3]}, "indptr must start at 0"),
    ({"indptr": [0, -(2**63), 3]}, "never decrease"),
    ({"indptr": [0, 2**63 - 1, 3]}, "never decrease"),
    ({"indptr": [0, 1, 2**63 - 1]}, "indptr implies"),
    ({"indptr": [0.0, 1.0, 3.0]}, "expected integers"),
    ({"indices": [0, 1, 4]}, "index 4; expected indices below 4, the dimension"),
    ({"indices": [0, -1, 3]}, "index -1"),
    ({"indices": [0, 1, 2**40]}, "index 1099511627776"),
    ({"indices": [0, 3, 1]}, "ascending order"),
    ({"indices": [0, 1, 1]}, "ascending order"),
    ({"indices": [0, 1]}, "indptr implies 3 entries, but indices and data have 2"),
    ({"indices": [[0, 1, 3]]}, "expected an array of 1 dimension"),
    ({"data": [1.0]}, "indptr implies 3 entries, but indices and data have 1"),
    ({"data": [1.0, np.nan, 1.0]}, "not a finite number"),
    ({"data": "abc"}, "expected numbers|1 dimension"),
    ({"shape": (2, 5)}, "the dimension is 5"),
    ({"shape": (0, 4), "indptr": [0]}, "at least one arm"),
    ({"shape": (2,)}, "2 dimensions"),
    ({"shape": (2, 4, 1)}, "2 dimensions"),
    ({"shape": (-2, 4)}, "integer"),
    ({"shape": (2**62, 4)}, "one more entry"),
    ({"shape": (2**64, 4)}, "integer"),
    ({"shape": ("a", 4)}, "integer"),
    ({"shape": 3}, "iterable|sequence"),
])
def test_sparse_arms_that_do_not_fit_together(changed: dict[str, Any], sentence: str, bandit: eenet.Bandit) -> None:
    refuses((ValueError, TypeError), sentence, bandit.decide, sparse_like(**changed))
    refuses(AttributeError, None, bandit.decide, SimpleNamespace(indptr=[0, 1]))


# ---- what is refused ----


@pytest.mark.parametrize("arms, kind, sentence", [
    (ARMS[0], eenet.BadInput, "arms: expected an array of 2 dimensions, one row per arm, got 1"),
    (ARMS[None], eenet.BadInput, "got 3"),
    (np.zeros((1,) * 32), eenet.BadInput, "got 32"),
    (3.0, eenet.BadInput, "got 0"),
    ([], eenet.BadInput, "got 1"),
    ([[]], eenet.BadInput, "the dimension is 0"),
    (np.zeros((0, 4)), eenet.BadInput, "at least one arm"),
    (np.zeros((3, 0), np.float32), eenet.BadInput, "the dimension is 0"),
    (np.zeros((3, 5)), eenet.BadInput, "the dimension is 5; expected 4, the bandit's"),
    ([[1, 2, 3, 4], [1, 2]], eenet.BadInput, "arms: expected numbers"),
    ([[1, 2, 3, 4], []], eenet.BadInput, "arms: expected numbers"),
    ([[1, 2, 3, 4], [1, 2, 3, 4, 5]], eenet.BadInput, "arms: expected numbers"),
    ([[1, 2, 3, float("nan")]], eenet.BadInput, "feature 3 of arm 0 is not a finite number"),
    ([[1, 2, 3, 1e300]], eenet.BadInput, "feature 3 of arm 0 is not a finite number"),
    ([[1, 2, 3, "x"]], TypeError, "arms: expected numbers, got strings"),
    ([[1, 2, 3, None]], eenet.BadInput, "feature 3 of arm 0 is not a finite number"),
    ([[1, 2, 3, {}]], TypeError, "arms: expected numbers"),
    (ARMS.astype(complex), TypeError, "arms: expected numbers, got complex numbers"),
    (ARMS.astype("U5"), TypeError, "arms: expected numbers"),
    (np.zeros((2, 4), "M8[s]"), TypeError, "arms: expected numbers"),
    (np.zeros((2, 4), [("a", "f4")]), TypeError, "arms: expected numbers"),
    (np.array([[1, 2, 3, object()]], dtype=object), TypeError, "arms: expected numbers"),
    (np.array([[1, 2, 3, np.nan]]), eenet.BadInput, "feature 3 of arm 0 is not a finite number"),
    (np.array([[1, 2, np.inf, 4]], np.float32), eenet.BadInput, "not a finite number"),
    (np.array([[1, 2e9, 3, 4]]), eenet.BadInput, "expected -1e9 to 1e9: scale it"),
    (np.broadcast_to(np.float32(1), (2**50, 4)), MemoryError, None),
    (np.broadcast_to(np.float32(1), (2**58, 4)), MemoryError, None),
    (np.zeros((2**50, 0), "f4"), (eenet.BadInput, MemoryError), None),
    (np.zeros((2**50, 0), "f8"), (eenet.BadInput, MemoryError), None),
    (np.ma.masked_less(ARMS, 0), eenet.BadInput, "masked"),
    ("text", eenet.BadInput, "features=True"),
    ([{"a": 1}], eenet.BadInput, "expects vectors"),
    (None, (eenet.BadInput, TypeError), None),
    (object(), TypeError, "arms: expected numbers"),
    (eenet.Bandit, TypeError, "arms: expected numbers"),
    (np.ndarray, TypeError, "arms: expected numbers"),
])
def test_what_is_no_round_is_refused(arms: Any, kind: type, sentence: Any, bandit: eenet.Bandit) -> None:
    snapshot = bandit.snapshot()
    for call in (bandit.decide, bandit.score, bandit.probabilities, snapshot.decide, snapshot.score):
        refuses(kind, sentence, call, arms)
    refuses(kind, sentence, bandit.learn_from, arms, 0, 1.0)
    for explained in (bandit, snapshot):
        refuses(kind, sentence, explained.explain, arms, 0)
    assert bandit.info.decisions == 30 and bandit.info.rewards == 30


def test_other_containers(bandit: eenet.Bandit) -> None:
    assert bandit.score(np.array(deque(ARMS.tolist()))) == bandit.score(ARMS)
    refuses(eenet.BadInput, "context", bandit.decide, ARMS, context={"a": 1})
