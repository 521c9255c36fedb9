"""Tests for the systemd units on a Debian machine.

The commands in docs/operations.md set it up.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import systemd
from tests.operations.stack.processes import wait_until
from tests.release.test_containers import KEYS, ROOT
from tests.systemd import Machine

DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SECTION = DOC[DOC.index("\n### systemd\n") : DOC.index("\n### Kubernetes\n")]
UNITS = tuple(f"website-scan-{name}.service" for name in ("web", "worker", "browser", "webhooks", "scheduler"))
TYPES = ("security", "performance", "accessibility", "seo")
SERVICE = "http://127.0.0.1:8000"
SITE = "http://127.0.0.1:8080/"
PAGE = "<!doctype html><html lang=en><title>A page</title><h1>A page</h1><p>It has a text.</p></html>"
PASSWORD = "correct horse battery staple"
PROMPT_ANSWERS = {
    "E-mail address:": "ada@example.com",
    "Name:": "Ada",
    "Password:": PASSWORD,
    "Password (again):": PASSWORD,
}

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the current files that Git tracks or would track."""
    folder = tmp_path_factory.mktemp("code") / "website-scan"
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target)  # shutil.copy also copies the file mode.
    return folder


@pytest.fixture(scope="module")
def machine(code: Path) -> Iterator[Machine]:
    """Machine after all commands of the section.

    It has a site that may be scanned.
    """
    (packages,) = re.findall(r"^apt-get install --yes (.+)$", SECTION, re.MULTILINE)
    with systemd.machine(packages.split(), ROOT / "requirements" / "browser.txt", code) as machine:
        output = machine.type("\n".join(re.findall(r"^```bash\n(.*?)^```$", SECTION, re.M | re.S)), PROMPT_ANSWERS, 600)
        assert "Superuser created successfully." in output
        (key,) = re.findall(r"wss_\w+", output)
        machine.shell(
            f"""
            echo SCAN_ALLOWED_NETWORKS=127.0.0.1/32:8080 >> /etc/website-scan/environment
            mkdir /srv/site
            echo {shlex.quote(PAGE)} > /srv/site/index.html
            systemd-run --quiet --unit site python3 -m http.server 8080 --bind 127.0.0.1 --directory /srv/site
            systemctl restart website-scan.target
            echo {key} > /root/key
            """
        )
        wait_until(lambda: is_ready(machine), 120, poll_s=0.2)
        yield machine


def call_api(machine: Machine, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Send an API request from the machine and return the JSON object.

    The request has the operator's key.
    """
    code = """if True:
        import sys, urllib.request
        url, body = sys.argv[1], sys.argv[2].encode() or None
        key = open("/root/key").read().strip()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        print(urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30).read().decode())
    """
    body_text = "" if body is None else json.dumps(body)
    response: dict[str, Any] = json.loads(machine.run("python3", "-c", code, f"{SERVICE}{path}", body_text).stdout)
    return response


def is_ready(machine: Machine) -> bool:
    code = f"import urllib.request; urllib.request.urlopen('{SERVICE}/readyz', timeout=5)"
    return machine.run("python3", "-c", code, check=False).returncode == 0


def run_in_unit(machine: Machine, unit: str, script: str) -> str:
    """Run a shell script with the rights and files of a unit.

    It runs as the unit's user in the unit's mount namespace. Returns output and errors.
    """
    pid, user = machine.property(unit, "MainPID"), machine.property(unit, "User")
    run_as_user = f"setpriv --reuid {user} --regid {user} --clear-groups sh -c {shlex.quote(script)} 2>&1 || true"
    return machine.shell(f"nsenter --target {pid} --mount --wd=/ {run_as_user}")


def test_units_are_active_without_restarts(machine: Machine) -> None:
    assert machine.run("systemctl", "is-active", "website-scan.target", *UNITS).stdout.split() == ["active"] * 6
    assert {machine.property(unit, "NRestarts") for unit in UNITS} == {"0"}
    assert machine.property("website-scan.target", "UnitFileState") == "enabled"


def test_scans_of_all_types_complete(machine: Machine) -> None:
    scan_ids = [call_api(machine, "/v1/scan", {"url": SITE, "type": scan_type})["id"] for scan_type in TYPES]

    def scans() -> list[dict[str, Any]]:
        return [call_api(machine, f"/v1/scan/{scan_id}") for scan_id in scan_ids]

    wait_until(lambda: all(scan["completed_at"] for scan in scans()), 180, poll_s=0.5)
    # A unit's restrictions make a scan `partial` if they prevent checks.
    partial = {scan["type"]: scan["skipped_checks"] for scan in scans() if scan["status"] != "completed"}
    assert partial == {}, machine.shell("journalctl --unit 'website-scan-*' --output cat --lines 40")


def test_browser_user_cannot_read_keys(machine: Machine) -> None:
    web, browser = "website-scan-web.service", "website-scan-browser.service"
    secret = machine.shell("cat /etc/website-scan/secret-key")
    credential = f"/run/credentials/{web}/secret-key"
    assert secret in run_in_unit(machine, web, f"cat {credential}")
    pid = machine.property(web, "MainPID")
    for path in (credential, "/etc/website-scan/secret-key", "/etc/website-scan/environment", f"/proc/{pid}/environ"):
        assert secret not in machine.shell(f"runuser -u website-scan-browser -- cat {path} 2>&1 || true")
        assert re.search("Permission denied|No such file", run_in_unit(machine, browser, f"cat {path}")), path
    for folder in ("/etc/website-scan", "/var/lib/website-scan"):
        assert "Permission denied" in run_in_unit(machine, browser, f"ls {folder}")
    variables = machine.shell(f"tr '\\0' '\\n' < /proc/{machine.property(browser, 'MainPID')}/environ").splitlines()
    environment = dict(line.partition("=")[::2] for line in variables)
    assert "DATABASE_URL" in environment
    assert {name for name in KEYS if not environment.get(name, "of-no-use").startswith("of-no-use")} == set()
    assert not any("_FILE" in name for name in environment)


@pytest.mark.parametrize("unit", UNITS)
def test_unit_can_write_only_its_own_state(machine: Machine, unit: str) -> None:
    state = f"/var/lib/{machine.property(unit, 'User')}"
    assert run_in_unit(machine, unit, f"touch {state}/written && rm {state}/written") == ""
    for folder in ("/opt/website-scan", "/etc", "/usr/local/bin", "/var/log", "/srv", "/home"):
        assert re.search(
            "Permission denied|Read-only file system", run_in_unit(machine, unit, f"touch {folder}/written")
        )
    status = machine.shell(f"cat /proc/{machine.property(unit, 'MainPID')}/status")
    for line in (r"NoNewPrivs:\s1", r"Seccomp:\s2", r"CapBnd:\s0+", r"CapEff:\s0+"):
        assert re.search(rf"^{line}$", status, re.MULTILINE), line


@pytest.mark.parametrize("unit", UNITS)
def test_exposure_rating_matches_the_documentation(machine: Machine, unit: str) -> None:
    (sentence,) = re.findall(r"`systemd-analyze security` rates[^(]+", SECTION)
    browser, others = re.findall(r"\d\.\d", sentence)
    rating = machine.run("systemd-analyze", "security", "--no-pager", unit).stdout.splitlines()[-1]
    assert f": {browser if 'browser' in unit else others} " in rating


@pytest.mark.parametrize("unit", UNITS)
def test_killed_unit_is_restarted(machine: Machine, unit: str) -> None:
    before = machine.property(unit, "MainPID")
    machine.run("kill", "-KILL", before)

    def is_restarted() -> bool:
        pid, state = machine.property(unit, "MainPID"), machine.property(unit, "ActiveState")
        return state == "active" and pid not in {"0", before}

    wait_until(is_restarted, 60, poll_s=0.2)
    assert machine.property(unit, "NRestarts") == "1"


def test_service_stops_in_time_and_starts_again(machine: Machine) -> None:
    wait_until(lambda: is_ready(machine), 120, poll_s=0.2)
    (stop,) = re.findall(r"`(systemctl stop website-scan\.target .+)`", SECTION)
    stop_timeout_s = max(
        int(machine.property(unit, "TimeoutStopUSec").removesuffix("s").replace("2min", "120")) for unit in UNITS
    )
    start = time.monotonic()
    machine.shell(stop)
    assert time.monotonic() - start < stop_timeout_s
    for unit in UNITS:
        final_state = {name: machine.property(unit, name) for name in ("ActiveState", "Result")}
        assert final_state == {"ActiveState": "inactive", "Result": "success"}, unit
    for user in ("website-scan", "website-scan-browser"):
        assert machine.shell(f"pgrep --uid {user} || true") == ""
    machine.shell("systemctl start website-scan.target")
    wait_until(lambda: is_ready(machine), 120, poll_s=0.2)
    assert machine.run("systemctl", "is-active", *UNITS).stdout.split() == ["active"] * 5
