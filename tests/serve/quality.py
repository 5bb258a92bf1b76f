"""quality.py EENET QUALITY [DATASET ROUNDS SEEDS PUBLISH_SECONDS]: starts the server with which quality.c, the program QUALITY,
plays a data set, and with the library alone."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, scratch_folder  # noqa: E402

if __name__ == "__main__":
    program, quality, *words = sys.argv[1:]
    options = ["--body-bytes", 10000000, "--features", 100000, "--publish-interval", words[3] if words else 0]
    with scratch_folder() as folder, Server(program, folder / "data", *options) as server:
        subprocess.run([quality, str(server.port), *words], check=True)
        server.stop()
