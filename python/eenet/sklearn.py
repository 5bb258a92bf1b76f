"""A bandit as a scikit-learn classifier: learns from labels, and from the rewards of what was tried.

>>> from sklearn.datasets import load_iris
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from eenet.sklearn import EENetClassifier
>>> X, y = load_iris(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), EENetClassifier(random_state=1)).fit(X, y)
>>> model.score(X, y) > 0.9
True

As a bandit it decides, and learns what came of it:

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
        f"eenet.sklearn needs scikit-learn, which could not be imported ({error}): pip install scikit-learn"
    ) from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EENetClassifier"]


class EENetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A contextual bandit whose arms are the classes, as a classifier.

    policy: the name of an eenet policy, or a Policy. options: its options, a mapping or a text as "w2=0.1,
    f1.width=50". random_state: of all its randomness. passes: how often fit goes through the samples, each time in
    another order.

    Learning from labels: the right class has the reward 1, and one of the others, drawn for each sample, 0. As a
    bandit: `decide` chooses a class for each row and explores as the policy does; `partial_fit(X, actions,
    rewards=...)` learns what the chosen classes were worth, any numbers. It takes logged decisions just as well. Where
    at most one class of a row has a reward that is not the least, the option exclusive=True says so.

    Features should be on one scale, as for other linear and neural models: put a StandardScaler before it.
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
        """Forgets what was learned, and learns from labelled samples."""
        X, y = _validate(self, X, y)
        check_classification_targets(y)
        classes, labels = numpy.unique(y, return_inverse=True)
        if isinstance(self.passes, bool) or not isinstance(self.passes, (int, numpy.integer)) or self.passes < 1:
            raise ValueError(f"passes: a whole number from 1 on is needed, got {self.passes!r}")
        self._start(classes)
        for _ in range(self.passes):
            self._learn_labels(X, labels, self._random.permutation(len(labels)))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, rewards: Any = None) -> "EENetClassifier":
        """Learns more: from labels, or with rewards from what was chosen.

        y: labels; with rewards, the classes that were chosen. classes: all there will be, needed in the first call.
        rewards: what each choice was worth; what the other classes would have been worth is not known.
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
            raise ValueError(f"classes: {classes!r} is not the same as on the last call, {self.classes_!r}.")
        arms = self._places(y)
        if rewards is None:
            self._learn_labels(X, arms, range(len(arms)))
            return self
        rewards = numpy.asarray(rewards, float)
        if rewards.shape != (len(arms),):
            raise ValueError(f"rewards: ({len(arms)},) is needed, one for each row, got {rewards.shape}")
        if not numpy.isfinite(rewards).all():
            raise ValueError("rewards: NaN or infinity is no reward.")
        for row, arm in enumerate(arms):
            self.bandit_.learn_from(self._round(X, row), int(arm), float(rewards[row]))
        return self

    def _start(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._layout = BlockLayout(len(classes), constant=True)
        # A generator of its own: one that the caller shares must not move when a copy of this one learns.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._random = numpy.random.RandomState(seed)
        options = with_probabilities(self.policy, self.options)
        self.bandit_ = fixed_arms_bandit(self.policy, self._layout, self.n_features_in_, seed, options)

    def _places(self, y: NDArray[Any]) -> NDArray[Any]:
        unknown = set(y.tolist()).difference(self.classes_.tolist())
        if unknown:
            raise ValueError(f"y: {sorted(unknown, key=str)} is not among the classes {self.classes_.tolist()}")
        return numpy.searchsorted(self.classes_, y)

    def _learn_labels(self, X: Any, labels: NDArray[Any], order: Any) -> None:
        """Each row teaches its class, and one of the others: so rewards of 1 and 0 are equally frequent."""
        classes = len(self.classes_)
        for row in order:
            arms, right = self._round(X, row), int(labels[row])
            self.bandit_.learn_from(arms, right, 1.0)
            if classes > 1:
                wrong = (right + self._random.randint(1, classes)) % classes
                self.bandit_.learn_from(arms, wrong, 0.0)

    # ---- deciding ----

    def decide(self, X: Any) -> NDArray[Any]:
        """Chooses a class for each row as the bandit does, with exploration: (rows,).

        It draws: asked again it may choose differently. Tell what came of it by partial_fit with rewards.
        """
        X = self._check_rows(X)
        chosen = numpy.empty(X.shape[0], int)
        for row in range(X.shape[0]):
            # The reward comes by partial_fit, perhaps never: so the decision does not wait for it.
            decision = self.bandit_.decide(self._round(X, row))
            self.bandit_.forget(decision)
            chosen[row] = decision.arm
        return numpy.asarray(self.classes_[chosen])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the bandit would choose with the largest probability: (rows,)."""
        best = numpy.argmax(self.predict_proba(X), axis=1)
        return numpy.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability with which `decide` would choose each class: (rows, classes).

        That is 0 and 1 for a policy that takes the best, as the default does; it is not how sure the class is. With
        the option propensity="softmax" the better ones share.
        """
        return self._each(X, lambda arms: self.bandit_.probabilities(arms))

    def predict_expectations(self, X: Any) -> NDArray[Any]:
        """The reward that is expected of each class, without exploration: (rows, classes)."""
        return self._each(X, lambda arms: self.bandit_.score(arms).exploitation)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """What the classes are ranked by, exploration included: (rows, classes); of two classes the difference.

        Of a Thompson policy it is a draw, and may rank another class first than predict, which goes by probabilities.
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
    """scikit-learn's own checks of X and y, which are a method before 1.6 and a function since."""
    checks = {"accept_sparse": "csr", "dtype": numpy.float32, **checks}
    if hasattr(validation, "validate_data"):
        return validation.validate_data(model, *arrays, **checks)
    return model._validate_data(*arrays, **checks)
