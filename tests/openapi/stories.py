"""Requests that bring out every member of every response."""

PLAIN = {"context": {"user": {"age": 31}}, "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y"}]}
ESTIMATORS = ["ips", "snips", "dm", "dr"]
YEARS = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2040-01-01T00:00:00Z"}


def create(client, name, **settings):
    client.call("POST", "/v1/bandits", {"name": name, **settings}, 201)


def learn(client, bandit, count, request=PLAIN, value=lambda one: one["action"] == "x"):
    """Decisions with rewards."""
    made = client.call("POST", f"/v1/bandits/{bandit}/decide/batch", {"decisions": [request] * count}, 200)
    rewards = [{"id": one["id"], "value": int(value(one))} for one in made.json["decisions"]]
    client.call("POST", f"/v1/bandits/{bandit}/reward/batch", {"rewards": rewards}, 200)
    return made.json["decisions"]


# ---- the server ----

def tell_of_server(client, keys):
    for path in ("/livez", "/readyz", "/ready", "/status", "/openapi.json", "/metrics"):
        client.call("GET", path, expect=200)
    for path in ("/", "/page/page.js", "/page/page.css", "/page/icon.svg"):
        tag = client.call("GET", path, expect=200).headers["etag"]
        client.call("GET", path, expect=304, headers={"If-None-Match": tag})
    client.call("GET", "/page/nothing", expect=404)
    for key in ("", *keys.values()):
        client.call("GET", "/page/visitor", expect=200, key=key)
        client.call("GET", "/page/choices", expect=200, key=key)
    client.call("GET", "/v1/bandits", expect=200)
    client.call("GET", "/v1/audit?after=0&limit=1000", expect=200)
    client.call("GET", "/v1/audit?limit=0", expect=400)


# ---- bandits ----

def tell_of_bandits(client):
    every = {"policy": "linucb", "features": "", "default_reward": None, "retention_days": 3, "personalizer": {"a": 1}}
    create(client, "whole", **every)
    client.call("POST", "/v1/bandits", {"name": "whole", **every}, 200)
    client.call("POST", "/v1/bandits", {"name": "whole"}, 409)
    client.call("GET", "/v1/bandits/whole", expect=200)
    client.call("DELETE", "/v1/bandits/whole", expect=200)
    client.call("POST", "/v1/bandits/whole/restore", expect=200)
    client.call("POST", "/v1/bandits/whole/erase", {"ids": ["nobody"]}, 200)
    client.call("DELETE", "/v1/bandits/whole?purge=perhaps", expect=400)
    client.call("DELETE", "/v1/bandits/whole?purge=true", expect=400)
    client.call("DELETE", "/v1/bandits/whole?purge=true&confirm=whole", expect=204)
    create(client, "whole", **every)


def tell_of_rewards(client):
    create(client, "rewarded", policy="linucb", features="", wait="1h", rewards=[0, 1])
    path = "/v1/bandits/rewarded"
    client.call("GET", f"{path}/activity", expect=200)
    client.call("GET", f"{path}/importance", expect=200)
    one = client.call("POST", f"{path}/decide", {"id": "d1", **PLAIN}, 200).json
    client.call("POST", f"{path}/decide", {"id": "d1", "actions": [{"id": "z"}]}, 409)
    reward = {"id": one["id"], "value": 1, "reward_id": "r1"}
    for value in (1, 1):
        client.call("POST", f"{path}/reward", reward, 200)
    client.call("POST", f"{path}/reward", {**reward, "value": 0}, 409)
    client.call("POST", f"{path}/reward", {"id": one["id"], "value": 1}, 200)
    client.call("POST", f"{path}/reward", {"id": "nobody", "value": 1}, 200)
    client.call("POST", f"{path}/reward/batch", {"rewards": [{"id": "nobody", "value": 7}]}, 200)
    client.call("PATCH", path, {"metrics": [{"name": "refund", "weight": -1}]}, 200)
    slots = {**PLAIN, "slots": [{"id": "top"}]}
    client.call("POST", f"{path}/decide/batch", {"decisions": [{"actions": []}, slots]}, 200)
    tell_of_activation(client, path)
    create(client, "late", policy="linucb", features="", wait=0.001)
    client.call("POST", "/v1/bandits/late/decide", {"id": "l1", **PLAIN}, 200)
    client.call("POST", "/v1/bandits/late/decide", {"id": "l2", "defer": True, **PLAIN}, 200)
    client.wait_for("/v1/bandits/late/activity", lambda now: now["waiting"] == 0)
    client.call("POST", "/v1/bandits/late/reward", {"id": "l1", "value": 1}, 200)
    client.call("POST", "/v1/bandits/late/activate", {"id": "l2"}, 200)


def tell_of_activation(client, path):
    client.call("POST", f"{path}/decide", {"id": "f1", "defer": True, **PLAIN}, 200)
    for id in ("f1", "f1", "nobody"):
        client.call("POST", f"{path}/activate", {"id": id}, 200)


# ---- models and explanations ----

def tell_of_models(client):
    path = "/v1/bandits/modelled"
    create(client, "modelled", policy="linucb", features="")
    made = learn(client, "modelled", 30)
    client.wait_for(path, lambda now: now["learned"] == 30)
    client.call("GET", f"{path}/importance", expect=200)
    client.call("PUT", f"{path}/personalizer/featureImportances/i", {"name": "i", **YEARS}, 200)
    versions = client.wait_for(f"{path}/model/versions", lambda now: now["versions"])["versions"]
    model = client.call("GET", f"{path}/model?version={versions[-1]['version']}", expect=200).bytes
    client.call("GET", f"{path}/model?version=999999", expect=404)
    client.call("PUT", f"{path}/model", model, 200)
    client.call("PUT", f"{path}/model", b"no model", 400)
    client.call("DELETE", f"{path}/model", expect=200)
    client.call("GET", f"{path}/log?limit=2", expect=200)
    client.call("GET", f"{path}/log?limit=2", expect=200, headers={"Accept-Encoding": "gzip"})
    client.call("GET", f"{path}/activity", expect=200)
    client.call("GET", f"{path}/decisions/{made[0]['id']}/explain?features=1", expect=200)
    client.call("GET", f"{path}/decisions/nobody/explain", expect=404)
    client.call("POST", f"{path}/decide", {"id": "s1", **PLAIN, "slots": [{"id": "top"}, {"id": "side"}]}, 200)
    client.call("GET", f"{path}/decisions/s1/explain?slot=side", expect=200)
    client.call("POST", f"{path}/reward", {"id": "s1", "slot": "side", "value": 1}, 200)
    client.call("GET", f"{path}/activity", expect=200)
    client.call("POST", "/v1/bandits/vectors/explain", {"actions": [[1, 0.5]]}, 200)
    create(client, "sampled", policy="lints", features="")
    client.call("POST", "/v1/bandits/sampled/explain", PLAIN, 200)


# ---- evaluations ----

def tell_of_evaluations(client):
    path = "/v1/bandits/evaluated"
    create(client, "evaluated", policy="linucb", features="")
    empty = client.call("POST", f"{path}/evaluations", {}, 201).json
    client.wait_for(f"{path}/evaluations/{empty['id']}", lambda now: now["state"] in ("done", "failed"))
    learn(client, "evaluated", 1)
    candidates = [{"policy": "arm:99"}, {"policy": "arm:x"}, {"policy": "arm:y"}]
    one = client.call("POST", f"{path}/evaluations", {"candidates": candidates, "estimators": ESTIMATORS}, 201).json
    client.wait_for(f"{path}/evaluations/{one['id']}", lambda now: now["state"] in ("done", "failed"))
    learn(client, "evaluated", 60)
    asked = {"from": "2020-01-01T00:00:00Z", "until": "2040-01-01T00:00:00Z", "estimators": ["ips", "dr"]}
    made = client.call("POST", f"{path}/evaluations", asked, 201).json
    client.wait_for(f"{path}/evaluations/{made['id']}", lambda now: now["state"] == "done")
    model = client.call("POST", f"{path}/evaluations", {"estimators": ["dm"]}, 201).json
    client.wait_for(f"{path}/evaluations/{model['id']}", lambda now: now["state"] == "done")
    client.call("GET", f"{path}/evaluations", expect=200)
    client.call("DELETE", f"{path}/evaluations/{made['id']}", expect=200)
    client.call("GET", f"{path}/evaluations/nobody", expect=404)
    client.call("POST", f"{path}/evaluations", {"candidates": [{"policy": "nothing"}]}, 400)


def has_learned(name):
    """Whether a report of live evaluation has estimates of this challenger."""
    return lambda now: any(one["name"] == name and one["events"] and one["state"] != "learning"
                           for one in now["policies"])


def tell_of_challengers(client):
    """A bandit that draws evenly meets a challenger that does not."""
    path = "/v1/bandits/challenged"
    create(client, "challenged", policy="linucb", features="", propensity="floor:1", confidence=0.6)
    client.call("GET", f"{path}/evaluation", expect=200)
    better = {"name": "better", "policy": "linucb", "propensity": "floor:0.01"}
    client.call("POST", f"{path}/challengers", better, 201)
    client.call("POST", f"{path}/challengers", better, 200)
    client.call("POST", f"{path}/challengers", {**better, "policy": "eenet"}, 409)
    client.call("GET", f"{path}/challengers", expect=200)
    client.call("GET", f"{path}/evaluation", expect=200)
    state = ""
    while state != "offered":
        learn(client, "challenged", 300)
        state = client.wait_for(f"{path}/evaluation", has_learned("better"))["policies"][-1]["state"]
    client.call("POST", f"{path}/challengers/better/promote", expect=200)
    client.call("POST", f"{path}/challengers/nobody/promote", expect=404)
    client.wait_for(f"{path}/evaluation", lambda now: now["promotions"])
    client.call("PATCH", path, {"promote": "auto"}, 200)
    client.call("POST", f"{path}/challengers", {"name": "later", "policy": "linucb"}, 201)
    learn(client, "challenged", 20)
    client.wait_for(f"{path}/evaluation", has_learned("later"))
    client.call("DELETE", f"{path}/challengers/later", expect=200)
    client.call("PATCH", path, {"promote": "offer"}, 200)
    client.call("POST", f"{path}/challengers", {"name": "worse", "policy": "linucb", "propensity": "floor:1"}, 201)
    learn(client, "challenged", 1)
    client.wait_for(f"{path}/evaluation", has_learned("worse"))
    client.call("POST", f"{path}/challengers/worse/promote", expect=200)
    client.wait_for(f"{path}/evaluation", lambda now: len(now["promotions"]) > 1)


# ---- guardrails ----

def explain(client, bandit, made):
    client.call("GET", f"/v1/bandits/{bandit}/decisions/{made['id']}/explain", expect=200)


def visit(client, bandit, chances, count=1500):
    """Decisions for people in 20 countries, with rewards of 1 with the probability of their group. One of each group is
    explained."""
    requests = [{**PLAIN, "key": f"u{i}", "context": {"user": {"land": f"l{i % 20}"}}} for i in range(count)]
    for begin in range(0, count, 500):
        made = client.call("POST", f"/v1/bandits/{bandit}/decide/batch", {"decisions": requests[begin:begin + 500]}, 200)
        rewards = [{"id": one["id"], "value": int(i * 7919 % 100 < 100 * chances.get(one.get("group"), 0.5))}
                   for i, one in enumerate(made.json["decisions"])]
        client.call("POST", f"/v1/bandits/{bandit}/reward/batch", {"rewards": rewards}, 200)
    for one in {one.get("group"): one for one in made.json["decisions"]}.values():
        explain(client, bandit, one)


def tell_of_guardrails(client):
    """Treated people are worse off, then better off than allowed: three bounds raise their alarms."""
    path = "/v1/bandits/guarded"
    rails = {"control": {"share": 0.5}, "segment": "user.land",
             "rollout": {"schedule": [{"share": 0.9, "for": "1d"}, {"share": 1}]},
             "bounds": [{"metric": "reward", "most_below": 0.1, "then": "fallback"},
                        {"metric": "reward", "most_above": 0.1, "then": "freeze"},
                        {"metric": "reward", "most_above": 0.2, "then": "alert"}]}
    create(client, "guarded", policy="linucb", features="", guardrails=rails)
    client.call("POST", "/v1/bandits", {"name": "guarded", "policy": "linucb", "features": "", "guardrails": rails}, 200)
    visit(client, "guarded", {"treated": 0.5}, 20)
    client.wait_for(f"{path}/evaluation", lambda now: now.get("guardrails", {}).get("segments"))
    visit(client, "guarded", {"treated": 0.1, "control": 0.6, "waiting": 0.6})
    client.wait_for(f"{path}/evaluation", lambda now: now["guardrails"]["held"] == "fallback")
    client.call("GET", path, expect=200)
    client.call("PATCH", path, {"held": "no"}, 200)
    client.wait_for(f"{path}/evaluation", lambda now: now["guardrails"]["held"] == "no")
    again = {**rails, "control": {"share": 0.4}}
    del again["rollout"]
    client.call("PATCH", path, {"guardrails": again}, 200)
    for _ in range(3):
        visit(client, "guarded", {"treated": 0.9, "control": 0.3, "waiting": 0.3})
    client.wait_for(f"{path}/evaluation", lambda now: len(now["guardrails"]["alarms"]) == 3)
    client.wait_for(f"{path}/evaluation", lambda now: now["guardrails"]["held"] == "frozen")
    client.call("GET", path, expect=200)


def tell_of_limits(client):
    """Limits are counted while the model is in memory; a share without a window has no mean."""
    of_x = {"_id": "x"}
    limits = {"caps": [{"name": "all", "action": of_x, "most": 1000, "per": "1d"},
                       {"name": "each", "action": of_x, "most": 3, "per": "1d", "each": "key"}],
              "budgets": [{"name": "coupons", "action": of_x, "cost": 1, "limit": 500, "per": "1d"}],
              "shares": [{"name": "some", "action": of_x, "low": 0.1, "window": "1d"},
                         {"name": "always", "action": {"_id": "y"}, "low": 0.1}]}
    create(client, "limited", policy="linucb", features="", guardrails=limits)
    client.call("PATCH", "/v1/bandits/limited", {"held": "fallback"}, 200)
    explain(client, "limited", client.call("POST", "/v1/bandits/limited/decide", PLAIN, 200).json)
    client.call("PATCH", "/v1/bandits/limited", {"held": "no"}, 200)
    create(client, "kept", policy="linucb", features="", guardrails={"control": {"share": 0.5}, "sticky": {"for": 60}})
    for i in range(40):  # each person twice, most of them with a slot
        slots = {"slots": [{"id": "top"}]} if i % 4 else {}
        made = client.call("POST", "/v1/bandits/kept/decide", {**PLAIN, **slots, "key": f"u{i % 20}"}, 200).json
        if "repeats" in made:
            explain(client, "kept", made)
    visit(client, "limited", {}, 20)
    client.call("GET", "/v1/bandits/limited", expect=200)


# ---- Personalizer ----

BASES = ("/personalizer/v1.0", "/personalizer/v1.1-preview.1", "/personalizer")


def tell_of_personalizer(client):
    create(client, "empty", policy="linucb", features="")
    for base in BASES:
        tell_of_empty_log(client, "/v1/bandits/empty" + base)
        word = "azure-" + base.rpartition("/")[2]
        create(client, word, policy="linucb", features="")
        tell_of_generation(client, f"/v1/bandits/{word}{base}", word)


def tell_of_generation(client, base, word):
    named = {"x-ms-client-request-id": "c1"}
    for number in range(3):
        rank = {"eventId": f"{word}{number}", "deferActivation": True, "contextFeatures": [{"user": {"age": 3}}],
                "actions": [{"id": "x"}, {"id": "y"}]}
        client.call("POST", f"{base}/rank", rank, 201, headers=named)
        client.call("POST", f"{base}/events/{word}{number}/activate", expect=204)
        client.call("POST", f"{base}/events/{word}{number}/reward", {"value": number % 2}, 204, headers=named)
    slots = {"eventId": f"{word}s", "deferActivation": True, "actions": [{"id": "x"}, {"id": "y"}],
             "slots": [{"id": "top", "baselineAction": "x"}]}
    client.call("POST", f"{base}/multislot/rank", slots, 201)
    for path, body in (("rank", rank), ("multislot/rank", slots)):
        client.call("POST", f"{base}/{path}", {**body, "deferActivation": False}, 409)
    client.call("POST", f"{base}/multislot/events/{word}s/activate", expect=204)
    client.call("POST", f"{base}/multislot/events/{word}s/reward", {"reward": [{"slotId": "top", "value": 1}]}, 204)
    tell_of_log_and_model(client, base)
    tell_of_settings(client, base)
    tell_of_contracts(client, base)
    client.call("DELETE", f"{base}/logs", expect=204)
    for path in ("events", "multislot/events"):
        client.call("POST", f"{base}/{path}/{'e' * 257}/activate", expect=400)


def tell_of_empty_log(client, base):
    client.call("GET", f"{base}/logs/properties", expect=404)
    failed = client.call("POST", f"{base}/evaluations", {"name": "e", **YEARS}, 201).json["id"]
    client.wait_for(f"{base}/evaluations/{failed}", lambda now: now["status"] not in ("pending", "Running"))


def tell_of_log_and_model(client, base):
    model = client.call("GET", f"{base}/model", expect=200).bytes
    client.call("PUT", f"{base}/model", model, 204)
    client.call("PUT", f"{base}/model", b"no model", 400)
    client.call("DELETE", f"{base}/model", expect=204)
    client.call("GET", f"{base}/model/properties", expect=200)
    client.call("GET", f"{base}/logs/properties", expect=200)
    for path in ("interactions", "observations"):
        client.call("POST", f"{base}/logs/{path}", b"flatbuffers", 403)


def tell_of_settings(client, base):
    path = f"{base}/configurations/service"
    now = client.call("GET", path, expect=200).json
    for mode in ("Apprentice", "LoggingOnly", "Online"):
        client.call("PUT", path, {**now, "learningMode": mode}, 200)
    for aggregation in ("latest", "sum", "average", "max", "earliest"):
        client.call("PUT", path, {**now, "rewardAggregation": aggregation}, 200)
    client.call("PUT", path, {**now, "learningMode": "Apprentice", "rewardAggregation": "max"}, 400)
    client.call("PUT", path, {**now, "rewardWaitTime": "PT0S"}, 400)
    client.call("PUT", path, {**now, "logRetentionDays": 0}, 400)
    client.call("PUT", path, {**now, "autoOptimizationStartDate": "2030-01-01T00:00:00Z"}, 200)
    client.call("GET", f"{base}/configurations/policy", expect=200)
    client.call("PUT", f"{base}/configurations/policy", {"name": "p", "arguments": "eenet:nothing"}, 400)
    client.call("DELETE", f"{base}/configurations/policy", expect=200)


def tell_of_contracts(client, base):
    own = {"name": "own", "arguments": "eenet:linucb"}
    asked = {"name": "e", **YEARS, "policies": [own], "enableOfflineExperimentation": True}
    done = client.call("POST", f"{base}/evaluations", asked, 201).json["id"]
    client.wait_for(f"{base}/evaluations/{done}", lambda now: now["status"] not in ("pending", "Running"))
    client.call("GET", f"{base}/evaluations", expect=200)
    client.call("POST", f"{base}/evaluations", {**asked, "policies": [own, own]}, 400)
    client.call("GET", f"{base}/evaluations/nobody", expect=404)
    apply = f"{base}/configurations/applyFromEvaluation"
    client.call("POST", apply, {"evaluationId": done, "policyName": "own"}, 204)
    client.call("POST", apply, {"evaluationId": done, "policyName": "nobody"}, 404)
    client.call("POST", apply, {"evaluationId": done, "policyName": "uniform"}, 400)
    client.call("PUT", f"{base}/featureImportances/i", {"name": "i", **YEARS}, 200)
    client.call("GET", f"{base}/featureImportances/i", expect=200)
    client.call("GET", f"{base}/featureImportances", expect=200)
    client.call("DELETE", f"{base}/featureImportances/i", expect=204)


def tell(client, keys):
    tell_of_server(client, keys)
    tell_of_bandits(client)
    tell_of_rewards(client)
    tell_of_models(client)
    tell_of_evaluations(client)
    tell_of_challengers(client)
    tell_of_guardrails(client)
    tell_of_limits(client)
    tell_of_personalizer(client)
