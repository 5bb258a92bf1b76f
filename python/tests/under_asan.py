"""under_asan.py LIBASAN FOLDER TEST...: tests of the package under AddressSanitizer and UndefinedBehaviorSanitizer.

FOLDER is the python/ of a build with the preset asan, LIBASAN the compiler's libasan.so. The interpreter itself has no
sanitizer in it, so the library is loaded before it, and its own allocator is turned off, so that each object is a block
that is watched. CPython and numpy leave blocks behind on purpose: a leak counts where a frame of ours is in its stack (and none of
tracemalloc, which keeps notes of its own about our blocks).
Before the tests, an extension with planted mistakes shows that they are found. Where interpreters are built without frame
pointers, as on x86, the quick way to write stacks down does not come past the interpreter to a frame of ours: then the slow
one is taken.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = re.compile(r"\(_\w+\.abi3\.so\+")
NO_ERROR = re.compile("LeakSanitizer: detected|SUMMARY: AddressSanitizer: .* leaked")
STACK = 'stack_trace_format="    #%n %f %S %M"'  # with the file of each frame

# The search for leaks while everything is still alive: what nothing points to then is lost.
SEARCH = "import ctypes, gc; gc.collect(); ctypes.CDLL(None).__lsan_do_recoverable_leak_check()"
# Programs that a test starts have no sanitizer in them.
RUN_TESTS = f"import os, pytest, sys; del os.environ['LD_PRELOAD']; code = pytest.main(sys.argv[1:]); {SEARCH}; sys.exit(code)"


QUICK, SLOW = "fast_unwind_on_malloc=1", "fast_unwind_on_malloc=0:malloc_context_size=12"


def run(libasan, folder, stacks, code, words=()):
    """Runs code in an interpreter under the sanitizers, stacks written down so: its exit status, the leaks of ours, and what else it wrote as an error."""
    with tempfile.TemporaryDirectory() as logs:
        environment = {
            **os.environ,
            "LD_PRELOAD": libasan,
            "PYTHONMALLOC": "malloc",
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASAN_OPTIONS": f"allocator_may_return_null=1:leak_check_at_exit=0:{stacks}:log_path={logs}/report:{STACK}",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{STACK}",
        }
        with open(f"{logs}/errors", "w") as errors:  # where UndefinedBehaviorSanitizer reports in any case
            done = subprocess.run([sys.executable, "-c", code, *words], env=environment, stderr=errors)
        reports = "\n\n".join(path.read_text(errors="replace") for path in sorted(Path(logs).iterdir()))
    blocks = re.split(r"\n\s*\n", reports)
    leaks = [block for block in blocks if re.match(r"(Direct|Indirect) leak", block.strip())]
    others = [block for block in blocks if block.strip() and block not in leaks and not NO_ERROR.search(block)]
    return done.returncode, [leak for leak in leaks if OURS.search(leak) and "_tracemalloc.c" not in leak], others


def finds_leaks(libasan, folder, stacks):
    """Whether the leaks of the planted extension are found: of a block, and of an object that the interpreter made."""
    code = "import _planted; [(_planted.leak_memory(), _planted.leak_object()) for _ in range(10)]"
    _, leaks, _ = run(libasan, folder, stacks, f"{code}; {SEARCH}")
    return all(any(f"{mistake} " in leak for leak in leaks) for mistake in ("leak_memory", "leak_object"))


def check_planted(libasan, folder, stacks):
    """Fails unless the other mistakes of the planted extension are found."""
    for mistake, word in (("read_beyond()", "heap-buffer-overflow"), ("overflow_number(2**31 - 1)", "signed integer")):
        status, _, others = run(libasan, folder, stacks, f"import _planted; _planted.{mistake}")
        if status == 0 or not any(word in other for other in others):
            sys.exit(f"the planted {mistake} was not found")


def main():
    libasan, folder, *tests = sys.argv[1:]
    stacks = next((way for way in (QUICK, SLOW) if finds_leaks(libasan, folder, way)), None)
    if not stacks:
        sys.exit("the planted leaks were not found")
    check_planted(libasan, folder, stacks)
    status, leaks, others = run(libasan, folder, stacks, RUN_TESTS, ["-q", "-p", "no:cacheprovider", "--capture=sys", *tests])
    print(*leaks, *others, sep="\n\n")
    if leaks:
        print(f"{len(leaks)} leaks with a frame of ours")
    sys.exit(1 if status or leaks else 0)


if __name__ == "__main__":
    main()
