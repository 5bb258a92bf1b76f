"""client.py EENET [SECONDS]: measures the Python clients with a server on the same machine, ten arms of 20 numbers.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python/client.py build/release/eenet

`make load` measures the same server with wrk.
"""

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import eenet

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
from server_process import ServerProcess  # noqa: E402

draw = np.random.default_rng(1)
ROUNDS = [draw.random((10, 20), "float32") for _ in range(200)]


def processor_time():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def show(what, count, seconds, processor, times=()):
    line = f"{what:34} {count / seconds:9.0f} /s   {1e6 * processor / count:6.0f} us of the client's processor each"
    if times:
        ordered = sorted(times)
        middle, high = statistics.median(ordered), ordered[len(ordered) * 99 // 100]
        line += f"   p50 {1e6 * middle:.0f} us   p99 {1e6 * high:.0f} us"
    print(line, flush=True)


def measured(what, seconds, work):
    """work(until, times) makes calls until that time, appends the time of each, and returns the number of decisions."""
    times = []
    began, used = time.perf_counter(), processor_time()
    count = work(began + seconds, times)
    show(what, count, time.perf_counter() - began, processor_time() - used, times)


def one_by_one(call):
    def work(until, times):
        place = 0
        while time.perf_counter() < until:
            began = time.perf_counter()
            call(place)
            times.append(time.perf_counter() - began)
            place += 1
        return place

    return work


def in_threads(count, call):
    def work(until, times):
        counts = [0] * count

        def run(number):
            counts[number] = one_by_one(call)(until, times)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts)

    return work


def in_asyncio(url, in_flight):
    async def run(until, times):
        async with eenet.AsyncClient(url, connections=in_flight) as client:
            bandit = client.bandit("load")

            async def visit():
                count = 0
                while time.perf_counter() < until:
                    began = time.perf_counter()
                    await bandit.decide(ROUNDS[count % 200])
                    times.append(time.perf_counter() - began)
                    count += 1
                return count

            return sum(await asyncio.gather(*(visit() for _ in range(in_flight))))

    return lambda until, times: asyncio.run(run(until, times))


def batches(bandit, size):
    def work(until, times):
        count = 0
        while time.perf_counter() < until:
            bandit.decide_many(ROUNDS[:size])
            count += size
        return count

    return work


def main():
    program, seconds = Path(sys.argv[1]).resolve(), float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    with tempfile.TemporaryDirectory() as folder, ServerProcess(program, Path(folder)) as server:
        client = eenet.Client(server.url)
        bandit = client.create("load", dim=20, wait="1h", default_reward=None)
        decisions = bandit.decide_many(ROUNDS * 250)
        lists = [arms.tolist() for arms in ROUNDS]
        print(f"{os.cpu_count()} processors; {os.getloadavg()[0]:.1f} of them busy before")
        measured("decide", seconds, one_by_one(lambda i: bandit.decide(ROUNDS[i % 200])))
        measured("decide, arms as lists", seconds, one_by_one(lambda i: bandit.decide(lists[i % 200])))
        measured("reward", seconds, one_by_one(lambda i: bandit.reward(decisions[i % len(decisions)], 1)))
        measured("decide, 8 threads", seconds, in_threads(8, lambda i: bandit.decide(ROUNDS[i % 200])))
        measured("decide, asyncio, 64 in flight", seconds, in_asyncio(server.url, 64))
        measured("decide_many of 100", seconds, batches(bandit, 100))


main()
