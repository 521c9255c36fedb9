"""Invalid API requests, whose exact responses are in bad_requests.json.

After an intended change of responses, record them again and read the diff:

    RECORD=1 .venv/bin/python -m pytest -n 0 tests/test_bad_requests.py

The name of an entry describes its request. Placeholders such as `{scan}` in paths, headers and bodies are replaced by
the IDs in `Cast.names`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.test import override_settings
from django.utils import timezone
from msgspec import Struct, field
from msgspec.structs import replace

from accounts.keys.minting import mint
from accounts.keys.services import create_api_key
from accounts.models import ApiKey, FormerKey, Tier
from infrastructure.api.scopes import Scope
from scans.models import BlockedDomain, Scan, credential_columns
from sites.models import Assessment, Badge, ListRun, ListShare, MaintenanceWindow, MonitorRun
from tests.factories import Api, Member, finished_scan, listening, make_scan, member_of, person_of
from tests.populated_audits import make_audit
from tests.populated_monitors import make_monitor
from tests.sites.assessments.cast import HOST as MUSEUM
from tests.sites.assessments.cast import assess, audit_of, check, museum_audit
from tests.sites.journeys.cast import make_journey
from tests.sites.lists.cast import make_entry, make_list
from tests.website_scan.net.seams import PUBLIC, Names
from webhooks.models import Delivery, Event, FormerSecret, Webhook
from webhooks.services import MAX_FORMER_SECRETS
from website_scan.ids import new_id
from website_scan.net import client
from website_scan.net.credentials import parse as parse_credentials

RESPONSES_FILE = Path(__file__).with_suffix(".json")
MAX_ERROR_LENGTH = 2_000
PAGE, OTHER_PAGE = "https://example.com/", "https://example.org/"
# IP addresses of the host names that resolve.
ADDRESSES = {
    "private.example.com": ("10.0.0.1",),
    "rebound.example.com": (PUBLIC, "127.0.0.1"),
    "hooks.example.com": (PUBLIC,),
}
# The example time in error messages is not masked.
TIME = re.compile(r"\b(?!2026-11-21T07:15:00Z)\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?\b")
ID = re.compile(r"\b(scan|rpt|aud|mon|mute|bdg|lst|ent|shr|wh|evt|dlv|asm|whsec|wss)_[0-9A-Za-z+/=]{22,}")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


# This value removes a field from the valid body.
REMOVED = object()


class BadRequest(Struct, frozen=True):
    """Invalid request.

    `body` is a JSON value, or bytes that are sent unchanged. `caller` is a key of Cast.callers.
    """

    name: str
    method: str
    path: str
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    caller: str = "home"


# Values of placeholders that are too short to be masked in responses.
NUMBERS = {"number": "1", "criterion": "2.4.3", "finding": "1"}


class Cast(Struct, frozen=True):
    """API clients by name, and values for placeholders.

    `{name}` is replaced by `names[name]`.
    """

    callers: Mapping[str, Api]
    names: Mapping[str, str]

    def fill(self, text: str) -> str:
        for name, value in (NUMBERS | dict(self.names)).items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def mask(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(value, f"{{{name}}}")
        text = ID.sub(r"\1_…", text)
        text = PORT.sub("…", TIME.sub("…", text))
        return text if len(text) <= MAX_ERROR_LENGTH else f"{text[:MAX_ERROR_LENGTH]}… ({len(text)} characters)"


class Operation(Struct, frozen=True):
    """API operation with its method, path and valid body.

    The body is empty if the operation needs none.
    """

    method: str
    path: str
    valid_body: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""  # Request names contain the kind of body if an operation has several.

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def request(self, name: str = "", query: str = "", **options: Any) -> BadRequest:
        """Return a request named after the operation, the query and `name`."""
        words = filter(None, (f"{self.name}{query}", self.target, name))
        return BadRequest(" ".join(words), self.method, self.path + query, **options)

    def fields(self, *changes: Mapping[str, Any]) -> Iterator[BadRequest]:
        """Yield one request per change to the valid body.

        In a change, `a.b` is the field b of object a.
        """
        for change in changes:
            yield self.request(
                json.dumps(change, default=lambda _: "(left out)"), body=body_with_changes(self.valid_body, change)
            )

    def values(self, field_name: str, *values: object) -> Iterator[BadRequest]:
        """Yield a request for each value of a field."""
        for value in values:
            yield from self.fields({field_name: value})

    def named_request(self, label: str, /, **change: Any) -> BadRequest:
        """Return a request with a change to the valid body.

        The request is named `label`.
        """
        return self.request(label, body=body_with_changes(self.valid_body, change))

    def queries(self, *queries: str) -> Iterator[BadRequest]:
        for query in queries:
            yield self.request(query=f"?{query}")

    def with_ids(self, **ids: str) -> Operation:
        """Return the operation with IDs in its path.

        `with_ids(monitor="{no_monitor}")` replaces the placeholder of the monitor.
        """
        path = self.path
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", value)
        return replace(self, path=path)


def body_with_changes(body: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the body with changed fields.

    For `a.b`, a missing object `a` is created.
    """
    copy: dict[str, Any] = json.loads(json.dumps(body))
    for field_name, value in change.items():
        *outer, last = field_name.split(".") if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", field_name) else [field_name]
        inner = copy
        for name in outer:
            inner = inner.setdefault(name, {})
        if value is REMOVED:
            del inner[last]
        else:
            inner[last] = value
    return copy


POST_SCAN = Operation("POST", "/v1/scan", {"url": PAGE, "type": "seo"})
GET_SCAN = Operation("GET", "/v1/scan/{scan}")
GET_SCANS = Operation("GET", "/v1/scans")
GET_USAGE = Operation("GET", "/v1/usage")
GET_REPORT = Operation("GET", "/v1/report/{scan}")
GET_EXPORT = Operation("GET", "/v1/report/{scan}/export")
GET_SARIF = Operation("GET", "/v1/report/{scan}/export/sarif")
GET_CSV = Operation("GET", "/v1/report/{scan}/export/csv")
GET_DIFF = Operation("GET", "/v1/report/{scan}/diff")
GET_CONFORMANCE = Operation("GET", "/v1/report/{scan}/conformance")
GET_REPORT_MUTES = Operation("GET", "/v1/report/{scan}/mutes")
POST_AUDIT = Operation("POST", "/v1/audits", {"page": PAGE})
POST_PAGES = Operation("POST", "/v1/audits", {"pages": [PAGE]}, "of a list")
POST_SITE = Operation("POST", "/v1/audits", {"site": PAGE}, "of a site")
GET_AUDIT_CONFORMANCE = Operation("GET", "/v1/audits/{audit}/conformance")
GET_AUDITS = Operation("GET", "/v1/audits")
GET_AUDIT = Operation("GET", "/v1/audits/{audit}")
DELETE_AUDIT = Operation("DELETE", "/v1/audits/{audit}")
GET_AUDIT_STEPS = Operation("GET", "/v1/audits/{audit}/steps")
GET_STEP_PICTURE = Operation("GET", "/v1/audits/{audit}/steps/{number}/picture")
GET_AUDIT_PAGES = Operation("GET", "/v1/audits/{audit}/pages")
GET_FINDINGS = Operation("GET", "/v1/audits/{audit}/findings")
GET_AUDIT_EXPORT = Operation("GET", "/v1/audits/{audit}/export")
GET_AUDIT_SARIF = Operation("GET", "/v1/audits/{audit}/export/sarif")
GET_AUDIT_CSV = Operation("GET", "/v1/audits/{audit}/export/csv")
POST_MONITOR = Operation("POST", "/v1/monitors", {"page": PAGE, "every": "day"})
GET_MONITORS = Operation("GET", "/v1/monitors")
GET_MONITOR = Operation("GET", "/v1/monitors/{monitor}")
PATCH_MONITOR = Operation("PATCH", "/v1/monitors/{monitor}")
DELETE_MONITOR = Operation("DELETE", "/v1/monitors/{monitor}")
GET_RUNS = Operation("GET", "/v1/monitors/{monitor}/runs")
POST_RUN = Operation("POST", "/v1/monitors/{monitor}/runs")
GET_RUN = Operation("GET", "/v1/monitors/{monitor}/runs/{run}")
POST_LIST = Operation("POST", "/v1/lists", {"name": "Cities"})
GET_LISTS = Operation("GET", "/v1/lists")
GET_LIST = Operation("GET", "/v1/lists/{list}")
PATCH_LIST = Operation("PATCH", "/v1/lists/{list}")
DELETE_LIST = Operation("DELETE", "/v1/lists/{list}")
GET_ENTRIES = Operation("GET", "/v1/lists/{list}/entries")
PUT_ENTRIES = Operation("PUT", "/v1/lists/{list}/entries", {"entries": [{"url": PAGE}]})
POST_ENTRIES = Operation("POST", "/v1/lists/{list}/entries", {"entries": [{"url": PAGE}]})
DELETE_ENTRIES = Operation("DELETE", "/v1/lists/{list}/entries")
GET_ENTRY = Operation("GET", "/v1/lists/{list}/entries/{entry}")
PATCH_ENTRY = Operation("PATCH", "/v1/lists/{list}/entries/{entry}", {"note": "Ours"})
DELETE_ENTRY = Operation("DELETE", "/v1/lists/{list}/entries/{entry}")
POST_ENTRY_SCAN = Operation("POST", "/v1/lists/{list}/entries/{entry}/scan")
GET_LIST_RUNS = Operation("GET", "/v1/lists/{list}/runs")
POST_LIST_RUN = Operation("POST", "/v1/lists/{list}/runs")
GET_LIST_RUN = Operation("GET", "/v1/lists/{list}/runs/{run}")
DELETE_LIST_RUN = Operation("DELETE", "/v1/lists/{list}/runs/{run}")
GET_SNAPSHOT = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}")
GET_SNAPSHOT_DIFF = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/diff")
GET_SNAPSHOT_CSV = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/csv")
GET_SNAPSHOT_XLSX = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/xlsx")
GET_SNAPSHOT_JSONL = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/jsonl")
GET_ADOPTION = Operation("GET", "/v1/lists/{list}/adoption")
GET_LIST_CONFORMANCE = Operation("GET", "/v1/lists/{list}/conformance")
GET_SHARES = Operation("GET", "/v1/lists/{list}/shares")
POST_SHARE = Operation("POST", "/v1/lists/{list}/shares", {"table": False})
DELETE_SHARE = Operation("DELETE", "/v1/lists/{list}/shares/{share}")
POST_ASSESSMENT = Operation("POST", "/v1/assessments", {"audit": "{assessed_audit}", "name": "Museum"})
GET_ASSESSMENTS = Operation("GET", "/v1/assessments")
GET_ASSESSMENT = Operation("GET", "/v1/assessments/{assessment}")
PATCH_ASSESSMENT = Operation("PATCH", "/v1/assessments/{assessment}", {"name": "Gallery"})
DELETE_ASSESSMENT = Operation("DELETE", "/v1/assessments/{assessment}")
POST_REFRESH = Operation("POST", "/v1/assessments/{assessment}/refresh", {"audit": "{assessed_audit}"})
GET_SAMPLE = Operation("GET", "/v1/assessments/{assessment}/pages")
POST_SAMPLE_PAGE = Operation("POST", "/v1/assessments/{assessment}/pages", {"url": PAGE})
PATCH_SAMPLE_PAGE = Operation("PATCH", "/v1/assessments/{assessment}/pages/{number}", {"name": "Start"})
DELETE_SAMPLE_PAGE = Operation("DELETE", "/v1/assessments/{assessment}/pages/{number}")
PUT_RESULT = Operation(
    "PUT",
    "/v1/assessments/{assessment}/pages/{number}/results/{criterion}",
    {"version": 0, "result": "passed", "note": "By keyboard."},
)
GET_CRITERIA = Operation("GET", "/v1/assessments/{assessment}/criteria")
POST_REMAINING = Operation("POST", "/v1/assessments/{assessment}/criteria/{criterion}", {"result": "passed"})
GET_RESULTS = Operation("GET", "/v1/assessments/{assessment}/results")
GET_ASSESSMENT_FINDINGS = Operation("GET", "/v1/assessments/{assessment}/findings")
PUT_DISPUTE = Operation("PUT", "/v1/assessments/{assessment}/findings/{finding}/dispute", {"reason": "Decoration."})
DELETE_DISPUTE = Operation("DELETE", "/v1/assessments/{assessment}/findings/{finding}/dispute")
GET_ASSESSMENT_REPORT = Operation("GET", "/v1/assessments/{assessment}/report")
GET_ASSESSMENT_LOG = Operation("GET", "/v1/assessments/{assessment}/log")
CHANGES_OF_ASSESSMENTS = (
    *(POST_REFRESH, POST_SAMPLE_PAGE, PATCH_SAMPLE_PAGE, DELETE_SAMPLE_PAGE, PUT_RESULT, POST_REMAINING, PUT_DISPUTE),
    DELETE_DISPUTE,
)
STEPS = "open /login\nfill “Password” with {{password}}\njudge “Log-in”"
JOURNEY = {"steps": STEPS, "start": PAGE, "secrets": {"password": "correct-horse-7"}}
RECORDING = {"title": "Log-in", "steps": [{"type": "navigate", "url": PAGE}]}
POST_JOURNEY = Operation("POST", "/v1/journeys", JOURNEY)
GET_JOURNEYS = Operation("GET", "/v1/journeys")
GET_JOURNEY = Operation("GET", "/v1/journeys/{journey}")
PATCH_JOURNEY = Operation("PATCH", "/v1/journeys/{journey}", {"name": "Members"})
DELETE_JOURNEY = Operation("DELETE", "/v1/journeys/{journey}")
POST_PROOF = Operation("POST", "/v1/journeys/{journey}/proof")
GET_JOURNEY_RUNS = Operation("GET", "/v1/journeys/{journey}/runs")
POST_DRY_RUN = Operation("POST", "/v1/journeys/{journey}/dry-run")
POST_JOURNEY_RUN = Operation("POST", "/v1/journeys/{journey}/runs")
POST_MUTE = Operation("POST", "/v1/mutes", {"check": "hsts", "host": "example.com", "reason": "Not ours."})
GET_MUTES = Operation("GET", "/v1/mutes")
GET_MUTE = Operation("GET", "/v1/mutes/{mute}")
DELETE_MUTE = Operation("DELETE", "/v1/mutes/{mute}")
WINDOW = {"name": "Deployment", "starts_at": "2099-01-01T00:00:00Z", "ends_at": "2099-01-01T01:00:00Z"}
POST_WINDOW = Operation("POST", "/v1/maintenance", WINDOW)
GET_WINDOWS = Operation("GET", "/v1/maintenance")
GET_WINDOW = Operation("GET", "/v1/maintenance/{window}")
PATCH_WINDOW = Operation("PATCH", "/v1/maintenance/{window}", {"name": "Deployment"})
DELETE_WINDOW = Operation("DELETE", "/v1/maintenance/{window}")
POST_BADGE = Operation("POST", "/v1/badges")
GET_BADGES = Operation("GET", "/v1/badges")
DELETE_BADGE = Operation("DELETE", "/v1/badges/{badge}")
POST_WEBHOOK = Operation(
    "POST", "/api/webhooks", {"url": "https://hooks.example.com/", "events": ["scan.completed"], "format": "standard"}
)
GET_WEBHOOKS = Operation("GET", "/api/webhooks")
GET_WEBHOOK = Operation("GET", "/api/webhooks/{webhook}")
PATCH_WEBHOOK = Operation("PATCH", "/api/webhooks/{webhook}")
DELETE_WEBHOOK = Operation("DELETE", "/api/webhooks/{webhook}")
POST_TEST = Operation("POST", "/api/webhooks/{webhook}/test")
POST_ROTATION = Operation("POST", "/api/webhooks/{webhook}/rotate-secret")
GET_DELIVERIES = Operation("GET", "/api/webhooks/{webhook}/deliveries")
POST_REPLAY = Operation("POST", "/api/webhooks/{webhook}/deliveries/{delivery}/replay")

# Limits that are 0 in the plan of the caller "bare".
NO_LIMITS = ("scans_per_month", "concurrent_scans", "webhooks", "schedules", "lists", "journeys")

# One value of every JSON type except strings.
NON_STRING_VALUES: tuple[Any, ...] = (None, True, 5, [], {})
FEW_BAD_URLS: tuple[Any, ...] = (
    *(None, 5, [], ""),
    *("example.com", "ftp://example.com/", "javascript:alert(1)", "https:/example.com/", "https://example.com/\u0000"),
    *("https://user:secret@example.com/", "https://example.com:22/", "https://exa mple.com/"),
    *("http://localhost/", "http://192.168.0.1/", "http://printer/", "https://www.blocked.example.net/"),
)
BAD_URLS: tuple[Any, ...] = (
    *FEW_BAD_URLS,
    *(True, 1.5, {}, [PAGE]),
    *("//example.com/", "/path", "https://", "https:///example.com/", "http:example.com", "https:\\\\example.com/"),
    *("file:///etc/passwd", "data:text/html,x", "ws://example.com/", "view-source:https://example.com/"),
    *(" https://example.com/", "https://example.com/\n", "https://exa\tmple.com/", "https://example.com/\u0085"),
    *("https://user@example.com/", "https://:secret@example.com/", "https://@/"),
    *("https://example.com:0/", "https://example.com:65536/", "https://example.com:port/"),
    *("https://example.com:8000/", "https://:443/", "https://?q"),
    *("https://.example.com/", "https://example..com/", "https://exa*mple.com/", "https://example.com;a/"),
    *("https://%00.example.com/", "https://%zz.example.com/", "https://exam\ud800ple.com/", "\ud800", "https://[/"),
    *("https://[::1", "https://[1:2:3]/", "https://1.2.3.256/"),
    *("https://xn--a/", "https://\u200d.com/"),
    *("http://LOCALHOST./", "http://app.localhost/", "http://printer.local/", "http://db.internal/", "http://a.test/"),
    *("http://a.example/", "http://a.invalid/", "http://a.onion/", "http://router.home.arpa/", "http://nas.lan/"),
    *("http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/", "http://localhost:22/", "http://com/"),
    *("http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/"),
    *("http://\u2460\u2461\u2466.0.0.1/", "http://%31%32%37.0.0.1/", "http://0/"),
    *("http://10.0.0.1/", "http://172.16.0.1/", "http://100.64.0.1/", "http://169.254.169.254/", "http://224.0.0.1/"),
    *("http://192.0.2.1/", "http://168.63.129.16/"),
    # Python versions write IPv6 addresses that contain IPv4 addresses differently.
    *("http://[::1]/", "http://[fe80::1]/"),
    *("http://[64:ff9b::a00:1]/", "http://[2002:7f00:1::]/", "http://[2001:db8::1]/"),
    *("https://BLOCKED.example.net./", "https://private.example.com/", "https://rebound.example.com/"),
)
LONG_URLS = {
    "a URL of 2,049 characters": PAGE + "a" * (2049 - len(PAGE)),
    "a URL that is too long when encoded": PAGE + "\U0001f4a9" * (2048 - len(PAGE)),
    "a label of 64 characters": f"https://{'a' * 64}.com/",
    "a name of 254 characters": f"https://{'a.' * 125}comm/",
    "a port of 100 digits": f"https://example.com:{'1' * 100}/",
}
NOWHERE = "https://nowhere.example.com/"

OBJECTS = {
    "no body": b"",
    "a blank": b" ",
    "no JSON": b"url=https://example.com/",
    "JSON that is cut off": b'{"url": ',
    "a comma at the end": b'{"url": "https://example.com/",}',
    "single quotes": b"{'url': 'https://example.com/'}",
    "a comment": b'{} // "url"',
    "two objects": b"{}{}",
    "null": b"null",
    "true": b"true",
    "a number": b"5",
    "a string": b'"{}"',
    "a list": b"[]",
    "a list of objects": b'[{"url": "https://example.com/"}]',
    "NaN": b'{"url": NaN}',
    "Infinity": b'{"url": -Infinity}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"url": "a"}'.encode("utf-16"),
    "Latin-1": '{"url": "ü"}'.encode("latin-1"),
    "half a character": b'{"url": "\xc3"}',
    "a NUL byte": b'{"url": "\x00"}',
    "NUL bytes alone": b"\x00\x00",
    "a line end in a string": b'{"url": "a\nb"}',
    "a number of 5,000 digits": b'{"url": ' + b"9" * 5_000 + b"}",
    "opening brackets alone": b"[" * 60_000,
    "opening braces alone": b'{"a":' * 12_000,
    "a list 30,000 deep": b'{"url": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
}
COMMON_INVALID_BODIES = ("no body", "JSON that is cut off", "null", "a list", "NaN")
CONTENT_TYPES = ("", "text/plain", "text/json", "application/x-www-form-urlencoded", "application/xml", "json", "*/*")
COMMON_INVALID_CONTENT_TYPES = ("text/plain", "multipart/form-data; boundary=x")
LIMITS = ("0", "-1", "101", "", "abc", "1.5", "1e1", "+5", " 5", "0x10", "5%00", "null", "٣", "9" * 50)
FEW_LIMITS = ("0", "101", "abc")
OFFSETS = ("-1", "", "abc", "1.5", "9007199254740993", "9" * 50)
FEW_OFFSETS = ("-1", "9007199254740993")
KINDS = (
    "scan",
    "audit",
    "monitor",
    "run",
    "mute",
    "badge",
    "window",
    "webhook",
    "delivery",
    "list",
    "entry",
    "share",
    "assessment",
    "snapshot",
)


def bodies(
    operation: Operation, names: Iterable[str], content_types: Iterable[str], kib: int = 64
) -> Iterator[BadRequest]:
    """Yield requests with unusable bodies.

    The body is not a JSON object, has a wrong content type or encoding, or is too large.
    """
    for name in names:
        yield operation.request(name, body=OBJECTS[name])
    for content_type in content_types:
        yield operation.request(f"as {content_type or 'no type'}", body=operation.valid_body, content_type=content_type)
    yield operation.request("compressed", body=operation.valid_body, headers={"Content-Encoding": "gzip"})
    yield operation.request(f"over {kib} KiB", body=b"{" + b" " * (kib * 1024 - 1) + b"}")


def pages(
    operation: Operation, limits: Iterable[str] = FEW_LIMITS, offsets: Iterable[str] = FEW_OFFSETS
) -> Iterator[BadRequest]:
    """Yield requests with invalid values for `limit` and `offset`."""
    yield from operation.queries(*(f"limit={limit}" for limit in limits), *(f"offset={offset}" for offset in offsets))
    yield from operation.queries("page=2", "limit=0&offset=-1", "limit=0&x=1")


def unknown_ids(operation: Operation, kind: str, *, body: object = b"") -> Iterator[BadRequest]:
    """Yield requests with invalid IDs.

    The IDs are malformed, unknown, of another kind, or of another organization.
    """
    other_kind = "audit" if kind == "scan" else "scan"
    for value in (
        *(f"{{no_{kind}}}", f"{{foreign_{kind}}}", f"{{{other_kind}}}", "x", "%00", "%F0%9F%92%A9"),
        f"{{{kind}}}%0A",
    ):
        yield operation.with_ids(**{kind: value}).request(body=body)


def few_unknown_ids(operation: Operation, kind: str, *, body: object = b"") -> Iterator[BadRequest]:
    """Yield the first three requests of `unknown_ids`."""
    for value in (f"{{no_{kind}}}", f"{{foreign_{kind}}}", f"{{{kind}}}%00"):
        yield operation.with_ids(**{kind: value}).request(body=body)


def keys(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with an unusable Idempotency-Key.

    The key is invalid or belongs to another request.
    """
    for name, value in {"empty": "", "of 256 characters": "k" * 256, "with NUL": "a\0b"}.items():
        yield operation.request(f"with a key {name}", body=operation.valid_body, headers={"Idempotency-Key": value})
    for kind in ("scan", "audit", "monitor", "list"):
        key = {"Idempotency-Key": f"used-for-{kind}"}
        yield operation.request(f"with the key of another {kind}", body=operation.valid_body, headers=key)
    yield operation.request("with a key and no body", headers={"Idempotency-Key": "used-for-scan"})
    yield operation.request("with an empty key and no field", body={}, headers={"Idempotency-Key": ""})


def urls(operation: Operation, field_name: str, values: Iterable[Any]) -> Iterator[BadRequest]:
    yield from operation.values(field_name, *values)
    for name, value in LONG_URLS.items():
        yield operation.named_request(f"{field_name}: {name}", **{field_name: value})


def credentials(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid credentials for the target."""
    yield from operation.values("request", True, 5, "X-Key: a", [], ["headers"], {"header": {}})
    yield from operation.values("request", {"headers": {}, "a": 1})
    yield from operation.values("request.headers", True, "X-Key: a", [], {"X-Key": 5}, {"X-Key": None})
    yield from operation.values("request.headers", {"X-Key": ["a"]})
    for name in ("Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "Sec-Fetch-Site", "Cookie"):
        yield from operation.values("request.headers", {name: "a"})
    for name in ("If-None-Match", "User-Agent", "X-HTTP-Method-Override", "Connection", "Upgrade", "TE", "Trailer"):
        yield from operation.values("request.headers", {name: "a"})
    for name in ("Keep-Alive", "Expect", "Accept-Encoding", "Range", "Origin"):
        yield from operation.values("request.headers", {name: "a"})
    yield from operation.values("request.headers", {"": "a"}, {"X Key": "a"}, {"X-Key:": "a"}, {"X-K\xe9y": "a"})
    yield from operation.values("request.headers", {"\r\n": "a"})
    for value in ("", " a", "a ", "a\r\nB: c", "a\nb", "a\0b", "ü", "\ud800"):
        yield from operation.values("request.headers", {"X-Key": value})
    yield from operation.values("request.headers", {"X-Key": "a", "x-key": "b"})
    yield from operation.values("request.cookies", True, "a=b", [], {"a": 5}, {"a": None}, {"": "b"}, {"a b": "c"})
    yield from operation.values("request.cookies", {"a=": "b"})
    for value in ("a b", "a;b", "a,b", 'a"b', '"a', "a\\b", "a\r\nb", "ü", "a\0"):
        yield from operation.values("request.cookies", {"a": value})
    yield from operation.values("request.basic_auth", True, "a:b", [], ["a", "b"], {}, {"username": "a"})
    yield from operation.values("request.basic_auth", {"password": "b"})
    yield from operation.values("request.basic_auth", {"username": "a", "password": "b", "realm": "c"})
    invalid: tuple[tuple[object, object], ...]
    invalid = (("a:b", "c"), ("", ""), ("a\n", "b"), ("a", "b\0"), (None, "a"), ("a", 5), ("\ud800", ""))
    for username, password in invalid:
        yield from operation.values("request.basic_auth", {"username": username, "password": password})
    both = {"headers": {"authorization": "Bearer a"}, "basic_auth": {"username": "a", "password": "b"}}
    yield operation.named_request("request: two authorizations", request=both)
    yield operation.named_request("request: 21 headers", request={"headers": {f"X-{n}": "a" for n in range(21)}})
    ten = {f"a{n}": "b" for n in range(10)}
    yield operation.named_request(
        "request: 11 headers, 10 cookies", request={"headers": ten | {"X": "y"}, "cookies": ten}
    )
    yield operation.named_request("request: a value of 4 KiB", request={"headers": {"X-Key": "a" * 4096}})
    yield operation.named_request("request: a name of 4 KiB", request={"cookies": {"a" * 4097: ""}})
    yield operation.named_request(
        "request: a password of 4 KiB", request={"basic_auth": {"username": "a", "password": "b" * 4096}}
    )
    large = {f"X-{n}": "a" * 4000 for n in range(5)}
    yield operation.named_request("request: 20 KiB in all", request={"headers": large})


def viewings(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid widths and colour schemes."""
    yield from operation.values("widths", None, [], 800, "800", [319], [2561], [800, 800], [400, 500, 600, 700])
    yield from operation.values("widths", ["800"], [800.0], [True], [None], [[800]], {"0": 800})
    yield from operation.values("color_scheme", None, "", "Dark", "sepia", 1, ["dark"])


def categories(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid categories of security."""
    yield from operation.values("categories", [], "mail", 5, {}, True, [None], [5], [["mail"]], {"0": "mail"})
    yield from operation.values("categories", [""], ["Mail"], ["mail", "tls"], ["log_in"], ["mail\u0000"], ["\ud800"])


def requirements(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid own requirements."""
    rule = {"name": "Imprint", "link": "/imprint"}
    yield from operation.values("requirements", [], "x", 5, {}, {"rules": {}}, {"rules": [5]}, {"rule": [rule]})
    yield from operation.values("requirements", *({"rules": [rule], "weight": weight} for weight in (-1, 101, "1")))
    changes: tuple[dict[str, Any], ...] = (
        {"name": ""},
        {"name": "x\x00"},
        {"name": "\ud800"},
        {"link": "imprint"},
        {"text": "Imprint"},
        {"at_most": 5},
        {"severity": "urgent"},
        {"type": "speed"},
        {"pages": ["shop"]},
        {"colour": "red"},
    )
    yield from operation.values("requirements", *({"rules": [{**rule, **change}]} for change in changes))
    yield from operation.values("requirements", {"rules": [rule, rule]})
    many = [{**rule, "name": f"Imprint {number}"} for number in range(51)]
    yield operation.named_request("requirements: 51 rules", requirements={"rules": many})


def first_of_each_field(bad_requests: Iterable[BadRequest], limit: int = 1) -> Iterator[BadRequest]:
    """Yield at most `limit` requests per field."""
    count_by_field: Counter[str] = Counter()
    for bad_request in bad_requests:
        field_name = bad_request.name.partition(": ")[0].replace("'", "").replace('"', "")
        count_by_field[field_name] += 1
        if count_by_field[field_name] <= limit:
            yield bad_request


def audit_requests(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid values in fields of audits and monitors.

    The valid body has a `page`.
    """
    site = replace(
        operation,
        valid_body=body_with_changes(operation.valid_body, {"page": REMOVED, "site": PAGE}),
        target="of a site",
    )
    pages_body = body_with_changes(operation.valid_body, {"page": REMOVED, "pages": [PAGE]})
    listed = replace(operation, valid_body=pages_body, target="of a list")
    yield from operation.fields({"page": REMOVED}, {"site": PAGE}, {"pages": [PAGE]}, {"page": None, "site": PAGE})
    yield from operation.fields({"discover": ["links"]}, {"max_pages": 1}, {"include": ["/a"]}, {"exclude": []})
    yield from listed.fields({"max_pages": 1}, {"include": None}, {"site": PAGE})
    yield from operation.values("types", True, "seo", [], [None], ["SEO"], ["seo", "speed"], [["seo"]])
    yield from site.values("discover", True, "links", {}, [], [None], ["Links"], ["links", "guess"])
    yield from site.values("max_pages", True, 0, -1, 1.0, 1.5, "10", [], 3_000, 10**18, 1e300)
    for name in ("exclude", "include"):
        yield from site.values(name, 5, "/docs/*", {}, [None], [""], ["docs/*"], ["https://example.com/a"])
        yield from site.values(name, ["/a\u0000"], ["/\ud800"], ["/a", ["/b"]], ["/a", "b"])
        yield site.named_request(f"{name}: a pattern of 501 characters", **{name: ["/" + "a" * 500]})
        yield site.named_request(f"{name}: 51 patterns", **{name: [f"/{n}" for n in range(51)]})
    yield from urls(operation, "page", FEW_BAD_URLS)
    yield from site.values("site", None, "", "ftp://example.com/", "https://example.com:22/", "http://localhost/")
    yield from listed.values("pages", None, True, 5, PAGE, {}, [], {"0": PAGE})
    for url in ("", "ftp://example.com/", "https://user:secret@example.com/", "http://localhost/", "\ud800"):
        yield from listed.values("pages", [PAGE, url])
    yield from listed.values("pages", [PAGE, [PAGE]], [5, PAGE, None, PAGE, "http://localhost/"])
    yield listed.named_request("pages: 25 that are bad", pages=[f"ftp://example.com/{n}" for n in range(25)])
    yield listed.named_request("pages: 1,001 of them", pages=[f"{PAGE}{n}" for n in range(1001)])
    yield listed.named_request("pages: 2,001 of them", pages=[PAGE] * 2001)
    yield listed.named_request("pages: a URL of 2,049 characters", pages=[PAGE, PAGE + "a" * 2048])
    yield from listed.fields({"pages": [PAGE, OTHER_PAGE], "request": {"headers": {"X-Key": "a"}}})
    yield from listed.fields({"pages": [PAGE, "http://example.com/"], "request": {"cookies": {"a": "b"}}})
    yield from operation.fields({"page": "ftp://a/", "types": []}, {"page": 5, "types": 5})
    yield from operation.fields({"page": "http://localhost/", "types": []})
    yield from operation.fields({"page": "http://localhost/", "request": []}, {"types": [], "request": []})
    yield from site.fields({"site": "http://localhost/", "max_pages": 0}, {"site": "ftp://a/", "discover": []})
    yield from site.fields({"max_pages": 0, "discover": []}, {"include": 5, "exclude": 5, "max_pages": 0})
    yield from viewings(operation)
    yield from first_of_each_field(requirements(operation))
    yield operation.named_request("page: nowhere", page=NOWHERE)
    yield site.named_request("site: nowhere", site=NOWHERE)
    yield operation.named_request("page: private when resolved", page="https://private.example.com/")


def monitor_requests(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid values in fields that only monitors have."""
    yield from operation.values("every", None, True, 5, "", "daily", "Day", "24h", ["day"], {})
    yield from operation.values("at", True, 600, "", "6:00", "24:00", "06:60", "06:00:00", "6am", "06:00\n", [])
    yield from operation.values("at", "\u0660\u0666:00")
    yield from operation.values("timezone", None, 1, "", "europe/berlin", "Europe/Atlantis", "+02:00", "CEST", "../UTC")
    yield from operation.values("timezone", "UTC\x00", "localtime", [], {}, "Factory", "\ud800")
    yield from operation.fields({"every": "day", "at": "06:00", "day": 1}, {"every": "hour", "at": "06:00", "day": 1})
    yield from operation.fields({"every": "week", "at": None, "day": 1}, {"every": "month", "at": None, "day": 1})
    days: tuple[object, ...] = (True, 0, 8, 1.0, 1.5, "1", [])
    for day in days:
        yield from operation.fields({"every": "week", "at": "06:00", "day": day})
    yield from operation.fields({"every": "month", "at": "06:00", "day": 32})
    yield from operation.fields({"every": "month", "at": "06:00", "day": 0})
    yield from operation.values("paused", None, 0, 1, "true", [])
    yield from operation.values("name", None, 5, [], "", " ", "a\u0000", "a\u202eb", "\ud800", "\u200b")
    yield operation.named_request("name: 101 characters", name="a" * 101)
    yield from operation.values("alert", None, True, "high", [], {"new": "high"}, {"New_findings": "high"}, {"": 1})
    # Lone surrogates cannot be encoded as UTF-8 in the response.
    yield from operation.values("alert", {"\ud800": 1})
    yield from operation.values("alert.score_below", {"\ud800": 80})
    yield from operation.values("notify", {"\ud800": 1})
    yield from operation.values("types", None)
    yield from operation.values("alert.new_findings", True, 5, "", "High", "info", ["high"], {})
    for name in ("score_drop", "certificate_days"):
        yield from operation.values(f"alert.{name}", True, 0, 366, -1, 1.5, 5.0, "5", [])
    yield from operation.values("alert.score_drop", 101)
    for name in ("unreachable", "recovered", "fixed"):
        yield from operation.values(f"alert.{name}", None, 1, "true", [])
    yield from operation.values("alert.score_below", None, 80, [], {"speed": 80}, {"SEO": 80}, {"": 80})
    scores: tuple[object, ...] = (True, 0, 101, 80.5, "80", [])
    for score in scores:
        yield from operation.values("alert.score_below", {"security": score})
    yield from operation.values("alert.score_below", {"security": 80, "seo": 0})
    yield from operation.values("notify", None, True, "ada@example.com", [], {"email": []}, {"Emails": []}, {"": 1})
    yield from operation.values("notify.emails", None, 5, "ada@example.com", {}, [None], [""], [["ada@example.com"]])
    yield from operation.values("notify.emails", ["nobody@example.com"], ["ada"])
    yield from operation.values("notify.emails", ["ada@example.com", "bob@example.com"])
    yield from operation.values("notify.emails", ["eve@example.net"], ["ada @example.com"], ["ada@example.com\u0000"])
    yield operation.named_request("notify.emails: 51 of them", notify={"emails": ["ada@example.com"] * 51})
    yield from operation.values("notify.webhooks", None, 1, "true", {}, [5], ["wh"], ["{webhook}", "{no_webhook}"])
    yield from operation.fields({"name": "", "every": "daily"}, {"alert": 5, "notify": 5})
    yield from operation.fields({"paused": 5, "timezone": ""})
    yield from operation.fields({"schedule": "daily"}, {"Every": "day"}, {"enabled": True}, {"pause": True})


def scan_group() -> Iterator[BadRequest]:
    yield from bodies(POST_SCAN, OBJECTS, CONTENT_TYPES)
    yield POST_SCAN.request(
        "with fields of a form", body=b"url=a&type=seo", content_type="multipart/form-data; boundary=x"
    )
    yield POST_SCAN.request(
        "in UTF-16 by its type", body='{"url": 1}'.encode("utf-16"), content_type="application/json; charset=utf-16"
    )
    yield POST_SCAN.request("{}", body={})
    yield from POST_SCAN.fields({"url": REMOVED}, {"type": REMOVED}, {"url": REMOVED, "type": REMOVED, "a": 1})
    yield from urls(POST_SCAN, "url", BAD_URLS)
    yield POST_SCAN.named_request("url: nowhere", url=NOWHERE)
    yield from POST_SCAN.values(
        "type", *NON_STRING_VALUES, "", "SEO", " seo", "seo\n", "speed", "all", ["seo"], "\ud800"
    )
    yield from POST_SCAN.values("type", "\u0455eo")
    yield POST_SCAN.named_request("type: 60,000 characters", type="seo" * 20_000)
    yield from POST_SCAN.fields({"url": 5, "type": 5}, {"url": "ftp://a/", "type": "speed"})
    yield from POST_SCAN.fields({"url": "http://localhost/", "type": "speed"})
    yield from POST_SCAN.fields({"type": "speed", "request": []}, {"url": "http://localhost/", "request": []})
    yield from POST_SCAN.fields({"a": 1}, {"types": ["seo"]}, {"URL": PAGE}, {"": 1}, {"a\x00": 1}, {"\ud800": 1})
    yield from POST_SCAN.fields({"ü": 1, "url": 5})
    yield POST_SCAN.named_request("a field of 1,000 characters", **{"a" * 1000: 1})
    yield POST_SCAN.request(query="?url=https://example.com/", body=POST_SCAN.valid_body)
    yield POST_SCAN.request(query="?dry_run=1", body=b"")
    yield from keys(POST_SCAN)
    yield from credentials(POST_SCAN)
    yield from viewings(POST_SCAN)
    yield from categories(POST_SCAN)
    yield from POST_SCAN.fields({"categories": ["mail"]}, {"type": "speed", "categories": []})
    yield from requirements(POST_SCAN)
    yield POST_SCAN.request("without quota", body=POST_SCAN.valid_body, caller="bare")
    yield POST_SCAN.request("without a place", body=POST_SCAN.valid_body, caller="placeless")


def scans_group() -> Iterator[BadRequest]:
    yield from pages(GET_SCANS, LIMITS, OFFSETS)
    for name in ("status", "type"):
        values = ("", "x", "all", "completed,failed", "COMPLETED", "SEO", "seo%00", "%ED%A0%80", "seo%20", "%FF")
        yield from GET_SCANS.queries(*(f"{name}={value}" for value in values))
        yield from GET_SCANS.queries(f"{name}[]=seo", f"{name.upper()}=seo", f"{name}=seo&{name}=")
    yield from GET_SCANS.queries("status=seo&type=failed", "limit=0&status=x", "statsu=failed", "=1", "%00=1")
    yield from GET_SCANS.queries("%F0%9F%92%A9=1")
    yield from GET_SCANS.queries("a=1&limit=0", f"{'a' * 100}=1", "limit")
    yield from GET_USAGE.queries("period=2026-01", "limit=5", "limit")
    yield from unknown_ids(GET_SCAN, "scan")
    yield from GET_SCAN.queries("a=1", "format=json")
    yield GET_SCAN.with_ids(scan="{no_scan}").request(query="?a=1")
    yield GET_SCAN.with_ids(scan="{report}").request()


def report_group() -> Iterator[BadRequest]:
    yield from unknown_ids(GET_REPORT, "scan")
    for operation in (GET_REPORT, GET_EXPORT, GET_SARIF, GET_CSV, GET_DIFF, GET_CONFORMANCE, GET_REPORT_MUTES):
        for state in ("queued", "scanning", "failed", "expired"):
            yield operation.with_ids(scan=f"{{{state}_scan}}").request()
        if operation is not GET_REPORT:
            yield from few_unknown_ids(operation, "scan")
        yield operation.with_ids(scan="{no_report}").request()
        yield operation.with_ids(scan="{foreign_report}").request()
        yield operation.with_ids(scan="{foreign_queued_scan}").request()
        yield from operation.queries("Format=json")
    for value in ("", "xml", "JSON", "pdf", "html", "json,csv", "csv%00", "%ED%A0%80", "json&format=xml"):
        yield from GET_EXPORT.queries(f"format={value}")
    yield from GET_SARIF.queries("format=sarif", "format=csv")
    yield GET_EXPORT.with_ids(scan="{no_scan}").request(query="?format=xml")
    for value in (
        "",
        "x",
        "previous",
        "PREVIOUS",
        "{no_scan}",
        "{foreign_scan}",
        "{queued_scan}",
        "{failed_scan}",
        "%00",
    ):
        yield from GET_DIFF.queries(f"with={value}")
    yield from GET_CONFORMANCE.queries("standard=wcag23", "level=B", "format=pdf", "standard=", "level=a")
    yield from GET_DIFF.queries("with={expired_scan}", "with={scan_of_seo}", "with={scan_elsewhere}")
    yield from GET_DIFF.queries("with={no_report}", "with=%0A{scan}")
    yield GET_DIFF.with_ids(scan="{no_scan}").request(query="?with={scan}")
    yield GET_DIFF.with_ids(scan="{queued_scan}").request(query="?with={no_scan}")


def audits_group() -> Iterator[BadRequest]:
    yield from bodies(POST_AUDIT, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield POST_AUDIT.request("{}", body={})
    yield from audit_requests(POST_AUDIT)
    yield from first_of_each_field(categories(POST_AUDIT), 2)
    yield from POST_AUDIT.fields({"types": ["seo"], "categories": ["mail"]})
    yield from first_of_each_field(credentials(POST_AUDIT), 2)
    yield from keys(POST_AUDIT)
    yield from POST_AUDIT.fields({"url": PAGE}, {"type": "seo"}, {"every": "day"}, {"Types": ["seo"]}, {"": 1})
    yield from POST_AUDIT.fields({"\ud800": 1})
    yield from POST_AUDIT.fields({"page": REMOVED, "url": PAGE}, {"page": "ftp://a/", "colour": "red"})
    yield POST_AUDIT.request(query="?types=seo", body=POST_AUDIT.valid_body)
    yield POST_AUDIT.request("without quota", body=POST_AUDIT.valid_body, caller="bare")
    yield POST_PAGES.request("without quota", body=POST_PAGES.valid_body, caller="bare")
    yield POST_SITE.request("without quota", body=POST_SITE.valid_body, caller="bare")
    yield POST_PAGES.request("11 pages, on the plan free", body={"pages": [PAGE] * 11}, caller="free")
    yield POST_SITE.request("max_pages: 11, on the plan free", body={"site": PAGE, "max_pages": 11}, caller="free")


def audit_group() -> Iterator[BadRequest]:
    yield from unknown_ids(GET_AUDIT, "audit")
    yield from GET_AUDIT_CONFORMANCE.queries("standard=wcag23", "level=B", "format=pdf")
    downloads = (GET_AUDIT_EXPORT, GET_AUDIT_SARIF, GET_AUDIT_CSV, GET_AUDIT_CONFORMANCE)
    for operation in (DELETE_AUDIT, GET_AUDIT_PAGES, GET_AUDIT_STEPS, GET_STEP_PICTURE, GET_FINDINGS, *downloads):
        yield from few_unknown_ids(operation, "audit")
        yield operation.with_ids(audit="{expired_audit}").request()
    for operation in downloads:
        yield operation.with_ids(audit="{running_audit}").request()
        yield operation.with_ids(audit="{queued_audit}").request()
        yield from operation.queries("limit=5")
    for value in ("", "xml", "JSON", "html", "json%00", "json&format=xml"):
        yield from GET_AUDIT_EXPORT.queries(f"format={value}")
    yield GET_AUDIT_EXPORT.with_ids(audit="{running_audit}").request(query="?format=xml")
    yield GET_AUDIT_EXPORT.with_ids(audit="{no_audit}").request(query="?format=xml")
    yield from GET_AUDIT_CSV.queries("format=csv")
    for operation in (GET_AUDITS, GET_AUDIT_PAGES, GET_FINDINGS):
        yield from pages(operation)
    for operation in (GET_AUDITS, GET_AUDIT_PAGES):
        yield from operation.queries(
            *(f"status={status}" for status in ("", "x", "scanning", "Completed", "completed%00", "%FF"))
        )
        yield from operation.queries("type=seo", "status=x&limit=0")
    yield from GET_AUDITS.queries("kind=page", "status=released")
    yield from GET_AUDIT_PAGES.queries("status=cancelled")
    for number in ("0", "01", "-1", "99999", "one", "1%00", "٣"):
        yield GET_STEP_PICTURE.with_ids(number=number).request()
    yield GET_STEP_PICTURE.request("of an audit without steps")
    yield from GET_FINDINGS.queries(*(f"type={type}" for type in ("", "x", "SEO", "seo,security", "seo%00", "%FF")))
    yield from GET_FINDINGS.queries("severity=high", "status=open", "type=x&offset=-1")
    yield GET_FINDINGS.with_ids(audit="{no_audit}").request(query="?type=x")
    yield GET_AUDIT_PAGES.with_ids(audit="{no_audit}").request(query="?limit=0")
    yield from GET_AUDIT.queries("a=1")
    yield from DELETE_AUDIT.queries("force=1")


def monitors_group() -> Iterator[BadRequest]:
    yield from bodies(POST_MONITOR, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield POST_MONITOR.request("{}", body={})
    yield from POST_MONITOR.fields({"every": REMOVED}, {"every": REMOVED, "colour": "red"})
    yield from POST_MONITOR.fields({"page": REMOVED, "every": REMOVED})
    yield from POST_MONITOR.fields({"page": "ftp://a/", "every": REMOVED})
    yield from POST_MONITOR.fields({"page": "http://localhost/", "every": REMOVED})
    yield from POST_MONITOR.fields({"page": "http://localhost/", "alert": 5}, {"page": "ftp://a/", "alert": 5})
    yield from monitors_of_journeys(POST_MONITOR)
    yield from POST_MONITOR.fields({"journey": "{journey}"})
    yield from first_of_each_field(audit_requests(POST_MONITOR))
    yield from first_of_each_field(credentials(POST_MONITOR))
    yield from monitor_requests(POST_MONITOR)
    yield from keys(POST_MONITOR)
    yield POST_MONITOR.request(query="?every=day", body=POST_MONITOR.valid_body)
    yield POST_MONITOR.request("over the plan's number", body={"pages": [PAGE], "every": "day"}, caller="bare")
    yield POST_MONITOR.request("more often than the plan allows", body={"page": PAGE, "every": "hour"}, caller="free")
    yield POST_MONITOR.request("11 pages, on the plan free", body={"pages": [PAGE] * 11, "every": "day"}, caller="free")


def monitors_of_journeys(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with journeys that cannot be monitored, and with options that such monitors do not have."""
    without_page = {"page": REMOVED} if "page" in operation.valid_body else {}
    journeys = (None, 5, "jny_1", "{no_journey}", "{foreign_journey}", "{journey}", "{proven_journey}")
    yield from operation.fields(*({**without_page, "journey": journey} for journey in journeys))
    options: list[dict[str, Any]] = [{"types": ["seo"]}, {"request": {}}, {"max_pages": 5}, {"widths": [412]}]
    options.append({"requirements": {"rules": []}})
    options += [{"alert": 5}, {"day": 1}]
    yield from operation.fields(*({**without_page, "journey": "{journey}", **option} for option in options))


def monitor_group() -> Iterator[BadRequest]:
    yield from bodies(PATCH_MONITOR, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield from first_of_each_field(credentials(PATCH_MONITOR))
    yield from first_of_each_field(monitor_requests(PATCH_MONITOR))
    yield from first_of_each_field(viewings(PATCH_MONITOR))
    yield from first_of_each_field(requirements(PATCH_MONITOR))
    yield from PATCH_MONITOR.values("page", None, "", "ftp://a/", "http://localhost/", "https://example.com:22/")
    yield from PATCH_MONITOR.values("pages", None, PAGE, [], [5], ["http://localhost/"])
    yield from PATCH_MONITOR.values("types", [], ["speed"], "seo", 5)
    yield from PATCH_MONITOR.fields({"page": PAGE, "site": PAGE}, {"max_pages": 5}, {"include": ["/a"]})
    yield from PATCH_MONITOR.fields({"discover": ["links"]})
    yield from monitors_of_journeys(PATCH_MONITOR)
    yield from PATCH_MONITOR.fields({"page": PAGE, "max_pages": 5}, {"day": 1}, {"site": PAGE, "max_pages": 0})
    yield from PATCH_MONITOR.fields({"id": "{monitor}"}, {"status": "ok"}, {"created_at": None}, {"pause_reason": None})
    site = PATCH_MONITOR.with_ids(monitor="{monitor_of_site}")
    yield from site.fields({"max_pages": 0}, {"max_pages": "5"}, {"include": [""]}, {"exclude": "a"}, {"discover": []})
    weekly = PATCH_MONITOR.with_ids(monitor="{weekly_monitor}")
    yield from weekly.fields({"day": 8}, {"day": 0}, {"at": None}, {"every": "day", "day": 2})
    yield PATCH_MONITOR.request(query="?paused=true", body={"paused": True})
    yield from unknown_ids(PATCH_MONITOR, "monitor", body={"paused": True})
    yield PATCH_MONITOR.with_ids(monitor="{no_monitor}").request("with a bad body", body={"paused": 5})
    yield PATCH_MONITOR.with_ids(monitor="{no_monitor}").request("with no body")
    yield PATCH_MONITOR.with_ids(monitor="{no_monitor}").request("with an unknown field", body={"colour": "red"})
    for operation in (GET_MONITOR, DELETE_MONITOR, GET_RUNS, POST_RUN, GET_RUN):
        yield from few_unknown_ids(operation, "monitor")
        yield from operation.queries("a=1")
    yield from pages(GET_MONITORS)
    yield from pages(GET_RUNS)
    yield from GET_MONITORS.queries("status=", "status=OK", "status=ok,failing", "name=Bakery")
    yield from GET_RUNS.queries("status=done")
    yield from unknown_ids(GET_RUN, "run")
    yield POST_RUN.with_ids(monitor="{busy_monitor}").request()
    yield POST_RUN.request("with a field", body={"now": True})
    for name in ("no JSON", "null", "a list"):
        yield POST_RUN.request(name, body=OBJECTS[name])
    yield POST_RUN.request("as text/plain", body=b"x", content_type="text/plain")


def lists_group() -> Iterator[BadRequest]:
    yield from bodies(POST_LIST, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield POST_LIST.request("{}", body={})
    yield from POST_LIST.values("name", None, 5, [], "", " ", "a\u0000", "a\u202eb", "\ud800", "\u200b")
    yield POST_LIST.named_request("name: 101 characters", name="a" * 101)
    yield from list_requests(POST_LIST)
    yield from first_of_each_field(credentials(POST_LIST))
    yield from keys(POST_LIST)
    yield from POST_LIST.fields({"name": REMOVED, "colour": "red"}, {"entries": []}, {"page": PAGE}, {"Types": ["seo"]})
    yield from POST_LIST.fields({"name": "", "types": [], "every": "day"}, {"id": "{list}"}, {"\ud800": 1})
    yield POST_LIST.request(query="?name=a", body=POST_LIST.valid_body)
    yield POST_LIST.request("over the plan's number", body=POST_LIST.valid_body, caller="bare")
    yield POST_LIST.request("11 pages, on the plan free", body={"name": "a", "pages_per_entry": 11}, caller="free")
    yield from pages(GET_LISTS)
    yield from GET_LISTS.queries("name=a")


def list_group() -> Iterator[BadRequest]:
    yield from bodies(PATCH_LIST, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield from first_of_each_field(credentials(PATCH_LIST))
    yield from first_of_each_field(list_requests(PATCH_LIST))
    yield from PATCH_LIST.fields({"name": ""}, {"entries": 5}, {"created_at": None}, {"next_run_at": None})
    yield from PATCH_LIST.with_ids(list="{running_list}").fields({"request": {"headers": {"X-Key": "a"}}})
    yield from unknown_ids(PATCH_LIST, "list", body={"name": "a"})
    yield PATCH_LIST.with_ids(list="{no_list}").request("with a bad body", body={"name": 5})
    list_operations = (
        GET_LIST,
        DELETE_LIST,
        GET_ENTRIES,
        GET_ENTRY,
        DELETE_ENTRY,
        POST_ENTRY_SCAN,
        GET_LIST_RUNS,
        GET_SHARES,
    )
    run_operations = (POST_LIST_RUN, GET_LIST_RUN, DELETE_LIST_RUN, GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV)
    for operation in (*list_operations, *run_operations, GET_SNAPSHOT_JSONL, DELETE_SHARE):
        yield from few_unknown_ids(operation, "list")
        yield from operation.queries("a=1")
    yield POST_LIST_RUN.with_ids(list="{empty_list}").request("without sites")
    yield POST_LIST_RUN.request("with a field", body={"now": True})
    for operation in (GET_ENTRY, DELETE_ENTRY, POST_ENTRY_SCAN):
        yield from few_unknown_ids(operation, "entry")
    for operation in (GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV):
        yield from few_unknown_ids(operation, "snapshot")
    for operation in (GET_LIST_RUN, DELETE_LIST_RUN):
        yield operation.request("of a monitor")
        yield from few_unknown_ids(operation, "run")
    for operation in (GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV, GET_SNAPSHOT_XLSX, GET_SNAPSHOT_JSONL):
        yield operation.with_ids(snapshot="{running_run}", list="{running_list}").request()
    yield from GET_SNAPSHOT_DIFF.queries("with=", "with=x", "with={foreign_snapshot}", "with={no_snapshot}", "limit=0")
    yield GET_SNAPSHOT_DIFF.request("without an earlier one")
    yield Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/xml").request()
    yield from pages(GET_LIST_RUNS)
    yield from GET_ADOPTION.queries("tag=a", "check=", "check=hsts&limit=0", "check=hsts&limit=201", "check=hsts&x=1")
    yield from few_unknown_ids(GET_ADOPTION, "list")
    yield from GET_LIST_CONFORMANCE.queries("standard=wcag23", "level=B", "format=earl", "x=1")
    yield from few_unknown_ids(GET_LIST_CONFORMANCE, "list")
    yield from bodies(POST_SHARE, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield from POST_SHARE.values("table", None, 0, "true", [])
    yield from POST_SHARE.values("run_id", 5, [], "", "x", "{no_snapshot}", "{foreign_snapshot}", "a\u0000", "\ud800")
    yield from POST_SHARE.fields({"has_table": True}, {"run": None})
    yield from few_unknown_ids(POST_SHARE, "list", body=POST_SHARE.valid_body)
    yield from unknown_ids(DELETE_SHARE, "share")


def list_requests(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests for lists with invalid field values."""
    yield from operation.values("types", None, True, "seo", [], [None], ["SEO"], ["seo", "speed"])
    yield from operation.values("pages_per_entry", None, True, 0, -1, 1.0, "1", 3_000, 10**18)
    yield from operation.values("every", True, 5, "", "day", "Week", "monthly", ["week"], {})
    yield from operation.values("window_hours", None, True, -1, 169, 1.5, "24", 10**18)
    yield from operation.values("timezone", None, 1, "", "europe/berlin", "Europe/Atlantis", "UTC\x00", [], "\ud800")
    yield from operation.values("notify", None, True, [], {"email": []}, {"": 1})
    yield from operation.values("notify.emails", None, "ada@example.com", [None], ["nobody@example.com"])
    yield from operation.values("notify.emails", ["eve@example.net"])
    yield from operation.values("notify.webhooks", None, 1, "true", {}, [5], ["{no_webhook}"])
    yield from first_of_each_field(categories(operation), 2)
    yield from operation.fields({"types": ["seo"], "categories": ["mail"]}, {"types": [], "categories": []})
    yield from first_of_each_field(viewings(operation))
    yield from first_of_each_field(requirements(operation))


def entries_group() -> Iterator[BadRequest]:
    for operation in (PUT_ENTRIES, POST_ENTRIES):
        for name in ("no body", "no JSON", "JSON that is cut off", "null", "a list", "a list 30,000 deep", "UTF-16"):
            yield operation.request(name, body=OBJECTS[name])
        for content_type in ("", "text/html", "application/xml", "multipart/form-data; boundary=x"):
            yield operation.request(
                f"as {content_type or 'no type'}", body=operation.valid_body, content_type=content_type
            )
        yield operation.request("compressed", body=operation.valid_body, headers={"Content-Encoding": "gzip"})
        yield operation.request("as CSV in Latin-1", body=b"a", content_type="text/csv; charset=ISO-8859-1")
        yield from operation.values("entries", None, 5, {}, PAGE, [PAGE], [None], [{}], [{"url": None}], [{"url": ""}])
        yield from operation.values("entries", [{"url": PAGE, "tags": "a"}], [{"url": PAGE, "tags": [5]}])
        yield from operation.values("entries", [{"url": PAGE, "tags": ["a;b"]}], [{"url": PAGE, "note": None}])
        yield from operation.values("entries", [{"url": PAGE, "name": "a"}], [{"url": PAGE}, {"url": "localhost"}])
        yield from operation.fields({"mode": "add"}, {"entries": REMOVED})
        yield from few_unknown_ids(operation, "list", body=operation.valid_body)
        yield operation.with_ids(list="{no_list}").request("with a bad body", body={"entries": 5})
        yield operation.request(query="?dry_run=1", body=operation.valid_body)
    # The import adds schemes, strips white space and resolves no host names.
    accepted_urls = {"example.com", " https://example.com/", "https://example.com/\n", "https://example.com/\u0085"}
    accepted_urls |= {"https://private.example.com/", "https://rebound.example.com/"}
    for url in BAD_URLS:
        if isinstance(url, str) and url not in accepted_urls:
            yield PUT_ENTRIES.request(f"of {json.dumps(url)}", body={"entries": [{"url": url}]})
    for name, text in {
        "a formula": "=1+1",
        "a tag that is a formula": "example.com,=1+1",
        "four columns": "example.com,,,a",
        "an open quotation mark": 'example.com,"a',
        "names of columns alone": "url,tags",
        "blank lines": "\n\n",
        "three bad lines": "localhost\nexample.com\nhttp://10.0.0.1\nftp://example.com",
    }.items():
        yield PUT_ENTRIES.request(f"as CSV with {name}", body=text.encode(), content_type="text/csv")
    yield PUT_ENTRIES.request("as text with a NUL", body=b"example.com\0", content_type="text/plain")
    yield PUT_ENTRIES.request("as text that is a zip file", body=b"PK\x03\x04", content_type="text/plain")
    yield PUT_ENTRIES.request(
        "over the plan's number", body=b"a.com\nb.com\nc.com\nd.com\ne.com", content_type="text/plain"
    )
    for sort in ("", "x", "Url", "--url", "score", "seo,url", "url%00"):
        yield from GET_ENTRIES.queries(f"sort={sort}")
    for cursor in ("x", "a.1", "a.1.ent_1", "%00", "9" * 400):
        yield from GET_ENTRIES.queries(f"cursor={cursor}")
    yield from GET_ENTRIES.queries("sort=seo&cursor=a.x.{entry}", "limit=0", "limit=101", "limit=abc", "offset=1")
    yield from GET_ENTRIES.queries("type=x", "grade=E", "grade=a", "least=-1", "least=101", "most=1.5", "state=done")
    yield from GET_ENTRIES.queries("tag=", "tag=%00", "check=%20", "text=", "text=%0A", f"text={'a' * 201}", "url=a")
    yield DELETE_ENTRIES.request()
    yield from DELETE_ENTRIES.queries("import=", "import=a%20b", "import=%00", f"import={'a' * 41}", "import=unknown")
    yield from DELETE_ENTRIES.queries("import=a&cursor=x", "import=a&limit=5")
    yield from few_unknown_ids(DELETE_ENTRIES, "list")
    yield from POST_ENTRIES.queries("import=", "import=a%20b")
    yield from bodies(PATCH_ENTRY, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield from PATCH_ENTRY.values("note", None, 5, [], "a\u0000", "=1+1", "\ud800")
    yield PATCH_ENTRY.named_request("note: 501 characters", note="a" * 501)
    yield from PATCH_ENTRY.values("tags", None, "a", {}, [5], ["a;b"], ["=1+1"], ["\u0000"], ["\ud800"])
    yield PATCH_ENTRY.named_request("tags: 21 of them", tags=[str(number) for number in range(21)])
    yield PATCH_ENTRY.named_request("tags: 61 characters", tags=["a" * 61])
    yield from PATCH_ENTRY.fields({"url": PAGE}, {"state": "new"}, {"Note": ""})
    yield from few_unknown_ids(PATCH_ENTRY, "list", body=PATCH_ENTRY.valid_body)
    yield from unknown_ids(PATCH_ENTRY, "entry", body=PATCH_ENTRY.valid_body)


def assessments_group() -> Iterator[BadRequest]:
    yield from bodies(POST_ASSESSMENT, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield POST_ASSESSMENT.request("{}", body={})
    yield from POST_ASSESSMENT.fields({"audit": REMOVED}, {"name": REMOVED}, {"name": REMOVED, "colour": "red"})
    yield from POST_ASSESSMENT.values("audit", *NON_STRING_VALUES, "", "x", "{no_audit}", "{foreign_audit}", "{scan}")
    yield from POST_ASSESSMENT.values("audit", "{running_audit}", "{audit_of_seo}", "{assessed_audit}\n", "\ud800")
    yield from POST_ASSESSMENT.values("name", *NON_STRING_VALUES, "", " ", "a\u0000", "\ud800", "\u200b")
    yield POST_ASSESSMENT.named_request("name: 101 characters", name="a" * 101)
    yield from POST_ASSESSMENT.values("standard", *NON_STRING_VALUES, "", "WCAG22", "wcag30", "\ud800")
    yield from POST_ASSESSMENT.values("level", *NON_STRING_VALUES, "", "a", "AAAA", ["A"])
    yield from POST_ASSESSMENT.values("sample_size", None, True, 0, -1, 1_001, 1.5, "20", 10**18, [])
    yield from assessment_texts(POST_ASSESSMENT)
    yield from POST_ASSESSMENT.fields({"status": "open"}, {"shared": True}, {"Name": "a"}, {"id": "{assessment}"})
    yield POST_ASSESSMENT.request(query="?name=a", body=POST_ASSESSMENT.valid_body)
    yield POST_ASSESSMENT.request("of another organization", body=POST_ASSESSMENT.valid_body, caller="bare")
    yield from keys(POST_ASSESSMENT)
    yield from pages(GET_ASSESSMENTS)
    yield from GET_ASSESSMENTS.queries("status=open")


def assessment_texts(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid texts of an assessment."""
    yield from operation.values("scope", *NON_STRING_VALUES, "a\u0000", "a\u0007", "a\u0085b", "\ud800")
    names = ("evaluators", "method", "owner_name", "contact_phone")
    for name in (*names, "burden", "exempt_content", "alternatives", "enforcement"):
        yield from operation.values(name, None, "\u0000")
    for name, length in (("scope", 10_000), ("owner_name", 200), ("contact_phone", 60)):
        yield operation.named_request(f"{name}: {length + 1:,} characters", **{name: "a" * (length + 1)})
    yield from operation.values("contact_email", None, 5, "ada", "a@b@c", "a b@example.com", "@example.com", "a@b\n")
    yield from operation.values(
        "contact_url", None, 5, "example.com", "javascript:alert(1)", "https://a b/", "ftp://a/"
    )


def assessment_group() -> Iterator[BadRequest]:
    yield from bodies(PATCH_ASSESSMENT, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield from PATCH_ASSESSMENT.values("name", None, 5, "", " ", "\ud800")
    yield from PATCH_ASSESSMENT.values("status", None, 5, "", "Open", "done")
    yield from PATCH_ASSESSMENT.values("shared", None, 0, "true", [])
    yield from first_of_each_field(assessment_texts(PATCH_ASSESSMENT))
    yield from PATCH_ASSESSMENT.fields({"audit": "{assessed_audit}"}, {"standard": "wcag21"}, {"level": "A"})
    yield from unknown_ids(PATCH_ASSESSMENT, "assessment", body=PATCH_ASSESSMENT.valid_body)
    yield PATCH_ASSESSMENT.with_ids(assessment="{no_assessment}").request("with a bad body", body={"name": 5})
    yield from unknown_ids(GET_ASSESSMENT, "assessment")
    reads = (GET_ASSESSMENT, GET_SAMPLE, GET_CRITERIA, GET_RESULTS, GET_ASSESSMENT_FINDINGS, GET_ASSESSMENT_LOG)
    for operation in (*reads, GET_ASSESSMENT_REPORT, DELETE_ASSESSMENT, *CHANGES_OF_ASSESSMENTS):
        if operation is not GET_ASSESSMENT:
            yield from few_unknown_ids(operation, "assessment", body=operation.valid_body or b"")
        yield operation.request(query="?a=1", body=operation.valid_body or b"")
    for operation in (PATCH_ASSESSMENT, *CHANGES_OF_ASSESSMENTS):
        finished = operation.with_ids(assessment="{finished_assessment}")
        yield finished.request(body=operation.valid_body or b"")
    yield from GET_ASSESSMENT_REPORT.queries("format=", "format=pdf", "format=JSON", "format=%00")


def journeys_group() -> Iterator[BadRequest]:
    yield from bodies(POST_JOURNEY, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield POST_JOURNEY.request("{}", body={})
    yield from POST_JOURNEY.fields({"steps": REMOVED}, {"start": REMOVED}, {"steps": REMOVED, "start": REMOVED})
    yield from journey_requests(POST_JOURNEY)
    yield from POST_JOURNEY.values("secrets", {"password": None})
    yield from urls(POST_JOURNEY, "start", FEW_BAD_URLS)
    yield from POST_JOURNEY.fields({"id": "{journey}"}, {"proof": {}}, {"Name": "a"}, {"request": {}}, {"\ud800": 1})
    yield POST_JOURNEY.request(query="?name=a", body=POST_JOURNEY.valid_body)
    yield POST_JOURNEY.request("over the plan's number", body=POST_JOURNEY.valid_body, caller="bare")
    yield from keys(POST_JOURNEY)
    yield from pages(GET_JOURNEYS)
    yield from GET_JOURNEYS.queries("site=example.com")


def journey_requests(operation: Operation) -> Iterator[BadRequest]:
    """Yield requests with invalid fields of a journey."""
    yield from operation.values("name", *NON_STRING_VALUES, "", " ", "a\u0000", "\ud800", "\u200b", "{{password}}")
    yield operation.named_request("name: 121 characters", name="a" * 121)
    yield from operation.values("steps", *NON_STRING_VALUES, "", " ", "# only a comment", "fly to the moon", "\ud800")
    yield from operation.values(
        "steps", "open", "open /a b\u0000", "open javascript:alert(1)", "open file:///etc/passwd"
    )
    yield from operation.values("steps", "click “Sign in”", "open /\nwait for 5 seconds", "open /\njudge “”")
    yield from operation.values("steps", "open http://localhost/", "open /\nopen https://other.example.org/")
    yield from operation.values("steps", "open /\nfill “A” with {{Password}}", "open /\nallow log-in at a b")
    yield operation.named_request("steps: 51 of them", steps="open /\n" + "click “Next”\n" * 50)
    yield operation.named_request("steps: 257 KiB", steps="#" * (257 * 1024))
    no_steps = {name: REMOVED for name in JOURNEY if name in operation.valid_body}
    recordings: tuple[object, ...] = (None, True, "{}", [], {}, {"title": "A"}, {"title": 5, "steps": []})
    steps: tuple[object, ...] = (5, {}, {"type": "upload"}, {"type": "navigate", "url": "data:text/html,a"})
    for recording in (*recordings, *({**RECORDING, "steps": [step]} for step in steps), {"log": {"entries": []}}):
        yield from operation.fields({**no_steps, "recording": recording})
    yield from operation.fields({**no_steps, "recording": RECORDING, "start": PAGE})
    yield from operation.fields({"recording": RECORDING, "steps": STEPS, "start": PAGE})
    yield from operation.values("judge", None, 5, "", "all", "Steps")
    yield from operation.values("types", None, [], ["speed"], "seo")
    yield from operation.values("widths", None, [], [1], ["412"])
    yield from first_of_each_field(requirements(operation))
    yield from operation.values("color_scheme", None, "sepia")
    yield from operation.values("secrets", None, True, "password", [], {"password": ""}, {"password": 5}, {"a b": "c"})
    yield from operation.values("secrets", {"pin": "1234"}, {"Password": "a"}, {"password": "a\u0000"}, {"\ud800": "a"})
    yield from operation.values("secrets", {"password": "\ud800"}, {"password": ["a"]})
    yield operation.named_request("secrets: 21 of them", secrets={f"a{number}": "b" for number in range(21)})
    yield operation.named_request("secrets: 5,001 characters", secrets={"password": "a" * 5_001})


def journey_group() -> Iterator[BadRequest]:
    yield from bodies(PATCH_JOURNEY, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
    yield from first_of_each_field(journey_requests(PATCH_JOURNEY))
    yield from PATCH_JOURNEY.fields({"start": PAGE}, {"secrets": {"pin": "1234"}}, {"proof": {}}, {"site": "a.org"})
    yield from unknown_ids(PATCH_JOURNEY, "journey", body=PATCH_JOURNEY.valid_body)
    yield PATCH_JOURNEY.with_ids(journey="{no_journey}").request("with a bad body", body={"name": 5})
    yield from unknown_ids(GET_JOURNEY, "journey")
    yield from GET_JOURNEY.queries("a=1")
    yield from pages(GET_JOURNEY_RUNS)
    for operation in (DELETE_JOURNEY, POST_PROOF, GET_JOURNEY_RUNS, POST_DRY_RUN, POST_JOURNEY_RUN):
        yield from few_unknown_ids(operation, "journey")
        yield from operation.queries("a=1")
    for operation in (POST_PROOF, POST_DRY_RUN, POST_JOURNEY_RUN):
        yield operation.request("with a field", body={"now": True})
    for operation in (POST_DRY_RUN, POST_JOURNEY_RUN):
        yield operation.request()
        yield operation.with_ids(journey="{proven_journey}").request()
        yield from keys(operation)


def sample_group() -> Iterator[BadRequest]:
    for operation in (POST_REFRESH, POST_SAMPLE_PAGE, PATCH_SAMPLE_PAGE, PUT_DISPUTE):
        yield from bodies(operation, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
        yield from operation.fields({"colour": "red"})
    for operation in (PUT_RESULT, POST_REMAINING):
        yield from bodies(operation, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024)
        yield from operation.fields({"colour": "red"}, {"outcome": "passed"})
        yield from operation.values("result", *NON_STRING_VALUES, "", "Passed", "pass", "\ud800")
        yield from operation.values("note", *NON_STRING_VALUES, "a\u0000", "\ud800")
        yield operation.named_request("note: 10,001 characters", note="a" * 10_001)
        yield from operation.fields({"result": "failed", "note": ""}, {"result": "cannot_tell", "note": " "})
        for criterion in ("9.9.9", "2.4", "1.4.6", "x", "%00", "%F0%9F%92%A9", "2.4.3%0A"):
            yield operation.with_ids(criterion=criterion).request(body=operation.valid_body)
    yield from PUT_RESULT.values("version", None, True, -1, 1, 1.0, "0", 10**18, 10**30)
    yield from PUT_RESULT.fields({"version": REMOVED}, {"remedy": None}, {"remedy": "a\u0000"})
    for operation in (PATCH_SAMPLE_PAGE, DELETE_SAMPLE_PAGE, PUT_RESULT):
        for number in ("0", "-1", "01", "4", "x", "9" * 10, "9" * 30, "%00", "%D9%A1"):
            yield operation.with_ids(number=number).request(body=operation.valid_body or b"")
    for operation in (PUT_DISPUTE, DELETE_DISPUTE):
        for number in ("0", "-1", "01", "x", "9" * 18, "9" * 19, "9" * 30, "%00", "%D9%A1"):
            yield operation.with_ids(finding=number).request(body=operation.valid_body or b"")
    yield from PUT_DISPUTE.values("reason", *NON_STRING_VALUES, "", " ", "\n", "a\u0000", "\ud800")
    yield PUT_DISPUTE.named_request("reason: 501 characters", reason="a" * 501)
    for operation in (GET_SAMPLE, GET_ASSESSMENT_LOG):
        yield from pages(operation)
    yield from POST_REFRESH.values("audit", None, 5, "", "x", "{no_audit}", "{foreign_audit}", "{running_audit}")
    yield from POST_REFRESH.values("audit", "{audit_of_seo}", "{audit_elsewhere}")
    yield from POST_SAMPLE_PAGE.values("url", *FEW_BAD_URLS)
    yield from POST_SAMPLE_PAGE.values("name", *NON_STRING_VALUES, "a\u0000", "\ud800")
    yield POST_SAMPLE_PAGE.named_request("name: 201 characters", name="a" * 201)
    yield from POST_SAMPLE_PAGE.fields({"is_state": True}, {"is_state": 1}, {"is_state": None}, {"reason": "added"})
    yield POST_SAMPLE_PAGE.named_request("of the sample", url="{assessed_page}")
    yield from POST_SAMPLE_PAGE.fields({"url": OTHER_PAGE}, {"url": OTHER_PAGE, "name": "Cart", "is_state": True})
    yield from PATCH_SAMPLE_PAGE.values("name", *NON_STRING_VALUES, "a\u0000", "\ud800")
    yield PATCH_SAMPLE_PAGE.named_request("name: 201 characters", name="a" * 201)
    for operation in (GET_RESULTS, GET_ASSESSMENT_FINDINGS):
        yield from operation.queries("limit=0", "limit=101", "offset=-1", "page=0", "page=x", "page=", "page=4")
        yield from operation.queries(f"page={'9' * 10}", f"page={'9' * 30}", "page=%00", "page=%D9%A1")
    yield from GET_RESULTS.queries("criterion=", "criterion=9.9.9", "criterion=%00", "outcome=", "outcome=pass")
    yield from GET_ASSESSMENT_FINDINGS.queries("state=", "state=old", "disputed=", "disputed=1", "disputed=True")


def mutes_group() -> Iterator[BadRequest]:
    yield from bodies(POST_MUTE, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield POST_MUTE.request("{}", body={})
    yield from POST_MUTE.fields({"check": REMOVED}, {"host": REMOVED}, {"reason": REMOVED})
    yield from POST_MUTE.fields({"reason": REMOVED, "colour": "red"})
    yield from POST_MUTE.fields({"check": 5, "host": 5, "reason": 5}, {"check": "x", "reason": ""})
    yield from POST_MUTE.fields({"reason": "", "expires_at": 5})
    yield from POST_MUTE.values("check", None, 5, "", "HSTS", "hsts ", "no-such-check", "hsts\x00", "\ud800", ["hsts"])
    yield from POST_MUTE.values("check", "own-", "own-A", "own-a--b", "own-a\n", f"own-{'a' * 80}")
    yield from POST_MUTE.values(
        "host", *NON_STRING_VALUES, "", "https://example.com", "example.com/", "example.com?q", "#"
    )
    yield from POST_MUTE.values("host", "a b.com", "user@example.com", "example.com:22", "example.com:port", ":443")
    yield from POST_MUTE.values("host", "localhost", "10.0.0.1", "[::1]", "example..com", "a\\b", "\x00", "\ud800")
    yield from POST_MUTE.values("host", "*.example.com", "www.blocked.example.net", "example.com\n")
    yield POST_MUTE.named_request("host: 254 characters", host="a." * 125 + "comm")
    yield from POST_MUTE.values("path_prefix", True, 5, [], "shop", "*", " /shop", "/shop?page=2", "/shop#top", "/a\\b")
    yield from POST_MUTE.values("path_prefix", "/a\x00", "/\ud800", "?q", "https://example.com/shop")
    yield POST_MUTE.named_request("path_prefix: 1,001 characters", path_prefix="/" + "a" * 1000)
    yield POST_MUTE.named_request("path_prefix: 2,048 characters", path_prefix="/" + "a" * 2047)
    yield POST_MUTE.named_request("path_prefix: too long when encoded", path_prefix="/" + "ü" * 400)
    yield from POST_MUTE.values("fingerprint", True, 5, [], "", "x", "0123456789ABCDEF", "0123456789abcde")
    yield from POST_MUTE.values("fingerprint", "0123456789abcdef0", "0123456789abcdeg", "0123456789abcdef\n")
    yield from POST_MUTE.values(
        "reason", *NON_STRING_VALUES, "", " ", "\n", "a\x00", "a\x07", "a\ud800", "a\x85b", "a\rb"
    )
    yield POST_MUTE.named_request("reason: 501 characters", reason="a" * 501)
    yield from POST_MUTE.values("expires_at", True, 5, {}, "", "tomorrow", "2099-01-01", "2099-01-01T00:00:00")
    yield from POST_MUTE.values("expires_at", "2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2099-02-30T00:00:00Z")
    yield from POST_MUTE.values("expires_at", "2099-13-01T00:00:00Z", "2099-01-01T00:00:00Z\n", "2099-W01-1T00:00:00Z")
    yield from POST_MUTE.values("expires_at", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
    yield from POST_MUTE.values("expires_at", "\u0662\u0660\u0669\u0669-01-01T00:00:00Z")
    yield from POST_MUTE.fields({"path": "/shop"}, {"expires": None}, {"id": "{mute}"}, {"Check": "hsts"})
    yield from POST_MUTE.fields({"place": "a"}, {"by": "me"})
    yield POST_MUTE.request(query="?check=hsts", body=POST_MUTE.valid_body)
    yield from pages(GET_MUTES)
    yield from GET_MUTES.queries("checks=hsts", "Host=example.com", "fingerprint=0123456789abcdef", "check=hsts&x=1")
    yield from unknown_ids(GET_MUTE, "mute")
    yield GET_MUTE.with_ids(mute="{ended_mute}").request()
    yield from few_unknown_ids(DELETE_MUTE, "mute")
    yield DELETE_MUTE.with_ids(mute="{ended_mute}").request()
    yield from GET_MUTE.queries("a=1")
    yield from DELETE_MUTE.queries("a=1")


def maintenance_group() -> Iterator[BadRequest]:
    yield from bodies(POST_WINDOW, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield POST_WINDOW.request("{}", body={})
    yield from POST_WINDOW.fields({"name": REMOVED}, {"starts_at": REMOVED}, {"ends_at": REMOVED}, {"colour": "red"})
    yield from POST_WINDOW.values("name", *NON_STRING_VALUES, "", " ", "a\x00", "\ud800")
    yield POST_WINDOW.named_request("name: 101 characters", name="a" * 101)
    for name in ("starts_at", "ends_at"):
        yield from POST_WINDOW.values(name, None, 5, "", "tomorrow", "2099-01-01", "2099-02-30T00:00:00Z")
    yield from POST_WINDOW.values("ends_at", "2099-01-01T00:00:00Z", "2098-01-01T00:00:00Z", "2099-02-02T00:00:00Z")
    yield from POST_WINDOW.fields({"weekly": True, "ends_at": "2099-01-08T00:00:00Z"})
    yield from POST_WINDOW.values("weekly", None, "yes", 1)
    yield from POST_WINDOW.values("timezone", None, 5, "", "Mars/Olympus", "\x00")
    yield from POST_WINDOW.values("monitors", None, "x", {}, [5], [""], ["{no_monitor}"], ["{foreign_monitor}"])
    yield from POST_WINDOW.values("monitors", ["{monitor}", "\x00"], ["\ud800"])
    yield from POST_WINDOW.values("sites", None, "x", {}, [5], [""], ["https://example.com"], ["example.com/a"])
    yield from POST_WINDOW.values("sites", ["example.com", "a b"], ["a@example.com"], ["example.com?q"], ["\x00"])
    yield POST_WINDOW.named_request("sites: 101 hosts", sites=[f"www{number}.example.com" for number in range(101)])
    yield from bodies(PATCH_WINDOW, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield from PATCH_WINDOW.fields({"name": ""}, {"ends_at": "2000-01-01T00:00:00Z"}, {"colour": "red"})
    for operation in (GET_WINDOW, PATCH_WINDOW, DELETE_WINDOW):
        yield from unknown_ids(operation, "window")
    yield from pages(GET_WINDOWS)


def badges_group() -> Iterator[BadRequest]:
    yield from bodies(
        replace(POST_BADGE, valid_body={"page": PAGE}), COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES, kib=1024
    )
    yield POST_BADGE.request("{}", body={})
    yield from POST_BADGE.values(
        "page", *FEW_BAD_URLS[:8], "http://localhost/", True, {}, OTHER_PAGE + "never-scanned", NOWHERE
    )
    yield from POST_BADGE.values("page", "https://example.com/?q", "\ud800")
    for name, value in LONG_URLS.items():
        yield POST_BADGE.named_request(f"page: {name}", page=value)
    yield from POST_BADGE.values("monitor", *NON_STRING_VALUES, "", "x", "{no_monitor}", "{foreign_monitor}", "{scan}")
    yield from POST_BADGE.values("monitor", "{monitor}\n", "\x00", "\ud800")
    yield from POST_BADGE.fields({"monitor": "{monitor}", "page": PAGE}, {"monitor": None, "page": PAGE})
    yield from POST_BADGE.fields({"page": PAGE, "type": "seo"})
    yield from POST_BADGE.fields({"url": PAGE}, {"monitor_id": "{monitor}"}, {"Page": PAGE}, {"": 1})
    yield POST_BADGE.request(query="?type=seo", body={"page": PAGE})
    yield from pages(GET_BADGES)
    yield from GET_BADGES.queries("monitor={monitor}", "page=x")
    yield from unknown_ids(DELETE_BADGE, "badge")
    yield from DELETE_BADGE.queries("a=1")


def webhooks_group() -> Iterator[BadRequest]:
    yield from bodies(POST_WEBHOOK, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield POST_WEBHOOK.request("{}", body={})
    yield from POST_WEBHOOK.fields({"url": REMOVED}, {"events": REMOVED}, {"events": REMOVED, "colour": "red"})
    yield from urls(POST_WEBHOOK, "url", FEW_BAD_URLS)
    yield from POST_WEBHOOK.values("url", "https://private.example.com/", "https://rebound.example.com/")
    bad_events: tuple[object, ...] = (
        None,
        True,
        "scan.completed",
        {},
        [],
        [None],
        [5],
        [""],
        ["scan"],
        ["scan.*"],
        ["*"],
        ["Scan.Completed"],
    )
    yield from POST_WEBHOOK.values("events", *bad_events, ["scan.completed", "x"], [["scan.completed"]], [{}])
    yield from POST_WEBHOOK.values("events", ["scan.completed\x00"])
    formats = (*NON_STRING_VALUES, "", "Slack", "json", ["slack"], "\ud800")
    yield from POST_WEBHOOK.values("name", *NON_STRING_VALUES, "", " ", "x" * 101, "a\u202eb", "\ud800")
    yield from POST_WEBHOOK.values("format", *formats)
    yield from POST_WEBHOOK.fields({"url": 5, "events": 5}, {"events": [], "format": 5})
    yield from POST_WEBHOOK.fields({"url": "http://localhost/", "events": []})
    yield from POST_WEBHOOK.fields({"url": "http://localhost/", "format": 5}, {"url": "ftp://a/", "events": []})
    yield from POST_WEBHOOK.fields({"secret": "whsec_x"}, {"enabled": True}, {"id": "{webhook}"}, {"URL": PAGE})
    yield from POST_WEBHOOK.fields({"event": "scan.failed"})
    yield POST_WEBHOOK.request(query="?format=slack", body=POST_WEBHOOK.valid_body)
    yield POST_WEBHOOK.request("over the plan's number", body=POST_WEBHOOK.valid_body, caller="bare")
    yield from GET_WEBHOOKS.queries("limit=5", "offset=0", "enabled=true")

    yield from bodies(PATCH_WEBHOOK, COMMON_INVALID_BODIES, COMMON_INVALID_CONTENT_TYPES)
    yield PATCH_WEBHOOK.request("{}", body={})
    yield from PATCH_WEBHOOK.values("url", None, "", "ftp://a/", "http://localhost/", "https://private.example.com/")
    yield from PATCH_WEBHOOK.values("events", None, "scan.completed", [], [5], ["scan"])
    yield from PATCH_WEBHOOK.values("name", *NON_STRING_VALUES, "", " ", "x" * 101, "a\u202eb", "\ud800")
    yield from PATCH_WEBHOOK.values("format", None, 5, "Slack", ["slack"])
    yield from PATCH_WEBHOOK.values("enabled", None, 0, 1, "true", "", [], {})
    yield from PATCH_WEBHOOK.fields({"events": [], "format": 5}, {"url": "http://localhost/", "enabled": 5})
    yield from PATCH_WEBHOOK.fields({"enabled": 5, "format": 5})
    yield from PATCH_WEBHOOK.fields({"secret": "x"}, {"id": "{webhook}"}, {"Enabled": True})
    yield from PATCH_WEBHOOK.fields({"disabled_reason": None}, {"event": "x"})
    yield PATCH_WEBHOOK.request(query="?enabled=true", body={"enabled": True})
    yield from unknown_ids(PATCH_WEBHOOK, "webhook", body={"enabled": True})
    yield PATCH_WEBHOOK.with_ids(webhook="{no_webhook}").request("with a bad body", body={"enabled": 5})
    yield PATCH_WEBHOOK.with_ids(webhook="{no_webhook}").request("with no field", body={})
    for operation in (GET_WEBHOOK, DELETE_WEBHOOK):
        yield from few_unknown_ids(operation, "webhook")
        yield from operation.queries("a=1")


def deliveries_group() -> Iterator[BadRequest]:
    object_names = [name for name in COMMON_INVALID_BODIES if name != "no body"]
    for operation in (POST_TEST, POST_ROTATION):
        yield from bodies(replace(operation, valid_body={"a": 1}), object_names, COMMON_INVALID_CONTENT_TYPES)
        yield from few_unknown_ids(operation, "webhook")
        yield operation.with_ids(webhook="{no_webhook}").request("with an unknown field", body={"a": 1})
        yield from operation.queries("a=1")
    yield from POST_TEST.values("event", True, 5, [], {}, "", "scan", "Scan.Completed", ["scan.completed"], "\ud800")
    yield from POST_TEST.fields({"events": ["scan.completed"]}, {"kind": "scan.completed"})
    yield from POST_TEST.fields({"event": "x", "colour": "red"})
    yield POST_TEST.with_ids(webhook="{no_webhook}").request("with a bad event", body={"event": "x"})
    yield POST_TEST.with_ids(webhook="{disabled_webhook}").request()
    yield POST_TEST.with_ids(webhook="{disabled_webhook}").request("with a bad event", body={"event": "x"})
    yield from POST_ROTATION.values("immediately", None, 0, 1, "true", "", [], {})
    yield from POST_ROTATION.fields({"immediate": True}, {"secret": "whsec_x"}, {"Immediately": True})
    yield POST_ROTATION.with_ids(webhook="{no_webhook}").request("with a bad body", body={"immediately": 5})
    yield POST_ROTATION.with_ids(webhook="{rotated_webhook}").request()
    yield from pages(GET_DELIVERIES)
    yield from GET_DELIVERIES.queries(
        *(f"status={status}" for status in ("", "x", "Failed", "sent", "failed%00", "%FF"))
    )
    kinds = ("", "scan", "SCAN.FAILED", "scan.failed,scan.partial")
    yield from GET_DELIVERIES.queries(*(f"event={kind}" for kind in kinds))
    invalid_times = ("", "x", "2026-11-21", "2026-11-21T07:15:00", "1795267118", "2026-02-30T00:00:00Z", "-1")
    more_invalid_times = ("0001-01-01T00:00:00+14:00", "2026-11-21T07:15:00Z ", "2026-11-21T07:15:00Z\0")
    yield from GET_DELIVERIES.queries(*(f"since={quote(time)}" for time in (*invalid_times, *more_invalid_times)))
    yield from GET_DELIVERIES.queries("since=2026-11-21T07:15:00+01:00")  # A plus sign in a query string means a space.
    yield from GET_DELIVERIES.queries("until=2026-11-21T07:15:00Z", "type=seo", "events=scan.failed", "limit=0&since=x")
    yield from few_unknown_ids(GET_DELIVERIES, "webhook")
    yield GET_DELIVERIES.with_ids(webhook="{no_webhook}").request(query="?since=x")
    yield from few_unknown_ids(POST_REPLAY, "webhook")
    yield from unknown_ids(POST_REPLAY, "delivery")
    yield POST_REPLAY.with_ids(delivery="{other_delivery}").request()
    yield POST_REPLAY.with_ids(webhook="{disabled_webhook}", delivery="{held_delivery}").request()
    yield POST_REPLAY.request("with a field", body={"now": True})
    yield POST_REPLAY.request("a list", body=b"[]")
    yield from POST_REPLAY.queries("a=1")


OPERATIONS = tuple(value for value in tuple(globals().values()) if isinstance(value, Operation))


def callers_group() -> Iterator[BadRequest]:
    for operation in {operation.name: operation for operation in OPERATIONS}.values():
        yield operation.request("without a key", body=operation.valid_body or b"", caller="nobody")
    headers = (
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Token {key}",
        "Basic {key}",
        "{key}",
        "Bearer{key}",
        "Bearer: {key}",
    )
    more_headers = (
        "Bearer {key}x",
        "Bearer x{key}",
        "Bearer {key} {key}",
        "Bearer,{key}",
        "Bearer \u00fc",
        "Bearer {key}\0",
    )
    for header in (*headers, *more_headers):
        yield GET_USAGE.request(f"with {json.dumps(header)}", headers={"Authorization": header})
    yield GET_USAGE.request("with a key of 10,000 characters", headers={"Authorization": "Bearer wss_" + "a" * 10_000})
    yield GET_USAGE.request("with an unknown key", headers={"Authorization": "Bearer {unknown_key}"})
    for caller in ("revoked", "expired", "replaced"):
        yield GET_USAGE.request(f"with a key that is {caller}", caller=caller)
        yield POST_SCAN.request(f"with a key that is {caller}, and a bad body", body=b"x", caller=caller)
    yield GET_USAGE.request("too often", caller="hurried")
    yield POST_SCAN.request("too often, with a bad body", body=b"x", caller="hurried")
    run_operations = (POST_LIST_RUN, DELETE_LIST_RUN, POST_ENTRY_SCAN, POST_JOURNEY_RUN, POST_DRY_RUN)
    for operation in (POST_SCAN, POST_AUDIT, DELETE_AUDIT, *run_operations):
        yield operation.request("to read only", body=operation.valid_body or b"", caller="reader")
    yield POST_SCAN.request("to read only, with a bad body", body=b"x", caller="reader")
    monitor_operations = (POST_MONITOR, PATCH_MONITOR, DELETE_MONITOR, POST_RUN)
    list_operations = (
        POST_LIST,
        PATCH_LIST,
        DELETE_LIST,
        PUT_ENTRIES,
        POST_ENTRIES,
        DELETE_ENTRIES,
        PATCH_ENTRY,
        DELETE_ENTRY,
    )
    journey_operations = (POST_JOURNEY, PATCH_JOURNEY, DELETE_JOURNEY, POST_PROOF)
    for operation in (*list_operations, POST_SHARE, DELETE_SHARE, *journey_operations):
        yield operation.request("to scan only", body=operation.valid_body or b"", caller="scanner")
    for operation in (*monitor_operations, POST_MUTE, DELETE_MUTE, POST_BADGE, DELETE_BADGE, *CHANGES_OF_ASSESSMENTS):
        yield operation.request("to scan only", body=operation.valid_body or b"", caller="scanner")
    for operation in (POST_WEBHOOK, PATCH_WEBHOOK, DELETE_WEBHOOK, POST_TEST, POST_ROTATION, POST_REPLAY):
        yield operation.request("to scan only", body=operation.valid_body or b"", caller="scanner")
        yield operation.request("to read only", body=operation.valid_body or b"", caller="reader")


def paths_group() -> Iterator[BadRequest]:
    paths = sorted({operation.path for operation in OPERATIONS})
    for path in paths:
        yield Operation("PUT", path).request()
        if "{" not in path:
            yield Operation("GET", f"{path}/").request()
    for method in ("GET", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        yield replace(POST_SCAN, method=method).request()
    for operation in (GET_SCANS, GET_SCAN, GET_REPORT, GET_USAGE, GET_RUNS, GET_DELIVERIES):
        yield replace(operation, method="DELETE").request()
    for path in ("/v1", "/v1/", "/api", "/v1/nothing", "/api/scans", "/v1/webhooks", "/v1//scans", "/v1/SCANS"):
        yield Operation("GET", path).request()
    for path in ("/v1/report", "/v1/report/{scan}/nothing", "/v1/report/{scan}/export/xml", "/v1/%00"):
        yield Operation("GET", path).request()
    yield Operation("POST", "/v1/nothing").request("with a bad body", body=b"x")
    yield Operation("GET", "/v1/nothing").request(query="?a=1")
    yield Operation("GET", "/v1/nothing").request("without a key", caller="nobody")
    yield Operation("GET", "/v1/nothing").request("with a key that is revoked", caller="revoked")
    yield Operation("POST", "/v1/nothing").request("to read only", caller="reader")
    yield Operation("PUT", "/v1/scans").request("to read only", caller="reader")
    yield Operation("PUT", "/v1/scans").request(query="?a=1")


GROUPS: Mapping[str, tuple[BadRequest, ...]] = {
    group.__name__.removesuffix("_group"): tuple(group())
    for group in (
        *(scan_group, scans_group, report_group, audits_group, audit_group, monitors_group, monitor_group),
        *(lists_group, list_group, entries_group, assessments_group, assessment_group, sample_group),
        *(journeys_group, journey_group),
        *(mutes_group, maintenance_group, badges_group, webhooks_group, deliveries_group, callers_group, paths_group),
    )
}


def send(bad_request: BadRequest, cast: Cast) -> dict[str, Any]:
    """Send the request and return its response.

    The response consists of status, error body and Allow header. IDs, times and ports are masked.
    """
    body = bad_request.body if isinstance(bad_request.body, bytes) else cast.fill(json.dumps(bad_request.body)).encode()
    headers = {name: cast.fill(value) for name, value in bad_request.headers.items()}
    response = cast.callers[bad_request.caller].call(
        bad_request.method, cast.fill(bad_request.path), body, bad_request.content_type, **headers
    )
    if response.status_code < 400 or response.headers["Content-Type"] != "application/json":
        return {"status": response.status_code, "content": cast.mask(response.getvalue().decode(errors="replace"))}
    content = {name: cast.mask(value) if isinstance(value, str) else value for name, value in response.json().items()}
    allow = {"allow": response["Allow"]} if response.status_code == 405 else {}
    return {"status": response.status_code, **content, **allow}


def make_cast(monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Create two organizations with objects and API clients.

    The clients have different keys and limits.
    """
    BlockedDomain.objects.create(domain="blocked.example.net")
    home, other = _member("Home", requests_per_minute=100_000), _member("Stranger")
    person_of(home, "owner", "ada@example.com")
    person_of(other, "owner", "eve@example.net")
    callers = {
        "home": home.api,
        "nobody": Api(),
        "free": member_of("Free").api,
        "bare": _member("Bare", **dict.fromkeys(NO_LIMITS, 0)).api,
        "placeless": _member("Placeless", concurrent_scans=0).api,
        "hurried": _member("Hurried", requests_per_minute=0).api,
    }
    now = timezone.now()
    for scope, name in ((Scope.READ, "reader"), (Scope.SCAN, "scanner")):
        callers[name] = Api(create_api_key(organization=home.organization, name=name, scope=scope)[1])
    for name in ("revoked", "expired", "replaced"):
        key, plaintext = create_api_key(organization=home.organization, name=name)
        callers[name] = Api(plaintext)
        if name == "replaced":
            FormerKey.objects.create(key=key, prefix=key.prefix, digest=key.digest, expires_at=now)
            ApiKey.objects.filter(id=key.id).update(digest=mint().digest)
        else:
            ApiKey.objects.filter(id=key.id).update(**{"revoked_at" if name == "revoked" else "expires_at": now})
    names = _create_objects(home) | {f"foreign_{name}": value for name, value in _create_objects(other).items()}
    names |= {"key": home.plaintext, "unknown_key": mint().plaintext}
    prefixes = {
        "audit": "aud",
        "monitor": "mon",
        "badge": "bdg",
        "window": "mnt",
        "webhook": "wh",
        "delivery": "dlv",
        "report": "rpt",
    }
    prefixes |= {"window": "mnt", "list": "lst", "assessment": "asm", "entry": "ent", "share": "shr", "snapshot": "run"}
    names |= {f"no_{kind}": new_id(prefixes.get(kind, kind)) for kind in (*KINDS, "report")}
    _create_idempotency_keys(home)
    monkeypatch.setattr(client, "SystemResolver", lambda _: Names(ADDRESSES))
    return Cast(callers, names)


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return all stored rows by model.

    API keys are left out, because each request updates their last use.
    """
    apps_with_rows = ("accounts", "reports", "scans", "sites", "webhooks")
    models = [
        model for label in apps_with_rows for model in apps.get_app_config(label).get_models() if model is not ApiKey
    ]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def _member(name: str, **columns: Any) -> Member:
    """Create an organization with its own plan."""
    limits: dict[str, Any] = {
        "requests_per_minute": 1_000,
        "pages_per_audit": 2_000,
        "shortest_interval": "hour",
        "schedules": 20,
    }
    limits |= {"lists": 20, "list_entries": 6, "assessments": 20, "journeys": 20}
    values = {"scans_per_month": 10_000, "concurrent_scans": 50, "webhooks": 20} | limits | columns
    Tier.objects.create(name=name.lower(), **values)
    return member_of(name, name.lower())


def _create_objects(member: Member) -> dict[str, str]:
    """Create objects of each kind, and return their IDs by name."""
    now, ninety_days_from_now = timezone.now(), timedelta(days=90)
    scan = finished_scan(member, url=PAGE)
    expired = finished_scan(member, age=ninety_days_from_now, url=PAGE)
    objects: dict[str, Any] = {
        "scan": scan,
        "report": scan.report,
        "scan_of_seo": finished_scan(member, type="seo", url=PAGE),
        "scan_elsewhere": finished_scan(member, url=OTHER_PAGE),
        "queued_scan": make_scan(member),
        "scanning_scan": make_scan(member, status=Scan.Status.SCANNING),
        "failed_scan": make_scan(member, status=Scan.Status.FAILED, error_code="TIMEOUT", error_message="Too slow."),
        "expired_scan": expired,
        "audit": make_audit(member, status="completed", completed_at=now),
        "running_audit": make_audit(member, status="running"),
        "queued_audit": make_audit(member, status="queued"),
        "expired_audit": make_audit(
            member, status="completed", completed_at=now - ninety_days_from_now, created_at=now - ninety_days_from_now
        ),
        "monitor": make_monitor(member),
        "busy_monitor": make_monitor(member),
        "monitor_of_site": make_monitor(member, kind="site", discover=["links"], max_pages=5),
        "weekly_monitor": make_monitor(member, every="week", at="06:00", day=1),
        "list": make_list(member, **credential_columns(parse_credentials({"headers": {"X-Key": "a"}}))),
        "empty_list": make_list(member),
        "running_list": make_list(member),
    }
    objects["entry"] = make_entry(objects["list"], PAGE)
    for url in (PAGE, OTHER_PAGE):
        make_entry(objects["running_list"], url)
    for run, status in (("snapshot", "completed"), ("running_run", "running")):
        run_fields = {"types": ["seo"], "pages_per_entry": 1, "window_hours": 0, "entries": 1, "status": status}
        owner = objects["list" if run == "snapshot" else "running_list"]
        ended_at = now if status == "completed" else None
        objects[run] = ListRun.objects.create(site_list=owner, ended_at=ended_at, **run_fields)
    objects["share"] = ListShare.objects.create(site_list=objects["list"])
    MonitorRun.objects.create(monitor=objects["busy_monitor"], due_at=now, not_before=now)
    objects["run"] = MonitorRun.objects.create(monitor=objects["monitor"], due_at=now, not_before=now, status="done")
    objects["window"] = MaintenanceWindow.objects.create(
        organization=member.organization, name="Deployment", starts_at=now, ends_at=now + timedelta(hours=1)
    )
    objects["badge"] = Badge.objects.create(organization=member.organization, monitor=objects["monitor"])
    event = Event.objects.create(organization=member.organization, kind="scan.completed", body=b"{}", scan=scan)
    for webhook, delivery in (
        ("webhook", "delivery"),
        ("rotated_webhook", "other_delivery"),
        ("disabled_webhook", "held_delivery"),
    ):
        objects[webhook] = Webhook.objects.create(
            organization=member.organization,
            url="https://hooks.example.com/",
            receiver="hooks.example.com:443",
            events=["scan.completed"],
            encrypted_secret=b"",
            enabled=webhook != "disabled_webhook",
        )
        objects[delivery] = Delivery.objects.create(webhook=objects[webhook], event=event)
    for _ in range(MAX_FORMER_SECRETS):
        FormerSecret.objects.create(
            webhook=objects["rotated_webhook"], encrypted_secret=b"", expires_at=now + ninety_days_from_now
        )
    objects |= _create_assessments(member)
    objects["journey"] = make_journey(member, is_proven=False)
    objects["proven_journey"] = make_journey(member, secrets={})
    names = {name: created.id for name, created in objects.items()}
    names["assessed_page"] = f"{MUSEUM}/"
    for name, check_id in (("mute", "hsts"), ("ended_mute", "clickjacking")):
        body = {"check": check_id, "host": "muted.example.com", "reason": "Not ours."}
        names[name] = member.api.post("/v1/mutes", body).json()["id"]
    member.api.delete(f"/v1/mutes/{names['ended_mute']}")
    return names


def _create_assessments(member: Member) -> dict[str, Any]:
    audit = museum_audit(member)
    objects: dict[str, Any] = {
        "assessed_audit": audit,
        "assessment": assess(member, audit),
        "finished_assessment": assess(member, audit),
    }
    finished = objects["finished_assessment"]
    Assessment.objects.filter(id=finished.id).update(status="finished", finished_at=timezone.now())
    passed = (check("image-alt", "pass"),)
    objects["audit_elsewhere"] = audit_of(member, {"/": passed}, url="https://gallery.example.com/")
    objects["audit_of_seo"] = make_audit(member, types=["seo"], status="completed", completed_at=timezone.now())
    return objects


def _create_idempotency_keys(home: Member) -> None:
    """Create a scan, an audit, a monitor and a list with idempotency keys."""
    with override_settings(SCAN_ALLOWED_NETWORKS=(ip_network("127.0.0.0/8"),)), listening() as port:
        page = f"http://127.0.0.1:{port}/"
        for name, path, body in (
            ("scan", "/v1/scan", {"url": page, "type": "seo"}),
            ("audit", "/v1/audits", {"page": page, "types": ["seo"]}),
            ("monitor", "/v1/monitors", {"page": page, "every": "day"}),
            ("list", "/v1/lists", {"name": "Towns"}),
        ):
            response = home.api.post(path, body, Idempotency_Key=f"used-for-{name}")
            assert response.status_code in (201, 202), response.content
