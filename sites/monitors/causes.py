"""Causes that a monitor's run reports. No I/O.

A cause is a problem of one site: an outage, a failing journey, a finding, a score or a certificate. Runs of several
monitors report the same cause, which is recognized by its key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from sites.models import Cause, Monitor
from sites.models.alert import CauseText
from sites.models.stored_json import CertificateNews, Direction, FindingNews, News, PageNews, ReachablePage
from website_scan.findings import CRITICAL, HIGH, MEDIUM, Severity
from website_scan.messages import counted, cut
from website_scan.priority import SEVERITY_RANK
from website_scan.report.explanations import ADVICE
from website_scan.report_json import ExportedError
from website_scan.written_urls import split_url

MAX_NOTE_LENGTH = 400
MAX_SITES, MAX_PLACES = 10, 100
# A certificate that expires within this many days is as urgent as a finding of high severity.
URGENT_CERTIFICATE_DAYS = 7
TYPE_NAMES = {"seo": "SEO"}
# Reasons for an alert (`alerts.KINDS`) that are about new and worse findings.
FINDING_REASONS: Mapping[str, Direction] = {"new_findings": "new", "worse_findings": "worse"}


class CauseReport(Struct, frozen=True):
    """Report of a run that a cause exists or has ended.

    `places` identify the part of the site that is affected. `sends_alert` is False if recipients need not be notified.
    `closes` is True if the cause has ended.
    """

    kind: Cause.Kind
    site: str
    group: str
    key: str
    text: CauseText
    places: tuple[str, ...] = ()
    note: str = ""
    report_url: str = ""
    sends_alert: bool = True
    is_end: bool = False
    closes: bool = False


def host_of_page(url: str) -> str:
    """Return the host of a page, with its port unless it is the scheme's default."""
    return split_url(url).netloc.rpartition("@")[2]


def sites_of(monitor: Monitor) -> list[str]:
    """Return the first sites of a monitor's pages, in their order."""
    return list(dict.fromkeys(map(host_of_page, monitor.pages)))[:MAX_SITES]


def failure_reports(monitor: Monitor, error: ExportedError, report_url: str) -> list[CauseReport]:
    """Return an outage for each site of a failing monitor, or the failure of its journey's step."""
    note = cut(error["message"], MAX_NOTE_LENGTH)
    return _failures(monitor, note=note, report_url=report_url)


def recovery_reports(monitor: Monitor, *, sends_alert: bool) -> list[CauseReport]:
    """Return the ends of the causes that `failure_reports` has returned for the monitor's present failure."""
    return _failures(monitor, is_end=True, closes=True, sends_alert=sends_alert)


def _failures(monitor: Monitor, **values: Any) -> list[CauseReport]:
    if not monitor.memory.get("is_step_failure"):
        return [_outage(site, **values) for site in sites_of(monitor)]
    text = _text("Journey failed", HIGH, ADVICE["JOURNEY_FAILED"])
    site = host_of_page(monitor.url)
    return [_report(Cause.Kind.JOURNEY, site, ("journey",), text, key_of=(monitor.journey_id or "",), **values)]


def change_reports(monitor: Monitor, news: News, settings: Mapping[str, Any], audit_url: str) -> list[CauseReport]:
    """Return the causes that a run's changes are about.

    `settings` are the monitor's alert settings. Ends are included even if nobody is notified of them.
    """
    if not news:
        return []
    reasons = news["reasons"]
    findings = [
        report
        for reason, direction in FINDING_REASONS.items()
        if reason in reasons
        for finding in news[direction]
        if SEVERITY_RANK[finding["severity"]] <= SEVERITY_RANK[settings["new_findings"]]
        for report in _finding_reports(finding)
    ]
    reports = [*findings, *_page_reports(monitor, news, audit_url)]
    if news["certificate"] is not None and "certificate" in reasons:
        reports.append(_certificate(news["certificate"]))
    if "score_below" in reasons or ("score_drop" in reasons and not findings):
        reports += _score_reports(monitor, news, audit_url)
    reports += [
        report
        for direction in ("fixed", "better")
        for finding in news[direction]
        for report in _finding_reports(
            finding,
            is_end=True,
            closes=direction == "fixed",
            sends_alert="fixed" in reasons,
        )
    ]
    return reports


def _finding_reports(finding: FindingNews, **state: Any) -> Iterator[CauseReport]:
    """Yield a report for each site of a finding's pages."""
    page_keys_by_site: dict[str, list[str]] = {}
    report_urls: dict[str, str] = {}
    for page in finding["pages"]:
        site = host_of_page(page["url"])
        page_keys_by_site.setdefault(site, []).append(_page_key(page))
        report_urls.setdefault(site, page["report_url"])
    text: CauseText = {
        "title": finding["title"],
        "severity": finding["severity"],
        "fix": finding["fix"],
        "type": finding["type"],
        "check": finding["check"],
    }
    said = "; ".join(filter(None, (finding["said"], finding["message"])))
    # The site of a journey has several states, so the note names those with the finding.
    states = ", ".join(page["state"] for page in finding["pages"] if "state" in page)
    note = cut(f"{states}: {said}" if states else said, MAX_NOTE_LENGTH)
    for site, page_keys in page_keys_by_site.items():
        places = finding["fingerprints"] or [_digest("page", page_key)[:16] for page_key in page_keys]
        identity = ("finding", finding["check"], finding["outcome"])
        yield _report(
            Cause.Kind.FINDING, site, identity, text, places=places, note=note, report_url=report_urls[site], **state
        )


def _page_reports(monitor: Monitor, news: News, audit_url: str) -> Iterator[CauseReport]:
    """Yield the pages of a monitor that are unreachable while others are reachable, and those reachable again."""
    text = _text("Page unreachable", HIGH)
    reasons = news["reasons"]
    journey_id = monitor.journey_id or ""
    for unreachable in news["unreachable_pages"]:
        note = cut(f"{_page_name(unreachable)}: {unreachable['message']}", MAX_NOTE_LENGTH)
        yield _page(
            unreachable, journey_id, text, note=note, report_url=audit_url, sends_alert="unreachable_pages" in reasons
        )
    for reachable in news["reachable_pages"]:
        sends_alert = "reachable_pages" in reasons
        note = cut(_page_name(reachable), MAX_NOTE_LENGTH)
        values = {"note": note, "report_url": audit_url, "sends_alert": sends_alert, "is_end": True, "closes": True}
        yield _page(reachable, journey_id, text, **values)


def _score_reports(monitor: Monitor, news: News, audit_url: str) -> Iterator[CauseReport]:
    for scan_type, score in news["scores"].items():
        if score["before"] is not None and score["after"] >= score["before"]:
            continue
        name = TYPE_NAMES.get(scan_type, scan_type.capitalize())
        before = f"{score['before']} → " if score["before"] is not None else ""
        text = _text(f"{name} score is low" if score["before"] is None else f"{name} score has dropped", MEDIUM)
        note = f"{before}{score['after']} ({score['grade']})"
        site = host_of_page(monitor.url)
        identity = ("score", scan_type)
        yield _report(Cause.Kind.SCORE, site, identity, text, key_of=(monitor.id,), note=note, report_url=audit_url)


def _certificate(certificate: CertificateNews) -> CauseReport:
    severity = HIGH if certificate["days_left"] <= URGENT_CERTIFICATE_DAYS else MEDIUM
    title = f"Certificate expires in {counted(certificate['days_left'], 'day')}"
    text = _text(title, severity, "Renew the certificate, and check why it was not renewed automatically.")
    note = f"It expires on {certificate['expires_at'][:10]}."
    key_of = (certificate["expires_at"],)
    return _report(Cause.Kind.CERTIFICATE, certificate["host"], ("certificate",), text, key_of=key_of, note=note)


def _outage(site: str, **values: Any) -> CauseReport:
    return _report(Cause.Kind.OUTAGE, site, ("outage",), _text("Unreachable", CRITICAL), **values)


def _page(page: ReachablePage, journey_id: str, text: CauseText, **values: Any) -> CauseReport:
    # The address of a state may differ in each run, so its journey and its name identify it.
    key_of = (journey_id, page["state"]) if "state" in page else (page["url"],)
    return _report(Cause.Kind.OUTAGE, host_of_page(page["url"]), ("page",), text, key_of=key_of, **values)


def _page_key(page: PageNews) -> str:
    """Return what identifies a page on its site. It is the name of a state, whose address may differ in each run."""
    return page.get("state") or page["url"]


def _page_name(page: ReachablePage) -> str:
    return f"{page['state']} ({page['url']})" if "state" in page else page["url"]


def _text(title: str, severity: Severity, fix: str = "") -> CauseText:
    return {"title": title, "severity": str(severity), "fix": fix, "type": "", "check": ""}


def _report(
    kind: Cause.Kind,
    site: str,
    identity: tuple[str, ...],
    text: CauseText,
    *,
    key_of: Iterable[str] = (),
    places: Iterable[str] = (),
    **values: Any,
) -> CauseReport:
    """Return a report whose group is the digest of `identity`, and whose key includes the site and `key_of`."""
    group, key = _digest(*identity), _digest(*identity, site, *key_of)
    return CauseReport(kind, site[:300], group, key, text, places=tuple(places)[:MAX_PLACES], **values)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
