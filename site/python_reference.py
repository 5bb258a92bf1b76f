"""The Python reference, from the signatures and docstrings of the built package."""

import importlib
import inspect
import re
import sys

INTRODUCTIONS = {
    "eenet": "[Decide and learn in Python](../docs/python.md) is the introduction.",
    "eenet.client": "[Call a decision server from Python](../docs/python-client.md) is the introduction.",
    "eenet.evaluate": "[Evaluate a policy on logged decisions](../docs/python-evaluation.md) is the introduction.",
    "eenet.lab": "[Compare policies in Python](../docs/python-lab.md) is the introduction.",
}


def write(python, source):
    """Writes a page for each module, and returns the part of the navigation."""
    sys.path.insert(0, str(python))
    folder = source / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name in INTRODUCTIONS:
        (folder / f"{name}.md").write_text(page(importlib.import_module(name)))
    return [{name: f"reference/{name}.md"} for name in INTRODUCTIONS]


def page(module):
    names = [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
    if module.__name__ == "eenet":
        names = [name for name in names if name not in ("Client", "AsyncClient", "__version__")]
    lines = [f"# {module.__name__}", "", prose(module.__doc__), "", INTRODUCTIONS[module.__name__], ""]
    for name in names:
        value = getattr(module, name)
        lines += [f"## {name} {{#{name}}}", "", *described(value, name)]
        if inspect.isclass(value):
            for own, member in members(value):
                lines += [f"### {name}.{own} {{#{name}.{own}}}", "", *described(member, own)]
    return "\n".join(lines) + "\n"


def members(owner):
    """What a class adds, in order: its own members and those of our classes that it builds on."""
    found = {}
    for base in owner.__mro__:
        if base.__module__.startswith("eenet"):
            for name, value in vars(base).items():
                is_slot = inspect.ismemberdescriptor(value) and not inspect.getdoc(value)
                if not name.startswith("_") and not is_slot:
                    found.setdefault(name, value)
    return sorted(found.items())


def described(value, name):
    lines = []
    value = getattr(value, "__func__", value)
    if callable(value):
        try:
            signature = re.sub(r"\(self(, /)?(, )?", "(", str(inspect.signature(value)))
        except (TypeError, ValueError):
            signature = None
        if signature and not (inspect.isclass(value) and issubclass(value, (Exception, tuple))):
            lines += ["```python", f"{name}{wrapped(signature, len(name))}", "```", ""]
    return lines + [prose(inspect.getdoc(value) or ""), ""]


def wrapped(signature, indent):
    """A signature that is too long for a line gets a line for each parameter."""
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature.replace("typing.", ""))
    if len(signature) + indent <= 90:
        return signature
    depth, result = 0, ""
    for at, sign in enumerate(signature):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0 and sign == ")" and "\n" in result:
            result += "\n)" + signature[at + 1:]
            return result
        result += sign
        if depth == 1 and (sign == "," or at == 0):
            result += "\n   "
            result += " " if at == 0 else ""
    return result


def prose(docstring):
    """A docstring as Markdown: examples become code blocks."""
    result = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring or "")):
        if paragraph.lstrip().startswith(">>>"):
            result.append("```pycon\n" + inspect.cleandoc(paragraph) + "\n```")
        elif ">>>" in paragraph:
            before, _, example = paragraph.partition(">>>")
            result += [text(before), "```pycon\n>>>" + example + "\n```"]
        else:
            result.append(paragraph if paragraph.startswith("    ") else text(paragraph))
    return "\n\n".join(result)


def text(paragraph):
    """Plain text with names of code between one or two backquotes."""
    parts = re.split(r"(``.*?``|`.*?`)", paragraph, flags=re.S)
    parts[::2] = [re.sub(r"([*_\[\]<])", r"\\\1", part).replace("\\<", "&lt;") for part in parts[::2]]
    parts[1::2] = [part.replace("``", "`") for part in parts[1::2]]
    return "".join(parts)
