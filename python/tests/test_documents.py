"""The Python of README.md, python/README.md and the Python pages of docs/ runs, block after block, as a reader would run it.

A ```text block directly below a ```python block shows what it prints. Numbers may differ in their digits: they depend on
the machine's instruction set.
"""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = "http://127.0.0.1:8080"  # in the documents; the tests have another port
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def blocks(document):
    """(code, what it prints or "") of each block."""
    path = ROOT / document
    if not path.is_file():
        pytest.skip(f"{document} is missing; these tests run in the source tree")
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def without_digits(text):
    return re.sub(r"\d+(\.\d+)?", "#", re.sub(r"[ \t]+", " ", text)).strip()


def run(document, capsys, replaced=("", ""), **known):
    """Runs all blocks with the same names, and returns these and everything printed."""
    printed = []
    for code, expected in blocks(document):
        exec(code.replace(*replaced), known)
        printed.append(capsys.readouterr().out)
        if expected:
            assert without_digits(printed[-1]) == without_digits(expected), f"{document}: output of\n{code}"
    return known, "".join(printed)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_readme(capsys, request):
    needs_server = any(SERVER in code for code, _ in blocks("README.md"))
    url = request.getfixturevalue("server").url if needs_server else SERVER
    run("README.md", capsys, replaced=(SERVER, url))


def test_the_page_of_the_package(capsys):
    known, _ = run("python/README.md", capsys)
    assert known["bandit"].info.rewards == 300


def test_decide_and_learn(capsys):
    _, printed = run("docs/python.md", capsys)
    assert printed.startswith("2 °C: tea\n16 °C: tea\n24 °C: ice cream\n33 °C: ice cream\n")
    assert int(re.search(r"(\d+) of 1000 decisions were rewarded", printed)[1]) > 850


def test_the_laboratory(capsys, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    if not shutil.which("gnuplot"):
        pytest.skip("gnuplot, which draws the figures of a report, is not installed")
    known, _ = run("docs/python-lab.md", capsys)
    assert (tmp_path / "report.html").is_file()
    assert known["eenet_run"].regret < known["mine"].regret / 2


def test_evaluation(capsys):
    pytest.importorskip("pandas")
    known, _ = run("docs/python-evaluation.md", capsys)
    assert known["found"]["eenet"].trusted and known["found"]["eenet"].value > 0.5


def test_the_client(capsys, server):
    known, _ = run("docs/python-client.md", capsys, replaced=(SERVER, server.url))
    assert known["decision"].action in ("red", "blue")


@pytest.mark.parametrize("title, package", [("scikit-learn", "sklearn"), ("MABWiser", ""), ("Coba", "coba.register"),
                                            ("Open Bandit Pipeline", "obp")])
def test_the_adapters(capsys, title, package):
    """Each section by itself, since packages may be missing. An installed Coba finds coba.register by its entry point."""
    if package:
        pytest.importorskip(package)
    found = blocks("docs/python-adapters.md")
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", (ROOT / "docs/python-adapters.md").read_text("utf-8"),
                        re.MULTILINE | re.DOTALL)[1]
    own = BLOCK.findall(section)
    assert own and set(own) <= set(found)
    known = {}
    for code, expected in own:
        exec(code, known)
        printed = capsys.readouterr().out
        assert without_digits(printed) == without_digits(expected), code
