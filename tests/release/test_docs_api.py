"""docs/api.md and others: their curl commands are sent to the service, and the responses must be those shown."""

from __future__ import annotations

import json
import re
import shlex
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from accounts.access import Resource
from accounts.models import REPORTS_KEPT_DAYS, ApiKey, Tier
from reports.models import Report
from scans import tasks
from scans.models import Scan
from scans.policy import scan_policy
from sites.audits.requests import AuditRequestSerializer
from sites.lists.counting import count_results
from sites.lists.starting import start_entries
from sites.models import Audit, ListRun
from tests.factories import attempt_deliveries, finished_scan, make_scan, member_of, person_of, register_webhook
from tests.generated import description
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
from website_scan.net.errors import NetError
from website_scan.net.targets import InvalidUrl
from website_scan.places import Header
from website_scan.report.storage import stored_text
from website_scan.result import ScanFailed

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
WEBHOOKS = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
MUTES = (ROOT / "docs" / "mutes.md").read_text(encoding="utf-8")
AUDITS = (ROOT / "docs" / "audits.md").read_text(encoding="utf-8")
MONITORS = (ROOT / "docs" / "monitors.md").read_text(encoding="utf-8")
LISTS = (ROOT / "docs" / "lists.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$|^<!-- (?!generated: |end )(.+?) -->$", re.MULTILINE | re.DOTALL)
A_WORKER_RUNS = "a worker runs the scan here"
AN_EARLIER_REPORT = "the page has an earlier report here"
A_WORKER_RUNS_THE_AUDIT = "a worker runs the audit here"
A_WORKER_RUNS_THE_LIST = "a worker runs the list here"
A_WORKER_DELIVERS = "a worker delivers here"
# Variables in the examples for the IDs of created objects, by the IDs' prefix.
KINDS = {"mute": "MUTE", "mon": "MONITOR", "bdg": "BADGE", "run": "RUN", "aud": "AUDIT", "dlv": "DELIVERY"}
KINDS |= {"lst": "LIST", "shr": "SHARE"}
ID_IN_TEXT = re.compile(r"(scan|rpt|wh|evt|dlv|aud|mute|mon|run|bdg|lst|ent|shr)_[0-9A-Za-z]{22}")
# Fields that are not compared, because they differ from check to check.
OPAQUE = {"evidence", "values"}


@dataclass(frozen=True)
class Message:
    """Parsed `http` block: start line, headers and body."""

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


@dataclass(frozen=True)
class Example:
    """A curl command with its response, or a comment in the document for something between two commands."""

    command: str
    answer: Message | None = None


def examples() -> Iterator[Example]:
    found = BLOCK.findall(DOC + WEBHOOKS + MUTES + AUDITS + MONITORS + LISTS)
    for position, (language, text, stage) in enumerate(found):
        if stage:
            yield Example(stage)
        elif language == "bash" and text.startswith("curl"):
            following, answer, _ = found[position + 1]
            assert following == "http", f"no answer follows {text}"
            yield Example(text, Message.parse(answer))


@dataclass
class Session:
    """Session of a reader who runs all commands of the document in order, with shell variables."""

    site: str
    variables: dict[str, str]
    requests: list[tuple[str, str]] = field(default_factory=list)

    def send(self, command: str) -> ClientResponse:
        """Run a curl command as a shell would: substitute variables and send the request."""
        method, url, body = "GET", "", None
        headers: dict[str, str] = {}
        # A shell does not substitute variables in single quotes, but no example has any there.
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
        self._remember(method, response)
        return response

    def _remember(self, method: str, response: Any) -> None:
        if method == "GET" and response.headers.get("Content-Type") == "application/json":
            answer = response.json()
            if isinstance(answer, dict) and isinstance(answer.get("entries"), list):
                self.variables["ENTRY"] = answer["entries"][0]["id"]
        if method == "POST" and response.status_code == 202:
            created = response.json().get("id", "")
            if created:
                self.variables[KINDS[created.partition("_")[0]]] = created
        if method == "POST" and response.status_code == 201:
            created = response.json()["id"]
            if created.startswith("wh_"):
                self.variables["WEBHOOK"] = created
            elif (kind := created.partition("_")[0]) in KINDS:
                self.variables[KINDS[kind]] = created
            elif self.variables.setdefault("ID", created) != created:
                self.variables["RUNNING"] = created


def paths(value: object, prefix: str = "") -> set[str]:
    """Return the paths in a JSON document, each alone and with the type of its value; null has no type."""
    found = {prefix} if value is None else {prefix, f"{prefix}: {type(value).__name__}"}
    if isinstance(value, dict):
        for name, member in value.items():
            found |= {f"{prefix}.{name}"} if name in OPAQUE else paths(member, f"{prefix}.{name}")
    elif isinstance(value, list):
        for item in value:
            found |= paths(item, f"{prefix}[]")
    return found


def places(value: object) -> set[str]:
    return {path for path in paths(value) if ": " not in path}


def left_open(value: object, prefix: str = "") -> set[str]:
    """Return the paths of empty lists in an example; its items are described elsewhere."""
    if isinstance(value, dict):
        return {path for name, member in value.items() for path in left_open(member, f"{prefix}.{name}")}
    if isinstance(value, list):
        return {path for item in value for path in left_open(item, f"{prefix}[]")} if value else {f"{prefix}[]"}
    return set()


def masked(text: str) -> str:
    """Replace IDs and numbers, which differ from one request to the next."""
    return re.sub(r"[0-9]+", "0", ID_IN_TEXT.sub(r"\1_…", text))


def assert_is_shown(example: Example, response: Any) -> None:
    shown = example.answer
    assert shown is not None
    got = response.getvalue().decode()
    assert (response.status_code, response.reason_phrase) == (shown.status, shown.start.split(" ", 2)[2]), got
    for name, value in shown.headers.items():
        assert masked(response.headers.get(name, "(none)")) == masked(value), f"{name} after {example.command}"
    if "jsonl" in response.headers.get("Content-Type", ""):
        first, line = shown.body.splitlines()[0], got.splitlines()[0]
        assert json.loads(first).keys() == json.loads(line).keys()
        return
    if "json" not in response.headers.get("Content-Type", ""):
        assert got.splitlines()[:1] == shown.body.splitlines()[:1]
        return
    if "jsonl" in response.headers.get("Content-Type", ""):
        got = got.splitlines()[0]
    expected, actual = json.loads(shown.body), json.loads(got)
    open_lists = tuple(left_open(expected))
    assert places(expected) == {each for each in places(actual) if not each.startswith(open_lists)}, example.command
    assert paths(expected) <= paths(actual), example.command
    if isinstance(actual, dict) and "code" in actual:
        assert expected == actual


@pytest.fixture
def session(transactional_db: None, settings: Any) -> Iterator[Session]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    member = member_of("Reader", "pro")
    ApiKey.objects.update(created_by=person_of(member, "owner", "ann@example.com"))
    with sample_site() as site:
        site.routes["/hooks/scans"] = Answer("ok")
        settings.SCAN_CA_BUNDLE = site.ca_file
        yield Session(f"{site.url_as('localhost')}/", {"BASE": "http://testserver", "KEY": member.plaintext})


@pytest.mark.slow
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_every_example_gives_the_answer_that_it_shows(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for example in examples():
        if example.answer is not None:
            assert_is_shown(example, session.send(example.command))
        elif example.command == A_WORKER_DELIVERS:
            (report,) = attempt_deliveries()
            assert report.is_success, report
        elif example.command == AN_EARLIER_REPORT:
            add_earlier_report(session.variables["ID"])
        elif example.command == A_WORKER_RUNS_THE_LIST:
            run = ListRun.objects.get(id=session.variables["RUN"])
            while start_entries(run.site_list.organization_id, timezone.now()):
                run_waiting_scans()
            count_results(run.id)
            run.refresh_from_db()
            assert run.status == "completed"
        elif example.command == A_WORKER_RUNS_THE_AUDIT:
            run_waiting_scans()
            assert Audit.objects.get(id=session.variables["AUDIT"]).status == "completed"
        else:
            assert example.command == A_WORKER_RUNS
            tasks.run_scan(session.variables["ID"])
            assert Scan.objects.get(id=session.variables["ID"]).status == "completed"
    documented = {
        (method, re.sub(r"(scan|wh|dlv|aud|mute|mon|run|bdg|lst|ent|shr)_[^/]+", "{id}", path))
        for method, path in session.requests
    }
    assert documented - {("GET", "/readyz")} == endpoints()


def run_waiting_scans() -> None:
    while (waiting := Scan.objects.visits().filter(status="queued", is_background=True).first()) is not None:
        tasks.run_scan(waiting.id)


def add_earlier_report(scan_id: str) -> None:
    """Add a report of the page from a day before, without one of its findings and with another one."""
    report = Report.objects.select_related("scan").get(scan=scan_id)
    document: Any = report.export_json
    scan = report.scan
    checks = [check for category in document["categories"] for check in category["checks"]]
    fault = next(each for each in checks if each["status"] != "pass" and not each["places"])
    fault |= {"status": "pass", "severity": None}
    mended = next(each for each in checks if each["status"] == "pass" and each is not fault)
    mended |= stored_finding(mended["id"], Header("X-Powered-By", "PHP/8.1.2"), severity=LOW)
    scan.id, report.id = new_scan_id(), new_report_id()
    document |= {"id": scan.id, "report_id": report.id}
    scan.created_at -= timedelta(days=1)
    report.scan, report.export = scan, stored_text(document)
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
    """Return the rows of the table whose first column has this head, as lists of cells."""
    match = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in match[1].splitlines()]


def subclasses(of: type[Refusal]) -> Iterator[type[Refusal]]:
    for each in of.__subclasses__():
        if not each.__module__.startswith("tests."):  # defined by another test in the same process
            yield each
        yield from subclasses(each)


def sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for app in PACKAGES for path in (ROOT / app).rglob("*.py"))


def test_the_table_of_errors_is_complete() -> None:
    """The table must have all refusals, and all codes that the API's exception handler makes of other exceptions."""
    assert list(get_resolver().url_patterns)  # imports the modules that define refusals
    of_scans = {*subclasses(NetError), *subclasses(ScanFailed), NetError, ScanFailed}
    refusals = {(each.status, each.code) for each in subclasses(Refusal) if each not in of_scans}
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES]
    resources = {each for module in modules for each in vars(module).values() if type(each) is Resource}
    refusals |= {(404, each.not_found().code) for each in resources}
    # Network errors that a request for a scan or a webhook may return.
    refusals |= {(400, "URL_NOT_REACHABLE"), (403, "DOMAIN_BLOCKED")}
    handler = (ROOT / "infrastructure" / "api" / "errors.py").read_text(encoding="utf-8")
    answered = {(int(status), code) for status, code in re.findall(r'return (\d{3}), "([A-Z_]+)"', handler)}
    assert len(answered) > 5
    rows = [(int(status), code) for status, code, *_ in table("status")]
    assert len(rows) == len(set(rows))
    assert set(rows) == refusals | answered


def test_the_table_of_reasons_why_scans_fail_is_complete() -> None:
    probes()  # imports the modules that define error codes
    failures: list[type[Refusal]] = [*subclasses(NetError), *subclasses(ScanFailed), InvalidUrl]
    raised = {each.code for each in failures}
    raised.remove("BROWSER_FAILED")  # does not fail a scan
    written = set(re.findall(r'ScanError\(\s*"([A-Z_]+)"', sources()))
    assert {"NO_CHECK_RAN", "SCAN_INTERRUPTED", "INTERNAL_ERROR"} <= written
    assert {code for code, *_ in table("code")} == raised | written


def test_the_table_of_plans_shows_a_fresh_installation(db: None) -> None:
    columns = (
        "scans_per_month",
        "concurrent_scans",
        "requests_per_minute",
        "webhooks",
        "pages_per_audit",
        "lists",
        "list_entries",
    )
    rows = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in table("plan")}
    assert rows == {name: numbers for name, *numbers in Tier.objects.values_list("name", *columns)}


def test_the_bodies_of_audits_are_accepted_and_the_event_is_one(db: None) -> None:
    bodies = [json.loads(text) for name, text, _ in BLOCK.findall(AUDITS) if name == "json"]
    requests = [each for each in bodies if not {"event", "code"} & each.keys()]
    (event,) = [each for each in bodies if "event" in each]
    plan = {"policy": scan_policy(), "pages_per_audit": 100}
    assert [AuditRequestSerializer.judged(each, **plan).kind for each in requests] == ["page", "site"]
    assert places(event) == places(
        {
            each: value
            for each, value in json.loads(example_of(EventKind.AUDIT_COMPLETED, timezone.now())).items()
            if each != "test"
        }
    )


def delivery() -> Message:
    (block,) = [text for name, text, _ in BLOCK.findall(WEBHOOKS) if name == "http" and text.startswith("POST ")]
    return Message.parse(block)


def event_of(scan: Scan) -> Any:
    return json.loads(bytes(Event.objects.get(scan=scan).body))


def test_a_delivery_has_the_headers_and_fields_that_are_shown(db: None, target: str) -> None:
    member = member_of("Receiver")
    register_webhook(member, target)
    scan = finished_scan(member)
    shown = json.loads(delivery().body)
    assert places(shown) == places(event_of(scan))
    headers = delivery().headers
    secret = re.search(r'"secret": "(whsec_.+?)"', WEBHOOKS)
    assert secret
    signed = signature_headers(
        valid=[secret[1]],
        event_id=headers["webhook-id"],
        timestamp_s=int(headers["webhook-timestamp"]),
        body=json.dumps(shown, separators=(",", ":")).encode(),
    )
    assert headers == {"Content-Type": "application/json", "X-Service-Event": shown["event"]} | signed
    failed = make_scan(member, status="failed", error_code="TIMEOUT", error_message="…", completed_at=scan.created_at)
    record_scan_ends(ended=[(failed, None)])
    assert places(event_of(failed)) - places(shown) == {".data.error", ".data.error.code", ".data.error.message"}


def test_the_retention_is_what_the_documents_say() -> None:
    assert f"kept for {REPORTS_KEPT_DAYS} days" in DOC
    assert f"{REPORTS_KEPT_DAYS} days after its last page" in AUDITS
