#!/usr/bin/env python3
"""check_documents.py ROOT: checks the documents. Links have a target, the index in docs/README.md lists every page,
each page has a title and then a paragraph, and README.md has at most 200 lines."""

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


def main(root: Path) -> int:
    pages = sorted((root / "docs").glob("*.md"))
    index = (root / "docs" / "README.md").read_text()
    wrong = [f"docs/README.md: does not list {page.name}" for page in pages if page.name != "README.md" and f"({page.name})" not in index]
    for path in [root / "README.md", root / "python" / "README.md", *pages, *sorted((root / "examples").rglob("*.md"))]:
        wrong += wrong_links(path)
    wrong += [f"{page}: expected '# Title', an empty line and a paragraph that answers it"
              for page in pages if not re.match(r"# \S.*\n\n[A-Za-z`\[*]", page.read_text())]
    wrong += unknown_messages(root)
    lines = len((root / "README.md").read_text().splitlines())
    if lines > 200:
        wrong.append(f"README.md: {lines} lines; expected at most 200")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
