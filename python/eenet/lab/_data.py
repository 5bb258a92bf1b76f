"""Data sets: opened by name, or created from arrays."""

from __future__ import annotations

import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy

from .._core import Bandit
from .._errors import Error
from .._lab_library import lab as _lab
from ._policies import policy_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Dataset", "DatasetKind", "DatasetOption", "Round", "datasets", "open", "table"]


class Round(NamedTuple):
    """One round: its arms and the reward of each."""

    arms: Any
    """float32 (arms, dim), or eenet.SparseArms"""
    rewards: NDArray[numpy.float64]
    """float64 (arms,): the reward of each arm in this round, noise included"""
    expected: NDArray[numpy.float64]
    """float64 (arms,): the expected reward of each arm; equals the reward if there is no noise"""

    def regret(self, arm: int) -> float:
        """The regret of choosing this arm: the best expected reward minus its own."""
        return float(self.expected.max() - self.expected[arm])


class Dataset(_lab.Dataset):
    """An open data set, from `eenet.lab.open` or `eenet.lab.table`. It is read-only: threads may share it.
    `remarks` lists likely mistakes in the data; `run` warns about them.

    >>> data = Dataset("synthetic:cosine,dim=3,arms=4")
    >>> data.name, data.dim, data.arms, data.length, data.rows
    ('synthetic:cosine,dim=3,arms=4', 3, 4, None, None)
    """

    def rounds(self, seed: int = 0) -> Iterator[Round]:
        """The rounds of a seed, the same for every policy. Each round is a copy that you may keep. Most data sets never
        end: break out of the loop, or use itertools.islice."""
        return map(Round._make, self.deal(seed))

    def bandit(
        self, policy: Any = "eenet", seed: int = 0, *, options: Union[str, Mapping[str, Any], None] = None, **named: Any
    ) -> Bandit:
        """A bandit as `run` creates it for this data set: with the options `blocks` and `exclusive` that fit its arms,
        unless you set them.

        >>> Dataset("synthetic:cosine").bandit("linucb", alpha=0.3).dim
        20
        """
        name, text = policy_text(policy, options, named)
        acting, _ = _lab.check((self, name, text, seed, 1), "0", 1)
        return Bandit(name, self.dim, seed, options=acting)

    def __repr__(self) -> str:
        parts = [repr(self.name), f"dim={self.dim}", f"arms={self.arms}"]
        if self.length is not None:
            parts.append(f"length={self.length}")
        if self.rows is not None:
            parts.append(f"rows={self.rows}")
        return f"Dataset({', '.join(parts)})"

    def __copy__(self) -> "Dataset":
        return self

    def __deepcopy__(self, memo: Any) -> "Dataset":
        return self

    def __reduce__(self) -> Any:
        if getattr(self, "made_of_arrays", False):
            raise TypeError("cannot pickle a data set created from arrays; pickle the arrays instead")
        return type(self), (self.text,)


def open(text: Union[str, "os.PathLike[str]"], cache: Union[str, "os.PathLike[str]", None] = None) -> Dataset:
    """Opens a data set. text: as for the program's -d: a kind, a path or form, and options.

    cache: a folder that stores data that takes long to prepare, for the next time (optional).

    >>> open("synthetic:cosine,noise=0.5")
    Dataset('synthetic:cosine,noise=0.5', dim=20, arms=10)
    """
    return Dataset(text, cache)


class DatasetOption(NamedTuple):
    """An option of a kind of data set."""

    name: str
    default: str
    range: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.name}={self.default}: {self.meaning} ({self.range})"


class DatasetKind(NamedTuple):
    """A kind of data set: the form of its text, and its options."""

    name: str
    form: str
    summary: str
    options: Tuple[DatasetOption, ...]

    def __str__(self) -> str:
        return "\n  ".join([f"{self.form}: {self.summary}", *map(str, self.options)])


def datasets() -> List[DatasetKind]:
    """The kinds of data sets that `open` accepts.

    >>> kind = datasets()[0]
    >>> kind.name, [option.name for option in kind.options]
    ('synthetic', ['dim', 'arms', 'noise', 'drift'])
    >>> print(kind)
    synthetic:inner|quadratic|cosine[,OPTION=VALUE...]: generated rounds with a known expected reward: x.a, 10(x.a)^2 or cos(3x.a)
      dim=20: features per arm (1 to 65536)
      arms=10: arms per round (2 to 65536)
      noise=0.1: standard deviation of the rewards' noise (0 to 1000)
      drift=0: radians by which a rotates every 1000 rounds (0 to 1000)
    """
    return [
        DatasetKind(name, form, summary, tuple(map(DatasetOption._make, options)))
        for name, form, summary, options in _lab.datasets()
    ]


# ---- arrays ----


def table(X: Any, y: Any, *, name: str = "arrays", **options: Any) -> Dataset:
    """Turns a classification problem into a bandit problem: each row of X is a round with one arm per class. The arm
    of the row's class earns 1, the others 0. Arm i is the row in block i of a longer vector.

    X: an array of numbers (rows, features), a scipy.sparse matrix, or a DataFrame. In a DataFrame, columns of strings
        and of dtype category are categories; a missing value gets its own feature.
    y: one class per row, or the name of the column of X that holds them.
    name: results call the data set ``table:NAME``.
    options: those of the kind `table`, for example ``normalize="standard"``.

    The result equals what the program makes of the same rows in a file.

    >>> table([[5.1, 3.5], [4.9, 3.0], [6.2, 3.4]], ["setosa", "setosa", "virginica"], name="iris")
    Dataset('table:iris', dim=6, arms=2, rows=3)
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"name: expected letters, digits, _ and -, got {name!r}")
    if not {"label", "header"}.isdisjoint(options):
        raise ValueError("label and header work only for a table in a file; here y holds the classes")
    if isinstance(X, numpy.ma.MaskedArray) and X.mask.any():
        raise ValueError("X: expected no masked values, got some; use NaN for missing numbers")
    X, y = _take_classes(X, y)
    made = _open_sparse(X.tocsr(), y, name, options) if hasattr(X, "tocsr") else _open_columns(X, y, name, options)
    made.made_of_arrays = True  # type: ignore[attr-defined]
    return made


def _option_text(options: Mapping[str, Any]) -> str:
    switches = {True: "on", False: "off"}
    return "".join(f",{key}={switches[value] if isinstance(value, bool) else _quoted(str(value))}"
                   for key, value in options.items())


def _quoted(text: str) -> str:
    """A string with commas, spaces or quotes, as one value of an option."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if re.search(r'[,\s"]', text) else text


def _take_classes(X: Any, y: Any) -> Tuple[Any, List[Any]]:
    """X without the classes, and the classes as plain Python values."""
    if isinstance(y, str):
        if not hasattr(X, "columns"):
            raise TypeError(f"y: a column name, {y!r}, requires X to be a DataFrame, got {type(X).__name__}")
        if y not in X.columns:
            raise ValueError(f"y: X has no column {y!r}; expected one of {', '.join(map(str, X.columns))}")
        X, y = X.drop(columns=[y]), X[y]
    classes = numpy.asarray(y)
    if classes.ndim != 1:
        raise ValueError(f"y: expected an array of 1 dimension, got {classes.ndim}")
    values: List[Any] = classes.tolist()
    rows = X.shape[0] if hasattr(X, "shape") and X.shape else len(X)
    if rows != len(values):
        raise ValueError(f"y: expected one class for each of the {rows} rows of X, got {len(values)}")
    for row, value in enumerate(values):
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise ValueError(f"y: the class of row {row} is missing")
    return X, values


def _are_numbers(values: List[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _open_columns(X: Any, y: List[Any], name: str, options: Mapping[str, Any]) -> Dataset:
    """The classes come first, so that another column named target is not mistaken for them."""
    classes: Any = numpy.array(y, numpy.float64) if _are_numbers(y) else _texts_of(y)
    if hasattr(X, "columns"):
        names = [str(column) for column in X.columns]
        columns = [_column_of(X.iloc[:, i]) for i in range(len(names))]
        codes = bytes([False, *(str(dtype) == "category" for dtype in X.dtypes)])
    else:
        numbers = numpy.asarray(X)
        if numbers.dtype.kind not in "buif":
            raise TypeError(f"X: expected numbers, got an array of {numbers.dtype}; use a DataFrame for strings")
        if numbers.ndim != 2:
            raise ValueError(f"X: expected an array of 2 dimensions, got {numbers.ndim}")
        columns = list(_check_numbers(numpy.array(numbers.T, numpy.float64, order="C"), "X"))
        names = [f"x{i}" for i in range(len(columns))]
        codes = bytes(1 + len(columns))
    text = f"table:{name}{_option_text(options)}"
    return Dataset.of_columns(text, _texts_of(["target", *names]), (classes, *columns), codes)


def _column_of(column: Any) -> Any:
    """A DataFrame's column: numbers unchanged, anything else as strings, missing values as empty strings."""
    if column.dtype.kind in "uif":
        numbers = column.to_numpy(dtype=numpy.float64, na_value=numpy.nan)
        return _check_numbers(numbers, f"X: column {column.name!r}")
    return _texts_of(column.astype(object).where(column.notna(), "").tolist())


def _check_numbers(numbers: Any, what: str) -> Any:
    if (numpy.abs(numbers) > numpy.finfo(numpy.float32).max).any():
        raise ValueError(f"{what}: expected numbers in the range of float32, or NaN if missing, got larger ones")
    return numbers


def _texts_of(values: List[Any]) -> bytes:
    """Null-terminated strings."""
    joined = "\0".join([*map(str, values), ""])
    if joined.count("\0") != len(values):
        raise ValueError("X and y: expected strings without null characters")
    return joined.encode()


def _open_sparse(X: Any, y: List[Any], name: str, options: Mapping[str, Any]) -> Dataset:
    """Through a file in libsvm format, which stores only the entries of a row."""
    X = X.copy()
    X.sum_duplicates()
    if not numpy.isfinite(X.data).all():
        raise ValueError("X: expected finite numbers in a sparse matrix, got NaN or infinity")
    with tempfile.TemporaryDirectory(prefix="eenet-") as folder:
        path = os.path.join(folder, name + ".svm")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            for row, label in enumerate(_number_texts(y)):
                part = slice(X.indptr[row], X.indptr[row + 1])
                pairs = zip(X.indices[part].tolist(), X.data[part].astype(float).tolist())
                file.write(" ".join([repr(label), *(f"{index + 1}:{value!r}" for index, value in pairs)]) + "\n")
        try:
            return Dataset(f"table:{path}{_option_text(options)}")
        except Error as error:  # without the temporary folder, which the user does not know
            message = str(error)
            raise type(error)(message[max(message.find(name + ".svm"), 0) :]) from None


def _number_texts(y: List[Any]) -> List[Any]:
    """Replaces string classes by numbers in the same order: the format cannot quote spaces."""
    if _are_numbers(y):
        return y
    places = {text: place for place, text in enumerate(sorted(set(map(str, y))))}
    return [places[str(label)] for label in y]


# ---- the data argument of run ----


def read_data(data: Any, cache: Optional[str]) -> List[Dataset]:
    """One data set or several, in any form that `run` accepts."""
    if isinstance(data, Mapping):
        sets = [table(*_as_pair(value), name=name) for name, value in data.items()]
    elif isinstance(data, list) or (isinstance(data, tuple) and all(map(_is_named, data))):
        sets = [read_one(one, cache) for one in data]
    else:
        sets = [read_one(data, cache)]
    names = [(one.name, one.fingerprint) for one in sets]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"data: {name[0]!r} is given twice")
    if not sets:
        raise ValueError("data: expected at least one data set, got none")
    return sets


def read_one(data: Any, cache: Optional[str] = None) -> Dataset:
    if isinstance(data, Dataset):
        return data
    return open(data, cache) if _is_named(data) else table(*_as_pair(data))


def _is_named(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike, Dataset))


def _as_pair(data: Any) -> Tuple[Any, Any]:
    if isinstance(data, tuple) and len(data) == 2:
        return data[0], data[1]
    raise TypeError(
        "data: expected a string such as 'synthetic:cosine', a Dataset, arrays (X, y), or a list of these, "
        f"got {type(data).__name__}"
    )
