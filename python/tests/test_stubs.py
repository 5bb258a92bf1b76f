"""The type stubs say what the extension has: names, arguments and defaults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import eenet


def test_the_stubs_are_right(tmp_path: Path) -> None:
    pytest.importorskip("mypy.stubtest")
    folder = Path(eenet.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(folder), "MYPYPATH": str(folder)}
    command = [sys.executable, "-m", "mypy.stubtest", "eenet._core"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
