"""Ends what a test has started if the test itself is killed: then its `finally` blocks do not run, and servers and databases
would stay for ever.

    watch("process", server.pid)      # a process, and those that it has started
    watch("database", data_folder)    # PostgreSQL: its pid is in the folder, and changes with each start
    watch("mount", folder)

The watchdog is a process of its own, which no parent has, because ctest kills a test with all of its children. It reads a
pipe whose other end the test has: the end of the file is the end of the test. What has ended by then is not touched."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

_pipe = None  # to the watchdog


def watch(kind, what):
    """Registers something of this process, with the start time of a process: its number may be used again."""
    global _pipe  # pylint: disable=global-statement
    if _pipe is None:
        reading, _pipe = os.pipe()
        subprocess.run([sys.executable, "-B", __file__], stdin=reading, check=True)
        os.close(reading)
    line = f"{kind} {started(what)} {what}" if kind == "process" else f"{kind} 0 {what}"
    os.write(_pipe, line.encode() + b"\n")


def fields_of(pid):
    """The fields of /proc/PID/stat after the name; [] if there is no such process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return []


def started(pid):
    """When a process was started, in ticks since the start of the machine; '' if there is none."""
    fields = fields_of(pid)
    return fields[19] if fields else ""


def tree_of(pid):
    """A process and its descendants."""
    found = [int(pid)]
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        fields = fields_of(entry)
        if fields:
            children.setdefault(int(fields[1]), []).append(int(entry))
    for parent in found:
        found += children.get(parent, [])
    return found


def end(kind, when, what):
    if kind == "mount":
        subprocess.run(["umount", what], stderr=subprocess.DEVNULL, check=False)
        return
    pid = what
    if kind == "database":
        try:
            pid = (Path(what) / "postmaster.pid").read_text(encoding="utf-8").split("\n")[0]
            if os.readlink(f"/proc/{pid}/cwd") != os.path.realpath(what):
                return  # the number of a PostgreSQL that was killed is another process's now
        except OSError:
            return
    elif started(pid) != when:
        return
    for doomed in tree_of(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(doomed, signal.SIGKILL)


def main():
    if os.fork():
        return
    os.setsid()
    lines = [line.rstrip("\n").split(" ", 2) for line in sys.stdin]  # until the test has ended
    for line in sorted(lines, key=lambda words: words[0] == "mount"):  # which is busy as long as a database uses it
        end(*line)


if __name__ == "__main__":
    main()
