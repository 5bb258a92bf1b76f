#!/usr/bin/env python3
"""check_waits.py ROOT: no test depends on how fast the machine is.

Finds pauses, deadlines, loops without a pause, and time limits below ten minutes in tests/ and python/tests/. Each place
that needs one is listed in tests/waits.txt, at most ten, as "FILE: TEXT: REASON", where TEXT is in the line, or * for all lines
of a file that measures or simulates time. Tools that measure (bench/) are not tests. First checks itself: each rule must find
its example.
"""

import re
import sys
from pathlib import Path

MOST = 10
MEASURE = ("tests/tools/run_tier.py",)  # says how long it took, and judges nothing
LEAST_SECONDS = 600
FILES = {"c": ".c .h", "py": ".py", "js": ".mjs .js .ts", "sh": ".sh .inc", "cmake": ".txt .cmake"}
KINDS = {suffix: kind for kind, suffixes in FILES.items() for suffix in suffixes.split()}
NUMBER = r"([0-9][0-9_']*(?:\.[0-9]+)?(?:e[0-9]+)?)"
# What is found: kind of file, pattern, seconds of its number (None: the pattern alone), an example.
RULES = [
    ("c", r"\b(?:sleep|usleep|nanosleep|clock_nanosleep|thrd_sleep|alarm|ualarm|setitimer)\(", None, "nanosleep(&t, NULL);"),
    ("c", r"(?<!int )\b(?:clock_gettime|gettimeofday|timespec_get|difftime)\(", None, "clock_gettime(CLOCK_REALTIME, &t);"),
    ("c", r"\b(?:pthread_cond_timedwait|sem_timedwait|pthread_mutex_timedlock)\(", None, "pthread_cond_timedwait(&c, &m, &t);"),
    ("c", r"\bpoll\([^;]*,\s*" + NUMBER + r"\)", 0.001, "poll(&one, 1, 500);"),
    ("c", r"\btv_sec\s*=\s*" + NUMBER, 1, "{.tv_sec = 5}"),
    ("py", r"\b(?:time|asyncio|gevent)\.sleep\(|\bsleep\((?!\))|\bsignal\.alarm\(", None, "time.sleep(0.1)"),
    ("py", r"[-+<>]=?\s*time\.(?:monotonic|perf_counter)\(|time\.(?:monotonic|perf_counter)\(\)\s*[-+<>]|[<>]=?\s*time\.time\(", None,
     "while time.monotonic() < end:"),
    ("py", r"\btimeout\s*=\s*" + NUMBER, 1, "urlopen(url, timeout=10)"),
    ("py", r"\.(?:wait|join|settimeout|wait_for)\(" + NUMBER + r"\)", 1, "event.wait(5)"),
    ("js", r"\bset(?:Timeout|Interval|Immediate)\(", None, "setTimeout(resolve, 5)"),
    ("js", r"[-+<>]=?\s*(?:Date|performance)\.now\(|(?:Date|performance)\.now\(\)\s*[-+<>]", None, "while (Date.now() < end)"),
    ("js", r"\b[tT]imeout\s*[:=]\s*" + NUMBER, 0.001, "{ timeout: 5000 }"),
    ("sh", r"(?:^|[;&|]|\bdo\b|\bthen\b|\$\()\s*sleep\s", None, "until ready; do sleep 1; done"),
    ("sh", r"\btimeout\s+(?:-\S+\s+)*" + NUMBER, 1, "timeout 60 eenet run"),
    ("sh", r"--(?:max-time|connect-timeout)[ =]" + NUMBER, 1, "curl --max-time 5 localhost"),
    ("sh", r"\bpg_ctl\b.*\s-t\s+" + NUMBER, 1, "pg_ctl start -w -t 60 -D data"),
    ("sh", r"\b(?:until|while)\b.*;\s*do\s*(?::|true|continue)\s*;?\s*done", None, "until test -s out; do :; done"),
    ("cmake", r"\bTIMEOUT\s+" + NUMBER, 1, "set_tests_properties(one PROPERTIES TIMEOUT 60)"),
]
COMPILED = [(kind, re.compile(pattern), unit) for kind, pattern, unit, _ in RULES]


def is_wait(kind, line):
    for of, pattern, unit in COMPILED:
        found = pattern.search(line) if of == kind else None
        if not found:
            continue
        if unit is None or float(re.sub(r"[_']", "", found[1])) * unit < LEAST_SECONDS:
            return True
    return False


def comment(kind, line):
    start = line.lstrip()
    return start.startswith({"c": ("/*", "* ", "//"), "js": ("/*", "* ", "//")}.get(kind, "#"))


def main():
    root = Path(sys.argv[1])
    for kind, pattern, _, example in RULES:
        if not is_wait(kind, example):
            sys.exit(f"the rule {pattern} does not find its example: {example}")
    if is_wait("py", "urlopen(url, timeout=600)") or is_wait("c", "assert_int_equal(slept(3), 2);"):
        sys.exit("a limit of ten minutes, or a word that contains another, is found")
    entries = [line.split(": ", 2) for line in (root / "tests/waits.txt").read_text().splitlines()
               if line and not line.startswith("#")]
    problems = [f"tests/waits.txt: {len(entries)} entries; at most {MOST}"] if len(entries) > MOST else []
    problems += [f"tests/waits.txt: '{': '.join(entry)}' is not FILE: TEXT: REASON" for entry in entries if len(entry) != 3]
    used = set()
    files = [path for folder in ("tests", "python/tests") for path in sorted((root / folder).rglob("*"))]
    for path in files:
        kind = KINDS.get(path.suffix)
        name = str(path.relative_to(root))
        if not kind or not path.is_file() or name.startswith(("tests/releases/0", "tests/tools/check_waits", *MEASURE)):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if comment(kind, line) or not is_wait(kind, line):
                continue
            places = [i for i, entry in enumerate(entries)
                      if entry[0] == name and (entry[1] == "*" or entry[1] in line and i not in used)]
            used.update(places[:1])
            if not places:
                problems.append(f"{name}:{number}: waits for a time: {line.strip()}")
    problems += [f"tests/waits.txt: no such line: {': '.join(entry)}" for i, entry in enumerate(entries) if i not in used]
    print("\n".join(problems) or f"{len(entries)} places wait for a time")
    if problems:
        print("Wait for an event instead (CONTRIBUTING.md, Rules of the tests), or list the place in tests/waits.txt.")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
