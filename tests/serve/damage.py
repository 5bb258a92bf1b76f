"""damage.py EENET: a server has written all kinds of events. Then one sector of each page of its database is zeroed (in the long
form every sector), and bytes of its events are flipped, one at a time: `eenet check`, `backup` and `replay` must find each
damage. The only ones that may pass are those after which SQLite still finds nothing wrong and reads every row as before: of bytes
that hold no data. Damage outside the log must be repaired to what was before."""
import collections
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LONG, Server, check, run, same, scratch_folder  # noqa: E402

SECTOR = 512
ROUNDS = 300 if LONG else 60
# What cannot be computed from anything else, and the rest.
LOG = ("SELECT * FROM events NOT INDEXED ORDER BY place",
       "SELECT number, name, archived, first_settings, checksum FROM bandits NOT INDEXED ORDER BY number")
REST = ("PRAGMA integrity_check", "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name",
        "SELECT * FROM bandits ORDER BY number", "SELECT * FROM log_ends ORDER BY bandit", "SELECT * FROM decisions ORDER BY place",
        "SELECT * FROM ids", "SELECT * FROM reward_ids", "SELECT * FROM unclaimed", "PRAGMA user_version", "PRAGMA application_id")


def make_store(program, folder):
    """With all kinds of events."""
    server = Server(program, folder, "--checkpoint-events", 50, "--publish-interval", 0).start()

    def post(path, **body):
        server.call("POST", f"/v1/bandits{path}", body)

    post("", name="shop", dim=2, options="f1.width=4,units=4,pending=8", wait=3600)
    post("", name="news", features="names=2000", policy="linucb", aggregation="sum", wait=1)
    for i in range(ROUNDS):
        if i % 5 == 0:
            post("/shop/reward", id=f"early-{i}", value=0.5, reward_id=f"r{i}")
        post("/shop/decide", id=f"{'visit' if i % 10 else 'early'}-{i}", actions=[[1, i % 7], [0, 1], [i % 3, 0]],
             **({} if i % 4 else {"defer": True}))
        if i % 8 == 0:
            post("/shop/activate", id=f"visit-{i}")
        if i % 3:
            post("/shop/reward", id=f"visit-{i}", value=i % 2, reward_id=f"click-{i}")
        if i % 2:
            actions = [{"id": name, "features": {"kind": kind}} for name, kind in (("red", "a"), ("green", "b"), ("blue", "c"))]
            post("/news/decide", id=f"page-{i}", context={"user": {"name": f"u{i % 20}"}}, actions=actions,
                 slots=[{"id": "top"}, {"id": "side"}])
            for _ in range(2 if i % 6 == 1 else 1):
                post("/news/reward", id=f"page-{i}", value=i % 3)
    server.call("PATCH", "/v1/bandits/shop", {"wait": 7200})
    post("", name="idle", dim=2)
    server.stop()


def content_of(path, questions):
    """What SQLite reads: every row, and the errors."""
    found = []
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.text_factory = bytes
    for question in questions:
        try:
            for row in connection.execute(question):
                found.append(row)
        except sqlite3.Error as error:
            found.append(type(error).__name__)
    connection.close()
    return found


class Trial:
    """A copy of the store in the folder `damaged`, whose database is changed again and again."""

    def __init__(self, program, folder):
        self.program, self.folder, self.copy = program, folder / "damaged", folder / "copy"
        self.path = self.folder / "eenet.db"
        run(program, "backup", folder / "store", self.folder)
        self.bytes = bytearray(self.path.read_bytes())
        self.page = int.from_bytes(self.bytes[16:18], "big")
        self.log, self.rest = content_of(self.path, LOG), content_of(self.path, REST)
        self.counts = collections.Counter()

    def expect(self, what, status, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, check=False)
        same(done.returncode, status, f"{what}: exit status of {words}: {done.stdout}{done.stderr}")

    def expect_found(self, what):
        """All three find the damage, and no copy is left."""
        self.expect(what, 1, "check", self.folder)
        self.expect(what, 1, "backup", self.folder, self.copy)
        check(not self.copy.exists(), f"{what}: a damaged copy was kept")
        self.expect(what, 1, "replay", self.folder)

    def damage(self, what, at, new, repairs):
        """Whether it was found; else these bytes hold no data."""
        kept = self.bytes[at:at + len(new)]
        self.bytes[at:at + len(new)] = new
        self.path.write_bytes(self.bytes)
        self.bytes[at:at + len(new)] = kept
        log = content_of(self.path, LOG)
        if log == self.log and content_of(self.path, REST) == self.rest:
            self.expect(what, 0, "check", self.folder)
            self.counts["unused"] += 1
            return False
        self.expect_found(what)
        self.counts["found"] += 1
        self.counts["of the log"] += log != self.log
        if repairs and log == self.log:
            self.expect(what, 0, "check", self.folder, "--repair")
            self.expect(what, 0, "check", self.folder)
            self.expect(what, 0, "replay", self.folder)
            self.counts["repaired"] += 1
            (self.folder / "eenet.db.damaged-1").unlink(missing_ok=True)
        return True

    def zero_sectors(self):
        sectors = self.page // SECTOR
        for page in range(0, len(self.bytes) // self.page, 1 if LONG else 2):
            for i in range(sectors):
                sector = (page * 5 + i) % sectors
                at = page * self.page + sector * SECTOR
                if any(self.bytes[at:at + SECTOR]) and self.damage(f"page {page + 1}, sector {sector}", at, bytes(SECTOR), True) \
                        and not LONG:
                    break  # of unused space another sector is tried
        check(self.counts["found"] and self.counts["repaired"], "nothing was damaged, or repaired")

    def flip_events(self):
        """Bytes of an event's body and of its id, for each bandit."""
        rows = sqlite3.connect(f"file:{self.folder.parent}/store/eenet.db?mode=ro", uri=True).execute(
            "SELECT CAST(id AS BLOB), body FROM events WHERE kind = 1 AND length(body) < 2000 GROUP BY place >> 40").fetchall()
        for part in (part for row in rows for part in row):
            start = self.bytes.find(part)
            check(start >= 0, "an event is not in the file")
            for i in range(0, len(part), 1 if LONG else 29):
                flipped = bytearray(self.bytes)
                flipped[start + i] ^= 1 << i % 8
                self.path.write_bytes(flipped)
                self.expect_found("a flipped bit of an event") if i % 16 == 0 or not LONG else self.expect(
                    "a flipped bit of an event", 1, "check", self.folder)
                self.counts["flipped"] += 1

    def flip_anywhere(self, count):
        for i in range(count):
            at = (i * 2654435761 + 977) % len(self.bytes)
            self.damage(f"byte {at}", at, bytes([self.bytes[at] ^ 0x10]), False)


def main():
    with scratch_folder() as folder:
        make_store(sys.argv[1], folder / "store")
        for command in ("check", "replay"):
            run(sys.argv[1], command, folder / "store")
        trial = Trial(sys.argv[1], folder)
        trial.zero_sectors()
        trial.flip_events()
        trial.flip_anywhere(2000 if LONG else 20)
        print(f"{len(trial.bytes) // trial.page} pages: {dict(trial.counts)}")


if __name__ == "__main__":
    main()
