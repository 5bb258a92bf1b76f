"""The pages of the repository. A link to a file that is not a page leads to a page that shows the file."""

import json
import os
import re
import shutil
import subprocess

FIRST = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
COPIED = {".png", ".svg", ".jpg", ".gif"}
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "sh", ".mjs": "js", ".js": "js", ".json": "json",
             ".yml": "yaml", ".yaml": "yaml", ".html": "html", ".css": "css", ".sbatch": "sh", ".sql": "sql"}
CODE = re.compile(r"(^```.*?^```$|^ *```.*?^ *```$|`[^`\n]+`)", re.M | re.S)
LINK = re.compile(r'(\]\(|src="|href=")([^)"\s]+)')


def write(root, source):
    """Writes the pages, and everything in the repository that they link to."""
    waiting = FIRST + [f"docs/{path.name}" for path in sorted((root / "docs").glob("*.md"))]
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        target = source / page_name(root, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / path).suffix in COPIED:
            shutil.copyfile(root / path, target)
        else:
            text, more = mapped(root, path, content(root, path))
            target.write_text(text)
            waiting += more


def page_name(root, path):
    """Where the page or picture of a file or folder of the repository is."""
    if (root / path).is_dir():
        return os.path.join(path, "README.md")
    return path if os.path.splitext(path)[1] in COPIED | {".md"} else path + ".md"


def content(root, path):
    file = root / path
    if file.is_dir():
        return folder_page(root, path)
    text = file.read_text()
    if file.suffix == ".md":
        return text
    if file.suffix == ".ipynb":
        return notebook_page(json.loads(text))
    return f"# {file.name}\n\n`{path}`\n\n{fenced(text, LANGUAGES.get(file.suffix, 'text'))}"


def fenced(text, language):
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def folder_page(root, path):
    readme = root / path / "README.md"
    if readme.exists():
        return readme.read_text()
    tracked = subprocess.run(["git", "-C", root, "ls-files", path], capture_output=True, text=True, check=False).stdout
    names = sorted({name[len(path.rstrip("/")) + 1:].split("/")[0] for name in tracked.splitlines()})
    names = names or sorted(file.name for file in (root / path).iterdir())
    return f"# {path.rstrip('/')}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)


def notebook_page(notebook):
    """The cells of a notebook: text, code and what it printed. Pictures and HTML are left out."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text + "\n" if cell["cell_type"] == "markdown" else fenced(text, "python"))
        for output in cell.get("outputs", []):
            printed = output.get("text") or output.get("data", {}).get("text/plain", [])
            if printed and "image/png" in output.get("data", {}):
                parts.append(f"![figure](data:image/png;base64,{output['data']['image/png'].strip()})\n")
            elif printed:
                parts.append(fenced("".join(printed), "text"))
    return "\n".join(parts)


def mapped(root, path, text):
    """The text for MkDocs, and the paths of the repository that it links to."""
    folder = path if (root / path).is_dir() else os.path.dirname(path)
    found = []

    def link(match):
        before, target = match.groups()
        file, hash_sign, anchor = target.partition("#")
        if not file or re.match(r"[a-z]+:|/", file):
            return match[0]
        place = os.path.normpath(os.path.join(folder, file))
        if not (root / place).exists():
            return match[0]  # MkDocs reports it
        found.append(place)
        return before + os.path.relpath(page_name(root, place), folder or ".") + hash_sign + anchor

    parts = CODE.split(text)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    parts[1::2] = [diagram(part) if part.startswith("```mermaid") else part for part in parts[1::2]]
    return nested_lists("".join(parts)), found


def nested_lists(text):
    """Python-Markdown wants nested lists indented by four columns; ours have two."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    parts[::2] = [re.sub(r"^  (?=[-*] )", "    ", part, flags=re.M) for part in parts[::2]]
    return "".join(parts)


def diagram(block):
    """A flow chart in Mermaid's notation as SVG, drawn by Graphviz: Material would load Mermaid from another host."""
    inside = re.search(r"subgraph (\w+) \[(.*?)\](.*?)\bend\b", block, re.S)
    nodes = " ".join(f'"{name}";' for name in inside[3].split()) if inside else ""
    arrows = "".join(f'"{one}" -> "{other}";' for one, other in re.findall(r"(\w+) --> (\w+)", block))
    cluster = f'subgraph cluster_{inside[1]} {{ label="{inside[2]}"; {nodes} }}' if inside else ""
    style = 'bgcolor=transparent; color=gray; node [shape=box, style=rounded, color=teal]; edge [color=gray];'
    dot = f'digraph {{ {style} fontname="sans-serif"; node [fontname="sans-serif"]; {cluster} {arrows} }}'
    svg = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", svg[svg.index("<svg"):], flags=re.S)
    svg = re.sub(r"<text ", '<text fill="currentColor" ', svg)
    return f'<div class="diagram" role="img" aria-label="{inside[2] if inside else "diagram"}">\n{svg}</div>\n'
