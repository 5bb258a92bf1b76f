"""The Python on every page runs as a reader would type it, and prints what the page shows: see document_page.py."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNNER = Path(__file__).with_name("document_page.py")
ADAPTERS = "docs/python-adapters.md"


def pages():
    """Every page with Python."""
    found = [ROOT / "README.md", ROOT / "python/README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [
        str(page.relative_to(ROOT)) for page in found
        if page.is_file() and "\n```python\n" in page.read_text(encoding="utf-8")
    ]


def run(page, folder, program, *section):
    """Runs a page, given as a path, in this folder."""
    environment = {**os.environ, "EENET_PROGRAM": str(program), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, str(RUNNER), str(page), *section], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8")


def check(done):
    if done.returncode == 77:
        pytest.skip(done.stdout.strip().rpartition("\n")[2])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", [page for page in pages() if page != ADAPTERS])
def test_a_page(page, tmp_path, program):
    check(run(ROOT / page, tmp_path, program))


def adapter_sections():
    page = ROOT / ADAPTERS
    return re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) if page.is_file() else []


@pytest.mark.parametrize("section", adapter_sections())
def test_an_adapter(section, tmp_path, program, monkeypatch):
    """Each section alone, since packages may be missing."""
    if section == "Coba":
        install_coba(tmp_path / "installed", monkeypatch)
    if section == "Open Bandit Pipeline":
        pytest.importorskip("obp", reason="Open Bandit Pipeline or PyTorch is not there")
    folder = tmp_path / "empty"
    folder.mkdir()
    check(run(ROOT / ADAPTERS, folder, program, section))


def install_coba(folder, monkeypatch):
    """Coba needs its own entry point, which pip installs; in a folder of packages it is missing."""
    pytest.importorskip("coba")
    if any(one.metadata["Name"] == "coba" for one in importlib.metadata.distributions()):
        return
    facts = folder / "coba-8.0.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: coba\nVersion: 8.0.0\n")
    (facts / "entry_points.txt").write_text("[coba.register]\ncoba = coba.register\n")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


def test_all_pages_are_found():
    if not (ROOT / "docs").is_dir():
        pytest.skip("docs/ is missing; these tests run in the source tree")
    assert {"README.md", "python/README.md", "docs/python.md", "docs/evaluation.md", ADAPTERS} <= set(pages())
    assert len(adapter_sections()) == 4


# ---- the runner itself ----


@pytest.mark.parametrize("text, complaint", [
    ("```python\nprint(undefined)\n```\n", "name 'undefined' is not defined"),
    # Words, because digits only count on the machine of the pages.
    ("```python\nprint('one')\n```\n\n```text\ntwo\n```\n", "but the code prints\none"),
    ("```python\nprint(1)\n```\n\nNo output block.\n", "but the code prints\n1"),
    ("```python\nx = 1\n```\n\n```text\n1\n```\n", "but the code prints\n"),
    ("```python\nimport warnings\nwarnings.warn('look')\n```\n", "UserWarning: look"),
    ("```python\nimport no_such_package\n```\n", "No module named 'no_such_package'"),
    ("```sh\nfalse\n```\n\n```python\nx = 1\n```\n", "exit status 1"),
    ("```\nprint(1)\n```\n", "has no Python"),
])
def test_a_page_that_fails(tmp_path, program, text, complaint):
    page = tmp_path / "page.md"
    page.write_text(text)
    folder = tmp_path / "empty"
    folder.mkdir()
    done = run(page, folder, program)
    assert done.returncode == 1 and complaint in done.stdout, done.stdout
