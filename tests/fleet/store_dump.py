"""The tables of a store as Python values, read by psql or from the file of SQLite: both have the same columns."""
import sqlite3
import struct
from dataclasses import dataclass, field

DECISION, REWARD, SETTLED, STEP, CHECKPOINT, SETTINGS, MODEL, ACTIVATED = range(1, 9)
JOINED, REPEATED, LATE, UNKNOWN, CLAIMED, REWARDED, DEFAULT, NOTHING, INACTIVE = range(1, 10)
OUTCOMES = {JOINED: "joined", REPEATED: "repeated", LATE: "late", UNKNOWN: "unknown", CLAIMED: "claimed",
            REWARDED: "rewarded", DEFAULT: "default", NOTHING: "nothing", INACTIVE: "inactive", 0: "none"}
NUMBER_MASK = (1 << 40) - 1
SLOT_MARK = "\x1f"  # between the id of a round and that of its slot

TABLES = {
    "events": "SELECT place, kind, time, id, decision, value, outcome, reward_id, CASE WHEN kind IN (1, 4, 6) THEN body END AS body "
              "FROM {schema}events ORDER BY place",
    "decisions": "SELECT place, time, rewards, settled, value, inactive, slots FROM {schema}decisions ORDER BY place",
    "ids": "SELECT bandit, id, number FROM {schema}ids",
    "reward_ids": "SELECT bandit, id, reward_id, value, outcome FROM {schema}reward_ids",
    "unclaimed": "SELECT bandit, id, number FROM {schema}unclaimed",
    "bandits": "SELECT number, name, settings FROM {schema}bandits",
    "log_ends": "SELECT bandit, first, last FROM {schema}log_ends",
    "clock": "SELECT time, ahead FROM {schema}clock ORDER BY time",
}
WRITES = ("SELECT number, bandit, owner, token, old_owner, old_token, old_last, last, application FROM witness.writes "
          "ORDER BY number")


@dataclass
class Event:  # pylint: disable=too-many-instance-attributes
    """A row of events. body: only of decisions, steps and settings."""
    bandit: int
    number: int
    kind: int
    time: int
    id: str = ""
    decision: int = 0
    value: float = 0.0
    outcome: int = 0
    reward_id: str = ""
    body: bytes = b""


@dataclass
class Dump:  # pylint: disable=too-many-instance-attributes
    """All tables. now: the time of the dump by the store's clock, in microseconds."""
    events: list = field(default_factory=list)
    decisions: dict = field(default_factory=dict)  # (bandit, number) -> (time, rewards, settled, value, inactive, slots)
    ids: dict = field(default_factory=dict)  # (bandit, id) -> number
    reward_ids: dict = field(default_factory=dict)  # (bandit, id, reward_id) -> (value, outcome)
    unclaimed: set = field(default_factory=set)  # (bandit, id, number)
    bandits: dict = field(default_factory=dict)  # number -> (name, settings)
    log_ends: dict = field(default_factory=dict)  # bandit -> (first, last)
    clock: list = field(default_factory=list)  # (time, ahead)
    writes: list = field(default_factory=list)  # rows of witness.writes
    now: int = 0


def as_text(value):
    """Ids are bytea in PostgreSQL, which COPY writes as \\x..."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode()
    return bytes.fromhex(value[2:]).decode() if value.startswith("\\x") else value


def as_bytes(value):
    if isinstance(value, str):
        return bytes.fromhex(value[2:]) if value.startswith("\\x") else value.encode()
    return value or b""


def dump_of(rows_of, now):
    """rows_of(table): its rows as dictionaries."""
    dump = Dump(now=now)
    for row in rows_of("events"):
        place = int(row["place"])
        dump.events.append(Event(place >> 40, place & NUMBER_MASK, int(row["kind"]), int(row["time"]), as_text(row["id"]),
                                 int(row["decision"] or 0), float(row["value"] or 0), int(row["outcome"] or 0),
                                 as_text(row["reward_id"]), as_bytes(row["body"])))
    for row in rows_of("decisions"):
        place = int(row["place"])
        dump.decisions[place >> 40, place & NUMBER_MASK] = (
            int(row["time"]), int(row["rewards"]), int(row["settled"]), float(row["value"]), int(row["inactive"]), int(row["slots"]))
    for row in rows_of("ids"):
        dump.ids[int(row["bandit"]), as_text(row["id"])] = int(row["number"])
    for row in rows_of("reward_ids"):
        key = int(row["bandit"]), as_text(row["id"]), as_text(row["reward_id"])
        dump.reward_ids[key] = float(row["value"]), int(row["outcome"])
    dump.unclaimed = {(int(row["bandit"]), as_text(row["id"]), int(row["number"])) for row in rows_of("unclaimed")}
    dump.bandits = {int(row["number"]): (row["name"], row["settings"]) for row in rows_of("bandits")}
    dump.log_ends = {int(row["bandit"]): (int(row["first"]), int(row["last"])) for row in rows_of("log_ends")}
    dump.clock = [(int(row["time"]), int(row["ahead"])) for row in rows_of("clock")]
    return dump


def dump_postgres(database):
    """Of a Database of postgres.py. Nothing may be writing: each table is read for itself."""
    now = int(database.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")[0][0])
    dump = dump_of(lambda table: database.copy(TABLES[table].format(schema="eenet.")), now)
    if database.sql("SELECT to_regclass('witness.writes') IS NOT NULL") == [["t"]]:
        for row in database.copy(WRITES):
            dump.writes.append({key: value if key == "application" else int(value) for key, value in row.items()})
    return dump


def dump_sqlite(folder, now):
    connection = sqlite3.connect(f"file:{folder}/eenet.db?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return dump_of(lambda table: connection.execute(TABLES[table].format(schema="")), now)
    finally:
        connection.close()


# ---- the body of a decision: see the top of src/serve/store/event.c ----

@dataclass
class Body:
    """What a decision says in its response, and what joining needs."""
    version: int
    action: int
    probabilities: tuple
    names: tuple
    deferred: bool
    slot: str
    slot_index: int
    slot_count: int


class BodyError(Exception):
    """The bytes are not those of a decision."""


def read_body(data):
    try:
        return parse_body(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise BodyError(f"cannot read the body of a decision: {error}") from error


def parse_body(data):
    at = 34

    def small():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    form, flags = data[0], data[1]
    if form != 1:
        raise BodyError(f"format {form}, not 1")
    version = struct.unpack_from("<Q", data, 18)[0]
    count, action, _choice, _baseline, dim, _context, _record = (small() for _ in range(7))
    slot_index, slot_count, slot_size = (small(), small(), small()) if flags & 16 else (0, 0, 0)
    probabilities = struct.unpack_from(f"<{count}d", data, at)
    at += 8 * count + 4 * count * dim + (count if flags & 2 else 0)
    names = []
    for _ in range(count if flags & 1 else 0):
        size = small()
        names.append(data[at:at + size].decode())
        at += size
    slot = data[at:at + slot_size].decode()
    return Body(version, action, probabilities, tuple(names), bool(flags & 8), slot, slot_index, slot_count)
