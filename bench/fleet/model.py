#!/usr/bin/env python3
"""model.py LOAD_JSON PROFILE_JSON: predicts throughput and latency of a fleet with a dedicated database machine.

The parts of a request come from load.py and profile_decision.py, which measure everything on one machine. The formulas are
compared with the discrete-event simulation of simulate.py at three sizes, and with the measurements on this machine. Then: 3, 10
and 30 servers.

Throughput: the smallest limit of
  owner      the cores of a server that owns bandits; with one hot bandit, there is one
  entry      the cores of a server that only forwards (one hot bandit)
  journal    each server writes one group after the other, on one connection
  database   the cores of the primary
  standby    the one process of the standby that replays the write-ahead log; beyond it, the standby falls behind
Latency: processing, queues for cores (M/M/c), the rest of the group that is being written, and the own group.
"""
import argparse
import json
import math
import random
import statistics
from pathlib import Path

from parts import Machines, Parts
from simulate import Simulation

SHARE = 0.7  # of the capacity, at which latencies are predicted


def wait_of(cores, utilisation, service, draw):
    """A draw of the waiting time in an M/M/c queue, in microseconds."""
    if utilisation >= 1:
        return math.inf
    load = utilisation * cores
    terms = [load ** k / math.factorial(k) for k in range(cores)]
    last = load ** cores / math.factorial(cores) / (1 - utilisation)
    if draw.random() >= last / (sum(terms) + last):
        return 0.0
    return draw.expovariate(cores * (1 - utilisation) / service)


def mean_wait(cores, utilisation, service):
    """Of an M/M/c queue, in microseconds (Sakasegawa's approximation)."""
    return service * utilisation ** (math.sqrt(2 * (cores + 1)) - 1) / (cores * (1 - utilisation))


class Prediction:
    """For parts and machines at a rate (requests per second of the fleet)."""

    def __init__(self, parts, machines, rate):
        self.parts, self.machines, self.rate = parts, machines, rate
        self.each = rate * 1e-6 / machines.owners  # requests per microsecond of one journal
        self.group, self.cycle = self.settle()

    def settle(self):
        """(entries, microseconds) of a group: while one is written, the next one arrives. If the cores of the database are busy,
        groups wait, so they become larger and cost less."""
        parts, machines = self.parts, self.machines
        fixed = parts.journal_group + parts.backend_group + 4 * machines.network + machines.commit
        for tenth in range(10, 10 * machines.most_group + 1):
            group = tenth / 10
            use = self.rate * 1e-6 * parts.database(group) / machines.database_cores
            if use < 1:
                cycle = fixed + (parts.journal + parts.backend) * group
                cycle += mean_wait(machines.database_cores, use, parts.backend_group + parts.backend * group)
                if self.each * cycle <= group:
                    return group, cycle
        return float(machines.most_group), math.inf

    def utilisation(self):
        """{limit: share of it in use}. At the limit groups are as large as they can be."""
        parts, machines, total = self.parts, self.machines, self.rate * 1e-6
        most = machines.most_group
        owner = parts.owner(self.group)
        fixed = parts.journal_group + parts.backend_group + 4 * machines.network + machines.commit
        use = {"journal": self.each * (parts.journal + parts.backend + fixed / most),
               "database": total * parts.database(most) / machines.database_cores,
               "standby": total * parts.standby}
        if machines.bandits == 1:
            use["owner"] = total * owner / machines.cores
            use["entry"] = total / machines.servers * parts.forward / machines.cores if machines.servers > 1 else 0.0
        else:
            use["owner"] = total / machines.servers * (owner + machines.forwarded * parts.forward) / machines.cores
        return use

    def latencies(self, count=20000):
        """Sorted, in microseconds."""
        parts, machines, use, draw = self.parts, self.machines, self.utilisation(), random.Random(1)
        result = []
        for _ in range(count):
            time = parts.handle + wait_of(machines.cores, use["owner"], parts.handle, draw)
            if draw.random() < machines.forwarded:
                entry = use.get("entry", use["owner"])
                time += parts.forward + 2 * machines.network
                time += sum(wait_of(machines.cores, entry, parts.forward / 2, draw) for _ in range(2))
            in_group = wait_of(machines.cores, use["owner"], parts.handle, draw)
            busy = min(1.0, self.each * self.cycle)
            rest = draw.random() * self.cycle if draw.random() < busy else 0.0
            result.append(time + rest + self.cycle + in_group)
        return sorted(result)


def capacity(parts, machines):
    """(requests per second, name of the limit)."""
    low, high = 0.0, 1e7
    for _ in range(60):
        middle = (low + high) / 2
        if max(Prediction(parts, machines, middle).utilisation().values()) < 1:
            low = middle
        else:
            high = middle
    use = Prediction(parts, machines, low).utilisation()
    return low, max(use, key=use.get)


def quantile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.nan


def role_of(side, role):
    return sum(used for part, used in side.items() if part.startswith(role + ":"))


def read_parts(load, profile, mode, bandits):
    """Parts of a decision or a reward. load.py has the processor time of each process; profile_decision.py says which share of a
    server's time its threads take, for decisions. What a reward takes more than a decision counts as training."""
    medians = load["medians"]
    case, light, idle = medians[f"pg1s {mode} {bandits}"], medians["pg1s light hot"], medians["pg1s idle hot"]
    decide = medians["pg1s decide hot"]
    owner, entry = profile["direct"]["owner"], profile["through another server"]["entry"]
    group = case["group"]

    def of_group(key):
        """What a group costs in addition to its entries: at a low rate, a request pays for a group of light["group"]."""
        alone = light[key] - idle[key] / light["rate"]
        return max(0.0, (alone - decide[key]) / (1 / light["group"] - 1 / decide["group"]))

    # At a low rate threads sleep and wake for each request. The profile says how a server's time is divided among threads.
    threads = {role: role_of(owner, role) / owner["all"] for role in ("http", "journal", "trainer")}
    journal_group = of_group("server_us") * threads["journal"]
    wake_group = of_group("server_us") - journal_group
    handle = decide["server_us"] * threads["http"] - wake_group / decide["group"]
    journal = max(1.0, decide["server_us"] * threads["journal"] - journal_group / decide["group"])
    backend_group = of_group("writer_us")
    return Parts(handle=handle, forward=entry["all"], journal=journal, journal_group=journal_group, wake_group=wake_group,
                 backend=max(1.0, case["writer_us"] - backend_group / group), backend_group=backend_group,
                 replicate=max(0.0, case["primary_us"] - case["writer_us"] - case["reader_us"]),
                 standby=max(statistics.median(row["standby_kinds_us"].get(kind, 0) for row in load["rows"]
                                               if row["case"] == f"pg1s {mode} {bandits}") for kind in ("startup", "walreceiver")),
                 train=max(0.0, case["server_us"] - handle - journal - (journal_group + wake_group) / group),
                 train_read=case["reader_us"])


def show_parts(name, parts):
    print(f"{name}, microseconds of processor time:")
    for key, value in vars(parts).items():
        print(f"  {key:14} {value:7.1f}")


def compare_with_simulation(hot, many):
    """Three sizes, hot and many, at SHARE of the capacity."""
    print(f"\nmodel and simulation at {SHARE:.0%} of the model's capacity:")
    for servers in (1, 3, 10):
        for bandits in (1, 24 * servers) if servers > 1 else (1,):
            machines, parts = Machines(servers, bandits=bandits), hot if bandits == 1 else many
            most, limit = capacity(parts, machines)
            rate = SHARE * most
            prediction = Prediction(parts, machines, rate)
            expected = prediction.latencies()
            seconds = min(2.0, 60000 / rate)
            simulation = Simulation(parts, machines, rate, seconds)
            seen = simulation.run()
            # Beyond the capacity the simulation serves no more than the capacity, or its standby falls behind.
            full = Simulation(parts, machines, 1.05 * most, seconds)
            full.run()
            behind = f", standby {100 * full.backlog / seconds:.0f}% behind" if limit == "standby" else ""
            print(f"  {servers:2} servers, {'hot ' if bandits == 1 else 'many'}: capacity {most:7.0f} /s ({limit}), simulated "
                  f"{full.throughput:7.0f}{behind}; at {rate:6.0f} /s p50 {quantile(expected, 0.5) * 1e-3:5.2f} ms, simulated "
                  f"{quantile(seen, 0.5) * 1e3:5.2f}; p99 {quantile(expected, 0.99) * 1e-3:5.2f}, simulated "
                  f"{quantile(seen, 0.99) * 1e3:5.2f}; group {prediction.group:5.1f}, simulated {simulation.group:5.1f}", flush=True)


def compare_with_measurement(load, parts, cores):
    """Everything shares the cores of this machine, the client too, in a closed loop of 63 connections. The parts are those of one
    server, so three servers are a prediction. Rates: if nothing else had used the machine."""
    medians = load["medians"]
    print("\nmodel and measurement on this machine, with a synchronous standby; rates are the best of the rounds:")
    for mode, bandits in parts:
        for name, servers in (("pg1s", 1), ("pg3s", 3)):
            of, case = parts[mode, bandits], medians[f"{name} {mode} {bandits}"]
            each = of.owner(case["group"]) + (1 - 1 / servers) * of.forward + of.database(case["group"])
            each += medians[f"pg1s {mode} {bandits}"]["standby_us"]
            rate = cores * 1e6 / (each + case["client_us"])
            print(f"  {name} {mode} {bandits:4}: {each:.0f} us, measured {case['total_us']:.0f}; at most {rate:.0f} /s, measured "
                  f"{max(case['rates'])} (median {case['rate']:.0f})")


def predict(hot, many, name):
    print(f"\n{name}: 4 cores per server, database machine with 16 cores, 1 ms to commit with a synchronous standby, 0.1 ms network "
          f"one way. Latency at {SHARE:.0%} of the capacity:")
    for servers in (1, 3, 10, 30):
        for bandits in (1, 24 * servers):
            machines, parts = Machines(servers, bandits=bandits), hot if bandits == 1 else many
            most, limit = capacity(parts, machines)
            expected = Prediction(parts, machines, SHARE * most).latencies()
            full = Prediction(parts, machines, most)
            use = full.utilisation()
            cores = most * 1e-6 * parts.database(full.group)
            print(f"  {servers:2} servers, {'hot ' if bandits == 1 else 'many'} {most:8.0f} /s  p50 {quantile(expected, 0.5) * 1e-3:6.2f} "
                  f"ms  p99 {quantile(expected, 0.99) * 1e-3:6.2f} ms  limit: {limit}  {cores:.1f} cores of the database  "
                  + ", ".join(f"{key} {100 * value:.0f}%" for key, value in use.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("load")
    parser.add_argument("profile")
    parser.add_argument("--cores", type=int, default=2, help="of the machine that was measured")
    options = parser.parse_args()
    load, profile = (json.loads(Path(path).read_text()) for path in (options.load, options.profile))
    parts = {(mode, bandits): read_parts(load, profile, mode, bandits)
             for mode in ("decide", "reward") for bandits in ("hot", "many")}
    for (mode, bandits), each in parts.items():
        show_parts(f"{mode}, {bandits}", each)
    compare_with_simulation(parts["decide", "hot"], parts["decide", "many"])
    compare_with_measurement(load, parts, options.cores)
    for mode in ("decide", "reward"):
        predict(parts[mode, "hot"], parts[mode, "many"], {"decide": "decisions", "reward": "rewards"}[mode])


if __name__ == "__main__":
    main()
