"""Shared helpers of the engine's tests: targets, and pages as evidence, without network access."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from tests.website_scan.net.loopback import NETWORKS
from website_scan import outcomes
from website_scan.catalogue import Declaration
from website_scan.check_results import check_result
from website_scan.findings import Fail, Finding, NotApplicable, Pass, Severity, Warn
from website_scan.net.http.response import Headers, Response
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.fetch import parse_document

POLICY = Policy(allowed_networks=NETWORKS)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CLOCK = Clock(NOW)
URL = "https://site.example.com/shop/shoes"
AnyFinding = Finding | outcomes.Finding
VERDICTS: dict[type, str] = {
    Pass: "pass",
    Warn: "warn",
    Fail: "fail",
    NotApplicable: "n/a",
    outcomes.Pass: "pass",
    outcomes.Warn: "warn",
    outcomes.Review: "warn",
    outcomes.Fail: "fail",
    outcomes.CategoryFail: "fail",
}
HTML = ("Content-Type", "text/html; charset=utf-8")


def target(url: str) -> Target:
    return parse_target(url, POLICY)


def verdict(finding: AnyFinding) -> str:
    return VERDICTS[type(finding)]


def outcome(finding: outcomes.Finding) -> str:
    """Return the name of the finding's outcome, `pass`, or `n/a`."""
    return finding.outcome if isinstance(finding, outcomes.Fault) else verdict(finding)


def message(finding: AnyFinding) -> str:
    return finding.reason if isinstance(finding, NotApplicable) else finding.message


def title_of(check: Callable[..., object], finding: AnyFinding) -> str:
    """Return the title that a report gives to the finding of a check."""
    if isinstance(finding, Warn | Fail):
        return finding.title or _declaration(check).found
    assert isinstance(finding, outcomes.Fault), verdict(finding)
    return check_result(_declaration(check), finding, None).title


def severity_of(check: Callable[..., object], finding: AnyFinding) -> Severity | None:
    """Return the severity that a report gives to the finding of a check."""
    if isinstance(finding, Warn | Fail):
        return finding.severity or _declaration(check).severity
    assert not isinstance(finding, Pass | NotApplicable)
    return check_result(_declaration(check), finding, None).severity


def _declaration(check: Callable[..., object]) -> Declaration:
    declared: Declaration = check.__check__  # type: ignore[attr-defined]  # the decorator's mark
    return declared


def rows(finding: outcomes.Finding) -> list[dict[str, object]]:
    """Return the finding's details and places by the names of their columns."""
    assert not isinstance(finding, NotApplicable)
    return finding.rows


def judged(finding: Finding) -> Pass | Warn | Fail:
    assert not isinstance(finding, NotApplicable), finding.reason
    return finding


def response(url: str = URL, *headers: tuple[str, str], status: int = 200, body: bytes = b"") -> Response:
    return Response(url=url, status=status, headers=Headers(headers), body=body, body_wire_bytes=len(body))


def page(
    html: str = "<!doctype html><title>A page</title><p>Text",
    *headers: tuple[str, str],
    url: str = URL,
    status: int = 200,
    via: tuple[tuple[str, int], ...] = (),
) -> Page:
    """Return an HTML page that was reached over the redirects of `via` (URL, status)."""
    address = target(url)
    if not any(name == "Content-Type" for name, _ in headers):
        headers = (HTML, *headers)
    before = tuple(response(each, status=code) for each, code in via)
    last = response(address.url, *headers, status=status, body=html.encode())
    return Page((before and target(via[0][0])) or address, address, (*before, last))


def severity(finding: Finding) -> Severity | None:
    """Return the severity that a finding has in place of its check's; None if it has none of its own."""
    assert isinstance(finding, Fail | Warn)
    return finding.severity


def document(of: Page) -> Document:
    return parse_document(of)


def head(markup: str, body: str = "<p>Text") -> str:
    """Return a document with this markup in its head."""
    return f"<!doctype html><html lang=en><head><title>A page</title>{markup}</head><body>{body}</body></html>"


def body(markup: str) -> str:
    """Return a document with this markup in its body."""
    return head("", markup)
