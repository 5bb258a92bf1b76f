"""operations.py EENET: what operators and their programs rely on: request ids and traces, the log, readiness at the start and
at the end, the audit log, and exports that are compressed. With EENET_TEST_POSTGRES the store is a database there."""
import ctypes
import gzip
import json
import signal
import socket
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, check, new_database, run, same, scratch_folder, wait_for  # noqa: E402

DECISION = {"actions": [[1, 2], [2, 1]]}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def raw(server, request):
    """The answer to bytes that no client would send."""
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request.encode())
        return connection.makefile("rb").read().decode()


def every_response_has_an_id(server):
    server.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
    for method, path, body, status, headers in (
            ("GET", "/livez", None, 200, {}), ("GET", "/nothing", None, 404, {}), ("GET", "/v1/bandits/none", None, 404, {}),
            ("DELETE", "/livez", None, 405, {}), ("GET", "/a//b", None, 400, {}),
            ("POST", "/v1/bandits/shop/decide", b"{", 400, {}), ("POST", "/personalizer/v1.0/rank", {}, 404, {}),
            ("GET", "/v1/bandits/shop/log", None, 200, {}), ("GET", "/", None, 200, {}),
            ("GET", "/livez", None, 403, {"Origin": "http://elsewhere.example"})):
        got = server.expect(method, path, body, status, headers=headers)
        same(len(got.headers["X-Request-Id"]), 32, f"length of the request id of {method} {path}")
    got = server.expect("GET", "/nothing", None, 404, headers={"X-Request-Id": "mine"})
    same(got.headers["X-Request-Id"], "mine", "the caller's request id")
    start = "POST /v1/bandits/shop/decide HTTP/1.1\r\nHost: localhost\r\n"
    for headers, status in (("Content-Length: 99999999\r\n", 413), ("Content-Length: 1\r\nContent-Length: 2\r\n", 400)):
        got = raw(server, start + headers + "\r\n")
        head = got.partition("\r\n\r\n")[0]
        check(got.startswith(f"HTTP/1.1 {status} ") and "X-Request-Id: " in head, f"expected {status} with an id: {got[:300]}")


def a_trace_is_continued(server):
    def response_to(trace):
        got = server.expect("GET", "/nothing", None, 404, headers=trace and {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        return got.headers.get("traceresponse", "")

    got = response_to(TRACE)
    check(got.startswith(f"00-{TRACE}-") and len(got) == 55 and "00f067aa0ba902b7" not in got, f"the trace: {got}")
    same([response_to(trace) for trace in (None, "0" * 32)], ["", ""], "without a trace, and with an invalid one")


def lines_of(server, **members):
    """The lines of the log that are JSON objects with these members. A line that begins like one must be one."""
    lines = [json.loads(line) for line in server.said(None).splitlines() if line.startswith("{")]
    check(all("time" in line and "level" in line for line in lines), "a line without a time or level")
    return [line for line in lines if all(line.get(name) == value for name, value in members.items())]


def the_log_is_json(server):
    """Errors always have a line, and about a share of the requests that succeed. It is written after the response was sent."""
    requests = 400
    same(len(lines_of(server, message="bandit 'shop' created")), 1, "lines about the new bandit")
    for _ in range(requests):
        server.call("GET", "/v1/bandits/shop")
    server.stop()
    same(len(lines_of(server, message="request", path="/nothing", trace_id=TRACE)), 1, "lines about the trace")
    count = len(lines_of(server, message="request", path="/v1/bandits/shop"))
    check(requests / 8 <= count <= requests * 3 / 8, f"{count} of {requests} requests were logged, not about 1/4")


def play(server, bandit, batch):
    """A thousand decisions with rewards."""
    decisions = [{"id": f"{batch}-{i}", "actions": [[i % 7, 1], [1, i % 5]]} for i in range(1000)]
    server.call("POST", f"/v1/bandits/{bandit}/decide/batch", {"decisions": decisions})
    rewards = [{"id": f"{batch}-{i}", "value": i % 2} for i in range(1000)]
    server.call("POST", f"/v1/bandits/{bandit}/reward/batch", {"rewards": rewards})


def is_awake(server, bandit):
    return server.call("GET", f"/v1/bandits/{bandit}")["awake"]


def active_models_are_loaded_first(server):
    """A start after a kill learns again what came after the last model. Only then it is ready."""
    rare = ["--checkpoint-events", 1000000, "--checkpoint-seconds", 100000]
    server.start(*rare)
    for name in ("busy", "gone"):
        server.call("POST", "/v1/bandits", {"name": name, "dim": 2}, 201)
    server.call("DELETE", "/v1/bandits/gone")
    for batch in range(8):
        play(server, "busy", batch)
    server.learned("busy")
    server.kill()
    server.launch(*rare)
    wait_for(server.listens, "the server does not listen")
    answers = []
    wait_for(lambda: answers.append(server.ask("GET", "/readyz")) or answers[-1].status == 200, "the server does not get ready", 0.001)
    if server.store:  # of a fleet: ready when it can forward requests; models are loaded when they are used
        server.call("POST", "/v1/bandits/busy/decide", DECISION)
        return
    same([is_awake(server, name) for name in ("busy", "shop", "gone")], [True, True, False], "models that were loaded")
    same({answer.json["loading"]["total"] for answer in answers[:-1]} - {2}, set(), "models to load, if a request came before the last")


def zstd(data, size):
    room = ctypes.create_string_buffer(size)
    got = ctypes.CDLL("libzstd.so.1").ZSTD_decompress(room, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    return room.raw[:got]


def exports_are_compressed_on_request(server):
    server.call("POST", "/v1/bandits", {"name": "large", "dim": 2, "policy": "linucb"}, 201)
    for batch in range(10):
        play(server, "large", batch)
    plain = server.expect("GET", "/v1/bandits/large/log")
    check(len(plain.bytes) > 1000000 and "Content-Encoding" not in plain.headers, f"the export: {len(plain.bytes)} bytes")
    for accepted, coding, unpack in (("gzip", "gzip", gzip.decompress), ("gzip, zstd", "zstd", lambda data: zstd(data, 1 << 26)),
                                     ("br, gzip;q=0", None, bytes)):
        got = server.expect("GET", "/v1/bandits/large/log", headers={"Accept-Encoding": accepted})
        same(got.headers["Content-Encoding"], coding, f"coding of {accepted}")
        check(unpack(got.bytes) == plain.bytes, f"the export as {accepted} has other bytes")
        check(not coding or len(got.bytes) < len(plain.bytes) / 4, f"the export as {accepted} has {len(got.bytes)} bytes")


def slow_exports_disturb_nobody(server):
    """Clients that do not read their export do not slow others down, and their memory is released when they leave."""
    with server.unread("/v1/bandits/large/log"):
        server.call("GET", "/v1/bandits/large/log?limit=1", None, 503)
        for _ in range(100):
            server.call("POST", "/v1/bandits/large/decide", DECISION)
    wait_for(lambda: server.ask("GET", "/v1/bandits/large/log?limit=1").status == 200, "exports of clients that left stay")


def a_bandit_that_cannot_be_loaded_does_not_block(server):
    """An event of the log names a model whose file is lost."""
    server.learned("shop")
    event = server.call("PUT", "/v1/bandits/shop/model", server.call("GET", "/v1/bandits/shop/model"))["event"]
    server.wait_for("/v1/bandits/shop", lambda now: now["version"] > event)
    server.kill()
    for model in (server.folder / "models/1").glob("*.model"):
        model.unlink()
    server.start("--log-format", "json")
    wait_for(lambda: [line for line in lines_of(server) if line["message"].startswith("bandit 'shop' could not be loaded: ")],
             "no line about the bandit")
    check(is_awake(server, "busy"), "the others were not loaded")
    server.call("POST", "/v1/bandits/shop/decide", DECISION, 503)


def not_ready_before_it_stops(server):
    for drain in (1, 3600):
        server.start("--drain", drain)
        server.call("POST", "/v1/bandits/busy/decide", DECISION)  # a server of a fleet has taken it up
        server.send_signal(signal.SIGTERM)
        if drain == 1:
            same(server.process.wait(), 0, "exit status")  # the end of the drain
            continue
        got = wait_for(lambda: [now for now in [server.ask("GET", "/readyz")] if now.status != 200], "it stays ready")[0]
        check(got.status == 503 and "the server is stopping" in str(got), f"while it stops: {got}")
        server.call("POST", "/v1/bandits/busy/decide", DECISION)
        server.stop()  # a second signal ends the wait


# ---- the audit log ----

def changes_are_recorded(server):
    """Each has an entry that says who, what, before and after; a key of one bandit sees those of its bandit."""
    path = Path("keys").resolve()

    def add_key(name, role, *more):
        said = run(server.program, "keys", "add", name, "--role", role, "--file", path, *more)
        return next(word for word in said.split() if word.startswith("ee_"))

    def entries(after, key):
        page = server.call("GET", f"/v1/audit?limit=1000&after={after}", key=key)
        return page["entries"], page["next"]

    operator, reader, shop = add_key("operator", "admin"), add_key("watcher", "reader"), add_key("keeper", "admin", "--bandit", "busy")
    server.start("--keys", path)
    first = entries(0, operator)[1]
    news = "/v1/bandits/news"
    changes = (("POST", "/v1/bandits", {"name": "news", "dim": 2, "wait": 600}, "bandit created"),
               ("PATCH", news, {"wait": 60, "default_reward": 0.5}, "settings changed"),
               ("PATCH", news, {"wait": -1}, None),
               ("POST", f"{news}/challengers", {"name": "linear", "policy": "linucb"}, "challenger added"),
               ("DELETE", f"{news}/challengers/linear", None, "challenger removed"), ("DELETE", f"{news}/model", None, "model reset"),
               ("POST", f"{news}/evaluations", {}, "evaluation started"), ("DELETE", news, None, "bandit archived"),
               ("POST", f"{news}/restore", None, "bandit restored"), ("PATCH", "/v1/bandits/busy", {"wait": 61}, "settings changed"))
    for method, at, body, what in changes:
        same(server.ask(method, at, body, key=operator).status < 300, bool(what), f"{method} {at} {body} succeeds")
    server.kill()  # what was acknowledged is in the log
    if not server.store:
        with open(server.folder / "audit.jsonl", "a", encoding="utf-8") as log:
            log.write('{"time":"cut off')  # as a crash in the midst of a line leaves it
    server.start("--keys", path)
    found, last = entries(first, operator)
    same([one["what"] for one in found], [what for *_, what in changes if what], "changes")
    check(all(one["key"] == "operator" and one["peer"] == "127.0.0.1" and one["time"] and one["request_id"] for one in found), str(found))
    same((found[1]["before"], found[1]["after"]), ({"wait": 600, "default_reward": 0}, {"wait": 60, "default_reward": 0.5}), "a change")
    same((found[6]["before"], found[6]["after"]), ({"archived": False}, {"archived": True}), "an end")
    same(len(entries(first, shop)[0]), 1, "entries that a key of one bandit sees")
    server.call("GET", "/v1/audit", None, 403, key=reader)

    # A reload says which settings and keys changed; the keys themselves are nowhere.
    add_key("late", "app", "--bandit", "shop")
    server.send_signal(signal.SIGHUP)
    entry = wait_for(lambda: entries(last, operator)[0], "no entry about the reload")[0]
    same((entry["what"], entry["before"], entry["after"], "key" in entry),
         ("settings, keys and certificate reloaded", {}, {"key late": "app shop"}, False), "the reload")
    server.stop()
    if not server.store:
        log = server.folder / "audit.jsonl"
        check("ee_" not in log.read_text(encoding="utf-8"), "a key is in the audit log")
        same(stat.S_IMODE(log.stat().st_mode), 0o600, "who may read the audit log")


def a_backup_has_the_audit_log(server):
    folder, copy = Path("small").resolve(), Path("copy").resolve()
    with Server(server.program, folder) as small:
        small.call("POST", "/v1/bandits", {"name": "shop"}, 201)
        run(server.program, "backup", folder, copy)
        check((folder / "audit.jsonl").read_bytes() == (copy / "audit.jsonl").read_bytes(), "the backup has not the audit log")


def main():
    with scratch_folder() as folder:
        server = Server(sys.argv[1], folder / "data", store=new_database("operations"))
        server.start("--log-format", "json", "--log-requests", "0.25")
        cases = [every_response_has_an_id, a_trace_is_continued, the_log_is_json, active_models_are_loaded_first,
                 exports_are_compressed_on_request, slow_exports_disturb_nobody]
        if not server.store:  # it removes a file of a model
            cases.append(a_bandit_that_cannot_be_loaded_does_not_block)
        for case in cases:
            case(server)
            print(case.__name__, flush=True)
        server.stop()
        for case in (not_ready_before_it_stops, changes_are_recorded, a_backup_has_the_audit_log):
            case(server)
            print(case.__name__, flush=True)


if __name__ == "__main__":
    main()
