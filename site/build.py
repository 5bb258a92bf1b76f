#!/usr/bin/env python3
"""build.py ROOT PYTHON OUTPUT [PLAYGROUND]: builds the web site of the project ROOT in the folder OUTPUT, with MkDocs and
Material.

PYTHON is the folder that holds the built Python package, PLAYGROUND what make playground builds. Pages keep their places in the repository, so that most links
work unchanged; pages.py maps the others. Next to OUTPUT, OUTPUT-source keeps the Markdown that MkDocs reads. The output
depends only on the repository and on SOURCE_DATE_EPOCH (default: 0).
"""

import os
import re
import shutil
import sys
from pathlib import Path

os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # MkDocs reads it when it is imported

import http_reference  # noqa: E402
import manuals  # noqa: E402
import c_reference  # noqa: E402
import pages  # noqa: E402
import python_reference  # noqa: E402
from mkdocs.commands.build import build  # noqa: E402
from mkdocs.config import load_config  # noqa: E402

HERE = Path(__file__).resolve().parent

PLAYGROUND = """# Playground

[Open the playground](playground/index.html): draw a problem and watch policies learn it, in your browser. It needs no
server, and sends nothing.
"""


def slug(heading, _separator):
    """Anchors as on Git forges, so that links between pages work in both places."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def reader_sections(root):
    """Navigation from docs/README.md: the links of its introduction, then one section for each table."""
    text = (root / "docs" / "README.md").read_text()
    introduction, *tables = re.split(r"^## ", text, flags=re.M)
    sections = {"Start": ["README.md", "docs/README.md"] + linked(introduction)}
    for table in tables:
        title = table.splitlines()[0]
        rows = "\n".join(line for line in table.splitlines() if line.startswith("|"))
        sections[title] = linked(rows)
    return sections


def linked(text):
    return [f"docs/{name}" for name in re.findall(r"\]\(([\w.-]+\.md)\)", text)]


def navigation(root, source, references):
    """Each page once: where docs/README.md names it first."""
    seen = set()
    result = []
    for title, paths in reader_sections(root).items():
        result.append({title: [path for path in paths if not (path in seen or seen.add(path))]})
    result[0]["Start"][0] = {"eenet": "README.md"}
    result.append({"Reference": references})
    if (source / "playground.md").exists():
        result.append({"Playground": "playground.md"})
    result.append({"Project": ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]})
    return result


def configuration(root, source, output, references):
    config = load_config(
        config_file=str(HERE / "mkdocs.yml"), docs_dir=str(source), site_dir=str(output),
        copyright=f"eenet {version(root)}, MIT licence", nav=navigation(root, source, references))
    config["mdx_configs"]["toc"] = {"slugify": slug, "permalink": True, "toc_depth": 3}
    return config


def version(root):
    return re.search(r'#define EE_VERSION "(.*)"', (root / "include" / "eenet.h").read_text())[1]


def main(root, python, output, playground=None):
    source = output.with_name(output.name + "-source")
    for folder in (source, output):
        shutil.rmtree(folder, ignore_errors=True)
    pages.write(root, source)
    references = [{"C": c_reference.write(root, source)}, {"HTTP": http_reference.write(root, source)},
                  {"Python": python_reference.write(python, source)}, *manuals.write(root, source)]
    for name in ("site.css", "icon.svg"):
        shutil.copy(HERE / name, source / name)
    if playground:
        shutil.copytree(playground, source / "playground")
        (source / "playground.md").write_text(PLAYGROUND)
    build(configuration(root, source, output, references))


if __name__ == "__main__":
    main(*(Path(word).resolve() for word in sys.argv[1:]))
