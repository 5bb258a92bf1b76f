"""The laboratory: run policies on data sets and compare their regret.

    from eenet import lab

    results = lab.run("synthetic:cosine", ["eenet", "linucb"], rounds=2000, seeds=range(5))
    results.runs           # a DataFrame with one row per run
    results.summary()      # mean, deviation, interval, and difference to eenet
    results.plot()         # regret over the rounds

The numbers equal those of ``eenet run -d synthetic:cosine -p eenet,linucb -T 2000 -s 0-4``. With ``folder=`` the
results are stored, and the same call runs only what is missing; `read` opens such a folder.

Data is a string as for the program's -d (`datasets` lists the kinds), an open `Dataset`, or a classification problem
as arrays, ``(X, y)``. `play` runs your own policy:

>>> from eenet import lab
>>> data = lab.open("synthetic:cosine,dim=5")
>>> data
Dataset('synthetic:cosine,dim=5', dim=5, arms=10)
>>> for round in data.rounds(seed=1):
...     break
>>> round.arms.shape, round.rewards.shape
((10, 5), (10,))
>>> run = lab.play(data.bandit("eenet", seed=1), data, rounds=50, seed=1)
>>> len(run.curve), run.regret == float(run.curve[-1])
(50, True)
"""

from __future__ import annotations

from ._data import Dataset, DatasetKind, DatasetOption, Round, datasets, open, table
from ._playing import Run, play, run
from ._progress import Progress
from ._results import Results, read

__all__ = ["Dataset", "DatasetKind", "DatasetOption", "Progress", "Results", "Round", "Run", "datasets", "open", "play",
           "read", "run", "table"]
