"""Packs the Python package: CMake compiles its two extensions, setuptools does the rest (pyproject.toml).

All output goes to build/. If EENET_BUILT names a folder in which CMake has built the extensions, such as build/release,
nothing is compiled here.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
WORK = Path("build", "python", "work")  # relative, as setuptools requires


def version() -> str:
    """The version in the public header."""
    header = (ROOT / "include" / "eenet.h").read_text(encoding="utf-8")
    found = re.search(r'^#define EE_VERSION "([0-9.]+)"', header, re.MULTILINE)
    if found is None:
        raise SystemExit("include/eenet.h: no line #define EE_VERSION")
    return found.group(1)


class Build(build):
    """Builds in an empty folder, so that files removed from the source do not reach the wheel."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.build_base = str(WORK / "build")

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildExtensions(build_ext):
    """Builds the extensions with CMake, and copies them to the folder of setuptools."""

    def run(self) -> None:
        built = os.environ.get("EENET_BUILT")
        folder = Path(built) if built else self.compile()
        for extension in self.extensions:
            target = Path(self.get_ext_fullpath(extension.name))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / "python" / "eenet" / target.name, target)

    def compile(self) -> Path:
        """Compiles the library and the extensions, and returns the folder where they are."""
        folder = ROOT / WORK / "cmake"
        settings = {
            "CMAKE_BUILD_TYPE": "Release",
            "EENET_PROGRAM": "OFF",
            "EENET_TESTS": "OFF",
            "EENET_PYTHON": "ON",
            "EENET_PYTHON_EXECUTABLE": sys.executable,
        }
        words = [f"-D{name}={value}" for name, value in settings.items()]
        targets = [extension.name.replace("eenet._", "python_") for extension in self.extensions]
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *words], check=True)
        subprocess.run(
            ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1), "--target", *targets],
            check=True,
        )
        return folder

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


class Wheel(bdist_wheel):
    """One wheel for CPython 3.9 and later: the extensions use its limited API."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.py_limited_api = "cp39"


setup(
    version=version(),
    ext_modules=[Extension(f"eenet.{name}", sources=[], py_limited_api=True) for name in ("_core", "_lab")],
    cmdclass={"build": Build, "build_ext": BuildExtensions, "egg_info": EggInfo, "bdist_wheel": Wheel},
)
