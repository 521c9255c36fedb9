"""Tests for API clients generated from the served openapi.yaml.

The commands are those of docs/api.md.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import npm
from tests.e2e.conftest import RunningService
from tests.generated import description, examples
from tests.operations.stack.processes import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

PACKAGE = "website_scan_service_client"
DOC = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
FINAL = {"completed", "partial", "failed"}


class RecordingClient:
    """Generated Python client that calls operations by ID.

    It records the IDs.
    """

    def __init__(self, base: str, key: str) -> None:
        described = description()["paths"].values()
        self.tags_by_operation = {
            operation["operationId"]: operation["tags"][0].lower()
            for methods in described
            for operation in methods.values()
        }
        self.models = self._import_module("models")
        self.client = self._import_module("client").AuthenticatedClient(
            base_url=base, token=key, raise_on_unexpected_status=True, timeout=30.0
        )
        self.called: set[str] = set()

    def call(self, operation: str, *arguments: str, expected_status: int = 200, **options: Any) -> Any:
        """Call an operation and return the parsed response.

        The status of the response is checked.
        """
        self.called.add(operation)
        module = self._import_module(f"api.{self.tags_by_operation[operation]}.{operation}")
        answer = module.sync_detailed(*arguments, client=self.client, **options)
        assert answer.status_code == expected_status, (operation, answer.content[:500])
        assert (answer.parsed is None) == (not answer.content), (operation, answer.content[:500])
        return answer.parsed

    @staticmethod
    def _import_module(name: str) -> ModuleType:
        return importlib.import_module(f"{PACKAGE}.{name}")


def documented_code(kind: str, mark: str) -> str:
    """Return the command line or program in docs/api.md that contains `mark`."""
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if mark in block]
    return next(line for line in block.splitlines() if mark in line) if kind == "bash" else str(block)


def run_generator(generator: str, running: RunningService, folder: Path) -> None:
    """Run a client generator with its documented command.

    Warnings in its output are errors.
    """
    command = documented_code("bash", generator)
    programs = Path(sys.executable).parent
    if command.startswith("npx "):
        (folder / "node_modules").symlink_to(npm.installed())
    ran = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | npm.QUIET | {"BASE": running.base, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not re.search("warn|⚠|skip|error", ran.stdout + ran.stderr, re.IGNORECASE), ran.stdout + ran.stderr


def compile_strictly(folder: Path, *files: str) -> None:
    """Compile TypeScript files to JavaScript with strict checks."""
    ran = npm.run("tsc", "--strict", "--target", "es2022", "--module", "nodenext", *files, folder=folder)
    assert (ran.returncode, ran.stdout) == (0, "")


@pytest.fixture
def python_client(running: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    run_generator("openapi-python-client", running, tmp_path)
    monkeypatch.syspath_prepend(tmp_path / PACKAGE.replace("_", "-"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def consumer(running: RunningService, python_client: None) -> Iterator[RecordingClient]:
    created = RecordingClient(running.base, running.key)
    with created.client:
        yield created


def test_pydantic_models_accept_every_example(
    running: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_generator("datamodel-codegen", running, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "models", raising=False)
    models = importlib.import_module("models")
    count = 0
    for _, schema, example in examples():
        several = schema.get("type") == "array"
        reference = (schema["items"] if several else schema).get("$ref")
        if reference is None and not several:
            continue
        assert reference is not None
        for item in example if several else [example]:
            model = getattr(models, reference.rpartition("/")[2])
            model.model_validate(item)
            count += 1
    assert count > 40
    with pytest.raises(ValueError, match="severity"):
        models.Check.model_validate({"name": "HSTS", "status": "fail", "severity": "grave", "message": ""})


def test_generated_typescript_types_compile(running: RunningService, tmp_path: Path) -> None:
    run_generator("openapi-typescript", running, tmp_path)
    program = 'import type { operations } from "./api";\nexport type Sent = operations["create_scan"]["requestBody"];\n'
    (tmp_path / "program.ts").write_text(program)
    compile_strictly(tmp_path, "program.ts", "api.d.ts")


def test_typescript_program_creates_a_scan(running: RunningService, tmp_path: Path) -> None:
    run_generator("@hey-api/openapi-ts", running, tmp_path)
    program = replace_example_url(documented_code("ts", "createScan"), running).replace("wss_...", running.key)
    (tmp_path / "program.ts").write_text(program)
    compile_strictly(tmp_path, "program.ts")
    ran = subprocess.run(["node", "program.js"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("queued\n", "")


@pytest.mark.usefixtures("python_client")
def test_python_program_creates_a_scan(
    running: RunningService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BASE", running.base)
    monkeypatch.setenv("KEY", running.key)
    exec(replace_example_url(documented_code("python", "create_scan"), running), {})
    assert capsys.readouterr().out == "queued\n"


def replace_example_url(program: str, running: RunningService) -> str:
    """Replace a program's example URL by a site that the service can reach."""
    return program.replace("https://example.com", running.site.url_as("localhost"))


@pytest.mark.timeout(300)
def test_generated_client_calls_every_operation(running: RunningService, consumer: RecordingClient) -> None:
    page = running.site.url_as("localhost") + "/"
    scans = [_call_scan_operations(consumer, page), _call_scan_operations(consumer, page)]
    _call_report_operations(consumer, page, *scans)
    _call_audit_operations(consumer, page)
    _call_monitor_and_badge_operations(consumer, page)
    _call_maintenance_operations(consumer)
    _call_list_operations(consumer, page)
    _call_assessment_operations(consumer, page)
    _call_journey_operations(consumer, page)
    _call_webhook_operations(consumer, running.site.url_as("localhost") + "/hook", page)
    assert consumer.called == consumer.tags_by_operation.keys()


def _call_scan_operations(consumer: RecordingClient, page: str) -> str:
    models = consumer.models
    body = models.ScanRequest(url=page, type_=models.ScanType.SEO)
    scan = consumer.call(
        "create_scan", body=body, idempotency_key=f"generated-{len(consumer.called)}", expected_status=201
    )
    assert (scan.url, scan.type_, scan.status, scan.score) == (page, models.ScanType.SEO, "queued", None)
    wait_until(lambda: consumer.call("get_scan", scan.id).status in FINAL, 60, poll_s=0.5)
    has_delivery_ended = consumer.call("get_scan", scan.id)
    assert (has_delivery_ended.status, has_delivery_ended.error) == (models.ScanStatus.COMPLETED, None)
    listed = consumer.call("list_scans", limit=1, status=models.ScanStatus.COMPLETED, type_=models.ScanType.SEO)
    assert [scan.id for scan in listed.scans] == [scan.id]
    assert consumer.call("get_usage").quota.used >= 1
    return str(scan.id)


def _call_report_operations(consumer: RecordingClient, page: str, earlier: str, scan: str) -> None:
    models = consumer.models
    report = consumer.call("get_report", scan)
    assert (report.id, report.url) == (scan, page)
    assert report.grade in {"A+", "A", "B", "C", "D", "F"}
    assert consumer.call("get_report", scan, if_none_match=f'"{scan}_v1"', expected_status=304) is None
    exported = consumer.call("export_report", scan)
    failed = [check for category in exported.categories for check in category.checks if check.status != "pass"]
    assert exported.report_id.startswith("rpt_")
    assert consumer.call("export_report_sarif", scan).additional_properties["version"] == "2.1.0"
    assert consumer.call("export_report_csv", scan).startswith("category,id,name")
    refusal = consumer.call(
        "get_report_conformance", scan, level=models.GetReportConformanceLevel.A, expected_status=409
    )
    assert refusal.code == "NOT_ACCESSIBILITY"
    diff = consumer.call("diff_reports", scan, with_=earlier)
    assert (diff.from_.id, diff.to.id, diff.score.change) == (earlier, scan, 0)
    body = models.MuteRequest(check=failed[0].id, host=page.split("/")[2], reason="Known.")
    mute = consumer.call("create_mute", body=body, expected_status=201)
    assert consumer.call("create_mute", body=body).id == mute.id
    assert consumer.call("get_mute", mute.id).reason == "Known."
    assert mute.id in [mute.id for mute in consumer.call("list_mutes", check=failed[0].id).mutes]
    assert [finding.check for finding in consumer.call("get_report_mutes", scan).findings] == [failed[0].id]
    consumer.call("end_mute", mute.id, expected_status=204)
    assert consumer.call("get_mute", mute.id, expected_status=404).code == "MUTE_NOT_FOUND"


def _call_audit_operations(consumer: RecordingClient, page: str) -> None:
    models = consumer.models
    body = models.AuditRequest(page=page, types=[models.ScanType.SECURITY])
    audit = consumer.call("create_audit", body=body, expected_status=202)
    wait_until(lambda: consumer.call("get_audit", audit.id).completed_at is not None, 90, poll_s=0.5)
    assert consumer.call("get_audit", audit.id).results.additional_properties["security"].score is not None
    assert audit.id in [audit.id for audit in consumer.call("list_audits").audits]
    assert [page.url for page in consumer.call("list_audit_pages", audit.id).pages] == [page]
    assert consumer.call("list_audit_findings", audit.id, type_=models.ScanType.SECURITY).total > 0
    assert consumer.call("get_audit_conformance", audit.id, expected_status=409).code == "NOT_ACCESSIBILITY"
    assert consumer.call("export_audit", audit.id).audit.id == audit.id
    assert consumer.call("export_audit_sarif", audit.id).additional_properties["version"] == "2.1.0"
    assert consumer.call("export_audit_csv", audit.id).startswith("type,check")
    assert consumer.call("list_audit_steps", audit.id).steps == [], "only runs of journeys have steps"
    assert consumer.call("get_audit_step_picture", audit.id, "1", expected_status=404).code == "STEP_NOT_FOUND"
    assert consumer.call("cancel_audit", audit.id).status != "cancelled", "it had ended"


def _call_monitor_and_badge_operations(consumer: RecordingClient, page: str) -> None:
    models = consumer.models
    body = models.MonitorRequest(
        page=page, types=[models.ScanType.SECURITY], every=models.Interval.DAY, at="05:30", name="Bakery",
        paused=True,
    )  # fmt: skip
    monitor = consumer.call("create_monitor", body=body, expected_status=201)
    assert (monitor.every, monitor.at, monitor.page) == (models.Interval.DAY, "05:30", page)
    consumer.call("run_monitor", monitor.id, expected_status=202)
    (run,) = consumer.call("list_monitor_runs", monitor.id).runs
    assert run.requested is True
    assert consumer.call("get_monitor_run", monitor.id, run.id).id == run.id
    changed = consumer.call("update_monitor", monitor.id, body=models.MonitorChange(paused=False))
    assert (changed.paused, consumer.call("get_monitor", monitor.id).paused) == (False, False)
    assert monitor.id in [monitor.id for monitor in consumer.call("list_monitors").monitors]
    badge = consumer.call("create_badge", body=models.BadgeRequest(monitor=monitor.id), expected_status=201)
    assert badge.id in [badge.id for badge in consumer.call("list_badges").badges]
    consumer.call("delete_badge", badge.id, expected_status=204)
    consumer.call("delete_monitor", monitor.id, expected_status=204)


def _call_maintenance_operations(consumer: RecordingClient) -> None:
    models = consumer.models
    starts_at = datetime.now(UTC) + timedelta(days=1)
    body = models.WindowRequest(name="Deployment", starts_at=starts_at, ends_at=starts_at + timedelta(hours=1))
    window = consumer.call("create_maintenance_window", body=body, expected_status=201)
    assert window.id in [window.id for window in consumer.call("list_maintenance_windows").windows]
    changed = consumer.call("update_maintenance_window", window.id, body=models.WindowFields(name="Move"))
    assert (changed.name, consumer.call("get_maintenance_window", window.id).name) == ("Move", "Move")
    consumer.call("delete_maintenance_window", window.id, expected_status=204)


def _call_list_operations(consumer: RecordingClient, page: str) -> None:
    models = consumer.models
    body = models.ListRequest(name="Bakeries", types=[models.ScanType.SECURITY], window_hours=0)
    created = consumer.call("create_list", body=body, idempotency_key="generated-list", expected_status=201)
    assert (created.name, created.entries, created.every) == ("Bakeries", 0, None)
    body = models.EntriesRequest(entries=[models.EntryRequest(url=page, tags=["bread"])])
    assert consumer.call("replace_entries", created.id, body=body).added == 1
    body = models.EntriesRequest(entries=[models.EntryRequest(url=f"{page}?2", note="Second")])
    assert consumer.call("add_entries", created.id, body=body).added == 1
    both = [models.EntryRequest(url=page, tags=["bread"]), models.EntryRequest(url=f"{page}?2", note="Second")]
    body = models.EntriesRequest(entries=both)
    assert consumer.call("add_entries", created.id, body=body, import_="2026-12").added == 0
    assert consumer.call("finish_import", created.id, import_="2026-12").next_cursor is None
    wrong = models.EntriesRequest(entries=[models.EntryRequest(url="ftp://example.com/")])
    assert consumer.call("add_entries", created.id, body=wrong, expected_status=400).entries[0].line == 1
    (entry,) = consumer.call("list_entries", created.id, tag="bread", state=models.EntryState.NEW).entries
    assert consumer.call("get_entry", created.id, entry.id).url == page
    assert consumer.call("update_entry", created.id, entry.id, body=models.EntryChange(note="First")).note == "First"
    run = consumer.call("run_list", created.id, expected_status=202)
    assert (run.status, run.entries) == (models.ListRunStatus.RUNNING, 2)
    wait_until(lambda: consumer.call("get_list_run", created.id, run.id).ended_at is not None, 90, poll_s=0.5)
    assert consumer.call("cancel_list_run", created.id, run.id).status == models.ListRunStatus.COMPLETED, "it had ended"
    assert [run.id for run in consumer.call("list_list_runs", created.id).runs] == [run.id]
    snapshot = consumer.call("get_snapshot", created.id, run.id)
    assert (snapshot.run.id, snapshot.judged, snapshot.tags[0].tag) == (run.id, 2, "bread")
    diff = consumer.call("compare_snapshots", created.id, run.id, with_=run.id)
    assert (diff.sites.compared, diff.better, diff.worse) == (2, [], [])
    assert consumer.call("export_snapshot_csv", created.id, run.id).startswith("url,tags")
    assert consumer.call("export_snapshot_jsonl", created.id, run.id).startswith('{"url"')
    assert consumer.call("export_snapshot_xlsx", created.id, run.id).payload.read(2) == b"PK"
    adoption = consumer.call("get_adoption", created.id, check=snapshot.checks[0].check)
    assert [run.run_id for run in adoption.runs] == [run.id]
    assert consumer.call("get_list_conformance", created.id, expected_status=409).code == "NOT_ACCESSIBILITY"
    looked = consumer.call("scan_entry", created.id, entry.id, expected_status=202)
    assert looked.entry_id == entry.id
    share = consumer.call("create_share", created.id, body=models.ShareRequest(table=True), expected_status=201)
    assert [share.id for share in consumer.call("list_shares", created.id).shares] == [share.id]
    consumer.call("delete_share", created.id, share.id, expected_status=204)
    consumer.call("delete_entry", created.id, entry.id, expected_status=204)
    assert consumer.call("update_list", created.id, body=models.ListChange(name="Shops")).name == "Shops"
    assert consumer.call("get_list", created.id).run.id == run.id
    assert created.id in [site_list.id for site_list in consumer.call("list_lists").lists]
    consumer.call("delete_list", created.id, expected_status=204)


def _call_assessment_operations(consumer: RecordingClient, page: str) -> None:
    models = consumer.models
    body = models.AuditRequest(page=page, types=[models.ScanType.ACCESSIBILITY])
    audit = consumer.call("create_audit", body=body, expected_status=202)
    wait_until(lambda: consumer.call("get_audit", audit.id).completed_at is not None, 90, poll_s=0.5)
    body = models.AssessmentRequest(audit=audit.id, name="Bakery", level=models.Level.AA)
    created = consumer.call("create_assessment", body=body, idempotency_key="generated-one", expected_status=201)
    one = created.id
    wait_until(lambda: not consumer.call("get_assessment", one).refreshing, 60, poll_s=0.5)
    assert one in [assessment.id for assessment in consumer.call("list_assessments").assessments]
    changed = consumer.call("update_assessment", one, body=models.AssessmentFields(scope="All pages."))
    assert changed.scope == "All pages."
    state = models.AssessmentPageRequest(url=page, name="Cart with one item", is_state=True)
    assert consumer.call("add_assessment_page", one, body=state, expected_status=201).number == 2
    name = models.AssessmentPageName(name="Cart")
    assert consumer.call("update_assessment_page", one, "2", body=name).title == "Cart"
    assert [page.number for page in consumer.call("list_assessment_pages", one).pages] == [1, 2]
    consumer.call("delete_assessment_page", one, "2", expected_status=204)
    failed = models.AssessmentResultRequest(version=0, result=models.AssessmentResultName.FAILED, note="It jumps.")
    assert consumer.call("set_assessment_result", one, "1", "2.4.3", body=failed).version == 1
    passed = models.AssessmentResultRequest(version=0, result=models.AssessmentResultName.PASSED)
    refusal = consumer.call("set_assessment_result", one, "1", "2.4.3", body=passed, expected_status=409)
    assert (refusal.code, refusal.current.note) == ("RESULT_CHANGED", "It jumps.")
    remaining = models.RemainingResults(result=models.AssessmentResultName.PASSED)
    assert consumer.call("set_remaining_results", one, "2.1.1", body=remaining).updated == 1
    (result,) = consumer.call("list_assessment_results", one, page=1, criterion="2.4.3").results
    assert result.outcome == models.AssessmentResultName.FAILED
    criteria = consumer.call("list_assessment_criteria", one).criteria
    assert next(row for row in criteria if row.number == "2.1.1").outcome == models.AssessmentResultName.PASSED
    finding = consumer.call("list_assessment_findings", one, page=1).findings[0]
    reason = models.AssessmentDispute(reason="The picture is decoration.")
    assert consumer.call("dispute_assessment_finding", one, str(finding.id), body=reason).disputed is True
    assert consumer.call("withdraw_assessment_dispute", one, str(finding.id)).disputed is False
    refresh = models.AssessmentRefresh(audit=audit.id)
    assert consumer.call("refresh_assessment", one, body=refresh, expected_status=202).refreshing is True
    assert consumer.call("get_assessment_report", one).assessment.id == one
    assert consumer.call("list_assessment_events", one, limit=100).events[-1].action == "created"
    consumer.call("delete_assessment", one, expected_status=204)


def _call_journey_operations(consumer: RecordingClient, page: str) -> None:
    models = consumer.models
    body = models.JourneyRequest(steps="open /", start=page, types=[models.ScanType.SECURITY])
    created = consumer.call("create_journey", body=body, idempotency_key="generated-journey", expected_status=201)
    one = created.id
    assert (created.states_planned, created.judge) == (1, models.StateRule.NAVIGATIONS)
    assert consumer.call("get_journey", one).steps == [f"Open {page}."]
    assert one in [journey.id for journey in consumer.call("list_journeys").journeys]
    assert consumer.call("update_journey", one, body=models.JourneyChange(name="Start")).name == "Start"
    assert consumer.call("run_journey", one, expected_status=409).code == "JOURNEY_NOT_PROVEN"
    # The service of this machine exempts the loopback addresses.
    checked = consumer.call("check_journey_proof", one)
    assert (checked.is_proven, checked.method, checked.problems) == (True, models.ProofMethod.EXEMPT, [])
    # It has no browser, so no run can start.
    assert consumer.call("run_journey", one, expected_status=409).code == "MISSING_BROWSER"
    assert consumer.call("dry_run_journey", one, expected_status=409).code == "MISSING_BROWSER"
    assert consumer.call("list_journey_runs", one).audits == []
    consumer.call("delete_journey", one, expected_status=204)


def _call_webhook_operations(consumer: RecordingClient, receiver: str, page: str) -> None:
    models = consumer.models
    body = models.WebhookRequest(url=receiver, events=[models.EventKind.SCAN_COMPLETED])
    webhook = consumer.call("create_webhook", body=body, expected_status=201)
    assert webhook.secret.startswith("whsec_")
    assert webhook.id in [listed_webhook.id for listed_webhook in consumer.call("list_webhooks")]
    changed = consumer.call("update_webhook", webhook.id, body=models.WebhookChanges(enabled=True))
    assert (changed.enabled, consumer.call("get_webhook", webhook.id).enabled) == (True, True)
    delivery = consumer.call("test_webhook", webhook.id, expected_status=202)
    assert delivery.test is True

    def has_delivery_ended() -> bool:
        (logged,) = consumer.call("list_deliveries", webhook.id, event=models.EventKind.SCAN_COMPLETED).deliveries
        return logged.finished_at is not None

    wait_until(has_delivery_ended, 60, poll_s=0.5)
    assert consumer.call("replay_delivery", webhook.id, delivery.id, expected_status=202).id == delivery.id
    rotated = consumer.call("rotate_webhook_secret", webhook.id, body=models.RotationRequest(immediately=True))
    assert rotated.secret != webhook.secret
    consumer.call("delete_webhook", webhook.id, expected_status=204)
