"""Runs a page of the documentation as a reader would type it: ``python document_page.py PAGE [SECTION]``.

All ```sh and ```python blocks run in their order, in the current folder, which is empty: the shell finds the program
EENET_PROGRAM as ``eenet``, and all Python blocks share one namespace. Shell blocks after the last Python block are left
to the tests of the program. A ```text block below a Python block is what it prints; ``...`` matches anything. Warnings
are errors. With SECTION, only the blocks below this heading run.

The only change to a block is the port: ``eenet serve`` starts on a free one, which replaces 8080 in later blocks.

Exit status 77: a package or program that the page needs is not installed, named in the last line.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

OPTIONAL = ("coba", "matplotlib", "obp", "pandas", "scipy", "sklearn")
PROGRAMS = ("curl",)
PAGE_KERNELS = "neon"  # the instruction set whose digits the pages show
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "127.0.0.1:8080"


class Block(NamedTuple):
    line: int  # of its first line in the page
    kind: str  # python, sh, text, ...
    text: str
    below: bool  # only an empty line is between the block above and this one


def read_blocks(text):
    found, end = [], -2
    for fence in FENCE.finditer(text):
        found.append(
            Block(text.count("\n", 0, fence.start(2)) + 1, fence[1], fence[2], text[end : fence.start()].strip() == "")
        )
        end = fence.end()
    return found


def section_of(text, title):
    """The text from this heading to the next one of its level; line numbers stay."""
    start = re.search(rf"^## {re.escape(title)}\n", text, re.MULTILINE)
    if not start:
        sys.exit(f"there is no section {title}")
    end = re.compile(r"^## ", re.MULTILINE).search(text, start.end())
    return "\n" * text.count("\n", 0, start.end()) + text[start.end() : end.start() if end else None]


class Reader:
    """Types the blocks of a page."""

    def __init__(self, page):
        self.page = page
        self.names = {"__name__": "__main__"}
        self.assignments = ""  # of earlier shell blocks
        self.server = None

    def with_port(self, code):
        return code.replace(ADDRESS, f"127.0.0.1:{self.server.port}") if self.server else code

    def run_python(self, block):
        code = "\n" * (block.line - 1) + self.with_port(block.text)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, self.page, "exec"), self.names)
        return printed.getvalue()

    def run_shell(self, block):
        if re.match(r"eenet serve\b", block.text):
            return self.start_server(block.text.split()[2:])
        for program in PROGRAMS:
            if re.search(rf"\b{program}\b", block.text) and not shutil.which(program):
                raise ModuleNotFoundError(f"{program} is not installed", name=program)
        text = self.with_port(block.text)
        done = subprocess.run(["bash", "-euc", self.assignments + text], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            sys.exit(f"{self.page}:{block.line}: exit status {done.returncode}: {done.stderr.decode()}")
        self.assignments += "".join(re.findall(r"^\w+=.*\n", text, re.MULTILINE))
        return None

    def start_server(self, flags):
        from server_process import ServerProcess

        if self.server:
            self.server.kill()
        folder = Path("server")
        folder.mkdir(exist_ok=True)
        self.server = ServerProcess(os.environ["EENET_PROGRAM"], folder, *flags).start()

    def stop_server(self):
        if self.server:
            self.server.kill()


def matches(expected, printed, exact):
    """Whether the output is that of the page. Spaces count, except at the end; if not exact, digits do not."""

    def lines(text):
        text = text if exact else re.sub(r"[ \t]+", " ", re.sub(r"\d+(\.\d+)?", "#", text))
        return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))

    pattern = ".*".join(re.escape(part) for part in lines(expected).split("..."))
    return re.fullmatch(pattern, lines(printed), re.DOTALL) is not None


def run_page(page, section):
    import eenet

    text = Path(page).read_text(encoding="utf-8")
    blocks = read_blocks(section_of(text, section) if section else text)
    last = max((i for i, block in enumerate(blocks) if block.kind == "python"), default=None)
    if last is None:
        sys.exit(f"{page} has no Python")
    exact = eenet.kernels() == PAGE_KERNELS
    reader = Reader(page)
    try:
        for block, after in zip(blocks[: last + 1], [*blocks[1:], Block(0, "", "", False)]):
            if block.kind == "sh":
                reader.run_shell(block)
            elif block.kind == "python":
                printed = reader.run_python(block)
                expected = after.text if after.kind == "text" and after.below else ""
                if (printed or expected) and not matches(expected, printed, exact):
                    sys.exit(f"{page}:{block.line}: the page shows\n{expected}\nbut the code prints\n{printed}")
    finally:
        reader.stop_server()


def main():
    warnings.simplefilter("error", UserWarning)
    warnings.simplefilter("error", RuntimeWarning)
    os.makedirs("bin")
    os.symlink(os.environ["EENET_PROGRAM"], "bin/eenet")
    os.environ["PATH"] = os.pathsep.join([os.path.abspath("bin"), os.environ["PATH"]])
    try:
        run_page(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    except ImportError as error:
        traceback.print_exc()
        name = (error.name or "").partition(".")[0]
        if name not in OPTIONAL + PROGRAMS:
            raise
        print(f"needs {name}")
        sys.exit(77)


if __name__ == "__main__":
    main()
