"""Images of the Dockerfile, and compose.yaml run from them: migrations, scans, webhooks, a rolling restart, limits.

All of this is real but for these: Podman with runc stands in for Docker, /etc/hosts of each container for its name
server, and `tests.images` for Compose; a base made of Debian's packages stands in for the official image of Python, and
the embedded PostgreSQL and Debian's Redis for theirs; `outside.py` stands in for the internet, and `Switch` for the
load balancer before two containers of web.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import standardwebhooks
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.images import PATIENCE_S, ROOT, Podman, Stack, problem
from tests.operations.stack.processes import wait_until
from tests.rolling import Asking, Switch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.xdist_group("images"),
    pytest.mark.skipif(problem() != "", reason=problem() or "never"),
]

OUTSIDE = ROOT / "tests" / "release" / "outside.py"
MOST_MB = {"website-scan-service": 200, "website-scan-command": 450, "website-scan-service-browser": 450}
# Secrets of the service that the browser's worker must not hold.
KEYS = {
    "SECRET_KEY": secrets.token_hex(32),
    "ENCRYPTION_KEYS": secrets.token_hex(32),
    "METRICS_TOKEN": secrets.token_hex(32),
    "EMAIL_URL": f"smtp://mailer:{secrets.token_hex(16)}@127.0.0.1:25",
}
TYPES = ("accessibility", "performance", "security", "seo")
FINAL = ("completed", "partial", "failed")
ANSWERS = 10  # of each kind, between one restart and the next
REQUEST_S = 30
DRAIN_S = 10  # the switch probes ten times a second, and on a busy machine waits for the answer


@pytest.fixture(scope="module")
def stack(podman: Podman) -> Stack:
    """All services of compose.yaml, healthy, with a site and receiver outside."""
    running = Stack(podman)
    running.start_outside(OUTSIDE)
    passwords = {"POSTGRES_PASSWORD": secrets.token_hex(16), "REDIS_PASSWORD": secrets.token_hex(16)}
    running.configure(KEYS | passwords | {"SCAN_ALLOWED_NETWORKS": f"{running.outside}/32", "DRAIN_S": str(DRAIN_S)})
    running.up()
    return running


@pytest.fixture(scope="module")
def key(stack: Stack) -> str:
    """API key of an organization that may ask as often as it likes."""

    def manage(*arguments: str) -> str:
        return stack.podman.said("exec", stack.running["web"][0], "python", "manage.py", *arguments)

    manage("shell", "-c", "from accounts.models import Tier; Tier.objects.update(requests_per_minute=1_000_000)")
    return manage("create_api_key", "Our company", "--tier", "pro")


@pytest.mark.parametrize("image", MOST_MB)
def test_an_image_is_small_and_its_list_names_what_it_holds(podman: Podman, image: str) -> None:
    measured = re.search(rf"^{image}: [\d,]+ MB, ([\d,]+) above its base", podman.printed, re.MULTILINE)
    assert measured, podman.printed
    assert int(measured[1].replace(",", "")) <= MOST_MB[image]
    text = (podman.folder / f"sbom-{image}.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.from_version(document["specVersion"])).validate_str(text) is None
    listed = {each["purl"].partition("@")[0] for each in document["components"]}
    assert {"pkg:deb/debian/libc6", "pkg:pypi/requests", "pkg:pypi/cryptography"} <= listed
    assert ("pkg:deb/debian/chromium-headless-shell" in listed) == (image != "website-scan-service")
    assert ("pkg:pypi/django" in listed) == (image != "website-scan-command")


# Loads all extensions and libraries, which were stripped.
LOADED = """
import ctypes, pathlib, shutil, sys
found = [each for each in pathlib.Path(sys.prefix).rglob("*.so*") if "pixeltable" not in str(each)]
for each in found: ctypes.CDLL(str(each))
print(len(found), *filter(shutil.which, ("gcc", "cc", "strip", "pip", "make")))
"""


@pytest.mark.parametrize("image", MOST_MB)
def test_an_image_has_no_compiler_loads_its_libraries_and_runs_as_an_ordinary_user(podman: Podman, image: str) -> None:
    count, *tools = podman.ended(image, "python", "-c", LOADED).split()
    assert int(count) > 5
    assert tools == []
    (inspected,) = json.loads(podman.said("image", "inspect", image))
    assert inspected["Config"]["User"] == "10001:10001"
    assert ("Healthcheck" in inspected) == (image != "website-scan-command")
    assert {"title", "description", "licenses", "version", "revision"} <= {
        label.removeprefix("org.opencontainers.image.") for label in inspected["Config"]["Labels"]
    }


def test_the_service_has_the_clients_that_backups_need(podman: Podman) -> None:
    find = "from operations.stack.clients import clients_for; print(clients_for(18))"
    assert podman.ended("website-scan-service", "python", "-c", find) == "/opt/venv/bin"


def test_the_command_scans_with_its_browser_in_a_read_only_container(stack: Stack) -> None:
    page = f"http://{stack.outside}:8080/"
    options = [f"--network={stack.network('outside')}", f"--security-opt=seccomp={ROOT}/deploy/seccomp.json"]
    options.append(f"--env=SCAN_ALLOWED_NETWORKS={stack.outside}/32")
    scan = ["website-scan", page, "--format", "json"]
    document = json.loads(stack.podman.ended(*options, "website-scan-command", *scan))
    reports = document["reports"]
    assert sorted(each["type"] for each in reports) == list(TYPES)
    assert [each["omitted_checks"] for each in reports if each.get("omitted_checks")] == []


def test_scans_of_all_types_complete_with_a_browser_and_their_webhook_arrives(stack: Stack, key: str) -> None:
    base = f"http://127.0.0.1:{stack.ports[stack.running['web'][0]]}"
    page = f"http://{stack.outside}:8080"
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {key}"

    def posted(path: str, **body: Any) -> dict[str, Any]:
        created = api.post(base + path, json=body, timeout=REQUEST_S)
        assert created.status_code == 201, created.text
        return dict(created.json())

    webhook = posted("/api/webhooks", url=f"{page}/hook", events=[f"scan.{status}" for status in FINAL])
    (browser,) = stack.running["browser"]
    container = psutil.Process(stack.inspected(browser)["State"]["Pid"])
    seen: list[Chromium] = []
    ids: list[str] = []

    def scanned(kind: str) -> str:
        """Scan the page, and return the status at the end."""
        ids.append(posted("/v1/scan", url=f"{page}/", type=kind)["id"])
        status = ""

        def ended() -> bool:
            nonlocal status
            seen.extend(chromium_in(container))
            status = api.get(f"{base}/v1/scan/{ids[-1]}", timeout=REQUEST_S).json()["status"]
            return status in FINAL

        wait_until(ended, PATIENCE_S, poll_s=0.2)
        return status

    for kind in TYPES:
        # On a busy machine, Chromium may start too late for a scan.
        assert "completed" in (scanned(kind) for _ in range(3)), (kind, stack.logs(browser))

    def received() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = requests.get(f"{stack.outside_url}/received", timeout=REQUEST_S).json()
        return found

    wait_until(lambda: len(received()) >= len(ids), PATIENCE_S, poll_s=1)
    receiver = standardwebhooks.Webhook(webhook["secret"])
    events = [receiver.verify(each["body"], {k.lower(): v for k, v in each["headers"].items()}) for each in received()]
    assert sorted(event["data"]["scan_id"] for event in events) == sorted(ids), events
    renderers = [each for each in seen if "--type=renderer" in each.command]
    assert renderers
    assert {each.namespace for each in renderers}.isdisjoint({os.readlink(f"/proc/{container.pid}/ns/user")})
    assert not any("--no-sandbox" in each.command or "REDIS_URL" in each.environment for each in seen)


@dataclass(frozen=True)
class Chromium:
    """Process of Chromium: its command line, its user namespace, and its environment."""

    command: str
    namespace: str
    environment: str


def chromium_in(container: psutil.Process) -> Iterator[Chromium]:
    for each in container.children(recursive=True):
        try:
            command, proc = " ".join(each.cmdline()), Path(f"/proc/{each.pid}")
            if "/chromium-headless-shell " in command:
                yield Chromium(command, os.readlink(proc / "ns" / "user"), str(each.environ()))
        except (psutil.NoSuchProcess, OSError):
            continue  # it has ended


def start_web(stack: Stack) -> str:
    container = stack.start("web")
    stack.wait_for(container, "service_healthy")
    return container


def test_web_restarts_container_by_container_and_nobody_is_refused(stack: Stack, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    (first,) = stack.running["web"]
    with Switch().running() as switch, Asking() as asking:
        base = f"http://127.0.0.1:{switch.port}"

        def some_time() -> None:
            wanted = {name: asking.count(name) + ANSWERS for name in ("page", "api")}
            wait_until(lambda: all(asking.count(name) >= count for name, count in wanted.items()), PATIENCE_S)

        switch.add(stack.ports[first])
        second = start_web(stack)
        switch.add(stack.ports[second])
        asking.ask("page", lambda: requests.get(f"{base}/login/", timeout=REQUEST_S).status_code, 0.1)
        asking.ask("api", lambda: requests.get(f"{base}/v1/usage", headers=headers, timeout=REQUEST_S).status_code, 0.1)
        some_time()
        for old in (first, second):
            asking.state = f"{old} ends"
            stack.stop("web", old)
            some_time()
            asking.state = f"another one comes in place of {old}"
            switch.add(stack.ports[start_web(stack)])
            some_time()
        asking.end()
    assert asking.failures == []
    assert {status for _, status in asking.answers} == {200}


# Prints as JSON: the status of the first process, limits of the container, what could be written, and what the system
# calls returned that an escaped page could abuse (mount in an own user namespace, ptrace, bpf).
INSIDE = """
import ctypes, json, os, pathlib, signal
def number(*names):
    found = [pathlib.Path("/sys/fs/cgroup", each) for each in names]
    return int(next(each.read_text() for each in found if each.exists()))
def writes(path):
    try: pathlib.Path(path).touch()
    except OSError: return False
    return True
def refused(code):
    child = os.fork()
    if child == 0: os._exit(0 if eval(code) == -1 and ctypes.get_errno() == 1 else 1)
    return os.waitpid(child, 0)[1] == 0
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\t") for line in pathlib.Path("/proc/1/status").read_text().splitlines() if ":\t" in line)
print(json.dumps({
    "user": status["Uid"].split()[1], "capabilities": [status[each] for each in ("CapEff", "CapPrm", "CapBnd")],
    "no_new_privileges": status["NoNewPrivs"], "seccomp": status["Seccomp"],
    "memory": number("memory.max", "memory/memory.limit_in_bytes"), "processes": number("pids.max", "pids/pids.max"),
    "writes": [each for each in ("/app/x", "/data/x", "/opt/venv/x", "/usr/x", "/tmp/x") if writes(each)],
    "namespaces": not refused("libc.unshare(0x10000000)"),
    "refused": [each for each, code in {
        "mount": "libc.unshare(0x10020000) or libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0)",
        "ptrace": "libc.ptrace(0, 0, 0, 0)", "bpf": "libc.syscall(321, 0, 0, 0)"}.items() if refused(code)],
}))
"""
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("service", "memory_bytes", "processes"),
    [
        ("web", 1536 * MIB, 500),
        ("worker", 2048 * MIB, 500),
        ("browser", 3072 * MIB, 1000),
        ("webhooks", 1024 * MIB, 500),
        ("scheduler", 512 * MIB, 500),
    ],
)
def test_the_limits_of_a_service_are_in_force(stack: Stack, service: str, memory_bytes: int, processes: int) -> None:
    for container in stack.running[service]:
        inside = json.loads(stack.python(container, INSIDE))
        assert (inside["user"], inside["no_new_privileges"], inside["seccomp"]) == ("10001", "1", "2")
        assert inside["capabilities"] == ["0" * 16] * 3
        assert (inside["memory"], inside["processes"]) == (memory_bytes, processes)
        assert inside["writes"] == ["/tmp/x"]
        assert "bpf" in inside["refused"]
        if service == "browser":  # by deploy/seccomp.json, which leaves Chromium's sandbox its namespaces
            assert set(inside["refused"]) == {"mount", "ptrace", "bpf"}
            assert inside["namespaces"]


ENVIRONMENTS = """
import pathlib
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try: print(repr((each / "environ").read_bytes()))
    except OSError: pass
"""


def test_the_browsers_container_holds_no_secret_that_it_does_not_need(stack: Stack) -> None:
    (browser,), (web,) = stack.running["browser"], stack.running["web"][:1]
    seen = {each: stack.python(each, ENVIRONMENTS) + json.dumps(stack.inspected(each)) for each in (browser, web)}
    assert [name for name, value in KEYS.items() if value in seen[web]] == list(KEYS)
    assert [name for name, value in KEYS.items() if value in seen[browser]] == []
    assert "REDIS_URL=" in seen[browser]


def test_database_and_queue_have_no_way_out(stack: Stack) -> None:
    ask = f"import socket; socket.create_connection(('{stack.outside}', 8080), 5)"
    for name in ("postgresql", "redis", "scheduler"):
        ran = stack.podman.ran("exec", stack.running[name][0], "python3", "-c", ask)
        assert "Network is unreachable" in ran.stderr
    assert stack.podman.ran("exec", stack.running["worker"][0], "python3", "-c", ask).returncode == 0
