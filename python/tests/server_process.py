"""A server of its own for a test: the real program, on loopback, on a free port, in a folder of its own."""

import re
import sqlite3
import subprocess
import time


class ServerProcess:
    """``with ServerProcess(program, folder) as server: ... server.url``."""

    def __init__(self, program, folder, *flags):
        self.program, self.folder, self.flags = str(program), folder, flags
        self.port, self.url, self._process = 0, "", None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()  # to save its models would take time, and nobody reads them

    def start(self):
        """Starts it, after the first time on the same port."""
        log = open(self.folder / "server.log", "ab")
        begin = log.tell()
        self._process = subprocess.Popen(
            [self.program, "serve", "--port", str(self.port), "--folder", str(self.folder / "data"), *self.flags],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self._wait_until_it_listens(begin)

    def _wait_until_it_listens(self, begin):
        while True:
            text = (self.folder / "server.log").read_bytes()[begin:].decode()
            found = re.search(r"listening on (https?://[^\s/]*:(\d+))\s", text)
            if found:
                self.url, self.port = found[1], int(found[2])
                return
            assert self._process.poll() is None, f"the server did not start:\n{text}"
            time.sleep(0.005)

    def kill(self):
        """As a crash does."""
        self._process.kill()
        self._process.wait()

    def events(self, bandit, kind):
        """Of the store, straight from the disk: ``[{"id", "value", "outcome", "reward_id", ...}]``."""
        store = sqlite3.connect(f"file:{self.folder / 'data' / 'eenet.db'}?mode=ro", uri=True)
        try:
            store.row_factory = sqlite3.Row
            rows = store.execute("SELECT * FROM log WHERE bandit = ? AND kind = ? ORDER BY number", (bandit, kind))
            return [dict(row) for row in rows]
        finally:
            store.close()
