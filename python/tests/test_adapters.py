"""What holds for all adapters: they are imported when used, and a package that is missing is a sentence."""

import subprocess
import sys

import pytest

OTHERS = ["sklearn", "coba", "obp", "mabwiser", "scipy", "pandas", "torch"]


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)


def test_eenet_alone_imports_none_of_them():
    run = python(f"import sys, eenet; print([name for name in {OTHERS} if name in sys.modules])")
    assert run.stdout.strip() == "[]", run.stderr


@pytest.mark.parametrize("adapter, package", [("sklearn", "scikit-learn"), ("coba", "coba"), ("obp", "obp")])
def test_a_package_that_is_missing_is_a_sentence(adapter, package):
    run = python(f"import sys; sys.modules[{adapter!r}] = None; import eenet.{adapter}")
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: eenet.{adapter} needs ") and last.endswith(f"pip install {package}")


def test_mabwisers_face_needs_numpy_alone():
    code = f"import sys; sys.modules.update(dict.fromkeys({OTHERS})); from eenet.mabwiser import MAB; "
    code += "mab = MAB(['a', 'b'], 'linucb'); mab.fit(['a', 'b'], [0, 1], [[1, 2], [1, 2]]); "
    code += "print(mab.predict([[1, 2]]))"
    run = python(code)
    assert run.stdout.strip() == "b", run.stderr
