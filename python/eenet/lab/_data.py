"""Data sets: opened by their text, or made of arrays."""

from __future__ import annotations

import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy

import eenet

from .._lab_library import lab as _lab

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Dataset", "DatasetKind", "DatasetOption", "Round", "datasets", "open", "table"]


class Round(NamedTuple):
    """One round: its arms and what each of them gives."""

    arms: Any
    """float32 (arms, dim), or eenet.SparseArms"""
    rewards: NDArray[numpy.float64]
    """float64 (arms,): what each arm would give now, noise included"""
    expected: NDArray[numpy.float64]
    """float64 (arms,): what each arm gives on average; where a reward is certain, the reward"""

    def regret(self, arm: int) -> float:
        """What playing this arm loses: the best expected reward less its own."""
        return float(self.expected.max() - self.expected[arm])


class Dataset(_lab.Dataset):
    """A data set that was opened; made by `eenet.lab.open` and `eenet.lab.table`. It is only read: any number of
    threads may use it. `remarks` are sentences on what is likely a mistake in what was read; `run` warns of them.

    >>> data = Dataset("synthetic:cosine,dim=3,arms=4")
    >>> data.name, data.dim, data.arms, data.length, data.rows
    ('synthetic:cosine,dim=3,arms=4', 3, 4, None, None)
    """

    def rounds(self, seed: int = 0) -> Iterator[Round]:
        """The rounds of a seed: the same ones that every policy meets which plays it. Each is a copy of its own, and
        may be kept. Most data sets have rounds without end: leave the loop, or use itertools.islice."""
        return map(Round._make, self.deal(seed))

    def bandit(
        self, policy: Any = "eenet", seed: int = 0, *, options: Union[str, Mapping[str, Any], None] = None, **named: Any
    ) -> "eenet.Bandit":
        """A bandit as `run` makes it for this data set: what is known of the arms (`blocks`, `exclusive`) is among its
        options, unless they say otherwise.

        >>> Dataset("synthetic:cosine").bandit("linucb", alpha=0.3).dim
        20
        """
        from ._policies import policy_text

        name, words = policy_text(policy, options, named)
        acting, _ = _lab.check((self, name, words, seed, 1), "0", 1)
        return eenet.Bandit(name, self.dim, seed, options=acting)

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
            raise TypeError("a data set that was made of arrays cannot be pickled; pickle the arrays")
        return type(self), (self.text,)


def open(text: Union[str, "os.PathLike[str]"], cache: Union[str, "os.PathLike[str]", None] = None) -> Dataset:
    """Opens a data set by its text, as the program's -d takes it: a kind, a place or form, and options.

    What takes long to prepare is kept in the folder `cache`, if one is given, and is taken from there the next time.

    >>> open("synthetic:cosine,noise=0.5")
    Dataset('synthetic:cosine,noise=0.5', dim=20, arms=10)
    """
    return Dataset(text, cache)


class DatasetOption(NamedTuple):
    """An option of a kind of data sets."""

    name: str
    default: str
    range: str
    meaning: str

    def __str__(self) -> str:
        return f"{self.name}={self.default}: {self.meaning} ({self.range})"


class DatasetKind(NamedTuple):
    """A kind of data sets: what its text looks like, and its options."""

    name: str
    form: str
    summary: str
    options: Tuple[DatasetOption, ...]

    def __str__(self) -> str:
        return "\n  ".join([f"{self.form}: {self.summary}", *map(str, self.options)])


def datasets() -> List[DatasetKind]:
    """The kinds of data sets that `open` knows.

    >>> kind = datasets()[0]
    >>> kind.name, [option.name for option in kind.options]
    ('synthetic', ['dim', 'arms', 'noise', 'drift'])
    >>> print(kind)
    synthetic:inner|quadratic|cosine[,OPTION=VALUE...]: made rounds with a known true reward: x.a, 10(x.a)^2 or cos(3x.a)
      dim=20: features of an arm (1 to 65536)
      arms=10: arms of a round (2 to 65536)
      noise=0.1: standard deviation of the rewards' noise (0 to 1000)
      drift=0: radians by which a turns every 1000 rounds (0 to 1000)
    """
    return [
        DatasetKind(name, form, summary, tuple(map(DatasetOption._make, options)))
        for name, form, summary, options in _lab.datasets()
    ]


# ---- arrays ----


def table(X: Any, y: Any, *, name: str = "arrays", **options: Any) -> Dataset:
    """A classification problem as a bandit problem: a row of X is a round with an arm for each class; the arm of its
    own class, y, has reward 1, the others 0. Arm i is the row in block i of a longer vector.

    X is an array of numbers (rows, features), a DataFrame (columns of text are categories, and so are those of pandas'
    type category, whatever they hold; what is missing has a feature of its own) or a scipy.sparse matrix; y
    has a class for each row, or is the name of X's column with them. The options are those of the kind `table`, as
    ``normalize="standard"``; results call it ``table:NAME``. It is what the program makes of the same rows in a file.

    >>> table([[5.1, 3.5], [4.9, 3.0], [6.2, 3.4]], ["setosa", "setosa", "virginica"], name="iris")
    Dataset('table:iris', dim=6, arms=2, rows=3)
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"name: letters, digits, _ and - are needed, got {name!r}")
    if not {"label", "header"}.isdisjoint(options):
        raise ValueError("label and header are options of a table in a file: here y has the classes")
    if isinstance(X, numpy.ma.MaskedArray) and X.mask.any():
        raise ValueError("X: some of the numbers are masked; nan is one that is missing")
    X, y = _take_classes(X, y)
    made = _open_sparse(X.tocsr(), y, name, options) if hasattr(X, "tocsr") else _open_columns(X, y, name, options)
    made.made_of_arrays = True  # type: ignore[attr-defined]
    return made


def _option_text(options: Mapping[str, Any]) -> str:
    words = {True: "on", False: "off"}
    return "".join(f",{key}={words[value] if isinstance(value, bool) else _quoted(str(value))}"
                   for key, value in options.items())


def _quoted(text: str) -> str:
    """A text with commas, blanks or quotes in it, as one value of an option."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if re.search(r'[,\s"]', text) else text


def _take_classes(X: Any, y: Any) -> Tuple[Any, List[Any]]:
    """X without the classes, and the classes as plain Python values."""
    if isinstance(y, str):
        if not hasattr(X, "columns"):
            raise TypeError(f"y: a column's name, {y!r}, needs an X that is a DataFrame")
        if y not in X.columns:
            raise ValueError(f"y: X has no column {y!r}; it has {', '.join(map(str, X.columns))}")
        X, y = X.drop(columns=[y]), X[y]
    classes = numpy.asarray(y)
    if classes.ndim != 1:
        raise ValueError(f"y: an array of 1 dimension is needed, this one has {classes.ndim}")
    values: List[Any] = classes.tolist()
    rows = X.shape[0] if hasattr(X, "shape") and X.shape else len(X)
    if rows != len(values):
        raise ValueError(f"y: a class for each of the {rows} rows of X is needed, got {len(values)}")
    for row, value in enumerate(values):
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise ValueError(f"y: row {row} has no class")
    return X, values


def _are_numbers(values: List[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _open_columns(X: Any, y: List[Any], name: str, options: Mapping[str, Any]) -> Dataset:
    """The classes first: another column that is called target is not taken for them."""
    classes: Any = numpy.array(y, numpy.float64) if _are_numbers(y) else _texts_of(y)
    if hasattr(X, "columns"):
        names = [str(column) for column in X.columns]
        columns = [_column_of(X.iloc[:, i]) for i in range(len(names))]
        codes = bytes([False, *(str(dtype) == "category" for dtype in X.dtypes)])
    else:
        numbers = numpy.asarray(X)
        if numbers.dtype.kind not in "buif":
            raise TypeError(f"X: numbers are needed, got an array of {numbers.dtype}; a DataFrame may have texts too")
        if numbers.ndim != 2:
            raise ValueError(f"X: an array of 2 dimensions is needed, this one has {numbers.ndim}")
        columns = list(_check_numbers(numpy.array(numbers.T, numpy.float64, order="C"), "X"))
        names = [f"x{i}" for i in range(len(columns))]
        codes = bytes(1 + len(columns))
    text = f"table:{name}{_option_text(options)}"
    return Dataset.of_columns(text, _texts_of(["target", *names]), (classes, *columns), codes)


def _column_of(column: Any) -> Any:
    """A DataFrame's column: numbers as they are, anything else as text, what is missing as an empty one."""
    if column.dtype.kind in "uif":
        numbers = column.to_numpy(dtype=numpy.float64, na_value=numpy.nan)
        return _check_numbers(numbers, f"X: column {column.name!r}")
    return _texts_of(column.astype(object).where(column.notna(), "").tolist())


def _check_numbers(numbers: Any, what: str) -> Any:
    if (numpy.abs(numbers) > numpy.finfo(numpy.float32).max).any():
        raise ValueError(f"{what}: numbers of float32's range are needed, or nan where one is missing, got larger ones")
    return numbers


def _texts_of(values: List[Any]) -> bytes:
    """Each ended by a zero."""
    joined = "\0".join([*map(str, values), ""])
    if joined.count("\0") != len(values):
        raise ValueError("X and y: texts without a zero character are needed")
    return joined.encode()


def _open_sparse(X: Any, y: List[Any], name: str, options: Mapping[str, Any]) -> Dataset:
    """By a file in libsvm's format, where a row is as long as it has entries."""
    X = X.copy()
    X.sum_duplicates()
    if not numpy.isfinite(X.data).all():
        raise ValueError("X: a sparse matrix has finite numbers, got others")
    with tempfile.TemporaryDirectory(prefix="eenet-") as folder:
        path = os.path.join(folder, name + ".svm")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            for row, label in enumerate(_number_texts(y)):
                part = slice(X.indptr[row], X.indptr[row + 1])
                pairs = zip(X.indices[part].tolist(), X.data[part].astype(float).tolist())
                file.write(" ".join([repr(label), *(f"{index + 1}:{value!r}" for index, value in pairs)]) + "\n")
        try:
            return Dataset(f"table:{path}{_option_text(options)}")
        except eenet.Error as error:  # a folder that nobody has seen is not named
            message = str(error)
            raise type(error)(message[max(message.find(name + ".svm"), 0) :]) from None


def _number_texts(y: List[Any]) -> List[Any]:
    """Classes that are texts as numbers in the same order: the format has no quotes for blanks in them."""
    if _are_numbers(y):
        return y
    places = {text: place for place, text in enumerate(sorted(set(map(str, y))))}
    return [places[str(label)] for label in y]


# ---- what run is given ----


def read_data(data: Any, cache: Optional[str]) -> List[Dataset]:
    """One data set or several, in any form that `run` takes."""
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
        raise ValueError("data: at least one data set is needed")
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
        "data: text as 'synthetic:cosine', a Dataset, arrays as (X, y), or a list of these is needed, "
        f"got {type(data).__name__}"
    )
