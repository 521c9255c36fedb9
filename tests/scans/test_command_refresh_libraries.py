"""Tests for `manage.py refresh_libraries`, with a fake OSV database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import pytest_django
from django.core.management import CommandError, call_command

from tests.targets.server import Answer, Request, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.security import javascript_libraries

ADVISORIES = {
    "jquery": [
        {
            "id": "GHSA-1",
            "aliases": ["CVE-2099-1"],
            "affected": [
                {
                    "package": {"name": "jquery", "ecosystem": "npm"},
                    "ranges": [
                        {
                            "type": "SEMVER",
                            "events": [
                                {"introduced": "1.0.0"}, {"fixed": "1.9.0"}, {"introduced": "2.0.0"},
                                {"fixed": "2.2.0"}, {"introduced": "3.0.0"},
                            ],
                        },
                        {"type": "GIT", "events": [{"introduced": "0"}]},
                    ],
                },
                {"package": {"name": "jquery-rails", "ecosystem": "npm"}, "ranges": []},
            ],
        },
        {"id": "GHSA-2", "withdrawn": "2099-01-01T00:00:00Z", "affected": []},
    ],
    "angular": [
        {
            "id": "GHSA-3",
            "affected": [
                {
                    "package": {"name": "angular"},
                    "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"last_affected": "1.8.3"}]}],
                }
            ],
        }
    ],
    "prototype": [
        {
            "id": "GHSA-4",
            "affected": [
                {
                    "package": {"name": "prototype"},
                    "ranges": [{"type": "SEMVER", "events": [{"introduced": "1.5.0"}]}],
                }
            ],
        }
    ],
}  # fmt: skip


def database(request: Request) -> Answer:
    package = json.loads(request.body)["package"]
    assert package["ecosystem"] == "npm"
    advisories = {"vulns": ADVISORIES[package["name"]]} if package["name"] in ADVISORIES else {}
    return Answer(json.dumps(advisories), headers={"Content-Type": "application/json"})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: pytest_django.Settings) -> Path:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    copy = tmp_path / "libraries.json"
    copy.write_bytes(javascript_libraries.DATA.read_bytes())
    monkeypatch.setattr(javascript_libraries, "DATA", copy)
    return copy


def test_vulnerabilities_are_replaced(data: Path) -> None:
    before = json.loads(data.read_text())
    out = io.StringIO()
    with Site({"/query": database}) as site:
        call_command("refresh_libraries", api=f"{site.url}/query", stdout=out)
    after = json.loads(data.read_text())
    vulnerabilities = {library["package"]: library["vulnerabilities"] for library in after["libraries"]}
    assert vulnerabilities["jquery"] == [
        {"introduced": "1.0.0", "fixed": "1.9.0", "id": "CVE-2099-1"},
        {"introduced": "2.0.0", "fixed": "2.2.0", "id": "CVE-2099-1"},
        {"introduced": "3.0.0", "fixed": None, "id": "CVE-2099-1"},
    ]
    assert vulnerabilities["angular"] == [{"introduced": "0", "fixed": None, "id": "GHSA-3", "last": "1.8.3"}]
    assert vulnerabilities["prototype"] == [{"introduced": "1.5.0", "fixed": None, "id": "GHSA-4"}]
    assert vulnerabilities["bootstrap"] == []
    assert [library["banner"] for library in after["libraries"]] == [
        library["banner"] for library in before["libraries"]
    ]
    assert after["as_of"] > before["as_of"]
    assert out.getvalue() == f"5 entries for {len(vulnerabilities)} libraries, as of {after['as_of']}.\n"


@pytest.mark.parametrize(
    "answer", [Answer(status=500, body="{}"), Answer("<html>"), Answer('{"vulns": [{}]}'), Answer('{"vulns": 7}')]
)
def test_osv_failure_changes_nothing(data: Path, answer: Answer) -> None:
    before = data.read_bytes()
    with Site({"/query": answer}) as site, pytest.raises(CommandError):
        call_command("refresh_libraries", api=f"{site.url}/query")
    assert data.read_bytes() == before
