"""The installed package: what the wheel contains and exports, and the errors of an import if something is missing."""

import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

import eenet

HERE = Path(eenet.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = ["_core", "_lab"]
ADAPTED = ["sklearn", "coba", "obp", "mabwiser", "scipy", "pandas", "torch"]


def tool(name):
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name}")
    return path


def python(code, path=(), flags=()):
    """A new interpreter with this package, and the folders of path before it."""
    folders = [*map(str, path), str(HERE.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *flags, "-c", code], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel():
    """The installed distribution; skips if the package was imported from a build."""
    for distribution in metadata.distributions(name="eenet", path=[str(HERE.parent)]):
        return distribution
    pytest.skip("the package was not installed from a wheel")


def test_tag_is_one_for_every_python_from_3_9_on(wheel):
    machine = re.sub(r"\W", "_", platform.machine())
    assert re.findall("^Tag: (.*)$", wheel.read_text("WHEEL"), re.M) == [f"cp39-abi3-linux_{machine}"]
    assert "Root-Is-Purelib: false" in wheel.read_text("WHEEL")


def test_version_is_that_of_the_header(wheel):
    header = (ROOT / "include" / "eenet.h").read_text()
    assert wheel.version == eenet.__version__ == re.search('EE_VERSION "(.*)"', header)[1]


def test_wheel_holds_the_package_and_nothing_else(wheel):
    held = {str(path) for path in wheel.files if ".dist-info" not in str(path) and "__pycache__" not in str(path)}
    source = ROOT / "python" / "eenet"
    files = [path for path in source.rglob("*") if path.suffix in (".py", ".pyi", ".typed")]
    expected = {"eenet/" + path.relative_to(source).as_posix() for path in files}
    assert held == expected | {f"eenet/{name}.abi3.so" for name in EXTENSIONS}


def test_needs_numpy_alone(wheel):
    needed = [line for line in wheel.requires if "extra ==" not in line]
    assert [re.sub(r"[\s()]", "", line) for line in needed] == ["numpy>=1.19"]


def test_sdist_holds_the_sources(wheel):
    """Every C source that the wheel is built from."""
    archives = list((ROOT / "build" / "python").glob(f"eenet-{wheel.version}.tar.gz"))
    if not archives:
        pytest.skip("there is no sdist in build/python")
    with tarfile.open(archives[0]) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    sources = [path for folder in ("include", "src", "python/src") for path in (ROOT / folder).rglob("*.[ch]")]
    sources += (ROOT / "src" / "lab" / "report" / "page_assets").iterdir()
    needed = {path.relative_to(ROOT).as_posix() for path in sources}
    needed = {name for name in needed if not name.startswith(("src/serve/", "src/ranks/"))}
    needed |= {"setup.py", "pyproject.toml", "python/README.md", "LICENSE"}
    assert needed - held == set()
    assert not [name for name in held if name.endswith((".so", ".o", ".pyc"))]


@pytest.mark.ci
def test_setup_compiles_as_cmake_does():
    """setup.py compiles without CMake: the same files, with the flags that decide what they compute."""
    commands = ROOT / "build" / "release" / "compile_commands.json"
    if not commands.exists():
        pytest.skip("there is no build/release")
    found = importlib.util.spec_from_file_location("setup", ROOT / "setup.py")
    setup = importlib.util.module_from_spec(found)
    found.loader.exec_module(setup)

    def computing(words):
        flags = {"-fPIC", "-fvisibility=hidden"}
        return sorted(word for word in words if re.match("-[fm]|-DKERNELS_NAME|-O|-std", word) and word not in flags)

    usual = ["-std=c11", "-O3"]
    expected = {(path, *sorted([*usual, *setup.flags_of(path)])) for path in setup.sources("src") if path != setup.KERNELS}
    for name, flags in setup.INSTRUCTION_SETS.get(setup.machine(), {"baseline": []}).items():
        expected.add((setup.KERNELS, *sorted([*usual, f"-DKERNELS_NAME={name}", *setup.KERNEL_FLAGS, *flags])))
    folders = tuple(f"src/{name}/" for name in (*setup.LIBRARY, *setup.LABORATORY))
    expected = {row for row in expected if row[0].startswith(folders)}
    compiled = set()
    for entry in json.loads(commands.read_text()):
        path = os.path.relpath(entry["file"], ROOT)
        if path.startswith(folders):
            words = shlex.split(entry["command"])
            last = [word for word in words if word.startswith("-O")][-1:]  # triangle.c asks for -O3 once more
            compiled.add((path, *computing([word for word in words if not word.startswith("-O")] + last)))
    assert compiled == expected


@pytest.mark.ci
def test_stubs_are_true():
    """The stubs, which editors show, agree with the extensions."""
    pytest.importorskip("mypy.stubtest")
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    words = [sys.executable, "-m", "mypy.stubtest", *(f"eenet.{name}" for name in EXTENSIONS)]
    said = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.ci
def test_types_of_what_is_imported_late_are_known(tmp_path):
    pytest.importorskip("mypy")
    code = "import eenet; reveal_type(eenet.Client); reveal_type(eenet.lab.read); eenet.Bandti"
    words = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    said = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=tmp_path)
    for part in ("eenet.client.blocking.Client", "-> eenet.lab", 'has no attribute "Bandti"'):
        assert part in said.stdout, said.stdout + said.stderr


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extension_shows_its_init_alone(name):
    listing = subprocess.run(
        [tool("nm"), "-D", "--defined-only", str(HERE / f"{name}.abi3.so")], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in listing.stdout.splitlines()] == [f"PyInit_{name}"]


@pytest.mark.parametrize("name, others", [("_core", set()), ("_lab", {"libz.so.1", "libzstd.so.1"})])
def test_libraries_that_an_extension_needs(name, others):
    listing = subprocess.run(
        [tool("readelf"), "-d", str(HERE / f"{name}.abi3.so")], capture_output=True, text=True, check=True
    )
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", listing.stdout))
    # The loader, a part of libc, is listed if there are thread-local variables.
    assert {library for library in needed if not library.startswith("ld-linux")} <= others | {"libc.so.6", "libm.so.6"}
    assert others == set() or "libzstd.so.1" in needed


def test_kernels_are_those_of_the_program(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"eenet {eenet.__version__}, kernels {eenet.kernels()}, ")  # then the MPI


def test_import_without_numpy_is_a_sentence():
    said = python("import eenet", flags=["-S"])  # -S: without the folders where numpy is
    assert said.returncode == 1
    assert re.search(r"^ImportError: .*eenet needs numpy 1\.19 or later.*$", said.stderr, re.M), said.stderr


@pytest.mark.parametrize("version", ["1.10.4", "1.18.5", "0.9"])
def test_import_with_an_old_numpy_is_a_sentence(tmp_path, version):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(f"__version__ = {version!r}\n")
    said = python("import eenet", path=[tmp_path])
    assert said.returncode == 1
    assert re.search(rf"^ImportError: .*eenet needs numpy 1\.19 or later.*{version}.*$", said.stderr, re.M), said.stderr


def test_import_costs_numpy_and_little_else():
    unwanted = [*ADAPTED, "matplotlib", "asyncio", "http.client", "eenet._lab", "eenet.client"]
    code = "import sys, numpy; before = set(sys.modules); import eenet; new = set(sys.modules) - before;"
    said = python(f"{code} print(sorted(new & set({unwanted!r})))")
    assert (said.stdout, said.stderr) == ("[]\n", "")


@pytest.mark.parametrize("adapter, package", [("sklearn", "scikit-learn"), ("coba", "coba"), ("obp", "obp")])
def test_an_adapter_without_its_package_is_a_sentence(adapter, package):
    said = python(f"import sys; sys.modules[{adapter!r}] = None; import eenet.{adapter}")
    assert said.returncode == 1
    last = said.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: eenet.{adapter} needs ") and last.endswith(f"pip install {package}")


def test_mabwisers_face_needs_numpy_alone():
    code = f"import sys; sys.modules.update(dict.fromkeys({ADAPTED})); from eenet.mabwiser import MAB; "
    code += "mab = MAB(['a', 'b'], 'linucb'); mab.fit(['a', 'b'], [0, 1], [[1, 2], [1, 2]]); "
    said = python(f"{code} print(mab.predict([[1, 2]]))")
    assert said.stdout.strip() == "b", said.stderr


@pytest.fixture
def without_zstd(tmp_path):
    """A copy of the package whose laboratory needs a library that no machine has."""
    shutil.copytree(HERE, tmp_path / "eenet", ignore=shutil.ignore_patterns("__pycache__"))
    extension = tmp_path / "eenet" / "_lab.abi3.so"
    code = extension.read_bytes()
    assert b"libzstd.so.1\0" in code
    extension.write_bytes(code.replace(b"libzstd.so.1\0", b"libzstd.so.9\0"))
    return tmp_path


@pytest.mark.parametrize("module", ["lab", "evaluate"])
def test_build_without_compression_is_a_sentence(without_zstd, module):
    """As setup.py builds it where there is no zlib.h."""
    (without_zstd / "eenet" / "_lab.abi3.so").unlink()
    said = python(f"import eenet.{module}", path=[without_zstd])
    last = said.stderr.splitlines()[-1]
    assert said.returncode == 1
    assert last.startswith("ImportError: eenet.lab and eenet.evaluate are not in this build"), said.stderr
    assert "zlib1g-dev" in last


@pytest.mark.parametrize("module", ["lab", "evaluate"])
def test_missing_library_is_a_sentence_and_no_matter_to_the_rest(without_zstd, module):
    code = f"import eenet; eenet.Bandit('linucb', dim=2).decide([[1, 0]]); print('works'); import eenet.{module}"
    said = python(code, path=[without_zstd])
    assert (said.stdout, said.returncode) == ("works\n", 1), said.stderr
    last = said.stderr.splitlines()[-1]
    assert last.startswith("ImportError: eenet.lab and eenet.evaluate need the library libzstd.so")
    assert last.endswith("apt install libzstd1")


def test_second_import_does_no_harm():
    code = (
        "import sys, eenet; first = eenet.Bandit('linucb', dim=2);"
        "[sys.modules.pop(name) for name in list(sys.modules) if name.split('.')[0] == 'eenet'];"
        "import eenet; second = eenet.Bandit('linucb', dim=2);"
        "print(first.decide([[1, 0]]).arm, second.decide([[1, 0]]).arm)"
    )
    said = python(code)
    assert (said.stdout, said.stderr) == ("0 0\n", "")
