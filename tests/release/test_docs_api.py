"""Tests that documented curl commands return the documented responses."""

from __future__ import annotations

import json
import re
import shlex
import string
import sys
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from msgspec import Struct, field

from accounts.access import Resource
from accounts.models import REPORTS_KEPT_DAYS, ApiKey, Tier
from reports.models import Report
from scans import tasks
from scans.models import Scan
from scans.policy import scan_policy
from scans.visits.claims import claim_next
from scans.visits.queue import Worker
from sites.assessments import refreshing
from sites.audits.requests import AuditRequestSerializer
from sites.journeys.dry_runs import finish_dry_run
from sites.journeys.run_results import RunOutcome
from sites.lists.counting import count_results
from sites.lists.starting import start_entries
from sites.models import Audit, ListRun, MonitorRun
from sites.monitors.runs import start_run
from tests.factories import attempt_deliveries, finished_scan, make_scan, member_of, person_of, register_webhook
from tests.generated import description
from tests.populated_journeys import PICTURE
from tests.project import PACKAGES
from tests.responses import ClientResponse
from tests.results import stored_finding
from tests.targets.sample import sample_site
from tests.targets.server import Answer
from webhooks.delivery.signing import signature_headers
from webhooks.events import record_scan_ends
from webhooks.examples import example as example_of
from webhooks.models import Event, EventKind
from website_scan.catalogue import probes
from website_scan.errors import Refusal
from website_scan.findings import LOW
from website_scan.ids import new_report_id, new_scan_id
from website_scan.journeys.walk import Picture, StepResult, StepStatus
from website_scan.net.errors import NetError
from website_scan.net.targets import InvalidUrl
from website_scan.places import Header
from website_scan.plugins.scanning import CheckFailed
from website_scan.report.storage import stored_text
from website_scan.result import ScanError, ScanFailed

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
WEBHOOKS = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
MUTES = (ROOT / "docs" / "mutes.md").read_text(encoding="utf-8")
AUDITS = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
MONITORS = (ROOT / "docs" / "monitors.md").read_text(encoding="utf-8")
LISTS = (ROOT / "docs" / "lists.md").read_text(encoding="utf-8")
ASSESSMENTS = (ROOT / "docs" / "assessments.md").read_text(encoding="utf-8")
JOURNEYS = (ROOT / "docs" / "journeys.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$|^<!-- (?!generated: |end )(.+?) -->$", re.MULTILINE | re.DOTALL)
WORKER_RUNS_SCAN_COMMENT = "a worker runs the scan here"
WORKER_RUNS_ACCESSIBILITY_COMMENT = "a worker runs the accessibility scan here"
EARLIER_REPORT_COMMENT = "the page has an earlier report here"
WORKER_RUNS_AUDIT_COMMENT = "a worker runs the audit here"
FIRST_RUN_ENDS_COMMENT = "the first run ends here"
WORKER_RUNS_LIST_COMMENT = "a worker runs the list here"
WORKER_COPIES_COMMENT = "a worker copies the results here"
WORKER_DELIVERS_COMMENT = "a worker delivers here"
BROWSER_COMMENT = "the service has a browser here"
DRY_RUN_ENDS_COMMENT = "the dry run ends here"
# Shell variables for IDs of created objects, by prefix of the ID.
KINDS = {"mute": "MUTE", "mon": "MONITOR", "bdg": "BADGE", "run": "RUN", "aud": "AUDIT", "dlv": "DELIVERY"}
KINDS |= {"lst": "LIST", "shr": "SHARE", "mnt": "WINDOW", "asm": "ASSESSMENT", "jny": "JOURNEY"}
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ID_IN_TEXT = re.compile(r"(scan|rpt|wh|evt|dlv|aud|mute|mon|run|bdg|lst|ent|shr|mnt|asm|jny)_[0-9A-Za-z]{22}")
ID_IN_PATH = re.compile(r"(scan|wh|dlv|aud|mute|mon|run|bdg|lst|ent|shr|mnt|asm|jny)_[^/]+")
# Number of a page, a criterion or a finding in a path.
NUMBER = re.compile(r"/[0-9][0-9.]*(?=/|$)")
# These fields differ between checks and are not compared.
OPAQUE = {"evidence", "values"}


class Message(Struct, frozen=True):
    """HTTP message in a code block."""

    start: str
    headers: dict[str, str]
    body: str

    @classmethod
    def parse(cls, text: str) -> Message:
        head, _, body = text.partition("\n\n")
        start, *lines = head.strip().splitlines()
        return cls(start, dict(line.split(": ", 1) for line in lines), body.strip())

    @property
    def status(self) -> int:
        return int(self.start.split()[1])


class Example(Struct, frozen=True):
    """Command in a code block and its response.

    `command` can also be an HTML comment about an event between two commands.
    """

    command: str
    answer: Message | None = None


def examples() -> Iterator[Example]:
    blocks = BLOCK.findall(DOC + WEBHOOKS + MUTES + AUDITS + MONITORS + LISTS + ASSESSMENTS + JOURNEYS)
    for position, (language, text, stage) in enumerate(blocks):
        if stage:
            yield Example(stage)
        elif language == "bash" and text.startswith("curl"):
            next_language, answer, _ = blocks[position + 1]
            assert next_language == "http", f"no answer follows {text}"
            yield Example(text, Message.parse(answer))


class Session(Struct):
    """Session of a reader who runs a document's commands in order.

    Shell variables persist.
    """

    site: str
    variables: dict[str, str]
    requests: list[tuple[str, str]] = field(default_factory=list)

    def send(self, command: str) -> ClientResponse:
        """Send a curl command's request with its variables substituted."""
        method, url, body = "GET", "", None
        headers: dict[str, str] = {}
        # No example has variables in single quotes, where a shell keeps them.
        line = string.Template(command.replace("\\\n", " ")).substitute(self.variables)
        words = iter(shlex.split(line))
        assert next(words) == "curl"
        for word in words:
            match word:
                case "-i":
                    pass
                case "-X":
                    method = next(words)
                case "-H":
                    name, value = next(words).split(": ", 1)
                    headers[name] = value
                case "-d":
                    body = next(words).replace("https://example.com/", self.site)
                    body = body.replace('"example.com"', json.dumps(urlsplit(self.site).netloc))
                case _:
                    assert not word.startswith("-"), f"the test does not know curl's {word}"
                    url = word
        assert url.startswith(self.variables["BASE"])
        path = url.removeprefix(self.variables["BASE"])
        self.requests.append((method, urlsplit(path).path))
        content_type = headers.pop("Content-Type", "application/octet-stream")
        client = Client(raise_request_exception=False)
        response = client.generic(method, path, body or "", content_type, headers=headers)
        self._set_variables(method, response)
        return response

    def _set_variables(self, method: str, response: Any) -> None:
        # Later examples use the IDs in the response as shell variables.
        is_json = response.headers.get("Content-Type") == "application/json"
        if method == "GET" and is_json and not response.streaming:
            body = response.json()
            if isinstance(body, dict) and isinstance(body.get("entries"), list):
                self.variables["ENTRY"] = body["entries"][0]["id"]
            if isinstance(body, dict) and (findings := body.get("findings")) and "id" in findings[0]:
                self.variables["FINDING"] = str(findings[0]["id"])
        if method == "POST" and response.status_code == 202:
            created_id = response.json().get("id", "")
            if created_id:
                self.variables[KINDS[created_id.partition("_")[0]]] = created_id
        if method == "POST" and response.status_code == 201:
            created_id = response.json().get("id", "")  # A page of an assessment has a number instead.
            if created_id.startswith("wh_"):
                self.variables["WEBHOOK"] = created_id
            elif (kind := created_id.partition("_")[0]) in KINDS:
                self.variables[KINDS[kind]] = created_id
            elif response.json().get("type") == "accessibility":
                self.variables["ACCESSIBILITY"] = created_id
            elif created_id and self.variables.setdefault("ID", created_id) != created_id:
                self.variables["RUNNING"] = created_id


def paths_with_types(value: object, prefix: str = "") -> set[str]:
    """Return every path in a JSON value, also with the type of its value.

    A null value has no type.
    """
    result = {prefix} if value is None else {prefix, f"{prefix}: {type(value).__name__}"}
    if isinstance(value, dict):
        for name, member in value.items():
            result |= {f"{prefix}.{name}"} if name in OPAQUE else paths_with_types(member, f"{prefix}.{name}")
    elif isinstance(value, list):
        for item in value:
            result |= paths_with_types(item, f"{prefix}[]")
    return result


def json_paths(value: object) -> set[str]:
    return {path for path in paths_with_types(value) if ": " not in path}


def empty_lists(value: object, prefix: str = "") -> set[str]:
    """Return the paths of an example's empty lists.

    Other parts of the document describe the items in these lists.
    """
    if isinstance(value, dict):
        return {path for name, member in value.items() for path in empty_lists(member, f"{prefix}.{name}")}
    if isinstance(value, list):
        return {path for item in value for path in empty_lists(item, f"{prefix}[]")} if value else {f"{prefix}[]"}
    return set()


def mask_ids_and_numbers(text: str) -> str:
    """Replace IDs and numbers, which differ between requests."""
    return re.sub(r"[0-9]+", "0", ID_IN_TEXT.sub(r"\1_…", text))


def assert_matches_example(example: Example, response: Any) -> None:
    documented = example.answer
    assert documented is not None
    text = response.getvalue().decode(errors="replace")
    assert (response.status_code, response.reason_phrase) == (documented.status, documented.start.split(" ", 2)[2]), (
        text
    )
    for name, value in documented.headers.items():
        assert mask_ids_and_numbers(response.headers.get(name, "(none)")) == mask_ids_and_numbers(value), (
            f"{name} after {example.command}"
        )
    if "jsonl" in response.headers.get("Content-Type", ""):
        documented_line, line = documented.body.splitlines()[0], text.splitlines()[0]
        assert json.loads(documented_line).keys() == json.loads(line).keys()
        return
    if response.headers.get("Content-Type") == "image/webp":
        assert text.startswith("RIFF")
        return
    if not documented.body and response.headers.get("Content-Type") == WORKBOOK:
        assert text.startswith("PK"), "a workbook is a ZIP archive"
        return
    if "json" not in response.headers.get("Content-Type", ""):
        assert text.splitlines()[:1] == documented.body.splitlines()[:1]
        return
    if not documented.body:
        return  # The document says that the body is the same as in an earlier response.
    expected, actual = json.loads(documented.body), json.loads(text)
    open_lists = tuple(empty_lists(expected))
    assert json_paths(expected) == {path for path in json_paths(actual) if not path.startswith(open_lists)}, (
        example.command
    )
    assert paths_with_types(expected) <= paths_with_types(actual), example.command
    if isinstance(actual, dict) and "code" in actual:
        assert _refusal(expected) == _refusal(actual)


def _refusal(body: dict[str, Any]) -> dict[str, Any]:
    """Return an error body without the field `current`, whose timestamps differ from run to run."""
    return {name: value for name, value in body.items() if name != "current"}


@pytest.fixture
def session(transactional_db: None, settings: Any) -> Iterator[Session]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    settings.SCAN_JOURNEY_NETWORKS = settings.SCAN_ALLOWED_NETWORKS
    member = member_of("Reader", "pro")
    ApiKey.objects.update(created_by=person_of(member, "owner", "ann@example.com"))
    with sample_site() as site:
        site.routes["/hooks/scans"] = Answer("ok")
        settings.SCAN_CA_BUNDLE = site.ca_file
        yield Session(f"{site.url_as('localhost')}/", {"BASE": "http://testserver", "KEY": member.plaintext})


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_commands_return_the_documented_responses(  # noqa: C901 -- one branch for each comment
    session: Session, settings: Any
) -> None:
    for example in examples():
        if example.answer is not None:
            assert_matches_example(example, session.send(example.command))
        elif example.command == BROWSER_COMMENT:
            settings.SCAN_BROWSER = "auto"
        elif example.command == DRY_RUN_ENDS_COMMENT:
            end_dry_run(session.variables["AUDIT"])
        elif example.command == WORKER_DELIVERS_COMMENT:
            (report,) = attempt_deliveries()
            assert report.is_success, report
        elif example.command == EARLIER_REPORT_COMMENT:
            add_earlier_report(session.variables["ID"])
        elif example.command == FIRST_RUN_ENDS_COMMENT:
            first = MonitorRun.objects.get()
            assert start_run(first.id, first.monitor_id, timezone.now())
            MonitorRun.objects.update(status="done", ended_at=timezone.now())
        elif example.command == WORKER_RUNS_LIST_COMMENT:
            run = ListRun.objects.get(id=session.variables["RUN"])
            while start_entries(run.site_list.organization_id, timezone.now()):
                run_waiting_scans()
            count_results(run.id)
            run.refresh_from_db()
            assert run.status == "completed"
        elif example.command == WORKER_RUNS_AUDIT_COMMENT:
            run_waiting_scans()
            assert Audit.objects.get(id=session.variables["AUDIT"]).status == "completed"
        elif example.command == WORKER_COPIES_COMMENT:
            refreshing.copy_results(session.variables["ASSESSMENT"])
        elif example.command == WORKER_RUNS_ACCESSIBILITY_COMMENT:
            while Scan.objects.get(id=session.variables["ACCESSIBILITY"]).status == "queued":
                tasks.run_scan(session.variables["ACCESSIBILITY"])
        else:
            assert example.command == WORKER_RUNS_SCAN_COMMENT
            tasks.run_scan(session.variables["ID"])
            assert Scan.objects.get(id=session.variables["ID"]).status == "completed"
    documented_endpoints = {
        (
            method,
            NUMBER.sub("/{id}", ID_IN_PATH.sub("{id}", path)),
        )
        for method, path in session.requests
    }
    assert documented_endpoints - {("GET", "/readyz")} == endpoints()


def end_dry_run(audit_id: str) -> None:
    """End a dry run of three steps. The first one is done, and has a picture, and the second one has failed."""
    audit = Audit.objects.select_related("journey").get(id=audit_id)
    claim = claim_next(Scan.objects.get(audit_page__audit=audit).id, Worker())
    assert claim is not None
    assert audit.journey is not None
    near, problem = ("textbox “E-mail address”",), "Step 2: nothing is named “E-mail”."
    picture = Picture(PICTURE, 1440, 900)
    results = (
        StepResult(StepStatus.DONE, url=audit.url, duration_s=0.42, picture=picture),
        StepResult(StepStatus.FAILED, url=audit.url, duration_s=10.0, problem=problem, near_matches=near),
        StepResult(StepStatus.NOT_REACHED),
    )
    steps = tuple(zip(audit.journey.steps.steps, results, strict=True))
    assert finish_dry_run(claim, RunOutcome(steps=steps, error=ScanError("JOURNEY_FAILED", problem)), 1.0)


def run_waiting_scans() -> None:
    while (waiting := Scan.objects.visits().filter(status="queued", is_background=True).first()) is not None:
        tasks.run_scan(waiting.id)


def add_earlier_report(scan_id: str) -> None:
    """Add a report of the previous day.

    It lacks one finding and has a different one.
    """
    report = Report.objects.select_related("scan").get(scan=scan_id)
    export: Any = report.export_json
    scan = report.scan
    checks = [check for category in export["categories"] for check in category["checks"]]
    fixed_check = next(check for check in checks if check["status"] != "pass" and not check["places"])
    fixed_check |= {"status": "pass", "severity": None}
    failed_check = next(check for check in checks if check["status"] == "pass" and check is not fixed_check)
    failed_check |= stored_finding(failed_check["id"], Header("X-Powered-By", "PHP/8.1.2"), severity=LOW)
    scan.id, report.id = new_scan_id(), new_report_id()
    export |= {"id": scan.id, "report_id": report.id}
    scan.created_at -= timedelta(days=1)
    report.scan, report.export = scan, stored_text(export)
    scan.save(force_insert=True)
    report.save(force_insert=True)


def endpoints() -> set[tuple[str, str]]:
    described = description()["paths"]
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{id}", path))
        for path, methods in described.items()
        for method in methods
        if method in ("get", "post", "put", "patch", "delete")
    }


def table(first_column: str) -> list[list[str]]:
    """Return the rows of the table with this first column heading.

    A row is a list of cells.
    """
    match = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in match[1].splitlines()]


def subclasses(base: type[Refusal]) -> Iterator[type[Refusal]]:
    for subclass in base.__subclasses__():
        if not subclass.__module__.startswith("tests."):  # Tests in the same process may define subclasses.
            yield subclass
        yield from subclasses(subclass)


def sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for app in PACKAGES for path in (ROOT / app).rglob("*.py"))


def test_table_of_errors_is_complete() -> None:
    """The table must list all refusals and error codes.

    The codes are those that the API's exception handler returns.
    """
    assert list(get_resolver().url_patterns)  # Loading the URLs imports the modules that define refusals.
    # A check of a plug-in that fails is left out of the report.
    scan_errors = {*subclasses(NetError), *subclasses(ScanFailed), NetError, ScanFailed, CheckFailed}
    refusals = {(refusal.status, refusal.code) for refusal in subclasses(Refusal) if refusal not in scan_errors}
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
    resources = {value for module in modules for value in vars(module).values() if type(value) is Resource}
    refusals |= {(404, resource.not_found().code) for resource in resources}
    # Requests for scans and webhooks may return these network errors.
    refusals |= {(400, "URL_NOT_REACHABLE"), (403, "DOMAIN_BLOCKED")}
    handler = (ROOT / "infrastructure" / "api" / "errors.py").read_text(encoding="utf-8")
    handled = {(int(status), code) for status, code in re.findall(r'return (\d{3}), "([A-Z_]+)"', handler)}
    assert len(handled) > 5
    rows = [(int(status), code) for status, code, *_ in table("status")]
    assert len(rows) == len(set(rows))
    assert set(rows) == refusals | handled


def test_table_of_scan_errors_is_complete() -> None:
    probes()  # Loading the probes imports the modules that define error codes.
    failures: list[type[Refusal]] = [*subclasses(NetError), *subclasses(ScanFailed), InvalidUrl]
    codes = {failure.code for failure in failures}
    codes.remove("BROWSER_FAILED")  # BROWSER_FAILED does not fail a scan.
    literal_codes = set(re.findall(r'ScanError\(\s*"([A-Z_]+)"', sources()))
    assert {"NO_CHECK_RAN", "SCAN_INTERRUPTED", "INTERNAL_ERROR"} <= literal_codes
    assert {code for code, *_ in table("code")} == codes | literal_codes


def test_table_of_plans_matches_the_tiers(db: None) -> None:
    columns = (
        "scans_per_month",
        "concurrent_scans",
        "requests_per_minute",
        "webhooks",
        "pages_per_audit",
        "lists",
        "list_entries",
        "assessments",
        "journeys",
    )
    rows = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in table("plan")}
    assert rows == {name: numbers for name, *numbers in Tier.objects.values_list("name", *columns)}


def test_documented_audit_requests_are_valid(db: None) -> None:
    bodies = [json.loads(text) for name, text, _ in BLOCK.findall(AUDITS) if name == "json"]
    requests = [body for body in bodies if not {"event", "code"} & body.keys()]
    (event,) = [body for body in bodies if "event" in body]
    plan = {"policy": scan_policy(), "pages_per_audit": 100}
    assert [AuditRequestSerializer.judged(body, **plan).kind for body in requests] == ["page", "site"]
    assert json_paths(event) == json_paths(
        {
            name: value
            for name, value in json.loads(example_of(EventKind.AUDIT_COMPLETED, timezone.now())).items()
            if name != "test"
        }
    )


def delivery() -> Message:
    (block,) = [text for name, text, _ in BLOCK.findall(WEBHOOKS) if name == "http" and text.startswith("POST ")]
    return Message.parse(block)


def event_of_delivery(scan: Scan) -> Any:
    return json.loads(bytes(Event.objects.get(scan=scan).body))


def test_delivery_has_the_documented_headers(db: None, target: str) -> None:
    member = member_of("Receiver")
    register_webhook(member, target)
    scan = finished_scan(member)
    documented = json.loads(delivery().body)
    assert json_paths(documented) == json_paths(event_of_delivery(scan))
    headers = delivery().headers
    secret = re.search(r'"secret": "(whsec_.+?)"', WEBHOOKS)
    assert secret
    signatures = signature_headers(
        valid=[secret[1]],
        event_id=headers["webhook-id"],
        timestamp_s=int(headers["webhook-timestamp"]),
        body=json.dumps(documented, separators=(",", ":")).encode(),
    )
    assert headers == {"Content-Type": "application/json", "X-Service-Event": documented["event"]} | signatures
    failed = make_scan(member, status="failed", error_code="TIMEOUT", error_message="…", completed_at=scan.created_at)
    record_scan_ends(ended=[(failed, None)])
    assert json_paths(event_of_delivery(failed)) - json_paths(documented) == {
        ".data.error",
        ".data.error.code",
        ".data.error.message",
    }


def test_documented_retention_matches_the_code() -> None:
    assert f"kept for {REPORTS_KEPT_DAYS} days" in DOC
    assert f"{REPORTS_KEPT_DAYS} days after its last page" in AUDITS
