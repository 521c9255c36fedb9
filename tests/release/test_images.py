"""Tests for the built images and compose.yaml.

Replacements: Podman with runc for Docker, /etc/hosts of each container for Docker's name server, and `tests.images` for
Compose. A base image of Debian packages replaces the official Python image, and the embedded PostgreSQL and Debian's
Redis replace theirs. `outside.py` is the internet, and `Switch` is the load balancer in front of two web containers.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests
import standardwebhooks
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from msgspec import Struct

from tests.images import ROOT, TIMEOUT_S, Podman, Stack, reason_against_images
from tests.operations.stack.processes import wait_until
from tests.rolling import RepeatingClients, Switch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1500),
    pytest.mark.xdist_group("images"),
    pytest.mark.skipif(reason_against_images() != "", reason=reason_against_images() or "never"),
]

OUTSIDE = ROOT / "tests" / "release" / "outside.py"
MAX_IMAGE_MB = {"website-scan-service": 200, "website-scan-command": 450, "website-scan-service-browser": 450}
# Secrets of the service that the browser worker must not have.
KEYS = {
    "SECRET_KEY": secrets.token_hex(32),
    "ENCRYPTION_KEYS": secrets.token_hex(32),
    "METRICS_TOKEN": secrets.token_hex(32),
    "EMAIL_URL": f"smtp://mailer:{secrets.token_hex(16)}@127.0.0.1:25",
}
TYPES = ("accessibility", "performance", "security", "seo")
FINAL = ("completed", "partial", "failed")
RESPONSES = 10  # Number of responses to every kind of request between two restarts.
REQUEST_TIMEOUT_S = 30
DRAIN_DURATION_S = 10  # The load balancer may be slow on a busy machine.


@pytest.fixture(scope="module")
def stack(podman: Podman) -> Stack:
    """All services of compose.yaml in a healthy state.

    A site and a receiver are outside.
    """
    stack = Stack(podman)
    stack.start_outside(OUTSIDE)
    passwords = {"POSTGRES_PASSWORD": secrets.token_hex(16), "REDIS_PASSWORD": secrets.token_hex(16)}
    stack.configure(
        KEYS | passwords | {"SCAN_ALLOWED_NETWORKS": f"{stack.outside}/32", "DRAIN_S": str(DRAIN_DURATION_S)}
    )
    stack.up()
    return stack


@pytest.fixture(scope="module")
def key(stack: Stack) -> str:
    """API key with practically no rate limit."""

    def manage(*arguments: str) -> str:
        return stack.podman.run("exec", stack.running["web"][0], "python", "manage.py", *arguments)

    manage("shell", "-c", "from accounts.models import Tier; Tier.objects.update(requests_per_minute=1_000_000)")
    return manage("create_api_key", "Our company", "--tier", "pro")


@pytest.mark.parametrize("image", MAX_IMAGE_MB)
def test_bill_of_materials_of_image_is_complete(podman: Podman, image: str) -> None:
    size = re.search(rf"^{image}: [\d,]+ MB, ([\d,]+) above its base", podman.build_output, re.MULTILINE)
    assert size, podman.build_output
    assert int(size[1].replace(",", "")) <= MAX_IMAGE_MB[image]
    text = (podman.folder / f"sbom-{image}.json").read_text(encoding="utf-8")
    bill = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.from_version(bill["specVersion"])).validate_str(text) is None
    listed_packages = {package["purl"].partition("@")[0] for package in bill["components"]}
    assert {"pkg:deb/debian/libc6", "pkg:pypi/requests", "pkg:pypi/cryptography"} <= listed_packages
    assert ("pkg:deb/debian/chromium-headless-shell" in listed_packages) == (image != "website-scan-service")
    assert ("pkg:pypi/django" in listed_packages) == (image != "website-scan-command")


# The build strips all extension modules and libraries, so they must load.
LOAD_LIBRARIES = """
import ctypes, pathlib, shutil, sys
found = [each for each in pathlib.Path(sys.prefix).rglob("*.so*") if "pixeltable" not in str(each)]
for each in found: ctypes.CDLL(str(each))
print(len(found), *filter(shutil.which, ("gcc", "cc", "strip", "pip", "make")))
"""


@pytest.mark.parametrize("image", MAX_IMAGE_MB)
def test_image_loads_its_libraries(podman: Podman, image: str) -> None:
    count, *tools = podman.run_container(image, "python", "-c", LOAD_LIBRARIES).split()
    assert int(count) > 5
    assert tools == []
    (configuration,) = json.loads(podman.run("image", "inspect", image))
    assert configuration["Config"]["User"] == "10001:10001"
    assert ("Healthcheck" in configuration) == (image != "website-scan-command")
    assert {"title", "description", "licenses", "version", "revision"} <= {
        label.removeprefix("org.opencontainers.image.") for label in configuration["Config"]["Labels"]
    }


def test_service_image_has_postgresql_clients(podman: Podman) -> None:
    find = "from operations.stack.clients import clients_for; print(clients_for(18))"
    assert podman.run_container("website-scan-service", "python", "-c", find) == "/opt/venv/bin"


def test_command_image_scans_with_its_browser(stack: Stack) -> None:
    page = f"http://{stack.outside}:8080/"
    options = [f"--network={stack.network('outside')}", f"--security-opt=seccomp={ROOT}/deploy/seccomp.json"]
    options.append(f"--env=SCAN_ALLOWED_NETWORKS={stack.outside}/32")
    scan = ["website-scan", page, "--format", "json"]
    output = json.loads(stack.podman.run_container(*options, "website-scan-command", *scan))
    reports = output["reports"]
    assert sorted(report["type"] for report in reports) == list(TYPES)
    assert [report["omitted_checks"] for report in reports if report.get("omitted_checks")] == []


def test_scans_complete_and_their_webhooks_arrive(stack: Stack, key: str) -> None:
    base = f"http://127.0.0.1:{stack.ports[stack.running['web'][0]]}"
    page = f"http://{stack.outside}:8080"
    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {key}"

    def post(path: str, **body: Any) -> dict[str, Any]:
        response = api.post(base + path, json=body, timeout=REQUEST_TIMEOUT_S)
        assert response.status_code == 201, response.text
        return dict(response.json())

    webhook = post("/api/webhooks", url=f"{page}/hook", events=[f"scan.{status}" for status in FINAL])
    (browser,) = stack.running["browser"]
    container = psutil.Process(stack.inspect_container(browser)["State"]["Pid"])
    browser_processes: list[Chromium] = []
    ids: list[str] = []

    def scan_until_end(kind: str) -> str:
        """Scan the page, and return the final status."""
        ids.append(post("/v1/scan", url=f"{page}/", type=kind)["id"])
        status = ""

        def has_ended() -> bool:
            nonlocal status
            browser_processes.extend(chromium_processes(container))
            status = api.get(f"{base}/v1/scan/{ids[-1]}", timeout=REQUEST_TIMEOUT_S).json()["status"]
            return status in FINAL

        wait_until(has_ended, TIMEOUT_S, poll_s=0.2)
        return status

    for kind in TYPES:
        # On a busy machine, Chromium may start too late for a scan.
        assert "completed" in (scan_until_end(kind) for _ in range(3)), (kind, stack.logs(browser))

    def received_webhook_requests() -> list[dict[str, Any]]:
        requests_of_webhook: list[dict[str, Any]] = requests.get(
            f"{stack.outside_url}/received", timeout=REQUEST_TIMEOUT_S
        ).json()
        return requests_of_webhook

    wait_until(lambda: len(received_webhook_requests()) >= len(ids), TIMEOUT_S, poll_s=1)
    receiver = standardwebhooks.Webhook(webhook["secret"])
    events = [
        receiver.verify(request["body"], {k.lower(): v for k, v in request["headers"].items()})
        for request in received_webhook_requests()
    ]
    assert sorted(event["data"]["scan_id"] for event in events) == sorted(ids), events
    renderers = [process for process in browser_processes if "--type=renderer" in process.command]
    assert renderers
    assert {renderer.namespace for renderer in renderers}.isdisjoint({os.readlink(f"/proc/{container.pid}/ns/user")})
    assert not any(
        "--no-sandbox" in process.command or "REDIS_URL" in process.environment for process in browser_processes
    )


class Chromium(Struct, frozen=True):
    """A Chromium process in a container."""

    command: str
    namespace: str
    environment: str


def chromium_processes(container: psutil.Process) -> Iterator[Chromium]:
    for process in container.children(recursive=True):
        try:
            command, proc = " ".join(process.cmdline()), Path(f"/proc/{process.pid}")
            if "/chromium-headless-shell " in command:
                yield Chromium(command, os.readlink(proc / "ns" / "user"), str(process.environ()))
        except (psutil.NoSuchProcess, OSError):
            continue  # The process has ended in the meantime.


def start_web(stack: Stack) -> str:
    container = stack.start("web")
    stack.wait_for(container, "service_healthy")
    return container


def test_rolling_restart_refuses_no_request(stack: Stack, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    (first,) = stack.running["web"]
    with Switch().running() as switch, RepeatingClients() as clients:
        base = f"http://127.0.0.1:{switch.port}"

        def wait_for_responses() -> None:
            expected = {name: clients.count(name) + RESPONSES for name in ("page", "api")}
            wait_until(lambda: all(clients.count(name) >= count for name, count in expected.items()), TIMEOUT_S)

        switch.add(stack.ports[first])
        second = start_web(stack)
        switch.add(stack.ports[second])
        clients.add("page", lambda: requests.get(f"{base}/login/", timeout=REQUEST_TIMEOUT_S).status_code, 0.1)
        clients.add(
            "api", lambda: requests.get(f"{base}/v1/usage", headers=headers, timeout=REQUEST_TIMEOUT_S).status_code, 0.1
        )
        wait_for_responses()
        for old in (first, second):
            clients.state = f"{old} ends"
            stack.stop("web", old)
            wait_for_responses()
            clients.state = f"another one replaces {old}"
            switch.add(stack.ports[start_web(stack)])
            wait_for_responses()
        clients.end()
    assert clients.failures == []
    assert {status for _, status in clients.responses} == {200}


# This program prints a container's limits and rights as JSON.
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
def test_container_has_the_limits_of_its_service(stack: Stack, service: str, memory_bytes: int, processes: int) -> None:
    for container in stack.running[service]:
        inside = json.loads(stack.python(container, INSIDE))
        assert (inside["user"], inside["no_new_privileges"], inside["seccomp"]) == ("10001", "1", "2")
        assert inside["capabilities"] == ["0" * 16] * 3
        assert (inside["memory"], inside["processes"]) == (memory_bytes, processes)
        assert inside["writes"] == ["/tmp/x"]
        assert "bpf" in inside["refused"]
        if service == "browser":  # The profile deploy/seccomp.json allows the namespaces of Chromium's sandbox.
            assert set(inside["refused"]) == {"mount", "ptrace", "bpf"}
            assert inside["namespaces"]


ENVIRONMENTS = """
import pathlib
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try: print(repr((each / "environ").read_bytes()))
    except OSError: pass
"""


def test_browser_container_has_no_unneeded_secret(stack: Stack) -> None:
    (browser,), (web,) = stack.running["browser"], stack.running["web"][:1]
    visible_texts = {
        container: stack.python(container, ENVIRONMENTS) + json.dumps(stack.inspect_container(container))
        for container in (browser, web)
    }
    assert [name for name, value in KEYS.items() if value in visible_texts[web]] == list(KEYS)
    assert [name for name, value in KEYS.items() if value in visible_texts[browser]] == []
    assert "REDIS_URL=" in visible_texts[browser]


def test_database_cannot_reach_the_internet(stack: Stack) -> None:
    connect = f"import socket; socket.create_connection(('{stack.outside}', 8080), 5)"
    for name in ("postgresql", "redis", "scheduler"):
        execution = stack.podman.try_run("exec", stack.running[name][0], "python3", "-c", connect)
        assert "Network is unreachable" in execution.stderr
    assert stack.podman.try_run("exec", stack.running["worker"][0], "python3", "-c", connect).returncode == 0
