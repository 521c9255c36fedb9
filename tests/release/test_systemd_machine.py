"""docs/operations.md, section systemd: its commands on a Debian machine with a real systemd, and the started units."""

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
ANSWERS = {"E-mail address:": "ada@example.com", "Name:": "Ada", "Password:": PASSWORD, "Password (again):": PASSWORD}

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the files that git knows, as they are now."""
    folder = tmp_path_factory.mktemp("code") / "website-scan"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target)  # with its mode
    return folder


@pytest.fixture(scope="module")
def machine(code: Path) -> Iterator[Machine]:
    """Machine on which an operator has typed the section's commands, and a site that it may scan."""
    (packages,) = re.findall(r"^apt-get install --yes (.+)$", SECTION, re.MULTILINE)
    with systemd.machine(packages.split(), ROOT / "requirements" / "browser.txt", code) as running:
        shown = running.type("\n".join(re.findall(r"^```bash\n(.*?)^```$", SECTION, re.M | re.S)), ANSWERS, 600)
        assert "Superuser created successfully." in shown
        (key,) = re.findall(r"wss_\w+", shown)
        running.shell(
            f"""
            echo SCAN_ALLOWED_NETWORKS=127.0.0.1/32:8080 >> /etc/website-scan/environment
            mkdir /srv/site
            echo {shlex.quote(PAGE)} > /srv/site/index.html
            systemd-run --quiet --unit site python3 -m http.server 8080 --bind 127.0.0.1 --directory /srv/site
            systemctl restart website-scan.target
            echo {key} > /root/key
            """
        )
        wait_until(lambda: is_ready(running), 120, poll_s=0.2)
        yield running


def asked(machine: Machine, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Send a request to the API with the operator's key, from the machine, and return the response's object."""
    code = """if True:
        import sys, urllib.request
        url, body = sys.argv[1], sys.argv[2].encode() or None
        key = open("/root/key").read().strip()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        print(urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30).read().decode())
    """
    sent = "" if body is None else json.dumps(body)
    answered: dict[str, Any] = json.loads(machine.run("python3", "-c", code, f"{SERVICE}{path}", sent).stdout)
    return answered


def is_ready(machine: Machine) -> bool:
    code = f"import urllib.request; urllib.request.urlopen('{SERVICE}/readyz', timeout=5)"
    return machine.run("python3", "-c", code, check=False).returncode == 0


def inside(machine: Machine, unit: str, script: str) -> str:
    """Run a shell script as the unit's user, in the unit's view of files; return what it prints and its errors."""
    pid, user = machine.property(unit, "MainPID"), machine.property(unit, "User")
    as_user = f"setpriv --reuid {user} --regid {user} --clear-groups sh -c {shlex.quote(script)} 2>&1 || true"
    return machine.shell(f"nsenter --target {pid} --mount --wd=/ {as_user}")


def test_all_units_are_active_and_none_had_to_be_started_twice(machine: Machine) -> None:
    assert machine.run("systemctl", "is-active", "website-scan.target", *UNITS).stdout.split() == ["active"] * 6
    assert {machine.property(unit, "NRestarts") for unit in UNITS} == {"0"}
    assert machine.property("website-scan.target", "UnitFileState") == "enabled"


def test_a_scan_of_every_type_is_completed(machine: Machine) -> None:
    created = [asked(machine, "/v1/scan", {"url": SITE, "type": each})["id"] for each in TYPES]

    def scans() -> list[dict[str, Any]]:
        return [asked(machine, f"/v1/scan/{each}") for each in created]

    wait_until(lambda: all(each["completed_at"] for each in scans()), 180, poll_s=0.5)
    # The units keep a `partial` scan from something.
    partial = {each["type"]: each["skipped_checks"] for each in scans() if each["status"] != "completed"}
    assert partial == {}, machine.shell("journalctl --unit 'website-scan-*' --output cat --lines 40")


def test_no_key_is_readable_for_the_browser(machine: Machine) -> None:
    web, browser = "website-scan-web.service", "website-scan-browser.service"
    secret = machine.shell("cat /etc/website-scan/secret-key")
    credential = f"/run/credentials/{web}/secret-key"
    assert secret in inside(machine, web, f"cat {credential}")
    pid = machine.property(web, "MainPID")
    for path in (credential, "/etc/website-scan/secret-key", "/etc/website-scan/environment", f"/proc/{pid}/environ"):
        assert secret not in machine.shell(f"runuser -u website-scan-browser -- cat {path} 2>&1 || true")
        assert re.search("Permission denied|No such file", inside(machine, browser, f"cat {path}")), path
    for folder in ("/etc/website-scan", "/var/lib/website-scan"):
        assert "Permission denied" in inside(machine, browser, f"ls {folder}")
    variables = machine.shell(f"tr '\\0' '\\n' < /proc/{machine.property(browser, 'MainPID')}/environ").splitlines()
    given = dict(line.partition("=")[::2] for line in variables)
    assert "DATABASE_URL" in given
    assert {name for name in KEYS if not given.get(name, "of-no-use").startswith("of-no-use")} == set()
    assert not any("_FILE" in name for name in given)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_writes_its_own_state_only(machine: Machine, unit: str) -> None:
    state = f"/var/lib/{machine.property(unit, 'User')}"
    assert inside(machine, unit, f"touch {state}/written && rm {state}/written") == ""
    for folder in ("/opt/website-scan", "/etc", "/usr/local/bin", "/var/log", "/srv", "/home"):
        assert re.search("Permission denied|Read-only file system", inside(machine, unit, f"touch {folder}/written"))
    status = machine.shell(f"cat /proc/{machine.property(unit, 'MainPID')}/status")
    for line in (r"NoNewPrivs:\s1", r"Seccomp:\s2", r"CapBnd:\s0+", r"CapEff:\s0+"):
        assert re.search(rf"^{line}$", status, re.MULTILINE), line


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_rates_the_exposure_as_documented(machine: Machine, unit: str) -> None:
    browser, others = re.findall(r"\d\.\d", SECTION[SECTION.index("rates the exposure") :])[:2]
    rated = machine.run("systemd-analyze", "security", "--no-pager", unit).stdout.splitlines()[-1]
    assert f": {browser if 'browser' in unit else others} " in rated


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_that_is_killed_is_started_again(machine: Machine, unit: str) -> None:
    before = machine.property(unit, "MainPID")
    machine.run("kill", "-KILL", before)

    def is_back() -> bool:
        pid, state = machine.property(unit, "MainPID"), machine.property(unit, "ActiveState")
        return state == "active" and pid not in {"0", before}

    wait_until(is_back, 60, poll_s=0.2)
    assert machine.property(unit, "NRestarts") == "1"


def test_the_service_stops_within_its_limits_and_starts_again(machine: Machine) -> None:
    wait_until(lambda: is_ready(machine), 120, poll_s=0.2)
    (stop,) = re.findall(r"`(systemctl stop website-scan\.target .+)`", SECTION)
    limit_s = max(
        int(machine.property(unit, "TimeoutStopUSec").removesuffix("s").replace("2min", "120")) for unit in UNITS
    )
    started = time.monotonic()
    machine.shell(stop)
    assert time.monotonic() - started < limit_s
    for unit in UNITS:
        ended = {name: machine.property(unit, name) for name in ("ActiveState", "Result")}
        assert ended == {"ActiveState": "inactive", "Result": "success"}, unit
    for user in ("website-scan", "website-scan-browser"):
        assert machine.shell(f"pgrep --uid {user} || true") == ""
    machine.shell("systemctl start website-scan.target")
    wait_until(lambda: is_ready(machine), 120, poll_s=0.2)
    assert machine.run("systemctl", "is-active", *UNITS).stdout.split() == ["active"] * 5
