"""Shared by the tests of the package.

They test the package that CMake builds, or the installed one::

    PYTHONPATH=build/release/python EENET_PROGRAM=build/release/eenet /usr/bin/python3 -m pytest python/tests

Tests marked ``ci`` run in ``.ci/run``, those marked ``night`` in ``make test-all``: ``-m ci``, ``-m "not nothing"``.
EENET_PROGRAM is the program to compare with, EENET_DATA the folder of the data sets. Coba, MABWiser and Open Bandit
Pipeline are found in EENET_DATA/python-packages; their tests need only ``pytest.importorskip("coba")``.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("EENET_PROGRAM", "")
DATA = os.environ.get("EENET_DATA", "")

# Draw figures into files. Two workers with one thread each are faster than two with one thread per core.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests send Ctrl-C, which processes ignore if a shell started them in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

if DATA:
    # At the end, so that installed packages come first. Processes that a test starts find them too.
    folders = [str(folder) for folder in sorted(Path(DATA, "python-packages").glob("*")) if folder.is_dir()]
    sys.path.extend(folders)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), *folders]))


# The tests of .ci/run and of make test-all, beside those of make test.
TIERS = {"ci": "takes long, or needs a package of others", "night": "takes minutes"}
USUAL = "not ci and not night"
CI_FILES = {f"test_{name}.py" for name in ("client_faults", "coba", "documents", "mabwiser", "notebook", "obp", "sklearn")}


def pytest_configure(config: pytest.Config) -> None:
    for name, words in TIERS.items():
        config.addinivalue_line("markers", f"{name}: {words}")
    config.option.markexpr = config.option.markexpr or USUAL


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Most of them import large packages."""
    return collection_path.name in CI_FILES and config.option.markexpr == USUAL or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in CI_FILES:
            item.add_marker(pytest.mark.ci)


def refuses(kind, sentence, call, /, *words, **named) -> None:
    """The call raises an error of this kind, in whose message the pattern is (None: whatever it says)."""
    with pytest.raises(kind, match=sentence):
        call(*words, **named)


@pytest.fixture(scope="session")
def program() -> Path:
    """The program eenet, to compare with or to start a server with."""
    if not PROGRAM:
        pytest.skip("EENET_PROGRAM does not name the program eenet")
    path = Path(PROGRAM).resolve()
    assert path.is_file(), f"EENET_PROGRAM: there is no file {path}"
    return path


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the data sets. Each may be missing; its tests then skip with a reason."""
    if not DATA:
        pytest.skip("EENET_DATA does not name the folder of the data sets")
    return Path(DATA).resolve()


@pytest.fixture(scope="session")
def server(program, tmp_path_factory):
    """A server that all tests of the session share; each test creates its own bandits."""
    from server_process import ServerProcess

    with ServerProcess(program, tmp_path_factory.mktemp("server")) as started:
        yield started
