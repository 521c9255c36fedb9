"""Inputs that scanners misjudged, with the correct verdicts.

README.md describes them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import dns.rcode
import dns.rdatatype
import pytest
from msgspec import Struct

from tests.promises import assert_promises_come_true
from tests.targets.name_server import Zone, failing, name_server, reply
from tests.targets.server import Answer, Certificate, Route, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.visit import Browser
from website_scan.check_ids import check_ids
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

CASES = Path(__file__).with_name("cases")
TIME_LIMIT_S = 60.0
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}


class Expected(Struct, frozen=True):
    """Expected verdict on a check.

    `outcome` is a finding's outcome, `pass`, `skipped`, `absent` or `error`.
    """

    url: str
    check: str
    outcome: str
    severity: str | None = None
    # The finding's message, or the reason of a skipped check, has these words.
    message: Sequence[str] = ()


class Case(Struct, frozen=True):
    """Field case with a site, DNS records and expected verdicts."""

    folder: Path
    sources: Sequence[str]
    expected: Sequence[Expected]
    is_https: bool
    needs_browser: bool
    zone: Mapping[str, Mapping[str, list[str]]]

    @property
    def name(self) -> str:
        return self.folder.name

    @contextlib.contextmanager
    def served(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
        """Serve the folder's files and the routes of its `site.py`."""
        certificate = Certificate.VALID if self.is_https else None
        with contextlib.ExitStack() as cleanup:
            site = cleanup.enter_context(Site(certificate=certificate, names=("localhost", "127.0.0.1", *self.zone)))
            for file in self.folder.iterdir():
                if file.suffix in MEDIA_TYPES:
                    body = file.read_bytes().replace(b"{origin}", site.url.encode())
                    site.routes[f"/{file.name}"] = Answer(body, headers={"Content-Type": MEDIA_TYPES[file.suffix]})
            site.routes |= self._own_routes(site)
            if self.zone:
                cleanup.enter_context(name_server(_zone(self.zone), monkeypatch))
            yield site

    def _own_routes(self, site: Site) -> dict[str, Route]:
        path = self.folder / "site.py"
        if not path.exists():
            return {}
        spec = importlib.util.spec_from_file_location(f"site of {self.name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        routes: Callable[[Site], dict[str, Route]] = module.routes
        return routes(site)


def cases(*, needs_browser: bool) -> list[Case]:
    """Return the cases with or without a browser, sorted by name."""
    found = [_case(path.parent) for path in sorted(CASES.glob("*/case.toml"))]
    return [case for case in found if case.needs_browser is needs_browser]


def assert_right(case: Case, monkeypatch: pytest.MonkeyPatch, browser: Browser | None = None) -> None:
    """Scan the pages of a case and compare the verdicts."""
    with case.served(monkeypatch) as site:
        for url in dict.fromkeys(expected.url for expected in case.expected):
            wanted = [expected for expected in case.expected if expected.url == url]
            results = scanned(site, url, {type_of(expected.check) for expected in wanted}, browser)
            right = {expected.check: (expected.outcome, expected.severity) for expected in wanted}
            verdicts = {expected.check: verdict(results, expected) for expected in wanted}
            assert {check: words[:2] for check, words in verdicts.items()} == right, (case.name, url, verdicts)
            for expected in wanted:
                assert all(words in verdicts[expected.check][2] for words in expected.message), (url, verdicts)


def scanned(site: Site, url: str, types: set[ScanType], browser: Browser | None) -> dict[ScanType, ScanResult]:
    """Return the results of a visit to a page of the site, and verify what their report pages promise.

    The page is a path, or `http://host/path` without the port.
    """
    scheme, _, rest = url.rpartition("://")
    host, _, path = rest.partition("/")
    full = f"{site.url}{url}" if not scheme else f"{scheme}://{host}:{site.port}/{path}"
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
    with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
        target = parse_target(full, policy)
        results = scan(target, sorted(types), network, Budget(TIME_LIMIT_S), browser=browser)
    for result in results:
        if result.error is None:
            assert_promises_come_true(result)
    return {result.type: result for result in results}


def verdict(results: Mapping[ScanType, ScanResult], expected: Expected) -> tuple[str, str | None, str]:
    """Return a check's outcome, severity and message.

    The severity is None if the case does not name it.
    """
    result = results[type_of(expected.check)]
    if result.error is not None:
        return "error", None, f"{result.error.code}: {result.error.message}"
    for check in result.checks:
        if check.id == expected.check:
            severity = str(check.severity) if expected.severity and check.severity else None
            return check.outcome or check.status, severity, f"{check.summary} {check.why}"
    for skipped in result.skipped_checks:
        if skipped.id == expected.check:
            return "skipped", None, skipped.reason
    return "absent", None, ""


@cache
def _types() -> dict[str, ScanType]:
    return {id: scan_type for scan_type in ScanType for id in check_ids(scan_type)}


def type_of(check: str) -> ScanType:
    """Return the scan type of a check."""
    return _types()[check]


def _case(folder: Path) -> Case:
    data: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    return Case(
        folder,
        sources=data["sources"],
        expected=[Expected(**row) for row in data["expected"]],
        is_https=data.get("https", False),
        needs_browser=data.get("browser", False),
        zone=data.get("zone", {}),
    )


def _zone(hosts: Mapping[str, Mapping[str, list[str]]]) -> Zone:
    """Return a DNS zone with these records by host and type.

    Other names do not exist.
    """

    def answer(query: Any) -> Any:
        question = query.question[0]
        host = question.name.to_text(omit_final_dot=True).lower()
        if records := hosts.get(host, {}).get(dns.rdatatype.to_text(question.rdtype)):
            return reply(query, *((f"{host}.", record) for record in records))
        exists = any(name == host or name.endswith(f".{host}") for name in hosts)
        return reply(query) if exists else failing(dns.rcode.NXDOMAIN)(query)

    return answer
