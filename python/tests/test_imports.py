"""No two modules of the package import each other, directly or through others."""

import ast
from graphlib import CycleError, TopologicalSorter


from conftest import ROOT


def read_imports(folder):
    """The modules of a package, and what each imports of it: anywhere, so in functions and for type checkers too. The
    extensions, which have stubs in place of files, import nothing."""
    stubs = {f"{folder.name}.{path.stem}" for path in folder.glob("*.pyi")}
    paths = {}
    for path in folder.rglob("*.py"):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        paths[".".join(part for part in parts if part != "__init__")] = path
    imports = {}
    for name, path in paths.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found.update(each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package.rsplit(".", node.level - 1)[0] if node.level else ""
                base = ".".join(filter(None, [above, node.module]))
                for each in node.names:
                    inner = f"{base}.{each.name}"
                    found.add(inner if inner in paths or inner in stubs else base)
        imports[name] = found & (paths.keys() | stubs)
    return imports


def find_cycle(imports):
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def test_the_package_has_no_import_cycle():
    imports = read_imports(ROOT / "python" / "eenet")
    # What is imported late, for type checkers, and from the folder above is seen.
    assert {"eenet._policies", "eenet.lab"} <= imports["eenet"]
    assert {"eenet._optional", "eenet._plotting"} <= imports["eenet.lab._results"]
    assert find_cycle(imports) == []
