"""Shared by the tests of the package.

They test the installed package (``make test-python``), or the one that CMake builds, during development::

    PYTHONPATH=build/release/python EENET_PROGRAM=build/release/eenet /usr/bin/python3 -m pytest python/tests

EENET_PROGRAM is the program to compare with, EENET_DATA the folder of the data sets. Coba, MABWiser and Open Bandit
Pipeline are found in EENET_DATA/python-packages; their tests need only ``pytest.importorskip("coba")``.
"""

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
