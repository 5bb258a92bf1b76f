"""api.py EENET: the whole API on the real server, each answer as it should be: bandits, decisions, rewards, batches, modes,
models, the log, limits, signals, and everything as before after a restart. That each status is documented: tests/openapi. With
EENET_TEST_POSTGRES the store is a database there."""
import contextlib
import http.client
import json
import re
import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, at_once, check, new_database, run, same, scratch_folder, wait_for  # noqa: E402

CODES = {400: "BadRequest", 404: "NotFound", 405: "MethodNotAllowed", 409: "Conflict", 410: "Gone", 503: "Unavailable"}
TWO = '"actions":[{"id":"a","features":{"x":1}},{"id":"b","features":{"x":0}}]'
FIRST = '{"id":"d1","context":{"u":{"age":31}},%s}' % TWO
SHOP = '{"name":"shop","features":"","seed":7,"wait":"1h"}'


def expect(server, method, path, body, status, answer):
    """path: what follows /v1/bandits/, or all of it after //. answer: the response, or the
    message of an error; * is anything."""
    path = path[1:] if path.startswith("//") else f"/v1/bandits{'/' if path else ''}{path}"
    got = server.ask(method, path, body.encode() if isinstance(body, str) else body)
    text = got.bytes.decode(errors="replace")
    if status >= 400:
        answer = '{"error":{"code":"%s","message":"%s"}}\n' % (CODES[status], answer)
    pattern = ".*".join(map(re.escape, answer.split("*")))
    check(got.status == status and re.fullmatch(pattern, text, re.DOTALL),
          lambda: f"{method} {path} {str(body)[:300]}\n  expected {status} {answer}\n  got      {got.status} {text}")
    return got


def expect_all(server, *rows):
    for row in rows:
        expect(server, *row)


def bandits(server):
    expect_all(
        server, ("GET", "//livez", None, 200, '{"live":true}\n'), ("GET", "//readyz", None, 200, '{"ready":true}\n'),
        ("GET", "//openapi.json", None, 200, '{*"openapi": "3.1.0"*}\n'), ("GET", "", None, 200, '{"bandits":[]}\n'),
        ("POST", "", SHOP, 201,
         '{"name":"shop","archived":false,"settings":{*"wait":3600*},*"version":0,*"trouble":""}\n'),
        ("POST", "", SHOP, 200, '{"name":"shop",*'),
        ("POST", "", '{"name":"shop","features":"","seed":8}', 409,
         "the bandit 'shop' already exists with seed 7, not 8; use another name"),
        ("POST", "", '{"name":"shop","dim":3,"seed":7,"wait":"1h"}', 409,
         "the bandit 'shop' already exists with features \\\"\\\", which this request does not have;*"),
        ("POST", "", '{"features":""}', 400, 'missing \\"name\\"'),
        ("POST", "", '{"name":"a b","dim":2}', 400, "name must be 1 to 64 *"),
        ("POST", "", '{"name":"x","dims":2}', 400, "*dims*dim*"), ("POST", "", '{"name":"x"', 400, "*byte 12*"),
        ("POST", "", '{"name":"x","dim":2,"policy":"no-such"}', 400, "*no-such*"),
        ("POST", "", '{"name":"vectors","dim":3,"policy":"linucb"}', 201, '*"policy":"linucb"*"dim":3*'),
        ("GET", "", None, 200, '{"bandits":[{"name":"shop"*,\n{"name":"vectors"*}]}\n'),
        ("GET", "shop", None, 200, '{"name":"shop"*'), ("GET", "unknown", None, 404, "there is no bandit 'unknown';*"),
        ("GET", "//v1/nothing", None, 404, "no such path; see /openapi.json"),
        ("PUT", "", "{}", 405, "*this path takes GET, HEAD, POST"), ("GET", "//v1//bandits", None, 400, "invalid path*"),
        ("PATCH", "shop", '{"default_reward":-1,"aggregation":"sum"}', 200, '*"default_reward":-1*"aggregation":"sum"*'),
        ("PATCH", "shop", '{"default_reward":0,"aggregation":"first"}', 200, '*"first"*'),
        ("PATCH", "shop", '{"seed":9}', 400, "*seed*"))


def decisions(server):
    answer = expect(server, "POST", "shop/decide", FIRST, 200, '{"id":"d1","action":"*","index":*,"probability":0.*,'
                    '"probabilities":[0.*,0.*],"version":*}\n').bytes.decode()
    for _ in range(3):
        expect(server, "POST", "shop/decide", FIRST, 200, answer)
    expect(server, "POST", "shop/decide", '{"id":"d2",%s,"exclude":["a"]}' % TWO, 200,
           '{"id":"d2","action":"b","index":1,"probability":1,"probabilities":[0,1],"version":*}\n')
    same(len(expect(server, "POST", "shop/decide", "{%s}" % TWO, 200, '{"id":"*",*').json["id"]), 32, "length of an id")
    expect_all(
        server, ("POST", "shop/decide", '{"id":"d1",%s}' % TWO, 409, "*this id*"),
        ("POST", "shop/decide", '{%s,"exclude":["a","b"]}' % TWO, 400, "no action is left: all 2 are excluded"),
        ("POST", "shop/decide", '{"actions":[[1]]}', 400, "actions[0] is a vector, *"),
        ("POST", "shop/decide", '{"actions":[]}', 400, "actions: expected at least one"),
        ("POST", "shop/decide", "[]", 400, "the body must be a JSON object"), ("POST", "shop/decide", "", 400, "*byte 1*"),
        ("POST", "shop/decide", "{%s} x" % TWO, 400, "*unexpected text after*"),
        ("POST", "shop/decide", '{"actions":[{"id":"a","features":{"x":[[1]]}}]}', 400, "*"),
        ("POST", "vectors/decide", '{"id":"v1","actions":[[1,0,0],[0,1,0],[0,0,1]]}', 200,
         '{"id":"v1","action":"*","index":*,"probabilities":[*,*,*],"version":*}\n'),
        ("POST", "vectors/decide", '{"actions":[[1,0,0],[0,1]]}', 400, "actions[1] has 2 numbers, but the bandit takes 3"),
        ("POST", "shop/decide/batch", '{"decisions":[{"id":"b1",%s},{"id":7},{"id":"d1",%s},{"id":"b1",%s},7]}' % (TWO, TWO, TWO),
         200, '{"decisions":[{"id":"b1",*},{"error":{"code":"BadRequest","message":"id must be a string"}},'
         '{"error":{"code":"Conflict",*}},{"id":"b1",*},{"error":{"code":"BadRequest",*}}]}\n'),
        ("POST", "shop/decide/batch", '{"decisions":[]}', 200, '{"decisions":[]}\n'),
        ("POST", "shop/decide/batch", '{"decision":[]}', 400, "*did you mean*"),
        ("POST", "shop/decide/batch", '{"decisions":[{]}', 400, "invalid JSON at byte 16*"))


def rewards(server):
    named = '{"id":"d1","value":1,"reward_id":"r1"}'
    expect_all(
        server, ("POST", "shop/reward", named, 200, '{"outcome":"joined"}\n'),
        ("POST", "shop/reward", named, 200, '{"outcome":"joined","repeated":true}\n'),
        ("POST", "shop/reward", named.replace(":1,", ":2,"), 409, "*reward_id*"),
        ("POST", "shop/reward", '{"id":"d1","value":1}', 200, '{"outcome":"repeated"}\n'),
        ("POST", "shop/reward", '{"id":"later","value":0.5}', 200, '{"outcome":"unknown"}\n'),
        ("POST", "shop/decide", '{"id":"later",%s}' % TWO, 200, '{"id":"later",*'),
        ("POST", "shop/reward", '{"id":"d1","value":1e300}', 400, "value must be -1e9 to 1e9, got 1e+300"),
        ("POST", "shop/reward", '{"id":"d1"}', 400, 'missing \\"value\\"'),
        ("POST", "shop/reward/batch", '{"rewards":[{"id":"d2","value":1},{"value":1},{"id":"d2","value":1}]}', 200,
         '{"rewards":[{"outcome":"joined"},{"error":{"code":"BadRequest","message":"missing \\"id\\""}},{"outcome":"repeated"}]}\n'))


def modes(server):
    plain = "{%s}" % TWO
    expect_all(
        server, ("POST", "", '{"name":"quiet","features":"","mode":"logging"}', 201, '*"logging"*'),
        *5 * [("POST", "quiet/decide", plain, 200, '{*"action":"a","index":0,"probability":1,"probabilities":[1,0],*')],
        ("POST", "quiet/decide", '{%s,"exclude":["a"]}' % TWO, 200,
         '{*"action":"b","index":1,"probability":1,"probabilities":[0,1],*'),
        ("PATCH", "quiet", '{"mode":"apprentice"}', 200, '*"apprentice"*'),
        ("POST", "quiet/decide", plain, 200, '{*"action":"a","index":0,"probability":1,*'),
        ("DELETE", "quiet", None, 200, '{"name":"quiet","archived":true,*'),
        ("POST", "quiet/decide", plain, 410, "the bandit 'quiet' is archived;*"), ("PATCH", "quiet", "{}", 410, "*"),
        ("GET", "quiet/model", None, 410, "*"), ("GET", "quiet", None, 200, '{"name":"quiet","archived":true,*'),
        ("POST", "quiet/restore", None, 200, '{"name":"quiet","archived":false,*'),
        ("POST", "quiet/decide", plain, 200, '{*"action":"a",*'))


def models(server):
    expect(server, "POST", "vectors/reward", '{"id":"v1","value":1}', 200, "*joined*")
    same(server.learned("vectors")["learned"], 1, "rewards that were learned")
    model = server.call("GET", "/v1/bandits/vectors/model")
    expect(server, "DELETE", "vectors/model", None, 200, '{"event":*}\n')
    same(server.learned("vectors")["learned"], 0, "rewards that were learned after a reset")
    expect_all(server, ("PUT", "vectors/model", "no model", 400, "*"), ("PUT", "shop/model", model, 400, "*"),
               ("PUT", "vectors/model", model, 200, "*"))
    server.learned("vectors")
    same(server.call("GET", "/v1/bandits/vectors/model"), model, "the model that was uploaded")
    expect_all(
        server, ("POST", "vectors/decide", '{"actions":[[1,0,0],[0,1,0],[0,0,1]]}', 200, "*"),
        ("GET", "vectors/model/versions", None, 200, '{"current":*,"versions":[*]}\n'),
        ("GET", "vectors/model?version=99999", None, 404, "version 99999 is not stored*"),
        ("GET", "vectors/model?versoin=1", None, 400, "*did you mean 'version'?"),
        ("GET", "vectors/model?version=x", None, 400, "version must be an integer*"))
    # A model with room for another number of names would be passed over later: it is refused at once.
    for name, count in (("few", 50), ("many", 60)):
        expect(server, "POST", "", '{"name":"%s","policy":"linucb","features":"names=%d"}' % (name, count), 201, "*")
    model = server.call("GET", "/v1/bandits/few/model")
    expect_all(server, ("PUT", "many/model", model, 400, "*the model has room for*names=60*"), ("PUT", "few/model", model, 200, "*"),
               ("DELETE", "few", None, 200, "*"), ("DELETE", "many", None, 200, "*"))


def ranges(server):
    """A range that the settings state: outside it nothing is learned, or the nearest end."""
    expect_all(
        server, ("POST", "", '{"name":"range","dim":1,"policy":"linucb","rewards":[0,1]}', 201,
                 '*"rewards":[0,1],"outside":"reject"*'),
        ("POST", "range/decide", '{"id":"r1","actions":[[1]]}', 200, "*"),
        ("POST", "range/reward", '{"id":"r1","value":1e9}', 400,
         "the reward 1e+09 is outside the bandit's \\\"rewards\\\", 0 to 1; *"),
        ("POST", "range/reward", '{"id":"r1","value":1}', 200, '{"outcome":"joined"}\n'),
        ("PATCH", "range", '{"outside":"clip"}', 200, '*"outside":"clip"*'),
        ("POST", "range/decide", '{"id":"r2","actions":[[1]]}', 200, "*"),
        ("POST", "range/reward", '{"id":"r2","value":1e9}', 200, '{"outcome":"joined"}\n'))
    server.learned("range")
    explained = expect(server, "POST", "range/explain", '{"actions":[[1]]}', 200, "*").bytes.decode()
    check(0 < float(re.search(r'"f1":([-\d.e]+)', explained)[1]) < 2, f"a reward beyond the range was learned: {explained}")
    for outcome in ("rejected", "clipped"):
        same(server.metric(f'eenet_bandit_rewards_total{{bandit="range",outcome="{outcome}"}}'), 1, outcome)
    expect(server, "GET", "range/activity", None, 200, '*"rejected":1,"clipped":1*')


def downloads(server):
    """Clients that ask for a model and do not read it: the memory for their responses is limited."""
    expect(server, "POST", "", '{"name":"large","dim":8000,"policy":"greedy"}', 201, '{"name":"large",*')
    with server.unread("/v1/bandits/large/model"):  # no buffer of a connection holds it
        for name in ("large", "vectors"):
            expect(server, "GET", f"{name}/model", None, 503, "8 models are being downloaded*")
    wait_for(lambda: server.ask("GET", "/v1/bandits/vectors/model").status == 200, "downloads that were given up count")


def log(server):
    lines = expect(server, "GET", "shop/log", None, 200, '{*"_cursor":*}\n*{*}\n').bytes
    Path("log.dsjson").write_bytes(lines)
    run(server.program, "evaluate", "log.dsjson", "-p", "uniform")
    first = expect(server, "GET", "shop/log?limit=1", None, 200, "{*}\n")
    same(first.bytes, lines.splitlines(True)[0], "the first line")
    after = expect(server, "GET", f"shop/log?after={first.json['_cursor']}", None, 200, "{*}\n").bytes
    same(after, b"".join(lines.splitlines(True)[1:]), "what follows on the cursor")
    expect_all(
        server, ("GET", "shop/log?until=2001-01-01", None, 200, ""), ("GET", "shop/log?from=2001-01-01", None, 200, "{*}\n"),
        ("GET", "shop/log?from=yesterday", None, 400, "*from*yesterday*"),
        ("GET", "shop/log?limt=1", None, 400, "unknown query parameter 'limt'; did you mean 'limit'?"),
        ("GET", "shop/log?limit=1&&zzzzzzzz", None, 400,
         "unknown query parameter 'zzzzzzzz'; expected 'from', 'until', 'after', 'limit'"),
        ("GET", "shop/log?limit=0", None, 400, "*limit*"), ("GET", "shop/log?limit=%zz", None, 400, "*limit*%zz*"),
        ("GET", "shop/log?after=18446744073709551615", None, 400, "*after*"),
        ("GET", "shop/log?after=9223372036854775807", None, 200, ""))


def evaluations(server):
    every = "shop/evaluations"
    expect(server, "GET", every, None, 200, '{"evaluations":[]}\n')
    body = '{"name":"a \\"b\\"","candidates":[{"policy":"uniform"},{"policy":"linucb"}]}'
    path = f"{every}/" + expect(server, "POST", every, body, 201, '{"id":"*",*"name":"a \\"b\\"",*}\n').json["id"]
    server.wait_for(f"/v1/bandits/{path}", lambda now: now["state"] in ("done", "failed"))
    expect_all(server, ("GET", path, None, 200, '{*"state":"done"*"results":[{"name":"uniform"*{"name":"linucb"*}]}\n'),
               ("GET", every, None, 200, '{"evaluations":[{"id":*"state":"done"*}]}\n'))
    server.stop()
    server.start()
    expect_all(
        server, ("GET", path, None, 200, '{*"state":"done"*"results":[*"estimator":"ips","value":*}\n'),
        ("DELETE", path, None, 200, '{"deleted":"*"}\n'), ("GET", path, None, 404, "there is no evaluation *"),
        ("DELETE", f"{every}/..%2Fx", None, 404, "there is no evaluation *"),
        ("POST", every, '{"candidates":[{"policy":"model:/etc/passwd"}]}', 400, "candidate*"),
        ("POST", every, '{"candidates":7}', 400, "candidates must be an array"),
        ("POST", every, '{"estimators":["x"]}', 400, "estimators: unknown estimator 'x'"),
        ("POST", every, '{"from":"soon"}', 400, "from must be a time*"), ("POST", every, '{"upto":1}', 400, "*upto*"),
        ("POST", every, "{} {}", 400, "*"), ("POST", every, "{", 400, "*"))


def metrics(server):
    text = expect(server, "GET", "//metrics", None, 200, "# HELP *\n").bytes.decode()
    for name in ("eenet_decisions_total ", 'eenet_rewards_total{outcome="joined"} ', 'eenet_bandit_behind_events{bandit="shop"} ',
                 'eenet_bandit_lag_seconds{bandit="shop"} ',
                 'eenet_request_seconds_bucket{route="POST /v1/bandits/{name}/decide",le="+Inf"} ',
                 'eenet_requests_total{route="POST /v1/bandits/{name}/decide",code="200"} ', "eenet_sync_seconds_count ",
                 "process_resident_memory_bytes ", "eenet_build_info{version="):
        check(name in text, f"no {name} in /metrics")


def all_is_the_same_after_a_restart(server):
    for number in (signal.SIGTERM, signal.SIGKILL):
        answer = expect(server, "POST", "shop/decide", FIRST, 200, "*").bytes.decode()
        server.learned("shop")
        model = server.call("GET", "/v1/bandits/shop/model")
        server.send_signal(number)
        same(server.process.wait(), 0 if number == signal.SIGTERM else -number, "exit status")
        server.start()
        expect_all(server, ("POST", "shop/decide", FIRST, 200, answer),
                   ("POST", "shop/reward", '{"id":"d1","value":1,"reward_id":"r1"}', 200, '{"outcome":"joined","repeated":true}\n'))
        server.learned("shop")
        check(server.call("GET", "/v1/bandits/shop/model") == model, "another model after a restart")


def sleep_and_wake(server):
    """Bandits that leave the memory for each other are woken again and again, and all is answered."""
    server.stop()
    server.start("--memory", 1)
    for _ in range(10):
        expect_all(server, ("POST", "shop/decide", "{%s}" % TWO, 200, '{"id":*'),
                   ("POST", "vectors/decide", '{"actions":[[1,0,0],[0,1,0],[0,0,1]]}', 200, '{"id":*'))


def archived_while_changed(server):
    """A change that was on its way does not bring an archived bandit back."""
    expect(server, "POST", "", '{"name":"brief","dim":2}', 201, "*")

    def change_often():
        while server.ask("PATCH", "/v1/bandits/brief", {"wait": 20}).status != 410:
            pass

    for _ in range(5):
        at_once(change_often, change_often, lambda: expect(server, "DELETE", "brief", None, 200, '*"archived":true*'))
        expect_all(server, ("GET", "brief", None, 200, '*"archived":true*'),
                   ("POST", "brief/restore", None, 200, '*"archived":false*'))


def stopped_under_load(server):
    """SIGTERM under load: it ends with 0, and every answer that was given is given again."""
    answers = [{} for _ in range(4)]

    def body(asker, number):
        return {"id": f"load-{asker}-{number}", "actions": [[1, 0, number % 7], [0, 1, 0]]}

    def ask(asker):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        with contextlib.suppress(OSError, http.client.HTTPException):  # until the server is gone
            while True:
                number = len(answers[asker])
                connection.request("POST", "/v1/bandits/vectors/decide", json.dumps(body(asker, number)))
                response = connection.getresponse()
                if response.status != 200:
                    return
                answers[asker][number] = response.read()

    threads = [threading.Thread(target=ask, args=(asker,)) for asker in range(4)]
    for thread in threads:
        thread.start()
    wait_for(lambda: all(len(given) >= 50 for given in answers), "too few answers")
    server.stop()
    for thread in threads:
        thread.join()
    server.start()
    for asker, given in enumerate(answers):
        for number, answer in given.items():
            same(server.expect("POST", "/v1/bandits/vectors/decide", body(asker, number), 200).bytes, answer, "an answer after a stop")


if __name__ == "__main__":
    with scratch_folder() as scratch:
        eenet = Server(sys.argv[1], scratch / "data", store=new_database("api")).start()
        for case in (bandits, decisions, rewards, modes, models, ranges, downloads, log, metrics, evaluations,
                     all_is_the_same_after_a_restart, sleep_and_wake, archived_while_changed, stopped_under_load):
            case(eenet)
            print(case.__name__, flush=True)
        eenet.send_signal(signal.SIGINT)
        same(eenet.process.wait(), 0, "exit status after SIGINT")
