"""Build targets and pages for scanner tests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from tests.website_scan.net.loopback import NETWORKS
from website_scan.catalogue import Declaration
from website_scan.check_results import check_result
from website_scan.findings import NotApplicable, Severity
from website_scan.net.http.response import Headers, Response
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.outcomes import CategoryFail, Fail, Fault, Note, Pass, Review, Verdict, Warn
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.fetch import parse_document

POLICY = Policy(allowed_networks=NETWORKS)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLOCK = Clock(NOW)
URL = "https://site.example.com/shop/shoes"
VERDICTS: dict[type, str] = {
    Pass: "pass",
    Warn: "warn",
    Note: "warn",
    Review: "warn",
    Fail: "fail",
    CategoryFail: "fail",
    NotApplicable: "n/a",
}
HTML = ("Content-Type", "text/html; charset=utf-8")


def target(url: str) -> Target:
    return parse_target(url, POLICY)


def verdict(finding: Verdict) -> str:
    return VERDICTS[type(finding)]


def outcome(finding: Verdict) -> str:
    """Return the outcome of a fault, or else `pass` or `n/a`."""
    return finding.outcome if isinstance(finding, Fault) else verdict(finding)


def message(finding: Verdict) -> str:
    return finding.reason if isinstance(finding, NotApplicable) else finding.message


def title_of(check: Callable[..., object], finding: Verdict) -> str:
    """Return the title of a check's verdict in a report."""
    assert isinstance(finding, Fault), verdict(finding)
    return check_result(_declaration(check), finding, None).title


def severity_of(check: Callable[..., object], finding: Verdict) -> Severity | None:
    """Return the severity of a check's verdict in a report."""
    assert isinstance(finding, Fault), verdict(finding)
    return check_result(_declaration(check), finding, None).severity


def _declaration(check: Callable[..., object]) -> Declaration:
    declared: Declaration = check.__check__  # type: ignore[attr-defined]  # the decorator's mark
    return declared


def rows(finding: Verdict) -> list[dict[str, object]]:
    """Return the verdict's tables as dictionaries by column name.

    They contain its details and its places.
    """
    assert not isinstance(finding, NotApplicable)
    return [dict(place.row()) for place in (*finding.details, *finding.places)]


def response(url: str = URL, *headers: tuple[str, str], status: int = 200, body: bytes = b"") -> Response:
    return Response(url=url, status=status, headers=Headers(headers), body=body, body_wire_bytes=len(body))


def page(
    html: str = "<!doctype html><title>A page</title><p>Text",
    *headers: tuple[str, str],
    url: str = URL,
    status: int = 200,
    via: tuple[tuple[str, int], ...] = (),
) -> Page:
    """Return an HTML page.

    `via` has the URL and the status of every redirect before it.
    """
    address = target(url)
    if not any(name == "Content-Type" for name, _ in headers):
        headers = (HTML, *headers)
    before = tuple(response(url, status=code) for url, code in via)
    last = response(address.url, *headers, status=status, body=html.encode())
    return Page((before and target(via[0][0])) or address, address, (*before, last))


def document(of: Page) -> Document:
    return parse_document(of)


def head(markup: str, body: str = "<p>Text") -> str:
    """Return a document with this markup in its head."""
    return f"<!doctype html><html lang=en><head><title>A page</title>{markup}</head><body>{body}</body></html>"


def body(markup: str) -> str:
    """Return a document with this markup in its body."""
    return head("", markup)
