"""Builds the Python package. Only a C compiler and setuptools are needed; zlib and zstd add eenet.lab and eenet.evaluate.

If EENET_BUILT names a folder in which CMake has built the extensions, such as build/release, nothing is compiled here.
All output goes to build/. With SOURCE_DATE_EPOCH, the same sources give the same bytes.
"""

import gzip
import io
import os
import platform
import re
import shutil
import sys
import tarfile
from distutils.errors import CompileError
from multiprocessing.pool import ThreadPool
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
WORK = Path("build", "python", "work")  # relative, as setuptools requires

# What CMakeLists.txt and cmake/Kernels.cmake say; a test compares them.
LIBRARY = ["base", "math", "net", "policy", "features", "engine"]
LABORATORY = ["data", "evaluate", "lab"]
KERNELS = "src/math/kernels.c"
KERNEL_FLAGS = ["-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math", "-ffp-contract=fast"]
INSTRUCTION_SETS = {
    "x86_64": {
        "baseline": [],
        "avx2": ["-mavx2", "-mfma"],
        "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"],
    },
    "aarch64": {"neon": []},
}
EXACT_SUMS = "-ffp-contract=off"
FAST_SUMS = "-ffp-contract=fast"


def version() -> str:
    """The version in the public header."""
    header = (ROOT / "include" / "eenet.h").read_text(encoding="utf-8")
    found = re.search(r'^#define EE_VERSION "([0-9.]+)"', header, re.MULTILINE)
    if found is None:
        raise SystemExit("include/eenet.h: no line #define EE_VERSION")
    return found.group(1)


def machine() -> str:
    """The processor, by the name that CMake uses."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def sources(*folders: str) -> list:
    """The C files in these folders and below, relative to the root."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.c")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def flags_of(source: str) -> list:
    """The flags that decide what a source file computes."""
    if source in ("src/math/kernel_ridge.c", "src/math/triangle.c"):
        return [FAST_SUMS]
    return [EXACT_SUMS] if source.startswith("src/evaluate/") else []


class Build(build):
    """Builds in an empty folder, so that files removed from the source do not reach the wheel."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = str(WORK / "build")

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for path in Path(self.build_lib).rglob("*"):
            path.chmod(0o755 if path.is_dir() or path.suffix == ".so" else 0o644)


class BuildExtensions(build_ext):
    """Compiles the extensions, or copies those that CMake has built to the folder of setuptools."""

    def run(self) -> None:
        built = os.environ.get("EENET_BUILT")
        if not built:
            super().run()
            return
        for extension in self.extensions:
            target = Path(self.get_ext_fullpath(extension.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(built) / "python" / "eenet" / target.name, target)
        for notice in (Path(built) / "python" / "eenet").glob("*.copyright"):
            shutil.copy2(notice, target.parent)

    def build_extensions(self) -> None:
        core = self.compile_library()
        self.link("eenet._core", [*core, *self.compile_python("core")], [])
        if not self.has_compression():
            print(
                "eenet: no zlib.h or zstd.h: eenet.lab and eenet.evaluate are left out; "
                "on Debian and Ubuntu, install zlib1g-dev and libzstd-dev",
                file=sys.stderr,
            )
            return
        self.link("eenet._lab", [*core, *self.compile_laboratory(), *self.compile_python("lab")], ["zstd", "z"])

    def compile(self, paths: list, flags: list, folder: str = "objects") -> list:
        """The objects of the sources, which are relative to the root."""
        words = ["-std=c11", "-O3", "-DNDEBUG", "-fvisibility=hidden", "-Iinclude", "-Isrc", *flags]

        def one(path: str) -> str:
            own = [*words, *flags_of(path)]
            return self.compiler.compile([path], str(Path(self.build_temp, folder)), extra_postargs=own)[0]

        with ThreadPool(os.cpu_count() or 1) as pool:
            return pool.map(one, paths, chunksize=1)

    def compile_library(self) -> list:
        plain = [path for path in sources(*(f"src/{name}" for name in LIBRARY)) if path != KERNELS]
        objects = self.compile(plain, [])
        for name, flags in INSTRUCTION_SETS.get(machine(), {"baseline": []}).items():
            objects += self.compile([KERNELS], [f"-DKERNELS_NAME={name}", *KERNEL_FLAGS, *flags], name)
        return objects

    def compile_laboratory(self) -> list:
        pages = Path(self.build_temp, "page_assets.c")
        lines = ['#include "lab/report/page_assets.h"']
        for name, file in {"report_css": "report.css", "report_js": "report.js"}.items():
            text = (ROOT / "src" / "lab" / "report" / "page_assets" / file).read_bytes()
            lines.append(f"const char {name}[] = {{{','.join(map(str, text))},0}};")
        pages.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.compile([*sources(*(f"src/{name}" for name in LABORATORY)), str(pages)], [])

    def compile_python(self, name: str) -> list:
        flags = ["-Ipython/src", "-DPy_LIMITED_API=0x03090000", *(f"-I{folder}" for folder in self.include_dirs)]
        return self.compile(sources("python/src/shared", f"python/src/{name}"), flags, name)

    def has_compression(self) -> bool:
        probe = Path(self.build_temp, "compression.c")
        probe.write_text("#include <zlib.h>\n#include <zstd.h>\n", encoding="utf-8")
        try:
            self.compile([str(probe)], [])
        except CompileError:
            return False
        return True

    def link(self, name: str, objects: list, libraries: list) -> None:
        target = Path(self.get_ext_fullpath(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        words = ["-Wl,--exclude-libs,ALL", "-Wl,--as-needed"] if sys.platform == "linux" else []
        libraries = [*libraries, "m", "pthread"]
        self.compiler.link_shared_object(objects, str(target), libraries=libraries, extra_preargs=words)

    def get_source_files(self) -> list:
        return []  # MANIFEST.in lists the C sources


class EggInfo(egg_info):
    """Keeps setuptools' notes out of the source."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.egg_base = str(WORK)

    def finalize_options(self) -> None:
        Path(self.egg_base).mkdir(parents=True, exist_ok=True)
        super().finalize_options()


class Sdist(sdist):
    """An archive without times and owners of this machine, as SOURCE_DATE_EPOCH asks."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        moment = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(path for path in Path(base_dir).rglob("*") if path.is_file()):
                entry = tarfile.TarInfo(path.as_posix())
                entry.size = path.stat().st_size
                entry.mtime = moment
                entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                with path.open("rb") as file:
                    archive.addfile(entry, file)
        target = Path(f"{base_name}.tar.gz")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(content.getvalue(), mtime=moment))
        return str(target)


class Wheel(bdist_wheel):
    """One wheel for CPython 3.9 and later: the extensions use its limited API."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.py_limited_api = "cp39"

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        """Also copies the licence, with the mode that it has in this clone."""
        super().egg2dist(egginfo_path, distinfo_path)
        for path in Path(distinfo_path).iterdir():
            path.chmod(0o644)


if __name__ == "__main__":
    os.umask(0o022)
    setup(
        version=version(),
        ext_modules=[Extension(f"eenet.{name}", sources=[], py_limited_api=True) for name in ("_core", "_lab")],
        cmdclass={
            "build": Build,
            "build_ext": BuildExtensions,
            "egg_info": EggInfo,
            "sdist": Sdist,
            "bdist_wheel": Wheel,
        },
    )
