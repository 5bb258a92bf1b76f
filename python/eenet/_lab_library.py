"""The extension eenet._lab as ``lab``; if it or a system library is missing, the error says what to install."""

import os
import re
from pathlib import Path

try:
    from . import _lab as lab
except ImportError as error:
    if not any(Path(__file__).parent.glob("_lab.*so")):
        raise ImportError(
            "eenet.lab and eenet.evaluate are not in this build, which found no headers of zlib and zstd: on Debian and "
            "Ubuntu, apt install zlib1g-dev libzstd-dev, then install eenet again",
            name="eenet._lab",
        ) from error
    PACKAGES = {"libz": "zlib1g", "libzstd": "libzstd1"}
    missing = re.match(r"((lib\w+)\.so[.0-9]*): cannot open shared object file", str(error))
    if missing is None or missing[2] not in PACKAGES:
        raise
    raise ImportError(
        f"eenet.lab and eenet.evaluate need the library {missing[1]}, which is not installed: "
        f"on Debian and Ubuntu, apt install {PACKAGES[missing[2]]}",
        name="eenet._lab",
    ) from error

__all__ = ["lab", "usual_threads"]


def usual_threads() -> int:
    """One per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
