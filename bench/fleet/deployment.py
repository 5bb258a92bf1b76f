"""Databases and servers for the load bench, all on this machine. Unlike tests/fleet, nothing is between them.

    cluster = Cluster(folder, "sync", standby=True)
    deployment = Deployment("three", program, folder, 3, cluster)
    deployment.start()
    deployment.create(["hot"])
    deployment.stop()
    cluster.stop()
"""
import json
import os
import pwd
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from harness import reserve_port, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from harness.postgres import USER, Node  # noqa: E402  pylint: disable=wrong-import-position

SETTINGS = """
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 15min
"""


class Cluster:
    """A primary and (optional) a synchronous standby of PostgreSQL."""

    def __init__(self, folder, name, standby):
        self.folder = Path(folder) / name
        self.folder.mkdir(parents=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.primary = Node(f"{name}_a", self.folder)
        self.standby = Node(f"{name}_b", self.folder) if standby else None
        self.primary.create()
        self.add_settings(self.primary)
        self.primary.start()
        if self.standby:
            self.standby.copy_of(self.primary, self.primary.port)
            self.standby.start()
            self.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{self.standby.name}'")
            self.sql("SELECT pg_reload_conf()")
            wait_for(lambda: self.sql("SELECT sync_state FROM pg_stat_replication") == "sync", "a synchronous standby")

    @staticmethod
    def add_settings(node):
        with open(node.data / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(SETTINGS)

    @property
    def nodes(self):
        return [node for node in (self.primary, self.standby) if node]

    def sql(self, text, database="postgres"):
        where = f"host=127.0.0.1 port={self.primary.port} user={USER} dbname={database}"
        return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", where, "-c", text], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def url(self, database):
        return f"postgresql://{USER}@127.0.0.1:{self.primary.port}/{database}"

    def stop(self):
        for node in self.nodes:
            node.stop()


class Server:
    """One eenet serve."""

    def __init__(self, program, folder, options):
        self.port = reserve_port()
        self.log = Path(folder) / "log"
        Path(folder).mkdir(parents=True)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "serve", "--port", str(self.port), "--folder", str(Path(folder) / "data"), "--page", "off", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def pid(self):
        return self.process.pid

    def ask(self, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}",
                                         None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.read().decode()

    def ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the server ended: {self.log.read_text()}")
        try:
            self.ask("/readyz")
            return True
        except OSError:
            return False

    def metrics(self):
        """{name: sum over all labels}."""
        sums = {}
        for name, value in re.findall(r"^([a-z_]+)(?:\{.*\})? ([0-9.e+-]+)$", self.ask("/metrics"), re.MULTILINE):
            sums[name] = sums.get(name, 0.0) + float(value)
        return sums

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Deployment:
    """Servers that share a store: a folder of one server, or a database of a cluster."""

    def __init__(self, name, program, folder, servers, cluster=None, options=()):
        self.name, self.program, self.folder = name, program, Path(folder) / name
        self.count, self.cluster, self.options = servers, cluster, list(options)
        self.servers = []

    def start(self):
        options = list(self.options)
        if self.cluster:
            self.cluster.sql(f'CREATE DATABASE "{self.name}"')
            options += ["--store", self.cluster.url(self.name), "--replication", "any"]
        for index in range(self.count):
            self.servers.append(Server(self.program, self.folder / str(index), options))
            wait_for(self.servers[-1].ready, "a server to get ready")

    def create(self, bandits):
        for name in bandits:
            self.servers[0].ask("/v1/bandits", {"name": name, "dim": 20, "wait": 3600, "default_reward": None})
        for server in self.servers:
            wait_for(lambda at=server: all(at.ask(f"/v1/bandits/{name}") for name in bandits), "all servers to know them")

    def owners(self):
        """{name of a bandit: the server that owns it}."""
        if self.count == 1:
            return {}
        rows = self.cluster.sql("SELECT b.name, s.address FROM eenet.log_ends e JOIN eenet.bandits b ON b.number = e.bandit "
                                "JOIN eenet.servers s ON s.number = e.owner", self.name)
        ports = {str(server.port): server for server in self.servers}
        return {line.split("|")[0]: ports.get(line.rpartition(":")[2]) for line in rows.splitlines()}

    def metrics(self):
        sums = {}
        for server in self.servers:
            for name, value in server.metrics().items():
                sums[name] = sums.get(name, 0.0) + value
        return sums

    def wait_until_trained(self, seconds=60):
        """All events are learned."""
        end = time.monotonic() + seconds
        while self.metrics().get("eenet_bandit_behind_events", 0) and time.monotonic() < end:
            time.sleep(0.1)

    def stop(self):
        for server in self.servers:
            server.stop()
        self.servers = []
