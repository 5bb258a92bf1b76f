"""under_tsan.py LIBTSAN FOLDER WORD...: tests of the package under ThreadSanitizer; the words are pytest's.

FOLDER is the python/ of a build with the preset tsan, LIBTSAN the compiler's libtsan.so, which is loaded before the
interpreter. Of CPython it sees the locks, so what the GIL guards is no race. Before the tests, a planted race shows that
races are found.
"""

import os
import subprocess
import sys

FOUND = 66  # the exit status of a process that had a race


def run(libtsan, folder, *words):
    environment = {
        **os.environ,
        "LD_PRELOAD": libtsan,
        "PYTHONPATH": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
        "TSAN_OPTIONS": f"exitcode={FOUND}",
    }
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)


def main():
    libtsan, folder, *words = sys.argv[1:]
    planted = run(libtsan, folder, "-c", "import _planted; _planted.race()")
    if planted.returncode != FOUND or "data race" not in planted.stderr:
        sys.exit(f"the planted race was not found\n{planted.stderr}")
    done = run(libtsan, folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys", *words)
    print(done.stdout, done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
