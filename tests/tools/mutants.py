#!/usr/bin/env python3
"""mutants.py [OPTION...] [WORD...]: do the tests notice when the code is wrong?

A mutant is one small error, such as a wrong sign or a dropped lock. tests/mutants.txt lists them. Each is applied to a
copy of the tree in build/mutants, the programs that its tests run are built, and the tests run: if one fails, the mutant
is killed; if all pass, it survives. With WORDs only mutants run whose name or file contains one of them.

    --find      only check that the text of each mutant is still there
    -j N        build and test with N jobs (default: 1)
    --tree DIR  the tree to test (default: this one); its own list is not used

The exit status is 0 if all mutants are killed, 130 after Ctrl-C, else 1. A mutant does not count as killed if one of
its tests fails or is skipped without it, if its text is no longer there, or if it does not build. The tree itself is
never changed; an interrupted run leaves nothing behind but build/mutants, which the next run restores.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
TIME_LIMIT = 600  # seconds for one test: a mutant may loop for ever


class Mutant:
    """One block of the list: 'key: value' lines, then the old text after '-' and the new one after '+'."""

    def __init__(self, block):
        self.fields = {"preset": "release"}
        texts = {"-": [], "+": []}
        for line in block.splitlines():
            if line[0] in texts:
                texts[line[0]].append(line[1:].strip())
            elif line[0] != "#":
                key, _, value = line.partition(":")
                self.fields[key] = value.strip()
        self.name, self.file, self.preset = (self.fields[key] for key in ("name", "file", "preset"))
        self.tests = self.fields["test"].split()
        self.new = "\n".join(texts["+"])
        # White space does not count: formatting may break lines elsewhere.
        words = re.findall(r"\w+|[^\w\s]", "\n".join(texts["-"]))
        self.old = re.compile(r"\s*".join(map(re.escape, words)))

    def find(self, tree):
        """The file and its mutated text; or None and why not."""
        files = [path for top in ("src", "cli", "python", "include") for path in (tree / top).rglob("*.*")]
        named = [path for path in files if path.match(self.file) and path.is_file()]
        found = [(path, path.read_text()) for path in named]
        counts = [len(self.old.findall(text)) for _, text in found]
        if sum(counts) == 1:
            path, text = found[counts.index(1)]
            return path, self.old.sub(lambda _: self.new, text)
        if sum(counts) > 1:
            return None, f"the text is there {sum(counts)} times"
        others = [path for path in files if path.suffix in (".c", ".h", ".py") and self.old.search(path.read_text())]
        return None, f"no such text in {self.file}" + "".join(f"; see {path.relative_to(tree)}" for path in others[:3])


def read_list(path, words):
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", path.read_text())]
    mutants = [Mutant(block) for block in blocks if re.search(r"^name:", block, re.M)]
    return [one for one in mutants if not words or any(word in f"{one.name} {one.file}" for word in words)]


def copy_tree(tree, copy):
    """Copies what git would commit. A file that is the same keeps its time, so that it is not compiled again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=tree, check=True,
                            capture_output=True, text=True).stdout
    wanted = {name for name in listed.split("\0") if name and (tree / name).exists()}
    for path in list(copy.rglob("*")):
        name = str(path.relative_to(copy))
        if name.split("/")[0] != "build" and not path.is_dir() and name not in wanted:
            path.unlink()
    for name in wanted:
        source, target = tree / name, copy / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


class Builder:
    """Builds and tests the copy with one preset."""

    def __init__(self, copy, preset, jobs):
        self.copy, self.preset, self.jobs = copy, preset, jobs
        self.folder = copy / "build" / preset
        self.env = dict(os.environ, CCACHE_BASEDIR=str(copy), CCACHE_NOHASHDIR="1", PYTHONDONTWRITEBYTECODE="1",
                        PYTHONPATH=str(self.folder / "python"), EENET_PROGRAM=str(self.folder / "eenet"),
                        TSAN_OPTIONS="report_thread_leaks=0 halt_on_error=1")
        # Sanitizers do not start under the address randomization of some kernels.
        fixed = shutil.which("setarch") and not subprocess.run(["setarch", "-R", "true"]).returncode
        self.fixed_addresses = ["setarch", "-R"] if fixed else []
        ccache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        self.run(["cmake", "--preset", preset, "-DEENET_TESTS=ON", "-DEENET_WERROR=OFF", "-DEENET_PYTHON=ON",
                  f"-DEENET_PYTHON_EXECUTABLE={sys.executable}", *ccache], True)
        listed = self.run(["cmake", "--build", str(self.folder), "--target", "help"], True).stdout
        self.targets = set(re.findall(r"^\.\.\. (\S+)", listed, re.M))
        # What each test runs, as CMake wrote it: [=[NAME]=] and the paths on the same line.
        self.used = {}
        for file in self.folder.rglob("CTestTestfile.cmake"):
            for name, words in re.findall(r"\[=\[(.+?)\]=\](.*)", file.read_text()):
                files = re.findall(rf"{re.escape(str(self.folder))}/[\w./-]*?(?:lib)?(\w+)(?:\.so)?(?=[\";])", words)
                self.used.setdefault(name, set()).update(self.targets.intersection(files))

    def run(self, command, must=False):
        done = subprocess.run(command, cwd=self.copy, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", stdin=subprocess.DEVNULL)
        if must and done.returncode:
            sys.exit(f"mutants.py: {' '.join(command)} failed:\n{done.stdout[-3000:]}")
        return done

    def build(self, mutants, must=False):
        needed = set()
        for test in {test for mutant in mutants for test in mutant.tests}:
            needed |= {"eenet", "python_core", "python_lab"} if test.endswith(".py") else self.used.get(test, set())
        command = ["cmake", "--build", str(self.folder), "-j", str(self.jobs), "--target", *sorted(needed)]
        return self.run(command, must).returncode == 0

    def failing(self, tests, stop=True):
        """The tests that fail, or with stop only the first; a test that is skipped counts as one that fails."""
        scripts = [test for test in tests if test.endswith(".py")]
        others = [re.escape(test) for test in tests if test not in scripts]
        bad = []
        if others:
            wanted = f"^({'|'.join(others)})$"
            command = ["ctest", "--test-dir", str(self.folder), "-R", wanted, "--no-tests=error",
                       "--timeout", str(TIME_LIMIT), "-j", str(self.jobs), *["--stop-on-failure"][:stop]]
            done = self.run(self.fixed_addresses + command)
            bad = re.findall(r"Test +#\d+: (\S+) .*(?:Failed|Timeout|Skipped|Not Run|Exception)", done.stdout)
            if done.returncode and not bad:
                sys.exit(f"mutants.py: ctest failed:\n{done.stdout[-3000:]}")
        for script in scripts:
            if bad and stop:
                break
            if self.run([sys.executable, "-m", "pytest", "-x", "-q", f"python/tests/{script}"]).returncode:
                bad.append(script)
        return bad


def try_mutant(mutant, copy, builder):
    if builder.bad.intersection(mutant.tests):
        return "NOT TESTED", "without the mutant already fails: " + " ".join(builder.bad.intersection(mutant.tests))
    path, text = mutant.find(copy)
    if not path:
        return "DOES NOT APPLY", text
    before = path.read_text()
    try:
        path.write_text(text)
        if not builder.build([mutant]):
            return "DOES NOT BUILD", ""
        by = builder.failing(mutant.tests)
        return ("killed", by[0]) if by else ("SURVIVED", " ".join(mutant.tests))
    finally:
        path.write_text(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--find", action="store_true")
    parser.add_argument("-j", type=int, default=1, metavar="N")
    parser.add_argument("--tree", type=Path, default=HERE, metavar="DIR")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tree, copy = given.tree.resolve(), given.tree.resolve() / "build" / "mutants"
    mutants = read_list(HERE / "tests" / "mutants.txt", given.words)
    if given.find:
        lost = [(one, why) for one in mutants for path, why in [one.find(tree)] if not path]
        for one, why in lost:
            print(f"{one.name}: {why}")
        return 1 if lost else 0
    copy_tree(tree, copy)
    builders = {one.preset: None for one in mutants}
    for preset in builders:
        mine = [one for one in mutants if one.preset == preset]
        print(f"building and testing without mutants: preset {preset}", flush=True)
        builders[preset] = Builder(copy, preset, given.j)
        builders[preset].build(mine, must=True)
        tests = sorted({test for one in mine for test in one.tests})
        builders[preset].bad = set(builders[preset].failing(tests, stop=False))
    counts = {}
    for number, mutant in enumerate(mutants, 1):
        result, note = try_mutant(mutant, copy, builders[mutant.preset])
        counts[result] = counts.get(result, 0) + 1
        print(f"{number:3}/{len(mutants)}  {result:14}  {mutant.file:24} {mutant.name:60}  {note}", flush=True)
    others = "".join(f", {count} {result.lower()}" for result, count in counts.items() if result not in ("killed", "SURVIVED"))
    print(f"{counts.get('killed', 0)} killed, {counts.get('SURVIVED', 0)} survived{others}")
    return 0 if set(counts) <= {"killed"} else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
