#!/usr/bin/env python3
"""run_tier.py test|ci|all [STEP...]: runs all steps of a tier, or those named, even if one fails.

    test    make test: the unit tests and one journey through each face of the product
    ci      .ci/run: make test, then sanitizers, PostgreSQL, browser, MPI, packages, the other architecture, lint
    all     make test-all: everything in its long form, for a night

It ends with the command that repeats each failure alone, and with the line "N passed, N failed, N skipped". A step without
tests of its own, such as a build, counts as one. Every step installs the packages that it needs.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build/results"
JOBS = str(os.cpu_count() or 1)
AT_ONCE = str((os.cpu_count() or 1) + 2)  # some tests wait more than they compute
PYTHON = "/usr/bin/python3"
BUILT = ROOT / "build/release"
# A make that runs this one must not pass its flags on.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
# gcc's sanitizers do not start under the address randomization of some kernels.
FIXED = ["setarch", "-R"] if subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0 else []


class Step:
    """Commands in a row. counts: from which file the tests are counted, and how one is repeated; None: one for the step."""

    def __init__(self, name, *commands, packages="", counts=None, again=None, environment=None):
        self.name, self.commands, self.counts = name, commands, counts
        self.again = again or (lambda test: f"make {name}")
        self.environment = environment or {}
        self.setup = [["cmake/setup.sh", *packages.split()]] if packages else []

    def run(self):
        """(passed, skipped, the commands that repeat what failed)."""
        if self.counts:
            self.counts.unlink(missing_ok=True)
        environment = ENVIRONMENT | self.environment
        for command in [*self.setup, *self.commands]:
            if subprocess.run(command, cwd=ROOT, env=environment).returncode == 0:
                continue
            if command is self.commands[-1] and self.counts and self.counts.exists():
                break  # tests failed: they are counted one by one
            return 0, 0, [f"{shlex.join(map(str, command))}"]
        if not self.counts:
            return 1, 0, []
        read = read_tier if self.counts.suffix == ".json" else read_junit
        passed, skipped, failed = read(self.counts)
        return passed, skipped, [self.again(name) for name in failed]


def read_junit(path):
    passed, skipped, failed = 0, 0, []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif skip is not None and "Unable to find" in (skip.get("message") or "") + (skip.text or ""):
            failed.append(f"{case.get('classname')}::{case.get('name')}")  # its program was not built
        elif skip is not None:
            skipped += 1
        else:
            passed += 1
    return passed, skipped, failed


def read_tier(path):
    tier = json.loads(path.read_text())
    return tier["passed"], tier["skipped"], tier["failed"]


def build(preset, *targets, cmake=()):
    """Only a first or changed configuration is slow."""
    return [["cmake", "--preset", preset, *cmake], ["cmake", "--build", "--preset", preset, "-j", JOBS, "--target", *targets]]


def ctest(name, preset, *selection, packages="build test", first=(), environment=None):
    file = RESULTS / f"{name}.xml"
    # Real data take minutes under a sanitizer.
    command = [*(["env", "-u", "EENET_DATA", *FIXED] if preset in ("asan", "tsan") else []), "ctest", "--preset", preset, "-j", AT_ONCE, *selection,
               "--output-junit", str(file)]
    return Step(name, *first, command, packages=packages, counts=file, environment=environment,
                again=lambda test: f"ctest --preset {preset} -R '^{test.split('::')[-1]}$'")


def pytest(name, marks, packages, folder, *options, python=PYTHON, first=()):
    file = RESULTS / f"{name}.xml"
    variables = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "EENET_PROGRAM": str(BUILT / "eenet")}
    command = [python, "-m", "pytest", "-q", "-n", JOBS, "-m", marks, "--junitxml", str(file), *options]
    words = " ".join(f"{key}={value}" for key, value in variables.items())

    def again(test):
        module, _, case = test.partition("::")
        return f"{words} {python} -m pytest {module.replace('.', '/')}.py -k '{case.split('[')[0]}'"

    return Step(name, *first, command, packages=packages, counts=file, again=again, environment=variables)


def make(target, *variables, environment=None):
    return Step(target, ["make", "--no-print-directory", target, *variables], environment=environment)


WITH_PYTHON = ["-DEENET_PYTHON=ON", f"-DEENET_PYTHON_EXECUTABLE={PYTHON}"]
RELEASE = build("release", "all", cmake=WITH_PYTHON)
SITE = ROOT / "build/python/site"
WHEEL = [["make", "--no-print-directory", "python"], ["rm", "-rf", str(SITE)],
         ["sh", "-c", f"{PYTHON} -m pip -q install --root-user-action=ignore --no-index --no-deps --target {SITE} "
                      "build/python/*.whl"]]
LONG = {"EENET_TEST_LONG": "1"}
DEBUG_TESTS = [f"python/tests/test_{name}.py" for name in ("every_call", "errors", "arms")]

TEST = [
    Step("build", *RELEASE, packages="build test python test-python"),
    ctest("release", "release", "-LE", "ci|night"),
    pytest("python", "not ci and not night", "python test-python", BUILT / "python", "python/tests"),
]
SANITIZED = ["eenet", "test_programs", "python_core", "python_lab", "python_planted"]
SANITIZERS = [
    ctest("asan", "asan", "-LE", "ci|night|plain", first=build("asan", *SANITIZED, cmake=WITH_PYTHON)),
    ctest("tsan", "tsan", "-L", "thread", "-LE", "night", packages="build test test-ci",
          first=build("tsan", *SANITIZED, cmake=WITH_PYTHON)),
]
OTHERS = [
    Step("lint", ["make", "--no-print-directory", "-k", "lint"]),
    ctest("other", "other", "-L", "short", packages="test-other", first=build("other", "short_tests")),
]
TIERS = {
    "test": TEST,
    "ci": [
        Step("test", ["make", "--no-print-directory", "test"], counts=RESULTS / "test.json", again=lambda command: command),
        ctest("services", "release", "-L", "ci", "-LE", "night", packages="build test test-ci python site wasm", first=RELEASE),
        pytest("python-ci", "ci and not night", "python test-python", SITE, "python/tests", first=WHEEL),
        # Debian's debug interpreter aborts if an object is released twice.
        pytest("python-debug", "not ci and not night", "python test-python", SITE, *DEBUG_TESTS, python=f"{PYTHON}-dbg"),
        *SANITIZERS,
        *OTHERS,
    ],
    "all": [
        Step("build", *RELEASE, packages="build test test-ci test-night python test-python site wasm"),
        ctest("release", "release", environment=LONG),
        pytest("python", "not nothing", "python test-python", SITE, "python/tests", first=WHEEL),
        ctest("asan", "asan", "-LE", "plain", first=build("asan", *SANITIZED, cmake=WITH_PYTHON)),
        SANITIZERS[1],
        *OTHERS,
        make("test-other"),
        make("test-packages"),
        make("fuzz", "FUZZ_SECONDS=600"),
        make("fast-day"),
        make("promotions"),
        make("torture"),
        make("torture-fleet"),
        make("load"),
        make("mutants"),
    ],
}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in TIERS:
        sys.exit(__doc__)
    tier, wanted = sys.argv[1], sys.argv[2:]
    steps = [step for step in TIERS[tier] if not wanted or step.name in wanted]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    RESULTS.mkdir(parents=True, exist_ok=True)
    passed, skipped, failed, begin = 0, 0, [], time.monotonic()
    for number, step in enumerate(steps, 1):
        print(f"\n== {tier}: {step.name} ({number} of {len(steps)})", flush=True)
        start = time.monotonic()
        good, omitted, bad = step.run()
        passed, skipped, failed = passed + good, skipped + omitted, failed + bad
        print(f"== {tier}: {step.name}: {good} passed, {len(bad)} failed, {omitted} skipped "
              f"in {time.monotonic() - start:.0f} s", flush=True)
    (RESULTS / f"{tier}.json").write_text(json.dumps({"passed": passed, "skipped": skipped, "failed": failed}))
    print(f"\n{tier}: {time.monotonic() - begin:.0f} s")
    if failed:
        print("Failed; to run each alone:")
        for command in failed:
            print(f"  {command}")
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
