"""Corpus of hundreds of requests that the API refuses, with the exact answers in bad_requests.json.

If an answer is meant to change, record the answers again and read the diff:

    RECORD=1 .venv/bin/python -m pytest -n 0 tests/test_bad_requests.py

An entry's name describes its request. `{scan}` and the like in paths, headers and bodies stand for IDs of the cast.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.test import override_settings
from django.utils import timezone

from accounts.keys.minting import mint
from accounts.keys.services import create_api_key
from accounts.models import ApiKey, FormerKey, Tier
from infrastructure.api.scopes import Scope
from scans.models import BlockedDomain, Scan, sealed
from sites.models import Badge, ListRun, ListShare, MonitorRun
from tests.factories import Api, Member, finished_scan, listening, make_scan, member_of, person_of
from tests.populated_audits import make_audit
from tests.populated_monitors import make_monitor
from tests.sites.lists.cast import make_entry, make_list
from tests.website_scan.net.seams import PUBLIC, Names
from webhooks.models import Delivery, Event, FormerSecret, Webhook
from webhooks.services import MAX_FORMER_SECRETS
from website_scan.ids import new_id
from website_scan.net import client
from website_scan.net.credentials import parse as parse_credentials

ANSWERS = Path(__file__).with_suffix(".json")
LONGEST_ERROR = 2_000
PAGE, OTHER_PAGE = "https://example.com/", "https://example.org/"
# DNS answers; all other names do not resolve.
RESOLVED = {
    "private.example.com": ("10.0.0.1",),
    "rebound.example.com": (PUBLIC, "127.0.0.1"),
    "hooks.example.com": (PUBLIC,),
}
# Times to mask, except the time that messages give as an example.
TIME = re.compile(r"\b(?!2026-11-21T07:15:00Z)\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?\b")
ID = re.compile(r"\b(scan|rpt|aud|mon|mute|bdg|lst|ent|shr|wh|evt|dlv|whsec|wss)_[0-9A-Za-z+/=]{22,}")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


# Value that removes a field from the good body.
LEFT_OUT = object()


@dataclass(frozen=True, slots=True)
class Bad:
    """Request that is refused. `body` is a JSON value, or bytes that are sent unchanged; `caller` names a client."""

    name: str
    method: str
    path: str
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    caller: str = "home"


@dataclass(frozen=True, slots=True)
class Cast:
    """Callers and IDs for the requests: `{name}` in a request stands for `names[name]`."""

    callers: Mapping[str, Api]
    names: Mapping[str, str]

    def fill(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def mask(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(value, f"{{{name}}}")
        text = ID.sub(r"\1_…", text)
        text = PORT.sub("…", TIME.sub("…", text))
        return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}… ({len(text)} characters)"


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the API: method, path, and a valid body if it takes one."""

    method: str
    path: str
    good: Mapping[str, Any] = field(default_factory=dict)
    noun: str = ""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def bad(self, name: str = "", query: str = "", **request: Any) -> Bad:
        """Return a request whose name consists of the operation, the query and `name`."""
        words = filter(None, (f"{self.name}{query}", self.noun, name))
        return Bad(" ".join(words), self.method, self.path + query, **request)

    def fields(self, *changes: Mapping[str, Any]) -> Iterator[Bad]:
        """Yield requests with the good body changed, named by the change. `a.b` is the field b of the object a."""
        for change in changes:
            yield self.bad(json.dumps(change, default=lambda _: "(left out)"), body=changed(self.good, change))

    def values(self, place: str, *values: object) -> Iterator[Bad]:
        """Yield requests with one field set to each of these values."""
        for value in values:
            yield from self.fields({place: value})

    def long(self, label: str, /, **change: Any) -> Bad:
        """Return a request with a change that is too long for a name; `label` is the name instead."""
        return self.bad(label, body=changed(self.good, change))

    def queries(self, *queries: str) -> Iterator[Bad]:
        for query in queries:
            yield self.bad(query=f"?{query}")

    def at(self, **ids: str) -> Operation:
        """Return the operation with other IDs in the path, such as `at(monitor="{no_monitor}")`."""
        path = self.path
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", value)
        return replace(self, path=path)


def changed(body: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the body with these fields; missing objects on a path such as `a.b` are created."""
    copy: dict[str, Any] = json.loads(json.dumps(body))
    for place, value in change.items():
        *outer, last = place.split(".") if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", place) else [place]
        inner = copy
        for name in outer:
            inner = inner.setdefault(name, {})
        if value is LEFT_OUT:
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
GET_REPORT_MUTES = Operation("GET", "/v1/report/{scan}/mutes")
POST_AUDIT = Operation("POST", "/v1/audits", {"page": PAGE})
POST_PAGES = Operation("POST", "/v1/audits", {"pages": [PAGE]}, "of a list")
POST_SITE = Operation("POST", "/v1/audits", {"site": PAGE}, "of a site")
GET_AUDITS = Operation("GET", "/v1/audits")
GET_AUDIT = Operation("GET", "/v1/audits/{audit}")
DELETE_AUDIT = Operation("DELETE", "/v1/audits/{audit}")
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
GET_SNAPSHOT_JSONL = Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/jsonl")
GET_ADOPTION = Operation("GET", "/v1/lists/{list}/adoption")
GET_SHARES = Operation("GET", "/v1/lists/{list}/shares")
POST_SHARE = Operation("POST", "/v1/lists/{list}/shares", {"table": False})
DELETE_SHARE = Operation("DELETE", "/v1/lists/{list}/shares/{share}")
POST_MUTE = Operation("POST", "/v1/mutes", {"check": "hsts", "host": "example.com", "reason": "Not ours."})
GET_MUTES = Operation("GET", "/v1/mutes")
GET_MUTE = Operation("GET", "/v1/mutes/{mute}")
DELETE_MUTE = Operation("DELETE", "/v1/mutes/{mute}")
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

# Values of all JSON types except strings.
NO_STRINGS: tuple[Any, ...] = (None, True, 5, [], {})
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
    # Pythons write addresses that carry others in two ways, so none is here.
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
FEW_OBJECTS = ("no body", "JSON that is cut off", "null", "a list", "NaN")
CONTENT_TYPES = ("", "text/plain", "text/json", "application/x-www-form-urlencoded", "application/xml", "json", "*/*")
FEW_CONTENT_TYPES = ("text/plain", "multipart/form-data; boundary=x")
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
    "webhook",
    "delivery",
    "list",
    "entry",
    "share",
    "snapshot",
)


def bodies(operation: Operation, names: Iterable[str], content_types: Iterable[str], kib: int = 64) -> Iterator[Bad]:
    """Yield requests whose body is not a JSON object, has a wrong type or encoding, or is too large."""
    for name in names:
        yield operation.bad(name, body=OBJECTS[name])
    for content_type in content_types:
        yield operation.bad(f"as {content_type or 'no type'}", body=operation.good, content_type=content_type)
    yield operation.bad("compressed", body=operation.good, headers={"Content-Encoding": "gzip"})
    yield operation.bad(f"over {kib} KiB", body=b"{" + b" " * (kib * 1024 - 1) + b"}")


def pages(
    operation: Operation, limits: Iterable[str] = FEW_LIMITS, offsets: Iterable[str] = FEW_OFFSETS
) -> Iterator[Bad]:
    """Yield requests with invalid parameters of pagination."""
    yield from operation.queries(*(f"limit={each}" for each in limits), *(f"offset={each}" for each in offsets))
    yield from operation.queries("page=2", "limit=0&offset=-1", "limit=0&x=1")


def strangers(operation: Operation, kind: str, *, body: object = b"") -> Iterator[Bad]:
    """Yield requests with unknown IDs, IDs of another organization or kind, and malformed IDs."""
    others = "audit" if kind == "scan" else "scan"
    for value in (
        *(f"{{no_{kind}}}", f"{{foreign_{kind}}}", f"{{{others}}}", "x", "%00", "%F0%9F%92%A9"),
        f"{{{kind}}}%0A",
    ):
        yield operation.at(**{kind: value}).bad(body=body)


def few_strangers(operation: Operation, kind: str, *, body: object = b"") -> Iterator[Bad]:
    """Yield a few requests like those of `strangers`."""
    for value in (f"{{no_{kind}}}", f"{{foreign_{kind}}}", f"{{{kind}}}%00"):
        yield operation.at(**{kind: value}).bad(body=body)


def keys(operation: Operation) -> Iterator[Bad]:
    """Yield requests with Idempotency-Keys that are invalid, or were used for another request."""
    for name, value in {"empty": "", "of 256 characters": "k" * 256, "with NUL": "a\0b"}.items():
        yield operation.bad(f"with a key {name}", body=operation.good, headers={"Idempotency-Key": value})
    for used in ("scan", "audit", "monitor", "list"):
        key = {"Idempotency-Key": f"used-for-{used}"}
        yield operation.bad(f"with the key of another {used}", body=operation.good, headers=key)
    yield operation.bad("with a key and no body", headers={"Idempotency-Key": "used-for-scan"})
    yield operation.bad("with an empty key and no field", body={}, headers={"Idempotency-Key": ""})


def urls(operation: Operation, place: str, values: Iterable[Any]) -> Iterator[Bad]:
    yield from operation.values(place, *values)
    for name, value in LONG_URLS.items():
        yield operation.long(f"{place}: {name}", **{place: value})


def credentials(operation: Operation) -> Iterator[Bad]:
    """Yield requests with headers and cookies that may not be sent to a target."""
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
    unusable: tuple[tuple[object, object], ...]
    unusable = (("a:b", "c"), ("", ""), ("a\n", "b"), ("a", "b\0"), (None, "a"), ("a", 5), ("\ud800", ""))
    for username, word in unusable:
        yield from operation.values("request.basic_auth", {"username": username, "password": word})
    both = {"headers": {"authorization": "Bearer a"}, "basic_auth": {"username": "a", "password": "b"}}
    yield operation.long("request: two authorizations", request=both)
    yield operation.long("request: 21 headers", request={"headers": {f"X-{n}": "a" for n in range(21)}})
    ten = {f"a{n}": "b" for n in range(10)}
    yield operation.long("request: 11 headers, 10 cookies", request={"headers": {**ten, "X": "y"}, "cookies": ten})
    yield operation.long("request: a value of 4 KiB", request={"headers": {"X-Key": "a" * 4096}})
    yield operation.long("request: a name of 4 KiB", request={"cookies": {"a" * 4097: ""}})
    yield operation.long(
        "request: a password of 4 KiB", request={"basic_auth": {"username": "a", "password": "b" * 4096}}
    )
    large = {f"X-{n}": "a" * 4000 for n in range(5)}
    yield operation.long("request: 20 KiB in all", request={"headers": large})


def some(bads: Iterable[Bad], most: int = 1) -> Iterator[Bad]:
    """Yield the first `most` requests of each field."""
    met: Counter[str] = Counter()
    for bad in bads:
        place = bad.name.partition(": ")[0].replace("'", "").replace('"', "")
        met[place] += 1
        if met[place] <= most:
            yield bad


def of_audit(operation: Operation) -> Iterator[Bad]:
    """Yield requests with bad values of the fields that audits and monitors share; the good body has a page."""
    site = replace(operation, good=changed(operation.good, {"page": LEFT_OUT, "site": PAGE}), noun="of a site")
    pages_alone = changed(operation.good, {"page": LEFT_OUT, "pages": [PAGE]})
    listed = replace(operation, good=pages_alone, noun="of a list")
    yield from operation.fields({"page": LEFT_OUT}, {"site": PAGE}, {"pages": [PAGE]}, {"page": None, "site": PAGE})
    yield from operation.fields({"discover": ["links"]}, {"max_pages": 1}, {"include": ["/a"]}, {"exclude": []})
    yield from listed.fields({"max_pages": 1}, {"include": None}, {"site": PAGE})
    yield from operation.values("types", True, "seo", [], [None], ["SEO"], ["seo", "speed"], [["seo"]])
    yield from site.values("discover", True, "links", {}, [], [None], ["Links"], ["links", "guess"])
    yield from site.values("max_pages", True, 0, -1, 1.0, 1.5, "10", [], 3_000, 10**18, 1e300)
    for name in ("exclude", "include"):
        yield from site.values(name, 5, "/docs/*", {}, [None], [""], ["docs/*"], ["https://example.com/a"])
        yield from site.values(name, ["/a\u0000"], ["/\ud800"], ["/a", ["/b"]], ["/a", "b"])
        yield site.long(f"{name}: a pattern of 501 characters", **{name: ["/" + "a" * 500]})
        yield site.long(f"{name}: 51 patterns", **{name: [f"/{n}" for n in range(51)]})
    yield from urls(operation, "page", FEW_BAD_URLS)
    yield from site.values("site", None, "", "ftp://example.com/", "https://example.com:22/", "http://localhost/")
    yield from listed.values("pages", None, True, 5, PAGE, {}, [], {"0": PAGE})
    for one in ("", "ftp://example.com/", "https://user:secret@example.com/", "http://localhost/", "\ud800"):
        yield from listed.values("pages", [PAGE, one])
    yield from listed.values("pages", [PAGE, [PAGE]], [5, PAGE, None, PAGE, "http://localhost/"])
    yield listed.long("pages: 25 that are bad", pages=[f"ftp://example.com/{n}" for n in range(25)])
    yield listed.long("pages: 1,001 of them", pages=[f"{PAGE}{n}" for n in range(1001)])
    yield listed.long("pages: 2,001 of them", pages=[PAGE] * 2001)
    yield listed.long("pages: a URL of 2,049 characters", pages=[PAGE, PAGE + "a" * 2048])
    yield from listed.fields({"pages": [PAGE, OTHER_PAGE], "request": {"headers": {"X-Key": "a"}}})
    yield from listed.fields({"pages": [PAGE, "http://example.com/"], "request": {"cookies": {"a": "b"}}})
    yield from operation.fields({"page": "ftp://a/", "types": []}, {"page": 5, "types": 5})
    yield from operation.fields({"page": "http://localhost/", "types": []})
    yield from operation.fields({"page": "http://localhost/", "request": []}, {"types": [], "request": []})
    yield from site.fields({"site": "http://localhost/", "max_pages": 0}, {"site": "ftp://a/", "discover": []})
    yield from site.fields({"max_pages": 0, "discover": []}, {"include": 5, "exclude": 5, "max_pages": 0})
    yield operation.long("page: nowhere", page=NOWHERE)
    yield site.long("site: nowhere", site=NOWHERE)
    yield operation.long("page: private when resolved", page="https://private.example.com/")


def of_monitor(operation: Operation) -> Iterator[Bad]:
    """Yield requests with bad values of the fields that only monitors have."""
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
    yield operation.long("name: 101 characters", name="a" * 101)
    yield from operation.values("alert", None, True, "high", [], {"new": "high"}, {"New_findings": "high"}, {"": 1})
    # Lone surrogates, which no answer can hold.
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
    yield from operation.values("notify.emails", ["eve@example.net"], [" ada@example.com"], ["ada@example.com\u0000"])
    yield operation.long("notify.emails: 51 of them", notify={"emails": ["ada@example.com"] * 51})
    yield from operation.values("notify.webhooks", None, 1, "true", [])
    yield from operation.fields({"name": "", "every": "daily"}, {"alert": 5, "notify": 5})
    yield from operation.fields({"paused": 5, "timezone": ""})
    yield from operation.fields({"schedule": "daily"}, {"Every": "day"}, {"enabled": True}, {"pause": True})


def scan_group() -> Iterator[Bad]:
    yield from bodies(POST_SCAN, OBJECTS, CONTENT_TYPES)
    yield POST_SCAN.bad("with fields of a form", body=b"url=a&type=seo", content_type="multipart/form-data; boundary=x")
    yield POST_SCAN.bad(
        "in UTF-16 by its type", body='{"url": 1}'.encode("utf-16"), content_type="application/json; charset=utf-16"
    )
    yield POST_SCAN.bad("{}", body={})
    yield from POST_SCAN.fields({"url": LEFT_OUT}, {"type": LEFT_OUT}, {"url": LEFT_OUT, "type": LEFT_OUT, "a": 1})
    yield from urls(POST_SCAN, "url", BAD_URLS)
    yield POST_SCAN.long("url: nowhere", url=NOWHERE)
    yield from POST_SCAN.values("type", *NO_STRINGS, "", "SEO", " seo", "seo\n", "speed", "all", ["seo"], "\ud800")
    yield from POST_SCAN.values("type", "\u0455eo")
    yield POST_SCAN.long("type: 60,000 characters", type="seo" * 20_000)
    yield from POST_SCAN.fields({"url": 5, "type": 5}, {"url": "ftp://a/", "type": "speed"})
    yield from POST_SCAN.fields({"url": "http://localhost/", "type": "speed"})
    yield from POST_SCAN.fields({"type": "speed", "request": []}, {"url": "http://localhost/", "request": []})
    yield from POST_SCAN.fields({"a": 1}, {"types": ["seo"]}, {"URL": PAGE}, {"": 1}, {"a\x00": 1}, {"\ud800": 1})
    yield from POST_SCAN.fields({"ü": 1, "url": 5})
    yield POST_SCAN.long("a field of 1,000 characters", **{"a" * 1000: 1})
    yield POST_SCAN.bad(query="?url=https://example.com/", body=POST_SCAN.good)
    yield POST_SCAN.bad(query="?dry_run=1", body=b"")
    yield from keys(POST_SCAN)
    yield from credentials(POST_SCAN)
    yield POST_SCAN.bad("without quota", body=POST_SCAN.good, caller="bare")
    yield POST_SCAN.bad("without a place", body=POST_SCAN.good, caller="placeless")


def scans_group() -> Iterator[Bad]:
    yield from pages(GET_SCANS, LIMITS, OFFSETS)
    for name in ("status", "type"):
        values = ("", "x", "all", "completed,failed", "COMPLETED", "SEO", "seo%00", "%ED%A0%80", "seo%20", "%FF")
        yield from GET_SCANS.queries(*(f"{name}={each}" for each in values))
        yield from GET_SCANS.queries(f"{name}[]=seo", f"{name.upper()}=seo", f"{name}=seo&{name}=")
    yield from GET_SCANS.queries("status=seo&type=failed", "limit=0&status=x", "statsu=failed", "=1", "%00=1")
    yield from GET_SCANS.queries("%F0%9F%92%A9=1")
    yield from GET_SCANS.queries("a=1&limit=0", f"{'a' * 100}=1", "limit")
    yield from GET_USAGE.queries("period=2026-01", "limit=5", "limit")
    yield from strangers(GET_SCAN, "scan")
    yield from GET_SCAN.queries("a=1", "format=json")
    yield GET_SCAN.at(scan="{no_scan}").bad(query="?a=1")
    yield GET_SCAN.at(scan="{report}").bad()


def report_group() -> Iterator[Bad]:
    yield from strangers(GET_REPORT, "scan")
    for operation in (GET_REPORT, GET_EXPORT, GET_SARIF, GET_CSV, GET_DIFF, GET_REPORT_MUTES):
        for state in ("queued", "scanning", "failed", "expired"):
            yield operation.at(scan=f"{{{state}_scan}}").bad()
        if operation is not GET_REPORT:
            yield from few_strangers(operation, "scan")
        yield operation.at(scan="{no_report}").bad()
        yield operation.at(scan="{foreign_report}").bad()
        yield operation.at(scan="{foreign_queued_scan}").bad()
        yield from operation.queries("Format=json")
    for value in ("", "xml", "JSON", "pdf", "html", "json,csv", "csv%00", "%ED%A0%80", "json&format=xml"):
        yield from GET_EXPORT.queries(f"format={value}")
    yield from GET_SARIF.queries("format=sarif", "format=csv")
    yield GET_EXPORT.at(scan="{no_scan}").bad(query="?format=xml")
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
    yield from GET_DIFF.queries("with={expired_scan}", "with={scan_of_seo}", "with={scan_elsewhere}")
    yield from GET_DIFF.queries("with={no_report}", "with=%0A{scan}")
    yield GET_DIFF.at(scan="{no_scan}").bad(query="?with={scan}")
    yield GET_DIFF.at(scan="{queued_scan}").bad(query="?with={no_scan}")


def audits_group() -> Iterator[Bad]:
    yield from bodies(POST_AUDIT, FEW_OBJECTS, FEW_CONTENT_TYPES, kib=1024)
    yield POST_AUDIT.bad("{}", body={})
    yield from of_audit(POST_AUDIT)
    yield from some(credentials(POST_AUDIT), 2)
    yield from keys(POST_AUDIT)
    yield from POST_AUDIT.fields({"url": PAGE}, {"type": "seo"}, {"every": "day"}, {"Types": ["seo"]}, {"": 1})
    yield from POST_AUDIT.fields({"\ud800": 1})
    yield from POST_AUDIT.fields({"page": LEFT_OUT, "url": PAGE}, {"page": "ftp://a/", "colour": "red"})
    yield POST_AUDIT.bad(query="?types=seo", body=POST_AUDIT.good)
    yield POST_AUDIT.bad("without quota", body=POST_AUDIT.good, caller="bare")
    yield POST_PAGES.bad("without quota", body=POST_PAGES.good, caller="bare")
    yield POST_SITE.bad("without quota", body=POST_SITE.good, caller="bare")
    yield POST_PAGES.bad("11 pages, on the plan free", body={"pages": [PAGE] * 11}, caller="free")
    yield POST_SITE.bad("max_pages: 11, on the plan free", body={"site": PAGE, "max_pages": 11}, caller="free")


def audit_group() -> Iterator[Bad]:
    yield from strangers(GET_AUDIT, "audit")
    for operation in (DELETE_AUDIT, GET_AUDIT_PAGES, GET_FINDINGS, GET_AUDIT_EXPORT, GET_AUDIT_SARIF, GET_AUDIT_CSV):
        yield from few_strangers(operation, "audit")
        yield operation.at(audit="{expired_audit}").bad()
    for operation in (GET_AUDIT_EXPORT, GET_AUDIT_SARIF, GET_AUDIT_CSV):
        yield operation.at(audit="{running_audit}").bad()
        yield operation.at(audit="{queued_audit}").bad()
        yield from operation.queries("limit=5")
    for value in ("", "xml", "JSON", "html", "json%00", "json&format=xml"):
        yield from GET_AUDIT_EXPORT.queries(f"format={value}")
    yield GET_AUDIT_EXPORT.at(audit="{running_audit}").bad(query="?format=xml")
    yield GET_AUDIT_EXPORT.at(audit="{no_audit}").bad(query="?format=xml")
    yield from GET_AUDIT_CSV.queries("format=csv")
    for operation in (GET_AUDITS, GET_AUDIT_PAGES, GET_FINDINGS):
        yield from pages(operation)
    for operation in (GET_AUDITS, GET_AUDIT_PAGES):
        yield from operation.queries(
            *(f"status={each}" for each in ("", "x", "scanning", "Completed", "completed%00", "%FF"))
        )
        yield from operation.queries("type=seo", "status=x&limit=0")
    yield from GET_AUDITS.queries("kind=page", "status=released")
    yield from GET_AUDIT_PAGES.queries("status=cancelled")
    yield from GET_FINDINGS.queries(*(f"type={each}" for each in ("", "x", "SEO", "seo,security", "seo%00", "%FF")))
    yield from GET_FINDINGS.queries("severity=high", "status=open", "type=x&offset=-1")
    yield GET_FINDINGS.at(audit="{no_audit}").bad(query="?type=x")
    yield GET_AUDIT_PAGES.at(audit="{no_audit}").bad(query="?limit=0")
    yield from GET_AUDIT.queries("a=1")
    yield from DELETE_AUDIT.queries("force=1")


def monitors_group() -> Iterator[Bad]:
    yield from bodies(POST_MONITOR, FEW_OBJECTS, FEW_CONTENT_TYPES, kib=1024)
    yield POST_MONITOR.bad("{}", body={})
    yield from POST_MONITOR.fields({"every": LEFT_OUT}, {"every": LEFT_OUT, "colour": "red"})
    yield from POST_MONITOR.fields({"page": LEFT_OUT, "every": LEFT_OUT})
    yield from POST_MONITOR.fields({"page": "ftp://a/", "every": LEFT_OUT})
    yield from POST_MONITOR.fields({"page": "http://localhost/", "every": LEFT_OUT})
    yield from POST_MONITOR.fields({"page": "http://localhost/", "alert": 5}, {"page": "ftp://a/", "alert": 5})
    yield from some(of_audit(POST_MONITOR))
    yield from some(credentials(POST_MONITOR))
    yield from of_monitor(POST_MONITOR)
    yield from keys(POST_MONITOR)
    yield POST_MONITOR.bad(query="?every=day", body=POST_MONITOR.good)
    yield POST_MONITOR.bad("over the plan's number", body={"pages": [PAGE], "every": "day"}, caller="bare")
    yield POST_MONITOR.bad("more often than the plan allows", body={"page": PAGE, "every": "hour"}, caller="free")
    yield POST_MONITOR.bad("11 pages, on the plan free", body={"pages": [PAGE] * 11, "every": "day"}, caller="free")


def monitor_group() -> Iterator[Bad]:
    yield from bodies(PATCH_MONITOR, FEW_OBJECTS, FEW_CONTENT_TYPES, kib=1024)
    yield from some(credentials(PATCH_MONITOR))
    yield from some(of_monitor(PATCH_MONITOR))
    yield from PATCH_MONITOR.values("page", None, "", "ftp://a/", "http://localhost/", "https://example.com:22/")
    yield from PATCH_MONITOR.values("pages", None, PAGE, [], [5], ["http://localhost/"])
    yield from PATCH_MONITOR.values("types", [], ["speed"], "seo", 5)
    yield from PATCH_MONITOR.fields({"page": PAGE, "site": PAGE}, {"max_pages": 5}, {"include": ["/a"]})
    yield from PATCH_MONITOR.fields({"discover": ["links"]})
    yield from PATCH_MONITOR.fields({"page": PAGE, "max_pages": 5}, {"day": 1}, {"site": PAGE, "max_pages": 0})
    yield from PATCH_MONITOR.fields({"id": "{monitor}"}, {"status": "ok"}, {"created_at": None}, {"pause_reason": None})
    site = PATCH_MONITOR.at(monitor="{monitor_of_site}")
    yield from site.fields({"max_pages": 0}, {"max_pages": "5"}, {"include": [""]}, {"exclude": "a"}, {"discover": []})
    weekly = PATCH_MONITOR.at(monitor="{weekly_monitor}")
    yield from weekly.fields({"day": 8}, {"day": 0}, {"at": None}, {"every": "day", "day": 2})
    yield PATCH_MONITOR.bad(query="?paused=true", body={"paused": True})
    yield from strangers(PATCH_MONITOR, "monitor", body={"paused": True})
    yield PATCH_MONITOR.at(monitor="{no_monitor}").bad("with a bad body", body={"paused": 5})
    yield PATCH_MONITOR.at(monitor="{no_monitor}").bad("with no body")
    yield PATCH_MONITOR.at(monitor="{no_monitor}").bad("with an unknown field", body={"colour": "red"})
    for operation in (GET_MONITOR, DELETE_MONITOR, GET_RUNS, POST_RUN, GET_RUN):
        yield from few_strangers(operation, "monitor")
        yield from operation.queries("a=1")
    yield from pages(GET_MONITORS)
    yield from pages(GET_RUNS)
    yield from GET_MONITORS.queries("status=", "status=OK", "status=ok,failing", "name=Bakery")
    yield from GET_RUNS.queries("status=done")
    yield from strangers(GET_RUN, "run")
    yield POST_RUN.at(monitor="{busy_monitor}").bad()
    yield POST_RUN.bad("with a field", body={"now": True})
    for name in ("no JSON", "null", "a list"):
        yield POST_RUN.bad(name, body=OBJECTS[name])
    yield POST_RUN.bad("as text/plain", body=b"x", content_type="text/plain")


def lists_group() -> Iterator[Bad]:
    yield from bodies(POST_LIST, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield POST_LIST.bad("{}", body={})
    yield from POST_LIST.values("name", None, 5, [], "", " ", "a\u0000", "a\u202eb", "\ud800", "\u200b")
    yield POST_LIST.long("name: 101 characters", name="a" * 101)
    yield from of_list(POST_LIST)
    yield from some(credentials(POST_LIST))
    yield from keys(POST_LIST)
    yield from POST_LIST.fields(
        {"name": LEFT_OUT, "colour": "red"}, {"entries": []}, {"page": PAGE}, {"Types": ["seo"]}
    )
    yield from POST_LIST.fields({"name": "", "types": [], "every": "day"}, {"id": "{list}"}, {"\ud800": 1})
    yield POST_LIST.bad(query="?name=a", body=POST_LIST.good)
    yield POST_LIST.bad("over the plan's number", body=POST_LIST.good, caller="bare")
    yield POST_LIST.bad("11 pages, on the plan free", body={"name": "a", "pages_per_entry": 11}, caller="free")
    yield from pages(GET_LISTS)
    yield from GET_LISTS.queries("name=a")


def list_group() -> Iterator[Bad]:
    yield from bodies(PATCH_LIST, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield from some(credentials(PATCH_LIST))
    yield from some(of_list(PATCH_LIST))
    yield from PATCH_LIST.fields({"name": ""}, {"entries": 5}, {"created_at": None}, {"next_run_at": None})
    yield from PATCH_LIST.at(list="{running_list}").fields({"request": {"headers": {"X-Key": "a"}}})
    yield from strangers(PATCH_LIST, "list", body={"name": "a"})
    yield PATCH_LIST.at(list="{no_list}").bad("with a bad body", body={"name": 5})
    of_lists = (GET_LIST, DELETE_LIST, GET_ENTRIES, GET_ENTRY, DELETE_ENTRY, POST_ENTRY_SCAN, GET_LIST_RUNS, GET_SHARES)
    of_runs = (POST_LIST_RUN, GET_LIST_RUN, DELETE_LIST_RUN, GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV)
    for operation in (*of_lists, *of_runs, GET_SNAPSHOT_JSONL, DELETE_SHARE):
        yield from few_strangers(operation, "list")
        yield from operation.queries("a=1")
    yield POST_LIST_RUN.at(list="{empty_list}").bad("without sites")
    yield POST_LIST_RUN.bad("with a field", body={"now": True})
    for operation in (GET_ENTRY, DELETE_ENTRY, POST_ENTRY_SCAN):
        yield from few_strangers(operation, "entry")
    for operation in (GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV):
        yield from few_strangers(operation, "snapshot")
    for operation in (GET_LIST_RUN, DELETE_LIST_RUN):
        yield operation.bad("of a monitor")
        yield from few_strangers(operation, "run")
    for operation in (GET_SNAPSHOT, GET_SNAPSHOT_DIFF, GET_SNAPSHOT_CSV, GET_SNAPSHOT_JSONL):
        yield operation.at(snapshot="{running_run}", list="{running_list}").bad()
    yield from GET_SNAPSHOT_DIFF.queries("with=", "with=x", "with={foreign_snapshot}", "with={no_snapshot}", "limit=0")
    yield GET_SNAPSHOT_DIFF.bad("without an earlier one")
    yield Operation("GET", "/v1/lists/{list}/snapshots/{snapshot}/export/xml").bad()
    yield from pages(GET_LIST_RUNS)
    yield from GET_ADOPTION.queries("tag=a", "check=", "check=hsts&limit=0", "check=hsts&limit=201", "check=hsts&x=1")
    yield from few_strangers(GET_ADOPTION, "list")
    yield from bodies(POST_SHARE, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield from POST_SHARE.values("table", None, 0, "true", [])
    yield from POST_SHARE.values("run_id", 5, [], "", "x", "{no_snapshot}", "{foreign_snapshot}", "a\u0000", "\ud800")
    yield from POST_SHARE.fields({"has_table": True}, {"run": None})
    yield from few_strangers(POST_SHARE, "list", body=POST_SHARE.good)
    yield from strangers(DELETE_SHARE, "share")


def of_list(operation: Operation) -> Iterator[Bad]:
    """Yield requests with bad values of the fields of lists."""
    yield from operation.values("types", None, True, "seo", [], [None], ["SEO"], ["seo", "speed"])
    yield from operation.values("pages_per_entry", None, True, 0, -1, 1.0, "1", 3_000, 10**18)
    yield from operation.values("every", True, 5, "", "day", "Week", "monthly", ["week"], {})
    yield from operation.values("window_hours", None, True, -1, 169, 1.5, "24", 10**18)
    yield from operation.values("timezone", None, 1, "", "europe/berlin", "Europe/Atlantis", "UTC\x00", [], "\ud800")
    yield from operation.values("notify", None, True, [], {"email": []}, {"": 1})
    yield from operation.values("notify.emails", None, "ada@example.com", [None], ["nobody@example.com"])
    yield from operation.values("notify.emails", ["eve@example.net"])
    yield from operation.values("notify.webhooks", None, 1, "true")


def entries_group() -> Iterator[Bad]:
    for operation in (PUT_ENTRIES, POST_ENTRIES):
        for name in ("no body", "no JSON", "JSON that is cut off", "null", "a list", "a list 30,000 deep", "UTF-16"):
            yield operation.bad(name, body=OBJECTS[name])
        for content_type in ("", "text/html", "application/xml", "multipart/form-data; boundary=x"):
            yield operation.bad(f"as {content_type or 'no type'}", body=operation.good, content_type=content_type)
        yield operation.bad("compressed", body=operation.good, headers={"Content-Encoding": "gzip"})
        yield operation.bad("as CSV in Latin-1", body=b"a", content_type="text/csv; charset=ISO-8859-1")
        yield from operation.values("entries", None, 5, {}, PAGE, [PAGE], [None], [{}], [{"url": None}], [{"url": ""}])
        yield from operation.values("entries", [{"url": PAGE, "tags": "a"}], [{"url": PAGE, "tags": [5]}])
        yield from operation.values("entries", [{"url": PAGE, "tags": ["a;b"]}], [{"url": PAGE, "note": None}])
        yield from operation.values("entries", [{"url": PAGE, "name": "a"}], [{"url": PAGE}, {"url": "localhost"}])
        yield from operation.fields({"mode": "add"}, {"entries": LEFT_OUT})
        yield from few_strangers(operation, "list", body=operation.good)
        yield operation.at(list="{no_list}").bad("with a bad body", body={"entries": 5})
        yield operation.bad(query="?dry_run=1", body=operation.good)
    # An import adds a scheme and drops blanks, and does not look names up.
    fine = {"example.com", " https://example.com/", "https://example.com/\n", "https://example.com/\u0085"}
    fine |= {"https://private.example.com/", "https://rebound.example.com/"}
    for url in BAD_URLS:
        if isinstance(url, str) and url not in fine:
            yield PUT_ENTRIES.bad(f"of {json.dumps(url)}", body={"entries": [{"url": url}]})
    for name, text in {
        "a formula": "=1+1",
        "a tag that is a formula": "example.com,=1+1",
        "four columns": "example.com,,,a",
        "an open quotation mark": 'example.com,"a',
        "names of columns alone": "url,tags",
        "blank lines": "\n\n",
        "three bad lines": "localhost\nexample.com\nhttp://10.0.0.1\nftp://example.com",
    }.items():
        yield PUT_ENTRIES.bad(f"as CSV with {name}", body=text.encode(), content_type="text/csv")
    yield PUT_ENTRIES.bad("as text with a NUL", body=b"example.com\0", content_type="text/plain")
    yield PUT_ENTRIES.bad("as text that is a zip file", body=b"PK\x03\x04", content_type="text/plain")
    yield PUT_ENTRIES.bad(
        "over the plan's number", body=b"a.com\nb.com\nc.com\nd.com\ne.com", content_type="text/plain"
    )
    for sort in ("", "x", "Url", "--url", "score", "seo,url", "url%00"):
        yield from GET_ENTRIES.queries(f"sort={sort}")
    for cursor in ("x", "a.1", "a.1.ent_1", "%00", "9" * 400):
        yield from GET_ENTRIES.queries(f"cursor={cursor}")
    yield from GET_ENTRIES.queries("sort=seo&cursor=a.x.{entry}", "limit=0", "limit=101", "limit=abc", "offset=1")
    yield from GET_ENTRIES.queries("type=x", "grade=E", "grade=a", "least=-1", "least=101", "most=1.5", "state=done")
    yield from GET_ENTRIES.queries("tag=", "tag=%00", "check=%20", "text=", "text=%0A", f"text={'a' * 201}", "url=a")
    yield from bodies(PATCH_ENTRY, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield from PATCH_ENTRY.values("note", None, 5, [], "a\u0000", "=1+1", "\ud800")
    yield PATCH_ENTRY.long("note: 501 characters", note="a" * 501)
    yield from PATCH_ENTRY.values("tags", None, "a", {}, [5], ["a;b"], ["=1+1"], ["\u0000"], ["\ud800"])
    yield PATCH_ENTRY.long("tags: 21 of them", tags=[str(number) for number in range(21)])
    yield PATCH_ENTRY.long("tags: 61 characters", tags=["a" * 61])
    yield from PATCH_ENTRY.fields({"url": PAGE}, {"state": "new"}, {"Note": ""})
    yield from few_strangers(PATCH_ENTRY, "list", body=PATCH_ENTRY.good)
    yield from strangers(PATCH_ENTRY, "entry", body=PATCH_ENTRY.good)


def mutes_group() -> Iterator[Bad]:
    yield from bodies(POST_MUTE, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield POST_MUTE.bad("{}", body={})
    yield from POST_MUTE.fields({"check": LEFT_OUT}, {"host": LEFT_OUT}, {"reason": LEFT_OUT})
    yield from POST_MUTE.fields({"reason": LEFT_OUT, "colour": "red"})
    yield from POST_MUTE.fields({"check": 5, "host": 5, "reason": 5}, {"check": "x", "reason": ""})
    yield from POST_MUTE.fields({"reason": "", "expires_at": 5})
    yield from POST_MUTE.values("check", None, 5, "", "HSTS", "hsts ", "no-such-check", "hsts\x00", "\ud800", ["hsts"])
    yield from POST_MUTE.values("host", *NO_STRINGS, "", "https://example.com", "example.com/", "example.com?q", "#")
    yield from POST_MUTE.values("host", "a b.com", "user@example.com", "example.com:22", "example.com:port", ":443")
    yield from POST_MUTE.values("host", "localhost", "10.0.0.1", "[::1]", "example..com", "a\\b", "\x00", "\ud800")
    yield from POST_MUTE.values("host", "*.example.com", "www.blocked.example.net", "example.com\n")
    yield POST_MUTE.long("host: 254 characters", host="a." * 125 + "comm")
    yield from POST_MUTE.values("path_prefix", True, 5, [], "shop", "*", " /shop", "/shop?page=2", "/shop#top", "/a\\b")
    yield from POST_MUTE.values("path_prefix", "/a\x00", "/\ud800", "?q", "https://example.com/shop")
    yield POST_MUTE.long("path_prefix: 1,001 characters", path_prefix="/" + "a" * 1000)
    yield POST_MUTE.long("path_prefix: 2,048 characters", path_prefix="/" + "a" * 2047)
    yield POST_MUTE.long("path_prefix: too long when encoded", path_prefix="/" + "ü" * 400)
    yield from POST_MUTE.values("fingerprint", True, 5, [], "", "x", "0123456789ABCDEF", "0123456789abcde")
    yield from POST_MUTE.values("fingerprint", "0123456789abcdef0", "0123456789abcdeg", "0123456789abcdef\n")
    yield from POST_MUTE.values("reason", *NO_STRINGS, "", " ", "\n", "a\x00", "a\x07", "a\ud800", "a\x85b", "a\rb")
    yield POST_MUTE.long("reason: 501 characters", reason="a" * 501)
    yield from POST_MUTE.values("expires_at", True, 5, {}, "", "tomorrow", "2099-01-01", "2099-01-01T00:00:00")
    yield from POST_MUTE.values("expires_at", "2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2099-02-30T00:00:00Z")
    yield from POST_MUTE.values("expires_at", "2099-13-01T00:00:00Z", "2099-01-01T00:00:00Z\n", "2099-W01-1T00:00:00Z")
    yield from POST_MUTE.values("expires_at", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
    yield from POST_MUTE.values("expires_at", "\u0662\u0660\u0669\u0669-01-01T00:00:00Z")
    yield from POST_MUTE.fields({"path": "/shop"}, {"expires": None}, {"id": "{mute}"}, {"Check": "hsts"})
    yield from POST_MUTE.fields({"place": "a"}, {"by": "me"})
    yield POST_MUTE.bad(query="?check=hsts", body=POST_MUTE.good)
    yield from pages(GET_MUTES)
    yield from GET_MUTES.queries("checks=hsts", "Host=example.com", "fingerprint=0123456789abcdef", "check=hsts&x=1")
    yield from strangers(GET_MUTE, "mute")
    yield GET_MUTE.at(mute="{ended_mute}").bad()
    yield from few_strangers(DELETE_MUTE, "mute")
    yield DELETE_MUTE.at(mute="{ended_mute}").bad()
    yield from GET_MUTE.queries("a=1")
    yield from DELETE_MUTE.queries("a=1")


def badges_group() -> Iterator[Bad]:
    yield from bodies(replace(POST_BADGE, good={"page": PAGE}), FEW_OBJECTS, FEW_CONTENT_TYPES, kib=1024)
    yield POST_BADGE.bad("{}", body={})
    yield from POST_BADGE.values(
        "page", *FEW_BAD_URLS[:8], "http://localhost/", True, {}, OTHER_PAGE + "never-scanned", NOWHERE
    )
    yield from POST_BADGE.values("page", "https://example.com/?q", "\ud800")
    for name, value in LONG_URLS.items():
        yield POST_BADGE.long(f"page: {name}", page=value)
    yield from POST_BADGE.values("monitor", *NO_STRINGS, "", "x", "{no_monitor}", "{foreign_monitor}", "{scan}")
    yield from POST_BADGE.values("monitor", "{monitor}\n", "\x00", "\ud800")
    yield from POST_BADGE.fields({"monitor": "{monitor}", "page": PAGE}, {"monitor": None, "page": PAGE})
    yield from POST_BADGE.fields({"page": PAGE, "type": "seo"})
    yield from POST_BADGE.fields({"url": PAGE}, {"monitor_id": "{monitor}"}, {"Page": PAGE}, {"": 1})
    yield POST_BADGE.bad(query="?type=seo", body={"page": PAGE})
    yield from pages(GET_BADGES)
    yield from GET_BADGES.queries("monitor={monitor}", "page=x")
    yield from strangers(DELETE_BADGE, "badge")
    yield from DELETE_BADGE.queries("a=1")


def webhooks_group() -> Iterator[Bad]:
    yield from bodies(POST_WEBHOOK, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield POST_WEBHOOK.bad("{}", body={})
    yield from POST_WEBHOOK.fields({"url": LEFT_OUT}, {"events": LEFT_OUT}, {"events": LEFT_OUT, "colour": "red"})
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
    formats = (*NO_STRINGS, "", "Slack", "json", ["slack"], "\ud800")
    yield from POST_WEBHOOK.values("format", *formats)
    yield from POST_WEBHOOK.fields({"url": 5, "events": 5}, {"events": [], "format": 5})
    yield from POST_WEBHOOK.fields({"url": "http://localhost/", "events": []})
    yield from POST_WEBHOOK.fields({"url": "http://localhost/", "format": 5}, {"url": "ftp://a/", "events": []})
    yield from POST_WEBHOOK.fields({"secret": "whsec_x"}, {"enabled": True}, {"id": "{webhook}"}, {"URL": PAGE})
    yield from POST_WEBHOOK.fields({"event": "scan.failed"})
    yield POST_WEBHOOK.bad(query="?format=slack", body=POST_WEBHOOK.good)
    yield POST_WEBHOOK.bad("over the plan's number", body=POST_WEBHOOK.good, caller="bare")
    yield from GET_WEBHOOKS.queries("limit=5", "offset=0", "enabled=true")

    yield from bodies(PATCH_WEBHOOK, FEW_OBJECTS, FEW_CONTENT_TYPES)
    yield PATCH_WEBHOOK.bad("{}", body={})
    yield from PATCH_WEBHOOK.values("url", None, "", "ftp://a/", "http://localhost/", "https://private.example.com/")
    yield from PATCH_WEBHOOK.values("events", None, "scan.completed", [], [5], ["scan"])
    yield from PATCH_WEBHOOK.values("format", None, 5, "Slack", ["slack"])
    yield from PATCH_WEBHOOK.values("enabled", None, 0, 1, "true", "", [], {})
    yield from PATCH_WEBHOOK.fields({"events": [], "format": 5}, {"url": "http://localhost/", "enabled": 5})
    yield from PATCH_WEBHOOK.fields({"enabled": 5, "format": 5})
    yield from PATCH_WEBHOOK.fields({"secret": "x"}, {"id": "{webhook}"}, {"Enabled": True})
    yield from PATCH_WEBHOOK.fields({"disabled_reason": None}, {"event": "x"})
    yield PATCH_WEBHOOK.bad(query="?enabled=true", body={"enabled": True})
    yield from strangers(PATCH_WEBHOOK, "webhook", body={"enabled": True})
    yield PATCH_WEBHOOK.at(webhook="{no_webhook}").bad("with a bad body", body={"enabled": 5})
    yield PATCH_WEBHOOK.at(webhook="{no_webhook}").bad("with no field", body={})
    for operation in (GET_WEBHOOK, DELETE_WEBHOOK):
        yield from few_strangers(operation, "webhook")
        yield from operation.queries("a=1")


def deliveries_group() -> Iterator[Bad]:
    needed = [name for name in FEW_OBJECTS if name != "no body"]
    for operation in (POST_TEST, POST_ROTATION):
        yield from bodies(replace(operation, good={"a": 1}), needed, FEW_CONTENT_TYPES)
        yield from few_strangers(operation, "webhook")
        yield operation.at(webhook="{no_webhook}").bad("with an unknown field", body={"a": 1})
        yield from operation.queries("a=1")
    yield from POST_TEST.values("event", True, 5, [], {}, "", "scan", "Scan.Completed", ["scan.completed"], "\ud800")
    yield from POST_TEST.fields({"events": ["scan.completed"]}, {"kind": "scan.completed"})
    yield from POST_TEST.fields({"event": "x", "colour": "red"})
    yield POST_TEST.at(webhook="{no_webhook}").bad("with a bad event", body={"event": "x"})
    yield POST_TEST.at(webhook="{disabled_webhook}").bad()
    yield POST_TEST.at(webhook="{disabled_webhook}").bad("with a bad event", body={"event": "x"})
    yield from POST_ROTATION.values("immediately", None, 0, 1, "true", "", [], {})
    yield from POST_ROTATION.fields({"immediate": True}, {"secret": "whsec_x"}, {"Immediately": True})
    yield POST_ROTATION.at(webhook="{no_webhook}").bad("with a bad body", body={"immediately": 5})
    yield POST_ROTATION.at(webhook="{rotated_webhook}").bad()
    yield from pages(GET_DELIVERIES)
    yield from GET_DELIVERIES.queries(*(f"status={each}" for each in ("", "x", "Failed", "sent", "failed%00", "%FF")))
    kinds = ("", "scan", "SCAN.FAILED", "scan.failed,scan.partial")
    yield from GET_DELIVERIES.queries(*(f"event={each}" for each in kinds))
    moments = ("", "x", "2026-11-21", "2026-11-21T07:15:00", "1795267118", "2026-02-30T00:00:00Z", "-1")
    strange = ("0001-01-01T00:00:00+14:00", "2026-11-21T07:15:00Z ", "2026-11-21T07:15:00Z\0")
    yield from GET_DELIVERIES.queries(*(f"since={quote(each)}" for each in (*moments, *strange)))
    yield from GET_DELIVERIES.queries("since=2026-11-21T07:15:00+01:00")  # in a query, a plus sign means a blank
    yield from GET_DELIVERIES.queries("until=2026-11-21T07:15:00Z", "type=seo", "events=scan.failed", "limit=0&since=x")
    yield from few_strangers(GET_DELIVERIES, "webhook")
    yield GET_DELIVERIES.at(webhook="{no_webhook}").bad(query="?since=x")
    yield from few_strangers(POST_REPLAY, "webhook")
    yield from strangers(POST_REPLAY, "delivery")
    yield POST_REPLAY.at(delivery="{other_delivery}").bad()
    yield POST_REPLAY.at(webhook="{disabled_webhook}", delivery="{held_delivery}").bad()
    yield POST_REPLAY.bad("with a field", body={"now": True})
    yield POST_REPLAY.bad("a list", body=b"[]")
    yield from POST_REPLAY.queries("a=1")


OPERATIONS = tuple(each for each in tuple(globals().values()) if isinstance(each, Operation))


def callers_group() -> Iterator[Bad]:
    for operation in {each.name: each for each in OPERATIONS}.values():
        yield operation.bad("without a key", body=operation.good or b"", caller="nobody")
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
    odd = ("Bearer {key}x", "Bearer x{key}", "Bearer {key} {key}", "Bearer,{key}", "Bearer \u00fc", "Bearer {key}\0")
    for header in (*headers, *odd):
        yield GET_USAGE.bad(f"with {json.dumps(header)}", headers={"Authorization": header})
    yield GET_USAGE.bad("with a key of 10,000 characters", headers={"Authorization": "Bearer wss_" + "a" * 10_000})
    yield GET_USAGE.bad("with an unknown key", headers={"Authorization": "Bearer {unknown_key}"})
    for caller in ("revoked", "expired", "replaced"):
        yield GET_USAGE.bad(f"with a key that is {caller}", caller=caller)
        yield POST_SCAN.bad(f"with a key that is {caller}, and a bad body", body=b"x", caller=caller)
    yield GET_USAGE.bad("too often", caller="hurried")
    yield POST_SCAN.bad("too often, with a bad body", body=b"x", caller="hurried")
    of_runs = (POST_LIST_RUN, DELETE_LIST_RUN, POST_ENTRY_SCAN)
    for operation in (POST_SCAN, POST_AUDIT, DELETE_AUDIT, *of_runs):
        yield operation.bad("to read only", body=operation.good or b"", caller="reader")
    yield POST_SCAN.bad("to read only, with a bad body", body=b"x", caller="reader")
    of_monitors = (POST_MONITOR, PATCH_MONITOR, DELETE_MONITOR, POST_RUN)
    of_lists = (POST_LIST, PATCH_LIST, DELETE_LIST, PUT_ENTRIES, POST_ENTRIES, PATCH_ENTRY, DELETE_ENTRY)
    for operation in (*of_lists, POST_SHARE, DELETE_SHARE):
        yield operation.bad("to scan only", body=operation.good or b"", caller="scanner")
    for operation in (*of_monitors, POST_MUTE, DELETE_MUTE, POST_BADGE, DELETE_BADGE):
        yield operation.bad("to scan only", body=operation.good or b"", caller="scanner")
    for operation in (POST_WEBHOOK, PATCH_WEBHOOK, DELETE_WEBHOOK, POST_TEST, POST_ROTATION, POST_REPLAY):
        yield operation.bad("to scan only", body=operation.good or b"", caller="scanner")
        yield operation.bad("to read only", body=operation.good or b"", caller="reader")


def paths_group() -> Iterator[Bad]:
    paths = sorted({each.path for each in OPERATIONS})
    for path in paths:
        yield Operation("PUT", path).bad()
        if "{" not in path:
            yield Operation("GET", f"{path}/").bad()
    for method in ("GET", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        yield replace(POST_SCAN, method=method).bad()
    for operation in (GET_SCANS, GET_SCAN, GET_REPORT, GET_USAGE, GET_RUNS, GET_DELIVERIES):
        yield replace(operation, method="DELETE").bad()
    for path in ("/v1", "/v1/", "/api", "/v1/nothing", "/api/scans", "/v1/webhooks", "/v1//scans", "/v1/SCANS"):
        yield Operation("GET", path).bad()
    for path in ("/v1/report", "/v1/report/{scan}/nothing", "/v1/report/{scan}/export/xml", "/v1/%00"):
        yield Operation("GET", path).bad()
    yield Operation("POST", "/v1/nothing").bad("with a bad body", body=b"x")
    yield Operation("GET", "/v1/nothing").bad(query="?a=1")
    yield Operation("GET", "/v1/nothing").bad("without a key", caller="nobody")
    yield Operation("GET", "/v1/nothing").bad("with a key that is revoked", caller="revoked")
    yield Operation("POST", "/v1/nothing").bad("to read only", caller="reader")
    yield Operation("PUT", "/v1/scans").bad("to read only", caller="reader")
    yield Operation("PUT", "/v1/scans").bad(query="?a=1")


GROUPS: Mapping[str, tuple[Bad, ...]] = {
    group.__name__.removesuffix("_group"): tuple(group())
    for group in (
        *(scan_group, scans_group, report_group, audits_group, audit_group, monitors_group, monitor_group),
        *(lists_group, list_group, entries_group),
        *(mutes_group, badges_group, webhooks_group, deliveries_group, callers_group, paths_group),
    )
}


def answer_to(bad: Bad, cast: Cast) -> dict[str, Any]:
    """Send the request; return status, error body and, with 405, the Allow header. IDs, times and ports are masked."""
    body = bad.body if isinstance(bad.body, bytes) else cast.fill(json.dumps(bad.body)).encode()
    headers = {name: cast.fill(value) for name, value in bad.headers.items()}
    response = cast.callers[bad.caller].call(bad.method, cast.fill(bad.path), body, bad.content_type, **headers)
    if response.status_code < 400 or response.headers["Content-Type"] != "application/json":
        return {"status": response.status_code, "content": cast.mask(response.getvalue().decode(errors="replace"))}
    answer = {name: cast.mask(value) if isinstance(value, str) else value for name, value in response.json().items()}
    allow = {"allow": response["Allow"]} if response.status_code == 405 else {}
    return {"status": response.status_code, **answer, **allow}


def make_cast(monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Create an organization with one object of every kind, a stranger's objects, and callers with all kinds of keys
    and limits.
    """
    BlockedDomain.objects.create(domain="blocked.example.net")
    home, stranger = _member("Home", requests_per_minute=100_000), _member("Stranger")
    person_of(home, "owner", "ada@example.com")
    person_of(stranger, "owner", "eve@example.net")
    callers = {
        "home": home.api,
        "nobody": Api(),
        "free": member_of("Free").api,
        "bare": _member("Bare", scans_per_month=0, concurrent_scans=0, webhooks=0, schedules=0, lists=0).api,
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
    names = _things(home) | {f"foreign_{name}": value for name, value in _things(stranger).items()}
    names |= {"key": home.plaintext, "unknown_key": mint().plaintext}
    prefixes = {"audit": "aud", "monitor": "mon", "badge": "bdg", "webhook": "wh", "delivery": "dlv", "report": "rpt"}
    prefixes |= {"list": "lst", "entry": "ent", "share": "shr", "snapshot": "run"}
    names |= {f"no_{kind}": new_id(prefixes.get(kind, kind)) for kind in (*KINDS, "report")}
    _use_keys(home)
    monkeypatch.setattr(client, "SystemResolver", lambda _: Names(RESOLVED))
    return Cast(callers, names)


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return all stored rows except API keys, whose last use changes with every request."""
    ours = ("accounts", "reports", "scans", "sites", "webhooks")
    models = [model for each in ours for model in apps.get_app_config(each).get_models() if model is not ApiKey]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def _member(name: str, **columns: Any) -> Member:
    """Create an organization with its own plan."""
    spacious = {"requests_per_minute": 1_000, "pages_per_audit": 2_000, "shortest_interval": "hour", "schedules": 20}
    spacious |= {"lists": 20, "list_entries": 6}
    values = {"scans_per_month": 10_000, "concurrent_scans": 50, "webhooks": 20} | spacious | columns
    Tier.objects.create(name=name.lower(), **values)
    return member_of(name, name.lower())


def _things(member: Member) -> dict[str, str]:
    """Create one object of every kind for an organization; return their IDs by name."""
    now, long_ago = timezone.now(), timedelta(days=90)
    scan = finished_scan(member, url=PAGE)
    expired = finished_scan(member, age=long_ago, url=PAGE)
    things: dict[str, Any] = {
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
        "expired_audit": make_audit(member, status="completed", completed_at=now - long_ago, created_at=now - long_ago),
        "monitor": make_monitor(member),
        "busy_monitor": make_monitor(member),
        "monitor_of_site": make_monitor(member, kind="site", discover=["links"], max_pages=5),
        "weekly_monitor": make_monitor(member, every="week", at="06:00", day=1),
        "list": make_list(member, **sealed(parse_credentials({"headers": {"X-Key": "a"}}))),
        "empty_list": make_list(member),
        "running_list": make_list(member),
    }
    things["entry"] = make_entry(things["list"], PAGE)
    for url in (PAGE, OTHER_PAGE):
        make_entry(things["running_list"], url)
    for run, status in (("snapshot", "completed"), ("running_run", "running")):
        of_run = {"types": ["seo"], "pages_per_entry": 1, "window_hours": 0, "entries": 1, "status": status}
        owner = things["list" if run == "snapshot" else "running_list"]
        ended_at = now if status == "completed" else None
        things[run] = ListRun.objects.create(site_list=owner, ended_at=ended_at, **of_run)
    things["share"] = ListShare.objects.create(site_list=things["list"])
    MonitorRun.objects.create(monitor=things["busy_monitor"], due_at=now, not_before=now)
    things["run"] = MonitorRun.objects.create(monitor=things["monitor"], due_at=now, not_before=now, status="done")
    things["badge"] = Badge.objects.create(organization=member.organization, monitor=things["monitor"])
    event = Event.objects.create(organization=member.organization, kind="scan.completed", body=b"{}", scan=scan)
    for webhook, delivery in (
        ("webhook", "delivery"),
        ("rotated_webhook", "other_delivery"),
        ("disabled_webhook", "held_delivery"),
    ):
        things[webhook] = Webhook.objects.create(
            organization=member.organization,
            url="https://hooks.example.com/",
            receiver="hooks.example.com:443",
            events=["scan.completed"],
            encrypted_secret=b"",
            enabled=webhook != "disabled_webhook",
        )
        things[delivery] = Delivery.objects.create(webhook=things[webhook], event=event)
    for _ in range(MAX_FORMER_SECRETS):
        FormerSecret.objects.create(webhook=things["rotated_webhook"], encrypted_secret=b"", expires_at=now + long_ago)
    names = {name: thing.id for name, thing in things.items()}
    for name, check in (("mute", "hsts"), ("ended_mute", "clickjacking")):
        body = {"check": check, "host": "muted.example.com", "reason": "Not ours."}
        names[name] = member.api.post("/v1/mutes", body).json()["id"]
    member.api.delete(f"/v1/mutes/{names['ended_mute']}")
    return names


def _use_keys(home: Member) -> None:
    """Use an Idempotency-Key for a scan, an audit, a monitor and a list each."""
    with override_settings(SCAN_ALLOWED_NETWORKS=(ip_network("127.0.0.0/8"),)), listening() as port:
        page = f"http://127.0.0.1:{port}/"
        for name, path, body in (
            ("scan", "/v1/scan", {"url": page, "type": "seo"}),
            ("audit", "/v1/audits", {"page": page, "types": ["seo"]}),
            ("monitor", "/v1/monitors", {"page": page, "every": "day"}),
            ("list", "/v1/lists", {"name": "Towns"}),
        ):
            made = home.api.post(path, body, Idempotency_Key=f"used-for-{name}")
            assert made.status_code in (201, 202), made.content
