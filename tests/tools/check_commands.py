#!/usr/bin/env python3
"""check_commands.py PROGRAM ROOT: checks the commands in the code blocks of README.md and docs/, in an empty folder.

`eenet run`, `grid` and `paper` run with --plan, so data set kinds, policies, options, seeds and flags must exist. Small files
made here replace the data sets that a reader provides. Of other commands the verb and the flags are checked; make needs
its target, and a script of the repository must exist."""

import re
import shlex
import struct
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>"}  # what follows is no argument


def blocks(page: Path):
    """The code blocks of a page, and commands within a line: (line number, text)."""
    text = page.read_text()
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S):
        if found[1] in ("", "sh", "console", "bash"):
            yield text.count("\n", 0, found.start(2)) + 1, found[2]
    for found in re.finditer(r"(?<!`)`(eenet \w+ -[^`]+)`", text):
        yield text.count("\n", 0, found.start()) + 1, found[1].replace("\n", " ")


def commands(block: str):
    """The words of each command. In a block with prompts, other lines are output."""
    lines = block.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    for line in lines:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # JSON over several lines, for example
            continue
        current = []
        for word in [*words, ";"]:
            if word in ENDS or word.endswith(";"):
                if current:
                    yield current
                current = []
            else:
                current.append(word)


def write_table(name: str, options: str) -> str:
    """A table with 20 columns, among them those that the options name."""
    named = [word for word in re.findall(r"[\w ]+", re.sub(r"\w+=", "+", options)) if not word.isdigit() and word not in ("all", "auto")]
    columns = list(dict.fromkeys(named + [f"c{i}" for i in range(20 - len(named))] + ["target"]))
    rows = [",".join(columns)] + [",".join("abc"[row % 3] if "label=" + column in options or column == "target" else str((row * 7 + at) % 5)
                                           for at, column in enumerate(columns)) for row in range(30)]
    path = Path(re.sub(r"\W", "_", f"table {name} {options}") + ".csv")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def write_ratings(name: str, options: str) -> str:
    given = dict(part.split("=") for part in options.split(",") if "=" in part)
    head = [given.get(role, usual) for role, usual in (("user", "userId"), ("item", "movieId"), ("rating", "rating"))]
    path = Path(re.sub(r"\W", "_", f"ratings {name} {options}") + ".csv")
    path.write_text(",".join(head) + "\n" + "".join(f"{user},{item},{1 + 4 * (user * item % 7 > 2)}\n" for user in range(30) for item in range(40)))
    return str(path)


def write_mnist(*_) -> str:
    folder = Path("mnist")
    folder.mkdir(exist_ok=True)
    for name in ("train", "t10k"):
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 2051, 20, 28, 28) + bytes(range(196)) * 4 * 20)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, 20) + bytes(i % 10 for i in range(20)))
    return str(folder)


def write_articles(*_) -> str:
    path = Path("articles.csv")
    path.write_text("fake,text\n" + "".join(f"{int(i % 4 == 0)},word{i % 3} word{i % 5} word{i % 7}\n" for i in range(40)))
    return str(path)


STAND_INS = {"table": write_table, "ratings": write_ratings, "movielens": write_ratings, "mnist": write_mnist,
             "fashion-mnist": write_mnist, "disin": write_articles}


def stand_in(data_set: str, root: Path) -> str:
    """The data set with a small file in place of the reader's; one that a page ships stays."""
    if data_set == "DATA":
        return "synthetic:inner"
    kind, _, rest = data_set.partition(":")
    place, comma, options = rest.partition(",")
    if kind in ("yelp", "rounds") and place and not comma:
        return "synthetic:inner"
    if kind not in STAND_INS:
        return data_set  # synthetic, or unknown: the program says so
    shipped = root / place
    place = str(shipped) if place and shipped.is_file() else STAND_INS[kind](place, options)
    return f"{kind}:{place}{comma}{options}"


def check_plan(program: str, words, root: Path):
    words = [stand_in(word, root) if before in ("-d", "--dataset") else word for before, word in zip(["", *words], words)]
    more = [] if "--plan" in words else ["--plan"]
    if words[1] == "paper" and "-p" not in words:
        more += ["-p", "linucb"]  # to plan all policies of the paper takes seconds; cli_paper does it
    done = subprocess.run([program, *words[1:], *more, "-q"], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"


@lru_cache(maxsize=None)
def help_of(program: str, verb: str):
    return subprocess.run([program, "help", verb], capture_output=True, text=True)


def check_flags(program: str, words):
    helped = help_of(program, words[1])
    if helped.returncode:
        return helped.stderr.strip()
    for word in words[2:]:
        flag = re.match(r"--[a-z][\w-]*|-[A-Za-z]$", word)
        if flag and not re.search(rf"(?<![\w-]){re.escape(flag[0])}(?![\w-])", helped.stdout):
            return f"eenet {words[1]} has no flag {flag[0]}"
    return None


def check(program: str, root: Path, words):
    while words and (re.match(r"\w+=", words[0]) or words[0] in ("mpirun", "srun", "nice", "time")):
        if words[0] in ("mpirun", "srun"):
            words = words[words.index("eenet"):] if "eenet" in words else []
        else:
            words = words[1:]
    if len(words) < 2 or "..." in words:
        return None
    if words[0] == "eenet" and words[1] in ("run", "grid", "paper") and "-d" in words:
        return check_plan(program, words, root)
    if words[0] == "eenet" and re.match(r"[a-z]+$", words[1]):
        return check_flags(program, words)
    if words[0] == "make":
        targets = [word for word in words[1:] if re.match(r"[a-z-]+$", word)]
        missing = [target for target in targets if not re.search(rf"^(\S+ )*{target}( \S+)*:", (root / "Makefile").read_text(), flags=re.M)]
        return f"make has no target {missing[0]}" if missing else None
    script = next((word for word in words[:2] if re.match(r"(bench|examples|tests)/", word)), None)
    return f"{script} does not exist" if script and not (root / script).exists() else None


def main(program: str, root: Path) -> int:
    found = [(page, line, words) for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]
             for line, block in blocks(page) for words in commands(block)]
    planned = [words for _, _, words in found if words[:1] == ["eenet"] and words[1:2] and words[1] in ("run", "grid", "paper")]
    answers = {words: check(program, root, list(words)) for words in dict.fromkeys(tuple(words) for _, _, words in found)}
    wrong = [f"{page.relative_to(root)}, line {line}: {' '.join(words)}\n    {answers[tuple(words)]}"
             for page, line, words in found if answers[tuple(words)]]
    print("\n".join(wrong))
    print(f"{len(found)} commands, {len(planned)} planned, {len(wrong)} wrong")
    return 1 if wrong or len(planned) < 40 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
