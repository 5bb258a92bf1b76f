#!/usr/bin/env python3
"""watchdog_test.py: a test that is killed leaves neither its processes nor its database behind."""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import run_cases, same, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from harness.watchdog import fields_of, watch  # noqa: E402  pylint: disable=wrong-import-position


def runs(pid):
    fields = fields_of(pid)
    return bool(fields) and fields[0] != "Z"


def start(folder="/"):
    """A process with a child, as PostgreSQL and haproxy have them."""
    return subprocess.Popen(["sh", "-c", "sleep 600 & wait"], cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL)


def be_killed(folder):
    """The test that is killed: it says what it has started."""
    one, database, left = start(), start(folder), start()
    watch("process", one.pid)
    for process in (database, left):  # the second works in another folder, so it is no database
        data = folder if process is database else folder / "killed"
        data.mkdir(exist_ok=True)
        (data / "postmaster.pid").write_text(f"{process.pid}\n", encoding="utf-8")
        watch("database", data)
    print(one.pid, database.pid, left.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def nothing_is_left_behind():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-B", __file__, folder], stdout=subprocess.PIPE, text=True, check=False)
        same(done.returncode, -signal.SIGKILL, "status of a test that was killed")
        one, database, left = map(int, done.stdout.split())
        wait_for(lambda: not runs(one) and not runs(database), "the processes of a killed test run")
        same(runs(left), True, "a process that is not watched runs")
        os.killpg(left, signal.SIGKILL)


def what_has_ended_is_left_alone():
    child = subprocess.Popen(["sleep", "600"])
    watch("process", child.pid)
    child.kill()
    child.wait()
    same(fields_of(child.pid), [], "fields of a process that has ended")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        be_killed(Path(sys.argv[1]))
    sys.exit(run_cases([nothing_is_left_behind, what_has_ended_is_left_alone]))
