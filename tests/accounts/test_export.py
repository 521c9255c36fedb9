"""Tests for an organization's data export."""

from __future__ import annotations

import io
import json
import re
import uuid
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import models
from django.test import Client
from django.utils import timezone

from accounts.closing.deletion import GRACE_PERIOD, delete_closed
from accounts.closing.services import close_organization
from accounts.export import kinds as kinds_of_export
from accounts.export import services as export
from accounts.export.kinds import kinds
from accounts.mailing import sending
from accounts.models import ActivityEvent, DataExport, DataExportChunk, DataExportPart, Membership, Organization
from accounts.retention import delete_exports
from accounts.services import AccountRefused
from accounts.tasks import make_export, wake_exports
from scans.models import Scan
from tests.factories import Member, browser_of, finished_scan, make_scan, person_of
from tests.populated import Populated, populate
from tests.queries import counted

DOC = (settings.BASE_DIR / "docs" / "accounts.md").read_text(encoding="utf-8")


def client_of_owner(member: Member) -> Membership:
    return Membership.objects.get(user=person_of(member, "owner", "owner@people.test"))


def membership_of_owner(populated: Populated) -> Membership:
    return Membership.objects.get(user=populated.people["owner"], organization=populated.home.organization)


def run_export(actor: Membership) -> DataExport:
    """Request a data export and run its tasks to completion."""
    requested = export.request_export(actor=actor)
    while DataExport.objects.get(id=requested.id).status == "making":
        before = DataExportPart.objects.count()
        make_export(requested.id)
        assert DataExportPart.objects.count() == before + 1
    return DataExport.objects.get(id=requested.id)


def exported_files(data_export: DataExport) -> dict[str, bytes]:
    """Return the contents of all files in an export's zip files, by name."""
    files: dict[str, bytes] = {}
    for part in data_export.parts.order_by("number"):
        data = b"".join(export.read_chunks(part))
        assert len(data) == part.size
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert archive.testzip() is None
            for name in archive.namelist():
                assert name not in files
                files[name] = archive.read(name)
    return files


def rows(files: dict[str, bytes], kind: str) -> list[dict[str, Any]]:
    names = [name for name in files if re.fullmatch(rf"{kind}(-\d+)?\.json", name)]
    return [row for name in names for row in json.loads(files[name])]


@pytest.fixture
def populated(db: None) -> Populated:
    return populate(3)


def test_export_contains_all_rows(populated: Populated) -> None:
    home = populated.home
    files = exported_files(run_export(membership_of_owner(populated)))
    assert files.keys() >= {
        "README.txt",
        *(f"{row_kind.name}.json" for row_kind in kinds() if not row_kind.has_own_files),
    }
    for kind in kinds():
        expected = kind.rows(home.organization.id)
        if kind.has_own_files:
            assert {name for name in files if name.startswith(f"{kind.name}/")} == {
                f"{kind.name}/{row.pk}.json" for row in expected
            }
        else:
            assert len(rows(files, kind.name)) == expected.count() > 0, kind.name
    scan = Scan.objects.filter(organization=home.organization, report__isnull=False).latest("created_at")
    (exported_scan,) = [row for row in rows(files, "scans") if row["id"] == scan.id]
    answer = home.api.get(f"/v1/scan/{scan.id}").json()
    del answer["progress"]
    assert answer.items() <= exported_scan.items()
    exported = home.api.get(f"/v1/report/{scan.id}/export").content
    assert files[f"reports/{scan.report.id}.json"] == exported


def test_each_table_is_exported_or_excluded(db: None) -> None:
    exported = {kind.rows(0).model for kind in kinds()}
    # Rows of these tables are parts of other rows, soon deleted, or internal state.
    parts = {"AuditPage", "AuditFinding", "AuditPlace", "ListCount", "FormerKey", "Event", "Branding"}
    short = {"IdempotencyRecord", "Mail", "Alert", "Cause"}
    inner = {"ScanCount", "Turn", "MonitorState", "FormerSecret", "DataExport", "DataExportPart", "DataExportChunk"}
    inner |= {"SiteState", "SiteFinding", "AssessmentCount", "ListComparison", "ListImport", "ListImportSite"}
    parts |= {"AssessmentPage", "AssessmentResult", "AssessmentFinding", "AssessmentEvent"}
    tables: set[type[models.Model]] = {Organization}
    while True:
        more = {
            relation.related_model
            for model in tables
            for relation in model._meta.related_objects
            if relation.on_delete is models.CASCADE
        }
        if more <= tables:
            break
        tables |= more
    tables |= {
        table for table in apps.get_models() if "organization_id" in {f.attname for f in table._meta.concrete_fields}
    }
    assert {table.__name__ for table in tables - exported} == parts | short | inner


def test_export_contains_no_secrets(populated: Populated) -> None:
    home = populated.home
    data_export = run_export(membership_of_owner(populated))
    everything = b"\n".join(exported_files(data_export).values())
    everything = everything.replace(b'"has_password"', b"")  # This field is not secret.
    for secret in (home.plaintext, home.key.digest, "whsec_", "encrypted", "pbkdf2", "argon2"):
        assert secret.encode() not in everything, secret
    # Texts of findings speak of passwords, but no field is one.
    assert not re.search(rb'"[a-z_]*password[a-z_]*":', everything)
    assert b"outsider@people.test" not in everything
    assert home.key.prefix.encode() in everything


def test_documentation_lists_exported_fields(populated: Populated) -> None:
    files = exported_files(run_export(membership_of_owner(populated)))
    for kind in kinds():
        path = f"{kind.name}/" if kind.has_own_files else f"{kind.name}.json"
        assert f"`{path}" in DOC, path
        if not kind.has_own_files:
            for field in {name for row in rows(files, kind.name) for name in row}:
                assert f"`{field}`" in DOC, (kind.name, field)


def test_export_survives_a_worker_crash(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_PART_BYTES", 1)
    monkeypatch.setattr(export, "CHUNK_BYTES", 64)
    monkeypatch.setattr(kinds_of_export, "LIST_BATCH_ROWS", 2)
    monkeypatch.setattr(kinds_of_export, "FILE_BATCH_ROWS", 2)
    at = timezone.now()
    for _ in range(5):
        make_scan(home, created_at=at)  # All rows have the same time, so IDs define the order.
    for _ in range(3):
        finished_scan(home)
    actor = client_of_owner(home)
    requested = export.request_export(actor=actor)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    make_export(requested.id)
    with monkeypatch.context() as dying:
        dying.setattr(export, "_store_part", die)
        with pytest.raises(KeyboardInterrupt):
            make_export(requested.id)
    make_export(requested.id)
    assert DataExportPart.objects.count() == 1, "the dead one's lease holds"
    DataExport.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    while DataExport.objects.get().status == "making":
        make_export(requested.id)
    finished = DataExport.objects.get()
    assert finished.parts.count() > 8
    files = exported_files(finished)
    scans = [row["id"] for row in rows(files, "scans")]
    assert len(scans) == len(set(scans)) == 8
    assert len([name for name in files if name.startswith("reports/")]) == 3


def test_export_with_lost_message_is_enqueued_again(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr("infrastructure.queue.enqueue", lambda task, row_id: sent.append((task, row_id)))
    requested = export.request_export(actor=client_of_owner(home))
    wake_exports()
    assert sent[-1] == ("accounts.tasks.make_export", requested.id)
    DataExport.objects.update(claim_token=uuid.uuid4(), lease_expires_at=timezone.now() + timedelta(minutes=1))
    sent.clear()
    wake_exports()
    assert sent == []


def test_owner_downloads_the_export(home: Member) -> None:
    actor = client_of_owner(home)
    browser = browser_of(actor.user)
    assert "/o/home/settings/export" in browser.get("/o/home/settings/").content.decode()
    page = browser.post("/o/home/settings/export", follow=True).content.decode()
    assert "In progress" in page
    make_export(DataExport.objects.get().id)
    sending.send_due()
    (message,) = mail.outbox
    assert (message.to, "is ready" in message.subject) == (["owner@people.test"], True)
    assert "/o/home/settings/export" in message.body
    assert "Ready to download" in browser.get("/o/home/settings/export").content.decode()
    assert browser.get("/o/home/settings/export/1").status_code == 405
    answer: Any = browser.post("/o/home/settings/export/1")
    data = b"".join(answer.streaming_content)
    assert answer["Content-Type"] == "application/zip"
    assert int(answer["Content-Length"]) == len(data)
    assert zipfile.ZipFile(io.BytesIO(data)).namelist()[0] == "README.txt"
    assert browser.post("/o/home/settings/export/2").status_code == 404
    actions = ActivityEvent.objects.filter(actor=actor.user).values_list("action", flat=True)
    assert {*actions} >= {"organization.export_requested", "organization.exported"}


@pytest.mark.parametrize("role", ["admin", "member", "viewer"])
def test_only_owner_can_request_an_export(home: Member, role: str) -> None:
    other = person_of(home, role, "other@people.test")
    with pytest.raises(AccountRefused):
        export.request_export(actor=Membership.objects.get(user=other))


def test_foreign_export_cannot_be_downloaded(home: Member, stranger: Member) -> None:
    run_export(client_of_owner(home))
    other = browser_of(person_of(stranger, "owner", "mallory@people.test"))
    assert other.post("/o/home/settings/export/1").status_code == 404
    assert other.post(f"/o/{stranger.organization.slug}/settings/export/1").status_code == 404
    assert Client().post("/o/home/settings/export/1").status_code == 302


def test_exports_are_limited_to_one_an_hour(home: Member) -> None:
    actor = client_of_owner(home)
    requested = export.request_export(actor=actor)
    with pytest.raises(AccountRefused, match="already being prepared"):
        export.request_export(actor=actor)
    make_export(requested.id)
    with pytest.raises(AccountRefused, match="less than an hour ago"):
        export.request_export(actor=actor)
    DataExport.objects.update(created_at=timezone.now() - timedelta(hours=2))
    again = export.request_export(actor=actor)
    assert [data_export.id for data_export in DataExport.objects.all()] == [again.id]
    assert not DataExportChunk.objects.exists()


def test_export_expires_after_a_week(home: Member) -> None:
    actor = client_of_owner(home)
    run_export(actor)
    delete_exports()
    assert DataExport.objects.count() == 1
    DataExport.objects.update(ended_at=timezone.now() - export.RETENTION)
    assert browser_of(actor.user).post("/o/home/settings/export/1").status_code == 404, "at once, not by night"
    delete_exports()
    for model in (DataExport, DataExportPart, DataExportChunk):
        assert not model._default_manager.exists()


def test_too_large_export_fails(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_PART_BYTES", 1)
    monkeypatch.setattr(export, "MAX_EXPORT_BYTES", 1)
    actor = client_of_owner(home)
    assert run_export(actor).status == "failed"
    page = browser_of(actor.user).get("/o/home/settings/export").content.decode()
    assert "The last export failed" in page


def test_export_of_closed_organization_stops(home: Member) -> None:
    requested = export.request_export(actor=client_of_owner(home))
    close_organization(home.organization)
    make_export(requested.id)
    assert not DataExportPart.objects.exists()
    assert delete_closed(timezone.now() + GRACE_PERIOD + timedelta(seconds=1), time_limit_s=60)
    assert not DataExport.objects.exists()


def test_export_queries_do_not_grow_with_rows(populated: Populated) -> None:
    for kind in kinds():
        if kind.has_own_files or kind.name in (
            "monitors",
            "lists",
        ):  # Rows of these kinds are read in parts, or with a query for each person.
            continue
        with counted() as queries:
            batch = kind.next_batch(populated.home.organization.id, None)
            for _, row in batch:
                kind.serialize(row)
        assert len(queries) <= 3, (kind.name, len(batch))


def test_command_exports_an_organization(home: Member, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finished_scan(home)
    file = tmp_path / "home.zip"
    call_command("export_organization", "home", str(file))
    assert f"{file.stat().st_size:,} bytes" in capsys.readouterr().out
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as archive:
        assert len(json.loads(archive.read("scans.json"))) == 1
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_organization", "home", str(file))
    with pytest.raises(CommandError, match="There is no organization 'nobody'"):
        call_command("export_organization", "nobody", str(tmp_path / "x.zip"))
    assert [path.name for path in tmp_path.iterdir()] == ["home.zip"]
