"""The manual pages as HTML, by mandoc. The headings become Markdown, so that they are in the table of contents."""

import html
import re
import subprocess

SECTIONS = {"3": "Manual pages: C functions", "1": "Manual pages: commands"}


def write(root, source):
    """Writes reference/man/NAME.SECTION.md, and returns the part of the navigation."""
    manuals = sorted((root / "man").glob("*.[13]"))
    pages = {}  # the page that documents a name
    for manual in manuals:
        names = re.search(r"^\.SH NAME\n(.*?) \\- ", manual.read_text(), re.M | re.S)[1].replace("\\-", "-")
        for name in re.split(r",\s*", names):
            pages[f"{name}({manual.suffix[1:]})"] = manual.name
    folder = source / "reference" / "man"
    folder.mkdir(parents=True)
    for manual in manuals:
        (folder / f"{manual.name}.md").write_text(page(manual, pages))
    return [{title: [{manual.stem: f"reference/man/{manual.name}.md"} for manual in manuals if manual.suffix[1:] == section]}
            for section, title in SECTIONS.items()]


def page(manual, pages):
    shown = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", manual], capture_output=True, text=True, check=True).stdout
    shown = re.sub(r'<table class="(head|foot)">.*?</table>\n', "", shown, flags=re.S)
    shown = re.sub(r'</?(section|div)\b[^>]*>\n?|<p class="Pp"></p>\n?', "", shown)
    shown = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", shown, flags=re.S)
    shown = re.sub(r"<pre>(.*?)</pre>", example, shown, flags=re.S)
    shown = re.sub(r"<dt></dt>\n\s*", "", shown)
    shown = re.sub(r'<h([12]) class="\w+"(?: id="(.*?)")?>(.*?)</h\1>\n', heading, shown, flags=re.S)
    shown = re.sub(r"<(b|i)>([\w.-]+)</\1>\((\d)\)", lambda match: reference(match, manual, pages), shown)
    return f"# {manual.stem}({manual.suffix[1:]})\n\n{shown}"


def example(match):
    return f'<pre class="example">{re.sub(r" *<br */?>", "", match[1])}</pre>'


def heading(match):
    level, anchor, text = match.groups()
    text = html.unescape(" ".join(re.sub(r"<.*?>", "", text).split()))
    if text.isupper():
        text = text.capitalize()
    return f"\n{'#' * (int(level) + 1)} {text} {{#{anchor}}}\n\n" if anchor else f"\n{'#' * (int(level) + 1)} {text}\n\n"


def reference(match, manual, pages):
    name = f"{match[2]}({match[3]})"
    target = pages.get(name)
    return f'<a href="{target}.html">{name}</a>' if target and target != manual.name else match[0]
