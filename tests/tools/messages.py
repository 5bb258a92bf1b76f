#!/usr/bin/env python3
"""messages.py ROOT: prints every sentence that the program, the server, its pages and the Python package can print.

A sentence is a string of two words or more. Strings that are code (SQL, HTML, JSON, CSS) are left out. 'make messages'
writes the output to tests/messages.txt, and a test checks that it is up to date, so that reviewers see each new
sentence in the diff.
"""

import ast
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\S', re.S)
JS_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`|\S', re.S)
PLACEHOLDER = re.compile(r"%[-+ #0-9.*]*(?:hh|h|ll|l|z|j|PRI\w+)?[a-zA-Z]?|\$?\{[^{}]*\}|\\[nt\"]")
SQL = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|BEGIN|COMMIT|WITH|ATTACH|VACUUM)\b|^ (AND|ORDER|WHERE|FROM|LIMIT|ON|JOIN|UNION) ")
CODE = re.compile(r'^\s*[<{\[]|^[,;]? ?\\"\w+\\": ?|^\s*[\w.-]+=\\"|:\s*var\(|^M ?[\d%]|^(set|plot|unset) ')


def is_sentence(text: str) -> bool:
    if SQL.search(text) or CODE.search(text):
        return False
    plain = PLACEHOLDER.sub(" ", text).strip()
    return bool(re.search(r"\s", plain)) and len(re.findall(r"[A-Za-z][a-z']+", plain)) >= 2


def of_c(path: Path):
    """Joins adjacent literals; macros of <inttypes.h> between them count as conversions."""
    source = re.sub(r"^[ \t]*#[ \t]*include.*$", "", path.read_text(), flags=re.M)
    text = None
    for token in [*C_TOKEN.findall(source), ";"]:
        if token.startswith(("/*", "//")):
            continue
        if token.startswith('"'):
            text = (text or "") + token[1:-1]
        elif text is not None and token.startswith("PRI"):
            text += token
        elif text is not None:
            yield text
            text = None


def of_js(path: Path):
    for token in JS_TOKEN.findall(path.read_text()):
        if token[0] in "\"'`":
            yield token[1:-1]


def of_html(path: Path):
    found: list = []

    class Reader(HTMLParser):
        def handle_data(self, data):
            found.append(data)

        def handle_starttag(self, tag, attributes):
            found.extend(value for name, value in attributes if name in ("title", "alt", "aria-label", "placeholder") and value)

    Reader().feed(path.read_text())
    return found


def of_json(path: Path):
    def texts(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("description", "summary", "title") and isinstance(inner, str):
                    yield inner
                else:
                    yield from texts(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from texts(inner)

    return texts(json.loads(path.read_text()))


def of_python(path: Path):
    """All strings except docstrings, which have their own tests."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    skipped = {id(node.body[0].value) for node in ast.walk(tree)
               if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}

    def visit(node):
        if id(node) in skipped:
            return
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        else:
            for child in ast.iter_child_nodes(node):
                yield from visit(child)

    return visit(tree)


READERS = {".c": of_c, ".h": of_c, ".js": of_js, ".html": of_html, ".json": of_json, ".py": of_python}


def main(root: Path) -> None:
    paths = (path for folder in ("cli", "src", "python/eenet", "python/src") for path in (root / folder).rglob("*"))
    for path in sorted(path for path in paths if path.suffix in READERS):
        sentences = dict.fromkeys(" ".join(text.split()) for text in READERS[path.suffix](path) if is_sentence(text))
        if sentences:
            print(f"\n{path.relative_to(root)}")
            for sentence in sentences:
                print(f"    {sentence}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
