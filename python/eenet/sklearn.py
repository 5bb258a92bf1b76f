"""A bandit as a scikit-learn classifier: learns from labels, or from the rewards of its choices.

>>> from sklearn.datasets import load_iris
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from eenet.sklearn import EENetClassifier
>>> X, y = load_iris(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), EENetClassifier(random_state=1)).fit(X, y)
>>> model.score(X, y) > 0.9
True

As a bandit, it decides and learns from the rewards:

>>> X = StandardScaler().fit_transform(X)
>>> bandit = EENetClassifier(random_state=1).partial_fit(X[:0], y[:0], classes=[0, 1, 2])
>>> for row in numpy.random.RandomState(1).permutation(150):
...     action = bandit.decide(X[[row]])
...     bandit = bandit.partial_fit(X[[row]], action, rewards=action == y[row])
>>> bandit.score(X, y) > 0.8
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Union

import numpy

from ._adapting import fixed_arms_bandit, with_probabilities
from ._blocks import BlockLayout

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state, validation
    from sklearn.utils.multiclass import check_classification_targets
except ImportError as error:
    raise ImportError(
        f"eenet.sklearn needs scikit-learn, which cannot be imported ({error}): pip install scikit-learn", name=error.name
    ) from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EENetClassifier"]


class EENetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose classes are the arms of a contextual bandit.

    policy: the name of an eenet policy, or a Policy. options: its options, as a mapping or a string such as "w2=0.1,
    f1.width=50". random_state: the seed. passes: how often fit goes through the samples, each time in a new order.

    From labels, fit and partial_fit learn reward 1 for the right class and 0 for another class, drawn at random for
    each sample. As a bandit, `decide` chooses a class for each row, with exploration, and `partial_fit(X, actions,
    rewards=...)` learns the rewards, which may be any numbers. Logged decisions work the same way. If at most one class
    per row earns more than the least reward, set the option exclusive=True.

    Scale the features, as for other linear and neural models: put a StandardScaler in front.
    """

    def __init__(
        self,
        policy: Any = "eenet",
        *,
        options: Union[None, str, Mapping[str, Any]] = None,
        passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.policy = policy
        self.options = options
        self.passes = passes
        self.random_state = random_state

    # ---- learning ----

    def fit(self, X: Any, y: Any) -> "EENetClassifier":
        """Starts from scratch, and learns from labelled samples."""
        X, y = _validate(self, X, y)
        check_classification_targets(y)
        classes, labels = numpy.unique(y, return_inverse=True)
        if isinstance(self.passes, bool) or not isinstance(self.passes, (int, numpy.integer)) or self.passes < 1:
            raise ValueError(f"passes: expected an integer of at least 1, got {self.passes!r}")
        self._start(classes)
        for _ in range(self.passes):
            self._learn_labels(X, labels, self._random.permutation(len(labels)))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, rewards: Any = None) -> "EENetClassifier":
        """Learns more samples, from labels or from rewards.

        y: the labels; with rewards, the chosen classes. classes: all classes, required in the first call. rewards: the
        reward of each choice (optional).
        """
        first = not hasattr(self, "bandit_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = _validate(self, X, y, reset=first, ensure_min_samples=0 if first else 1)
        if len(y):
            check_classification_targets(y)
        if first:
            self._start(numpy.unique(classes))
        elif classes is not None and not numpy.array_equal(numpy.unique(classes), self.classes_):
            raise ValueError(f"classes: expected {self.classes_!r}, as on the last call, got {classes!r}.")
        arms = self._places(y)
        if rewards is None:
            self._learn_labels(X, arms, range(len(arms)))
            return self
        rewards = numpy.asarray(rewards, float)
        if rewards.shape != (len(arms),):
            raise ValueError(f"rewards: expected shape ({len(arms)},), one per row, got {rewards.shape}")
        if not numpy.isfinite(rewards).all():
            raise ValueError("rewards: expected finite numbers, got NaN or infinity.")
        for row, arm in enumerate(arms):
            self.bandit_.learn_from(self._round(X, row), int(arm), float(rewards[row]))
        return self

    def _start(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._layout = BlockLayout(len(classes), constant=True)
        # A separate generator: learning must not advance one that the caller shares.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._random = numpy.random.RandomState(seed)
        options = with_probabilities(self.policy, self.options)
        self.bandit_ = fixed_arms_bandit(self.policy, self._layout, self.n_features_in_, seed, options)

    def _places(self, y: NDArray[Any]) -> NDArray[Any]:
        unknown = set(y.tolist()).difference(self.classes_.tolist())
        if unknown:
            raise ValueError(f"y: expected the classes {self.classes_.tolist()}, got {sorted(unknown, key=str)}")
        return numpy.searchsorted(self.classes_, y)

    def _learn_labels(self, X: Any, labels: NDArray[Any], order: Any) -> None:
        """Each row gives reward 1 to its class and 0 to another, so that both are equally frequent."""
        classes = len(self.classes_)
        for row in order:
            arms, right = self._round(X, row), int(labels[row])
            self.bandit_.learn_from(arms, right, 1.0)
            if classes > 1:
                wrong = (right + self._random.randint(1, classes)) % classes
                self.bandit_.learn_from(arms, wrong, 0.0)

    # ---- deciding ----

    def decide(self, X: Any) -> NDArray[Any]:
        """Chooses a class for each row, with exploration: (rows,).

        Choices may be random, so a second call may differ. Learn the rewards with partial_fit(X, classes, rewards=...).
        """
        X = self._check_rows(X)
        chosen = numpy.empty(X.shape[0], int)
        for row in range(X.shape[0]):
            # Rewards arrive through partial_fit, if at all, so the decision need not stay pending.
            decision = self.bandit_.decide(self._round(X, row))
            self.bandit_.forget(decision)
            chosen[row] = decision.arm
        return numpy.asarray(self.classes_[chosen])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that `decide` would choose with the highest probability: (rows,)."""
        best = numpy.argmax(self.predict_proba(X), axis=1)
        return numpy.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability with which `decide` would choose each class: (rows, classes).

        For a policy that always chooses the best class, such as the default, it is 0 or 1. It is not the
        confidence in a class. With the option propensity="softmax" it is spread over the better classes.
        """
        return self._each(X, lambda arms: self.bandit_.probabilities(arms))

    def predict_expectations(self, X: Any) -> NDArray[Any]:
        """The expected reward of each class, without exploration: (rows, classes)."""
        return self._each(X, lambda arms: self.bandit_.score(arms).exploitation)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores that rank the classes, with exploration: (rows, classes); for two classes, the difference (rows,).

        For a Thompson policy they are random draws, and may rank another class first than predict does.
        """
        scores = self._each(X, lambda arms: self.bandit_.score(arms).scores)
        return numpy.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def _each(self, X: Any, part: Any) -> NDArray[Any]:
        X = self._check_rows(X)
        out = numpy.empty((X.shape[0], len(self.classes_)))
        for row in range(X.shape[0]):
            out[row] = part(self._round(X, row))
        return out

    def _check_rows(self, X: Any) -> Any:
        validation.check_is_fitted(self, "bandit_")
        return _validate(self, X, reset=False)

    def _round(self, X: Any, row: int) -> Any:
        return self._layout.arms(X[row] if isinstance(X, numpy.ndarray) else X[row : row + 1])

    def __sklearn_tags__(self) -> Any:  # of scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _validate(model: EENetClassifier, *arrays: Any, **checks: Any) -> Any:
    """scikit-learn's checks of X and y: a method before 1.6, a function since."""
    checks = {"accept_sparse": "csr", "dtype": numpy.float32, **checks}
    if hasattr(validation, "validate_data"):
        return validation.validate_data(model, *arrays, **checks)
    return model._validate_data(*arrays, **checks)
