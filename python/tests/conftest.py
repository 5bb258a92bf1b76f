"""What the tests of the package share.

They run against the package as it is installed (``make test-python``), or as CMake left it while one develops::

    PYTHONPATH=build/release/python EENET_PROGRAM=build/release/eenet /usr/bin/python3 -m pytest python/tests

EENET_PROGRAM is the program to compare with, EENET_DATA the folder of the data sets. Coba, MABWiser and the Open Bandit
Pipeline are found in EENET_DATA/python-packages; ``pytest.importorskip("coba")`` is all that a test of theirs needs.
"""

import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("EENET_PROGRAM", "")
DATA = os.environ.get("EENET_DATA", "")

# Figures are drawn into files. Two workers with a thread each are faster than two with as many as there are cores.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell has what it starts in the background ignore Ctrl-C, and processes inherit that; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

if DATA:
    # At the end, so that a package that is installed comes first. Processes that a test starts find them too.
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
    """The folder of the data sets, of which each may be missing: skip with a reason then."""
    if not DATA:
        pytest.skip("EENET_DATA does not name the folder of the data sets")
    return Path(DATA).resolve()


@pytest.fixture(scope="session")
def server(program, tmp_path_factory):
    """A server on a port of its own, which all tests of the session share: each makes bandits of its own."""
    from server_process import ServerProcess

    with ServerProcess(program, tmp_path_factory.mktemp("server")) as started:
        yield started
