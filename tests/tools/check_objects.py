#!/usr/bin/env python3
"""check_objects.py FOLDERS... OBJECT...: checks what object files of src/serve and other folders need of each other.

FOLDERS is src/serve/folders.txt, which lists the sub-folders from the bottom to the top; files next to it are above all
of them. src/data, src/evaluate and src/lab have such a list too. Prints every dependency that points upwards and every cycle
of files, with the symbols that cause it, and exits with 1. Unlike includes, symbols also show dependencies through a header that several files share.
"""
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def read(area, objects):
    """Symbols that each object defines and needs; objects are named by their path below src/AREA."""
    defined, needed = {}, defaultdict(set)
    own = [path for path in objects if f"/src/{area}/" in path]
    listed = subprocess.run(["nm", "-A", *own], check=True, capture_output=True, text=True).stdout if own else ""
    for line in listed.splitlines():
        path, _, fields = line.partition(":")
        kind, symbol = fields.split()[-2:]
        name = path.split(f"/src/{area}/", 1)[1].removesuffix(".o").removesuffix(".c")
        if kind == "U":
            needed[name].add(symbol)
        elif kind in "TDRBC":
            defined[symbol] = name
    graph = {name: defaultdict(list) for name in set(defined.values()) | set(needed)}
    for name, symbols in needed.items():
        for symbol in sorted(symbols):
            if defined.get(symbol, name) != name:
                graph[name][defined[symbol]].append(symbol)
    return graph


def cycles(graph):
    """Groups of files that need each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def check(folders, objects):
    area = folders.parent.name
    order = [line.split()[0] for line in folders.read_text().splitlines()]
    places = {folder: place for place, folder in enumerate([*order, "."])}
    graph = read(area, objects)
    failed = not graph
    if failed:
        print(f"no object files of src/{area}")
    for name in sorted(graph):
        folder = str(Path(name).parent)
        if folder not in places:
            print(f"src/{area}/{folder} is not in src/{area}/folders.txt")
            failed = True
            continue
        for other, symbols in sorted(graph[name].items()):
            if places.get(str(Path(other).parent), -1) > places[folder]:
                print(f"{area}: {name} depends upwards on {other}: {', '.join(symbols)}")
                failed = True
    for group in cycles(graph):
        failed = True
        print(f"{area}: cycle: {' '.join(group)}")
        for name in group:
            for other in group:
                if graph[name].get(other):
                    print(f"    {name} needs {other}: {', '.join(graph[name][other])}")
    return failed


if __name__ == "__main__":
    given = [name for name in sys.argv[1:] if not name.endswith(".o")]
    sys.exit(not given or any([check(Path(name), sys.argv[1 + len(given) :]) for name in given]))
