"""The Python in README.md and docs/python.md is run, block after block, as a reader would."""

import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks(document):
    path = ROOT / document
    if not path.is_file():
        pytest.skip(f"there is no {document} beside the tests")
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_readme(capsys):
    (first,) = blocks("README.md")
    exec(first, {})
    rewarded = int(re.match(r"(\d+) of 1000", capsys.readouterr().out).group(1))
    assert rewarded > 850


def write_log(path, random):
    with gzip.open(path, "wt") as file:
        for number in range(200):
            taken = int(random.integers(2))
            event = {
                "_label_cost": -float(random.random() < 0.2 + 0.5 * taken), "_label_probability": 0.5, "_labelIndex": taken,
                "a": [1, 2], "p": [0.5, 0.5], "EventId": str(number), "c": {"_multi": [{"x": "a"}, {"x": "b"}]},
            }
            file.write(json.dumps(event) + "\n")


def test_the_page(tmp_path, monkeypatch, server):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    if not shutil.which("gnuplot"):
        pytest.skip("gnuplot, which draws the figures of a report, is not installed")
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    write_log("events.dsjson.gz", random)
    known = {
        "rewards": random.random(500) < 0.3,
        "actions": random.integers(0, 4, 500),
        "logged": np.full((500, 4), 0.25),
        "probabilities": np.tile([0.7, 0.1, 0.1, 0.1], (500, 1)),
    }
    for block in blocks("docs/python.md"):
        exec(block.replace("http://127.0.0.1:8080", server.url), known)
    assert known["found"]["mine"].trusted
    assert (tmp_path / "report.html").is_file()
    assert known["decision"].action in ("red", "blue")
