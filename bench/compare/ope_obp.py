"""Measures Open Bandit Pipeline and NumPy on the rounds of `eenet bench estimators`, on one core.

    PYTHONPATH=FOLDER_OF_OBP OMP_NUM_THREADS=1 python3 bench/compare/ope_obp.py [ROUNDS]

For each estimator it prints OBP's value and processor seconds (the best of three), and the same for its formula in
NumPy. The formula starts from w, r, d and q(a), as eenet does. OBP starts from tables of probabilities and predictions,
and checks them.
"""
import importlib.util
import sys
import time
import types

import numpy as np


class StandIn(types.ModuleType):
    """A module whose names are empty classes, for imports of OBP that are not used here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return sys.modules.get(f"{self.__name__}.{name}", type(name, (), {}))


for name in ("torch", "tqdm", "matplotlib", "seaborn"):
    if importlib.util.find_spec(name) is None:
        for part in ("", ".nn", ".nn.functional", ".optim", ".utils", ".utils.data", ".pyplot"):
            sys.modules[name + part] = StandIn(name + part)

from obp.ope import estimators as obp  # noqa: E402


def make_rounds(count):
    t = np.arange(1, count + 1, dtype=np.float64)
    fraction = lambda step: np.mod(t * step, 1.0)
    u, v = fraction(0.6180339887498949), fraction(0.7548776662466927)
    p, pi = 0.05 + 0.9 * u, 0.05 + 0.9 * fraction(0.5698402909980532)
    action = (v >= p).astype(np.int64)
    reward = (fraction(0.8191725133961645) < np.where(action, 0.7, 0.3)).astype(np.float64)
    return {
        "reward": reward,
        "action": action,
        "pscore": np.where(action, 1.0 - p, p),
        "action_dist": np.stack([pi, 1.0 - pi], axis=1)[:, :, None],
        "estimated_rewards_by_reg_model": np.stack([0.25 + 0.1 * u, 0.65 + 0.1 * u], axis=1)[:, :, None],
        "position": np.zeros(count, dtype=np.int64),
    }


def best(call):
    seconds = []
    for _ in range(3):
        start = time.process_time()
        value = call()
        seconds.append(time.process_time() - start)
    return value, min(seconds)


def main():
    rounds = make_rounds(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
    taken = np.arange(len(rounds["reward"]))
    w = rounds["action_dist"][taken, rounds["action"], 0] / rounds["pscore"]
    q = rounds["estimated_rewards_by_reg_model"][taken, rounds["action"], 0]
    d = (rounds["action_dist"] * rounds["estimated_rewards_by_reg_model"])[:, :, 0].sum(axis=1)
    r = rounds["reward"]
    rows = [
        ("ips", obp.InverseProbabilityWeighting(), lambda: np.mean(w * r)),
        ("clipped", obp.InverseProbabilityWeighting(lambda_=10.0), lambda: np.mean(np.minimum(w, 10.0) * r)),
        ("snips", obp.SelfNormalizedInverseProbabilityWeighting(), lambda: np.sum(w * r) / np.sum(w)),
        ("dm", obp.DirectMethod(), lambda: np.mean(d)),
        ("dr", obp.DoublyRobust(), lambda: np.mean(d + w * (r - q))),
        ("clipped-dr", obp.DoublyRobust(lambda_=10.0), lambda: np.mean(d + np.minimum(w, 10.0) * (r - q))),
        ("sndr", obp.SelfNormalizedDoublyRobust(), lambda: np.mean(d) + np.sum(w * (r - q)) / np.sum(w)),
        ("switch-dr", obp.SwitchDoublyRobust(lambda_=10.0), lambda: np.mean(d + np.where(w <= 10.0, w, 0.0) * (r - q))),
        ("dros", obp.DoublyRobustWithShrinkage(lambda_=10.0), lambda: np.mean(d + 10.0 * w / (w * w + 10.0) * (r - q))),
        ("sg-ips", obp.SubGaussianInverseProbabilityWeighting(lambda_=0.1), lambda: np.mean(w / (0.9 + 0.1 * w) * r)),
        ("sg-dr", obp.SubGaussianDoublyRobust(lambda_=0.1), lambda: np.mean(d + w / (0.9 + 0.1 * w) * (r - q))),
    ]
    print(f"{'':12} {'value':>12} {'OBP s':>9} {'NumPy s':>9}")
    for name, estimator, formula in rows:
        value, seconds = best(lambda: estimator.estimate_policy_value(**rounds))
        same, plain = best(formula)
        assert abs(value - same) < 1e-9, (name, value, same)
        print(f"{name:12} {value:12.9f} {seconds:9.3f} {plain:9.3f}", flush=True)


if __name__ == "__main__":
    main()
