"""The C reference, from the comments and declarations of include/eenet.h."""

import re

from pages import fenced

IGNORED = re.compile(r"#(if|ifdef|ifndef|include|endif)\b|extern|typedef struct \w+ \w+;$|}")
NAMES = re.compile(r"^EE_API\b.*?\b(ee_\w+)\(|^static inline \w+ (ee_\w+)\(|^typedef struct (ee_\w+);?|^typedef (?:struct|enum) (ee_\w+) \{"
                   r"|^#define (EE_(?!API|MUST_CHECK)\w+)", re.M)


def write(root, source):
    path = "reference/c.md"
    (source / "reference").mkdir(parents=True, exist_ok=True)
    (source / path).write_text(page((root / "include" / "eenet.h").read_text()))
    return path


def page(header):
    introduction, *chunks = joined(re.split(r"\n\n+", header))
    text, _ = parted(introduction)
    known = {name for chunk in chunks for name in names_of(chunk)}
    known = {name for name in known if name.startswith("ee_")}
    lines = ["# C reference: eenet.h", "", "Everything that `eenet.h` declares, in its order. The [manual pages](man/eenet.3.md) "
             "group the same functions by task; [How do I use eenet from C?](../docs/c-library.md) is the introduction.", "",
             prose(text, known)]
    for chunk in chunks:
        names = names_of(chunk)
        comment, code = parted(chunk)
        if not names or IGNORED.match(chunk):
            continue
        first, *others = names
        lines += [f"## {', '.join(names)} {{#{first}}}", ""]
        lines += ["".join(f'<a id="{name}"></a>' for name in others), ""]
        lines += [fenced(declarations(code), "c"), prose(comment, known)]
    return "\n".join(lines)


def joined(chunks):
    """A comment without a declaration belongs to the next chunk."""
    result = [chunks[0]]
    before = ""
    for chunk in chunks[1:]:
        chunk = before + chunk
        is_comment = chunk.startswith("/*") and not parted(chunk)[1]
        before = chunk + "\n" if is_comment else ""
        if not is_comment:
            result.append(chunk)
    return result


def declarations(code):
    """Without the macros for compilers; continuation lines move left as far."""
    lines, moved = [], 0
    for line in code.split("\n"):
        shorter = re.sub(r"^EE_API (EE_MUST_CHECK )?", "", line)
        moved = len(line) - len(shorter) if line.startswith("EE_API") else moved if line.startswith(" ") else 0
        lines.append(line[moved:] if line.startswith(" ") else shorter)
    return "\n".join(lines)


def names_of(chunk):
    code = parted(chunk)[1]
    return list(dict.fromkeys(next(filter(None, found)) for found in NAMES.findall(code)))


def parted(chunk):
    """The text of the comments at the beginning, and the code after them."""
    texts = []
    while chunk.startswith("/*"):
        comment, _, chunk = chunk[2:].partition("*/")
        chunk = chunk.lstrip("\n")
        texts.append("\n".join(re.sub(r"^ \* ?", "", line) for line in comment.strip().split("\n")))
    return "\n\n".join(texts), chunk


def prose(text, known):
    """A comment as Markdown: indented lines stay code, names of functions and types become links."""
    lines = []
    for line in text.split("\n"):
        is_code = line.startswith("    ") and not re.match(r"\s+(- |\w.*[^;{},)]$)", line)
        if line.startswith("    ") and not is_code:
            is_code = lines and lines[-1].startswith("    ")
        if not is_code:
            line = re.sub(r"^  (?=- )", "", line) if line.startswith("  - ") else line
            line = line.replace("<", "&lt;")
            line = re.sub(r"(?<![\w`])\*(?=\w)", r"\\*", line)
            line = re.sub(r"(?<![`\w])(ee_\w+)", lambda name: f"[`{name[1]}`](#{name[1]})" if name[1] in known else name[1], line)
            if line.startswith("- ") and lines and lines[-1] and not lines[-1].startswith(("- ", "  ")):
                lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"
