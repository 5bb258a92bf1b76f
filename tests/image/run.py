"""run.py ARCHIVE: runs an image of 'make image' in podman as a careful operator would: another user than root, no
capabilities, a root file system that is read-only, a volume, no network. Requests come from inside the container's
network. Needs root, podman, runc, nsenter and curl.

An image for another architecture (amd64 or arm64) is unpacked, and its program runs in qemu-user with the libraries of the
image: it serves a decision and a reward. That needs qemu-user, and not root.
"""
import io
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LIMIT, wait_for  # noqa: E402

MOST_BYTES = 40_000_000
USER = 65532

archive = Path(sys.argv[1]).resolve()
scratch = Path(tempfile.mkdtemp(prefix="eenet-image-"))
podman = ["podman", "--root", f"{scratch}/root", "--runroot", f"{scratch}/run", "--storage-driver", "vfs",
          "--cgroup-manager", "cgroupfs", "--runtime", "runc"]
careful = ["--network", "none", "--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt",
           "no-new-privileges", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096", "--volume", "data:/data"]


def call(words, expect=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    if expect is not None and done.returncode != expect:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}, expected {expect}\n{done.stdout}{done.stderr}")
    return done


def check(condition, what):
    if not condition:
        sys.exit(f"image: {what}")


# ---- the archive ----

def blob(files, digest):
    return files.extractfile("blobs/" + digest.replace(":", "/")).read()


def look_into_archive():
    check(archive.stat().st_size < MOST_BYTES, f"the archive has {archive.stat().st_size} bytes")
    with tarfile.open(archive) as files:
        entry = json.load(files.extractfile("index.json"))["manifests"][0]
        name = entry["annotations"]["org.opencontainers.image.ref.name"]
        manifest = json.loads(blob(files, entry["digest"]))
        about = json.loads(blob(files, manifest["config"]["digest"]))
        config = about["config"]
        check(config["User"] == f"{USER}:{USER}" and config["Volumes"] == {"/data": {}}, f"configuration: {config}")
        layers = [tarfile.open(fileobj=io.BytesIO(blob(files, layer["digest"]))) for layer in manifest["layers"]]
    members = [member for layer in layers for member in layer.getmembers()]
    size = sum(member.size for member in members)
    check(size < MOST_BYTES, f"unpacked it has {size} bytes")
    for member in members:
        check(not member.mode & 0o6000, f"{member.name} runs as its owner")
        check(not member.name.startswith(("./bin/", "./usr/sbin/")), f"there are programs besides eenet: {member.name}")
        check(member.uid == (USER if member.name == "./data" else 0), f"{member.name} belongs to {member.uid}")
        check(member.issym() or not member.mode & 0o022, f"others can write {member.name}")
    programs = [member.name for member in members if member.name.startswith("./usr/bin/")]
    check(programs == ["./usr/bin/eenet"], f"programs: {programs}")
    print(f"{name}: {archive.stat().st_size} bytes, {size} unpacked")
    return name, about["architecture"], layers


# ---- an image for another architecture ----

class Emulated:
    """The program of the image in qemu-user, with the files of the image before those of this machine."""

    def __init__(self, layers, architecture):
        self.root = scratch / "root"
        for layer in layers:
            layer.extractall(self.root)
        self.data = scratch / "data"
        self.data.mkdir()
        self.environment = {"EENET_FOLDER": str(self.data / "store"), "TMPDIR": str(self.data), "EENET_PORT": "0"}
        self.emulator = ["qemu-" + {"arm64": "aarch64", "amd64": "x86_64"}[architecture], "-L", str(self.root)]

    def words(self, *words):
        return [*self.emulator, str(self.root / "usr/bin/eenet"), *words]

    def run(self, *words, expect=0):
        done = subprocess.run(self.words(*words), capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, **self.environment})
        check(done.returncode == expect, f"eenet {' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def start(self, keys):
        """Starts the server, and returns it with its address."""
        said = self.data / "said"
        with said.open("w", encoding="utf-8") as file:
            server = subprocess.Popen(self.words("serve", "--keys", keys), stdout=file, stderr=file,
                                      env={**os.environ, **self.environment})

        def listens():
            check(server.poll() is None, f"no server: {said.read_text(encoding='utf-8')}")
            return re.search(r"http://127\.0\.0\.1:(\d+)", said.read_text(encoding="utf-8"))

        return server, wait_for(listens, "the server does not listen")


def post(url, key, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"image: {url}: status {error.code}: {error.read().decode()}")


def emulate(layers, architecture):
    program = Emulated(layers, architecture)
    version = program.run("--version").splitlines()[0]
    check(re.search(r"\d+\.\d+\.\d+", version)[0] == image.rpartition(":")[2], f"version: {version}")
    keys = str(program.data / "keys")
    key = program.run("keys", "add", "admin", "--role", "admin", "--file", keys).strip()
    server, address = program.start(keys)
    try:
        program.run("serve", "--health", "--port", address[1])
        bandits = f"{address[0]}/v1/bandits"
        post(bandits, key, {"name": "shop"})
        decision = post(f"{bandits}/shop/decide", key, {"id": "1", "context": {"plan": "free"}, "actions": [{"id": "red"}, {"id": "blue"}]})
        check(decision["id"] == "1", f"decide: {decision}")
        check(post(f"{bandits}/shop/reward", key, {"id": "1", "value": 1})["outcome"] == "joined", "the reward")
    finally:
        server.terminate()
    check(server.wait(LIMIT) == 0, "its exit status after SIGTERM")
    program.run("check", str(program.data / "store"))
    print(f"image: passed for {architecture} in qemu-user: {version}")


# ---- a container ----

def run(*words, expect=0):
    return call([*podman, "run", "--rm", *careful, image, *words], expect)


def inspect(form):
    return call([*podman, "inspect", "--format", form, "server"]).stdout.strip()


def ask(path, body=None, key=None):
    """The status and the body of a response, to a request from the container's network."""
    words = ["nsenter", "--target", inspect("{{.State.Pid}}"), "--net", "curl", "-sS", "-w", "\n%{http_code}"]
    words += ["-H", f"Authorization: Bearer {key}"] if key else []
    words += ["-d", json.dumps(body)] if body is not None else []
    done = call([*words, "-H", "Host: eenet:8080", f"http://127.0.0.1:8080{path}"], None)
    text, _, status = done.stdout.rpartition("\n")
    return int(status or 0), text


def wait_for_status(path, status):
    def answers():
        check(inspect("{{.State.Running}}") == "true", "it ended: " + call([*podman, "logs", "server"]).stderr)
        return ask(path)[0] == status

    wait_for(answers, f"{path} does not answer {status}")


def start(*words):
    call([*podman, "run", "--detach", "--name", "server", *careful, image, *words])
    wait_for_status("/readyz", 200)


def health(expect=0):
    return call([*podman, "exec", "server", "eenet", "serve", "--health"], expect)


def end(signal):
    """Ends the server, and returns its exit status."""
    call([*podman, "kill", "--signal", signal, "server"])
    status = call([*podman, "wait", "server"]).stdout.strip()
    call([*podman, "rm", "server"])
    return int(status)


def check_process():
    pid = inspect("{{.State.Pid}}")
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    check(fields["Uid"].split() == [str(USER)] * 4, f"user {fields['Uid']}")
    check(fields["NSpid"].split()[-1] == "1", "the server is not process 1")
    check(int(fields["CapEff"], 16) == 0 and int(fields["CapBnd"], 16) == 0, "it has capabilities")
    options = {line.split()[4]: line.split()[5].split(",") for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()}
    check("ro" in options["/"] and "rw" in options["/data"], f"mounts: {options['/']}, {options['/data']}")


def main():
    refused = run(expect=1)
    check("there is no file /data/keys; create it with 'eenet keys add'" in refused.stderr, f"no keys: {refused.stderr}")
    key = run("keys", "add", "admin", "--role", "admin", "--file", "/data/keys").stdout.strip()
    nobody = run("serve", "--health", expect=1)
    check("Connection refused" in nobody.stderr, f"health without a server: {nobody.stderr}")

    start()
    check_process()
    health()
    check(ask("/v1/bandits")[0] == 401, "no key is needed")
    check(ask("/v1/bandits", {"name": "shop"}, key)[0] == 201, "no bandit")
    visit = {"id": "visit-1", "context": {"plan": "free"}, "actions": [{"id": "red"}, {"id": "blue"}]}
    reward = {"id": "visit-1", "reward_id": "order-1", "value": 1}
    status, decision = ask("/v1/bandits/shop/decide", visit, key)
    check(status == 200, f"decide: {status} {decision}")
    check(json.loads(ask("/v1/bandits/shop/reward", reward, key)[1])["outcome"] == "joined", "the reward")
    check(end("KILL") == 137, "it was not killed")

    start("serve", "--keys", "/data/keys", "--drain", "3600")
    check(ask("/v1/bandits/shop/decide", visit, key) == (200, decision), "the decision is lost")
    check(json.loads(ask("/v1/bandits/shop/reward", reward, key)[1]).get("repeated") is True, "the reward is lost")
    # A stopped process answers nothing, however long a health check waits.
    call([*podman, "kill", "--signal", "STOP", "server"])
    check("no response" in health(1).stderr, "health of a stopped process")
    call([*podman, "kill", "--signal", "CONT", "server"])
    # It drains: not ready, but alive; a second signal ends that.
    call([*podman, "kill", "--signal", "TERM", "server"])
    wait_for_status("/readyz", 503)
    health()
    check(ask("/v1/bandits/shop/decide", visit, key) == (200, decision), "a request while it drains")
    check(end("TERM") == 0, "its exit status after SIGTERM")

    check("no damage found" in run("check", "/data").stdout, "its data are damaged")
    print("image: passed")


image, built_for, unpacked = look_into_archive()
if built_for != {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine()):
    try:
        emulate(unpacked, built_for)
    finally:
        call(["rm", "-rf", str(scratch)], None)
    sys.exit()
if os.geteuid() != 0:
    print("image: only root can enter the network of a container; skipped")
    sys.exit(77)
try:
    call([*podman, "load", "--quiet", "--input", str(archive)])
    main()
finally:
    call([*podman, "rm", "--force", "--all", "--volumes"], None)
    call([*podman, "rmi", "--force", "--all"], None)
    call(["rm", "-rf", str(scratch)], None)
