#!/usr/bin/env python3
"""check_documents.py ROOT: checks the documents. Links have a target, the index in docs/README.md lists every page,
each page has a title and then a paragraph, versions are that of the header, and README.md has at most 200 lines. Each table of docs/experiments.md has a
command, and its summary, the text and README.md say what its regrets say."""

import math
import re
import sys
from pathlib import Path


def anchors(path: Path) -> set:
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_links(path: Path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists():
            yield f"{path}: no file {link}"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{path}: no heading {link}"


def unknown_messages(root: Path):
    """Headings of the troubleshooting page quote what we print: three words in a row, at least, are in our sources."""
    printed = (root / "tests" / "messages.txt").read_text() + (root / "cmake" / "setup.sh").read_text()
    printed = " ".join(re.findall(r"[\w%.=-]+", printed))
    for quoted in re.findall(r"^### `(.*)`$", (root / "docs" / "troubleshooting.md").read_text(), flags=re.M):
        words = re.findall(r"[\w%.=-]+", quoted)
        if not any(f" {' '.join(words[at:at + 3])} " in printed for at in range(len(words) - 2)):
            yield f"docs/troubleshooting.md: we do not print '{quoted}'"


def wrong_versions(root: Path):
    """Every place that states the version of eenet states the one in the header."""
    version = re.search(r'#define EE_VERSION "(.*)"', (root / "include" / "eenet.h").read_text())[1]
    places = {"CITATION.cff": r"^version: (.*)$", "CHANGELOG.md": r"\A.*\n\n## ([\d.]+)", "debian/changelog": r"\Aeenet \((.*)\)",
              "examples/compose.yaml": r"eenet[:-]([\d.]+\d)", "docs/containers.md": r"eenet[:-]([\d.]+\d)",
              "docs/installing.md": r"eenet_([\d.]+\d)_", "examples/kubernetes/sqlite.yaml": r"eenet:([\d.]+)$",
              "examples/kubernetes/postgresql.yaml": r"eenet:([\d.]+)$"}
    for name, pattern in places.items():
        found = re.findall(pattern, (root / name).read_text(), flags=re.M)
        if set(found) != {version}:
            yield f"{name}: states version {', '.join(sorted(set(found))) or 'nothing'}; the header states {version}"


def tables_without_command(page: Path):
    """A section with a table has a block with a command."""
    text = re.sub(r"(?s)^.*?(?=^## )", "", page.read_text(), count=1, flags=re.M)
    for section in re.split(r"^(?=##+ )", text, flags=re.M):
        commands = re.findall(r"^```\n(?:eenet|bench/|make )", section, flags=re.M)
        if re.search(r"^\|---", section, flags=re.M) and not commands:
            yield f"{page}: no command for the table in '{section.splitlines()[0]}'"


def read_tables(text: str):
    """Each table as a list of rows, a row as a list of cells."""
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.M):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        yield [row for row in rows if not re.fullmatch(r"-*", row[0])]


def read_regrets(text: str):
    """regrets[policy][data set] = (mean, whether it differs significantly from eenet), from the tables with ±."""
    regrets = {}
    for head, *rows in read_tables(text):
        for row in rows:
            for name, cell in zip(head[1:], row[1:]):
                found = re.match(r"\W*(\d+)\W* ± \d+( ≈)?$", cell)
                if found:
                    regrets.setdefault(row[0], {})[name] = (float(found[1]), not found[2])
    return regrets


def wrong_summary(root: Path):
    """The summary of docs/experiments.md, its sentences and the table in README.md follow from the regrets."""
    text = (root / "docs" / "experiments.md").read_text()
    regrets = read_regrets(text)
    ranked = [policy for policy in regrets if "one network" not in policy]
    summary = next(table for table in read_tables(text) if "mean rank" in table[0])
    counts = {}
    for policy, ratio, rank, _, seconds, better, worse in summary[1:]:
        own, to = regrets[policy], regrets["eenet"]
        if len(own) != 18:
            yield f"docs/experiments.md: {policy} has {len(own)} data sets; expected 18"
        mean = math.exp(sum(math.log(own[name][0] / to[name][0]) for name in own) / len(own))
        if abs(float(ratio.split()[0]) - mean) > 0.004:  # regrets are rounded: half of 19 is 2.6%, a 18th of that 0.15%
            yield f"docs/experiments.md: {policy} has ratio {ratio}; its regrets give {mean:.3f}"
        ranks = [1 + sum(regrets[other][name][0] < own[name][0] for other in ranked) for name in own]
        if policy in ranked and abs(float(rank) - sum(ranks) / 18) > 0.11:
            yield f"docs/experiments.md: {policy} has mean rank {rank}; its regrets give {sum(ranks) / 18:.2f}"
        differs = {name: own[name][0] - to[name][0] for name in own if policy != "eenet" and own[name][1]}
        if {name for name in differs if differs[name] < 0} != set(filter(None, better.split(", "))):
            yield f"docs/experiments.md: {policy} is said to be better on '{better}'"
        if sum(difference > 0 for difference in differs.values()) != int(worse):
            yield f"docs/experiments.md: {policy} is said to be worse on {worse} data sets"
        counts[policy] = (ratio, f"{worse} data sets", better, seconds)
    readme = next(table for table in read_tables((root / "README.md").read_text()) if "ratio to `eenet`" in table[0][1])
    for name, *cells in readme[2:]:
        if tuple(cells) != counts[name.split("`")[1]]:
            yield f"README.md: {name} differs from docs/experiments.md"
    lost = {name for policy in ranked for name, (regret, differs) in regrets[policy].items()
            if policy != "eenet" and differs and regret < regrets["eenet"][name][0]}
    said = re.search(r"significantly worse than another policy on ([\w, ]+?), and", text.replace("\n", " "))
    if not said or set(re.split(", | and ", said[1])) != lost:
        yield f"docs/experiments.md: eenet is significantly worse on {', '.join(sorted(lost))}"


def main(root: Path) -> int:
    pages = sorted((root / "docs").glob("*.md"))
    index = (root / "docs" / "README.md").read_text()
    wrong = [f"docs/README.md: does not list {page.name}" for page in pages if page.name != "README.md" and f"({page.name})" not in index]
    for path in [root / "README.md", root / "python" / "README.md", root / "clients" / "javascript" / "README.md", *pages, *sorted((root / "examples").rglob("*.md"))]:
        wrong += wrong_links(path)
    wrong += [f"{page}: expected '# Title', an empty line and a paragraph that answers it"
              for page in pages if not re.match(r"# \S.*\n\n[A-Za-z`\[*]", page.read_text())]
    wrong += unknown_messages(root)
    wrong += wrong_versions(root)
    wrong += tables_without_command(root / "docs" / "experiments.md")
    wrong += wrong_summary(root)
    lines = len((root / "README.md").read_text().splitlines())
    if lines > 200:
        wrong.append(f"README.md: {lines} lines; expected at most 200")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
