"""Tests for the units in deploy/systemd, without a running systemd."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.test_containers import KEYS, ROOT, command_of

FOLDER = ROOT / "deploy" / "systemd"


def units() -> dict[str, str]:
    """Return the unit files by their paths in systemd's unit folder."""
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    return {str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8") for path in files}


def command_of_unit(text: str) -> list[str]:
    """Return a unit's command, starting with the program.

    Escapes are resolved (systemd.service(5), "Command lines").
    """
    (line,) = re.findall(r"^ExecStart=(.*)$", text.replace("\\\n", " "), re.MULTILINE)
    words = line.replace("%%", "%").split()
    start = next(n for n, word in enumerate(words) if word.endswith(("/gunicorn", "/celery")))
    return [Path(words[start]).name, *words[start + 1 :]]


@pytest.mark.parametrize("name", ["web", "worker", "browser", "webhooks", "scheduler"])
def test_unit_runs_the_command_of_its_service(name: str) -> None:
    command = " ".join(command_of(name)).replace("0.0.0.0", "127.0.0.1")
    command = command.replace("/tmp/celery", "/var/lib/website-scan/celery").replace("--pidfile ", "--pidfile=")
    assert " ".join(command_of_unit(units()[f"website-scan-{name}.service"])) == command


def test_systemd_target_includes_every_service() -> None:
    wanted_units = set(re.findall(r"website-scan-\w+\.service", units()["website-scan.target"]))
    assert wanted_units == {name for name in units() if name.endswith(".service")}


def test_browser_unit_has_no_keys() -> None:
    unit = units()["website-scan-browser.service"].replace("\\\n", " ")
    for name in KEYS:
        assert re.search(rf"-u {name}\b| {name}=of-no-use", unit), name
    assert "LoadCredential" not in unit
    users = re.findall(r"^User=(.*)$", "\n".join(units().values()), re.MULTILINE)
    assert (users.count("website-scan"), users.count("website-scan-browser")) == (4, 1)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for name, text in units().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("/opt/website-scan/.venv", str(Path(sys.executable).parent.parent)))
    # The trailing colon adds systemd's own units.
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(tmp_path / name for name in units() if "/" not in name)],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        check=False,
    )
    complaints = [line for line in verified.stderr.splitlines() if "website-scan" in line]
    assert (verified.returncode, complaints) == (0, [])
