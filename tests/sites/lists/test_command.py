"""Tests for `website-scan list` with the API of a running service."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from accounts.models import Tier
from sites.models import ListRun, SiteList
from tests.factories import Member
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from website_scan.command.main import run
from website_scan.command.remote import KEY

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def test_command_imports_and_exports_a_list(
    home: Member,
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(KEY, home.plaintext)

    def run_website_scan(*arguments: str) -> tuple[int, str, str]:
        status = run(["--server", live_server.url, "list", *arguments])
        return status, *capsys.readouterr()

    Tier.objects.update(lists=2, list_entries=5)
    file = tmp_path / "sites.csv"
    file.write_text("url,tags\nexample.com,a;b\nhttps://example.org/,\n")
    status, _, error_output = run_website_scan("push", str(file))
    site_list = SiteList.objects.get(name="sites")
    assert (status, error_output) == (
        0,
        f"Created sites ({site_list.id}): 2 added, 0 removed, 0 changed, 0 unchanged.\n",
    )
    file.write_text("https://example.org/\nftp://example.com/\n")
    status, _, error_output = run_website_scan("push", str(file))
    assert (status, site_list.entries.count()) == (3, 2)
    assert "INVALID_ENTRIES" in error_output
    assert error_output.splitlines()[1].startswith("  line 2: ")
    file.write_text("https://example.org/\nexample.net\n")
    assert run_website_scan("push", str(file), site_list.id)[2].endswith(
        "1 added, 1 removed, 0 changed, 1 unchanged.\n"
    )

    status, run_id, _ = run_website_scan("run", "sites")
    assert (status, ListRun.objects.get().id) == (0, run_id.strip())
    assert run_website_scan("run", "sites")[0] == 3, "one at once"
    assert run_website_scan("export", "sites")[0] == 3, "no snapshot yet"
    ListRun.objects.all().delete()
    snapshot(site_list, [SnapshotSite("https://example.org/", {"seo": 70}, "pppp", ("ü",))])
    target = tmp_path / "out.csv"
    assert run_website_scan("export", "sites", "--output", str(target)) == (0, "", f"Written: {target}.\n")
    with target.open(newline="") as csv_file:
        (row,) = csv.DictReader(csv_file)
    assert (row["url"], row["tags"], row["seo_score"]) == ("https://example.org/", "ü", "70")
    assert json.loads(run_website_scan("export", "sites", "--format", "jsonl")[1])["url"] == "https://example.org/"


def test_key_without_the_scope_is_refused(
    home: Member,
    live_server: LiveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(KEY, home.plaintext)
    home.key.scope = "read"
    home.key.save()
    file = tmp_path / "sites.csv"
    file.write_text("example.com\n")
    assert run(["list", "push", str(file), "--server", live_server.url]) == 3
    assert "INSUFFICIENT_SCOPE" in capsys.readouterr().err
    assert not SiteList.objects.exists()
