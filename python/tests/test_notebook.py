"""The notebook in examples/ runs from its first cell to its last, and what it says holds.

`python3 python/tests/test_notebook.py` runs it and writes it anew with its outputs.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "logged_to_decision.ipynb"

# A cell after the last: what the others have found.
TOLD = """
print(json.dumps({
    "value": {one.label: one.value for one in found},
    "low": {one.label: one.low for one in found},
    "high": {one.label: one.high for one in found},
    "gain_low": found["eenet"].gain_low,
    "trusted": [one.trusted for one in found],
    "best": found.best.label,
    "truth": {name: float(value) for name, value in truth.items()},
    "most": float(rates.max(axis=1).mean()),
    "faulty": faulty.trusted,
    "likeliest": list(shelf)[int(decision.probabilities.argmax())],
    "chance": [float(p) for p in decision.probabilities],
    "rewards": int(again.info.rewards),
    "same": same,
}))
"""


def run(notebook):
    """Runs all cells, in a folder of their own; a cell that fails raises. Figures are drawn into the notebook."""
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    with tempfile.TemporaryDirectory() as folder:
        environment["IPYTHONDIR"] = environment["TMPDIR"] = folder
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in sys.path if place)
        resources = {"metadata": {"path": folder}}
        nbclient.NotebookClient(notebook, timeout=1200, resources=resources).execute(env=environment)


def figures(notebook) -> list[bytes]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    images = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", ())]
    return [base64.b64decode(image) for image in images]


@pytest.fixture(scope="module")
def executed():
    if not NOTEBOOK.is_file():
        pytest.skip("the examples are in the source tree alone")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(TOLD))
    run(notebook)
    return json.loads(notebook.cells[-1].outputs[0].text), notebook


def test_the_log_is_true(executed):
    found, _ = executed
    assert set(found["truth"]) == set(found["value"])
    for name, truth in found["truth"].items():
        assert found["low"][name] < truth < found["high"][name], name
        assert abs(found["value"][name] - truth) < 0.04, name


def test_the_winner_is_the_best(executed):
    found, _ = executed
    assert found["best"] == "eenet" and found["gain_low"] > 0 and all(found["trusted"])
    assert found["truth"]["eenet"] > 0.85 * found["most"] > 2 * found["truth"]["the rule"]
    assert found["truth"]["eenet"] > found["truth"]["linucb"] > found["truth"]["any item"]


def test_the_rest(executed):
    found, notebook = executed
    assert not found["faulty"]
    assert found["same"] and found["rewards"] == 8001
    assert found["likeliest"] == "tent" and sorted(found["chance"]) == pytest.approx([0.02] * 4 + [0.92])
    assert len(figures(notebook)) == 4


def test_what_is_committed():
    """Ten cells of code in their order, with small outputs and none of an error."""
    if not NOTEBOOK.is_file():
        pytest.skip("the examples are in the source tree alone")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, 11))
    assert not [output for cell in code for output in cell.outputs if output.output_type == "error"]
    drawn = figures(notebook)
    assert len(drawn) == 4 and max(map(len, drawn)) < 60_000
    assert NOTEBOOK.stat().st_size < 300_000


def write() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    run(notebook)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran: that differs each time
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    write()
