"""Current state of an organization's sites, derived from the latest results (ADR 31).

The states are written where the facts change: at the end of a visit and when mutes change, in the same transaction. The
rows of a site are written last, because visits of the same site wait for each other there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from django.utils import timezone

from infrastructure.postgresql.statements import execute
from reports.models import Mute
from scans.models import Scan
from scans.plug_ins import scan_extension
from scans.signals import Ended
from scans.visits.ending import REFUNDED
from sites.models import SiteState
from website_scan.fingerprints import fingerprints
from website_scan.plan import unchosen_checks
from website_scan.repeats import CheckKey, reported_elsewhere, reporters
from website_scan.result import ScanResult
from website_scan.urls import host_and_port_of

URGENT = ("critical", "high")
TYPES = tuple(Scan.Type.values)
# The hourly task refreshes the sites of mutes that have expired within this time.
EXPIRED_WITHIN = timedelta(hours=3)

# SQL condition: a mute in force covers the page, the check and the outcome of `finding`, as in `mute_matching`.
COVERS = """mute.organization_id = finding.organization_id AND mute.check_id = finding.check_id
    AND mute.host = finding.host AND mute.outcome IN ('', finding.outcome)
    AND mute.ended_at IS NULL AND mute.expires_at > %(now)s
    AND (mute.path_prefix = '' OR starts_with(
        substring(finding.url FROM '^https?://[^/?#]+([^?#]*)') || '/', mute.path_prefix || '/'
    ))"""
# SQL condition: a mute in force hides the finding as a whole, or mutes hide all of its places.
IS_MUTED = f"""(
    EXISTS (SELECT FROM reports_mute AS mute WHERE {COVERS} AND mute.fingerprint = '')
    OR NOT finding.is_cut AND finding.fingerprints <@ ARRAY(
        SELECT mute.fingerprint FROM reports_mute AS mute WHERE {COVERS} AND mute.fingerprint <> ''
    )
)"""  # noqa: S608  # of constants
# SQL condition: the finding is in the page's latest report, which has not expired, and is not muted. PostgreSQL looks
# only once whether there are any mutes, and tests each finding only if there are.
IS_OPEN = f"""(
    finding.fixed_at IS NULL AND finding.expires_at > %(now)s AND (
        NOT EXISTS (
            SELECT FROM reports_mute WHERE organization_id = ANY(%(organizations)s) AND ended_at IS NULL
                AND expires_at > %(now)s
        ) OR NOT {IS_MUTED}
    )
)"""  # of constants

# Stores the urgent findings of a visit's page. Checks that did not run keep their earlier findings, and checks that
# repeat another finding lose theirs.
STORE_FINDINGS = """
    WITH judged AS (
        SELECT * FROM jsonb_to_recordset(%(judged)s::jsonb) AS judged (
            scan_id text, type text, skipped jsonb, repeats jsonb, at timestamptz, expires_at timestamptz
        )
    ), found AS (
        SELECT * FROM jsonb_to_recordset(%(found)s::jsonb) AS found (
            type text, check_id text, outcome text, severity text, title text, fingerprints text[], is_cut bool
        )
    ), known AS (
        SELECT finding.id, judged.repeats ? finding.check_id AS is_repeat, judged.at
        FROM sites_sitefinding AS finding JOIN judged ON judged.type = finding.type
        WHERE finding.organization_id = %(organization)s AND md5(finding.url) = md5(%(url)s) AND finding.url = %(url)s
            AND NOT judged.skipped ? finding.check_id AND NOT EXISTS (
                SELECT FROM found WHERE found.type = finding.type AND found.check_id = finding.check_id
            )
    ), repeated AS (
        DELETE FROM sites_sitefinding USING known WHERE sites_sitefinding.id = known.id AND known.is_repeat
    ), fixed AS (
        UPDATE sites_sitefinding AS finding SET fixed_at = known.at
        FROM known WHERE finding.id = known.id AND NOT known.is_repeat AND finding.fixed_at IS NULL
    )
    INSERT INTO sites_sitefinding AS known (
        organization_id, host, url, type, check_id, outcome, severity, title, fingerprints, is_cut, scan_id, since,
        is_new, fixed_at, expires_at
    )
    SELECT %(organization)s, %(host)s, %(url)s, found.type, found.check_id, found.outcome, found.severity, found.title,
        found.fingerprints, found.is_cut, judged.scan_id, judged.at, EXISTS (
            SELECT FROM scans_scan AS scan
            WHERE scan.organization_id = %(organization)s AND md5(scan.url) = md5(%(url)s) AND scan.url = %(url)s
                AND scan.type = found.type AND scan.status IN ('completed', 'partial') AND scan.id <> judged.scan_id
                AND scan.categories IS NULL
        ), NULL, judged.expires_at
    FROM found JOIN judged USING (type)
    ON CONFLICT (organization_id, md5(url), type, check_id) DO UPDATE SET
        outcome = excluded.outcome, severity = excluded.severity, title = excluded.title,
        fingerprints = excluded.fingerprints, is_cut = excluded.is_cut, scan_id = excluded.scan_id,
        expires_at = excluded.expires_at, fixed_at = NULL,
        since = CASE WHEN known.fixed_at IS NULL THEN known.since ELSE excluded.since END,
        is_new = known.is_new OR known.fixed_at IS NOT NULL
"""
SCORE_COLUMNS = [f"{type}_{kind}" for type in TYPES for kind in ("score", "grade")]
# SQL conditions for the page of the new row: it is the site's main page, or it replaces the main page. A page without
# scores of all categories replaces none.
HAS_NO_SCORES = (
    f"state.failing_since IS NULL AND coalesce({', '.join(f'state.{type}_score' for type in TYPES)}) IS NULL"
)
IS_START_PAGE = "excluded.url = 'https://' || excluded.host || '/'"
IS_MAIN = f"(state.url = excluded.url OR %(has_scores)s AND ({IS_START_PAGE} OR {HAS_NO_SCORES}))"


def _updated_score(column: str) -> str:
    empty = "NULL" if column.endswith("score") else "''"
    return f"""{column} = CASE
        WHEN NOT {IS_MAIN} THEN state.{column}
        WHEN excluded.{column} IS DISTINCT FROM {empty} THEN excluded.{column}
        WHEN state.url <> excluded.url THEN {empty} ELSE state.{column} END"""


STORE_STATE = f"""
    INSERT INTO sites_sitestate AS state (
        organization_id, host, url, scanned_at, failing_since, error_message, critical, high, urgency,
        {", ".join(SCORE_COLUMNS)}
    ) VALUES (
        %(organization)s, %(host)s, %(url)s, %(at)s, CASE WHEN %(has_result)s THEN NULL ELSE %(at)s END, %(error)s,
        0, 0, 0, {", ".join(f"%({column})s" for column in SCORE_COLUMNS)}
    )
    ON CONFLICT (organization_id, host) DO UPDATE SET
        scanned_at = excluded.scanned_at,
        failing_since = CASE
            WHEN %(has_result)s AND {IS_MAIN} THEN NULL
            WHEN {IS_MAIN} THEN coalesce(state.failing_since, excluded.failing_since)
            ELSE state.failing_since END,
        error_message = CASE WHEN {IS_MAIN} THEN excluded.error_message ELSE state.error_message END,
        {", ".join(_updated_score(column) for column in SCORE_COLUMNS)},
        url = CASE WHEN {IS_MAIN} THEN excluded.url ELSE state.url END
"""  # noqa: S608  # of constants
LOWEST = f"least({', '.join(f'state.{type}_score' for type in TYPES)})"
REFRESH = f"""
    UPDATE sites_sitestate AS state SET critical = counts.critical, high = counts.high, lowest_score = {LOWEST},
        urgency = coalesce({LOWEST}, {SiteState.NO_SCORE}) + {SiteState.LEVEL_STEP} * CASE
            WHEN counts.critical > 0 THEN {SiteState.Level.CRITICAL}
            WHEN state.failing_since IS NOT NULL THEN {SiteState.Level.UNREACHABLE}
            WHEN counts.high > 0 THEN {SiteState.Level.HIGH}
            ELSE {SiteState.Level.FINE} END
    FROM (
        SELECT site.host, count(DISTINCT finding.check_id) FILTER (WHERE finding.severity = 'critical') AS critical,
            count(DISTINCT finding.check_id) FILTER (WHERE finding.severity = 'high') AS high
        FROM unnest(%(hosts)s::text[]) AS site (host)
        LEFT JOIN sites_sitefinding AS finding
            ON finding.organization_id = ANY(%(organizations)s) AND finding.host = site.host AND {IS_OPEN}
        GROUP BY site.host
    ) AS counts
    WHERE state.organization_id = ANY(%(organizations)s) AND state.host = counts.host
"""  # noqa: S608  # of constants


class _FindingRow(TypedDict):
    """Urgent finding of a page, as a parameter of STORE_FINDINGS."""

    type: str
    check_id: str
    outcome: str
    severity: str
    title: str
    fingerprints: list[str]
    is_cut: bool


def record_visit(*, ended: Ended, **_: object) -> None:
    """Update the state of the site whose page a visit has scanned.

    Receives the signal `scan_ended`. Visits that ended because of the service or a member change nothing. Neither do
    states of journeys, which may have the address of a page, and other content.
    """
    lead = ended[0][0]
    if lead.is_of_journey:
        return
    now, host = lead.completed_at or timezone.now(), host_and_port_of(lead.url)
    results = [(scan, result) for scan, result in ended if scan.score is not None and result is not None]
    failure = next((scan for scan, _ in ended if scan.error_code and scan.error_code not in REFUNDED), None)
    if not results and failure is None:
        return
    parameters = {"organization": lead.organization_id, "host": host, "url": lead.url, "at": now}
    if results:
        _store_findings(results, parameters, now)
    # Scores of a few categories say nothing about those of all.
    whole = [scan for scan, result in results if result.chosen_categories is None]
    scores = {f"{scan.type}_score": scan.score for scan in whole}
    grades = {f"{scan.type}_grade": scan.grade for scan in whole}
    empty = {column: None if column.endswith("score") else "" for column in SCORE_COLUMNS}
    error = "" if results or failure is None else failure.error_message
    has = {"has_result": bool(results), "has_scores": bool(whole)}
    execute(STORE_STATE, {**parameters, **empty, **scores, **grades, **has, "error": error})
    refresh_states(lead.organization_id, [host], now)


def refresh_states(organization_id: int, hosts: Iterable[str], now: datetime) -> None:
    """Count the open findings of the sites again, and derive their urgency."""
    organizations = [organization_id]
    execute(REFRESH, {"organizations": organizations, "hosts": sorted(set(hosts)), "now": now})


def receive_mute_change(*, organization_id: int, host: str, **_: object) -> None:
    """Count the open findings of a site whose mutes have changed. Receives the signal `mute_changed`."""
    refresh_states(organization_id, [host], timezone.now())


def refresh_after_expired_mutes(now: datetime) -> None:
    """Count the open findings of sites again whose mutes have expired recently. Repeating it is harmless."""
    expired = Mute.objects.filter(expires_at__lte=now, expires_at__gt=now - EXPIRED_WITHIN)
    hosts_by_organization: dict[int, set[str]] = {}
    for organization_id, host in expired.values_list("organization_id", "host").distinct():
        hosts_by_organization.setdefault(organization_id, set()).add(host)
    for organization_id, hosts in sorted(hosts_by_organization.items()):
        refresh_states(organization_id, hosts, now)


def _store_findings(
    results: Sequence[tuple[Scan, ScanResult]], parameters: Mapping[str, object], now: datetime
) -> None:
    repeats = reported_elsewhere(
        {result.type: reporters(result.checks, result.repeated_checks) for _, result in results}
    )
    judged = [
        {
            "scan_id": scan.id,
            "type": str(scan.type),
            "skipped": [check.id for check in result.skipped_checks] + sorted(_unchosen_checks(result)),
            "repeats": [key.id for key in repeats if key.type == result.type],
            "at": now.isoformat(),
            "expires_at": scan.kept_until.isoformat(),
        }
        for scan, result in results
    ]
    found = [row for scan, result in results for row in _urgent_findings(scan, result, repeats)]
    execute(STORE_FINDINGS, {**parameters, "judged": json.dumps(judged), "found": json.dumps(found)})


def _unchosen_checks(result: ScanResult) -> frozenset[str]:
    return (
        frozenset() if result.chosen_categories is None else unchosen_checks(result.chosen_categories, scan_extension())
    )


def _urgent_findings(scan: Scan, result: ScanResult, repeats: Mapping[CheckKey, CheckKey]) -> Iterator[_FindingRow]:
    for check in result.checks:
        if check.status != "fail" or check.severity is None or str(check.severity) not in URGENT:
            continue
        if CheckKey(result.type, check.id) in repeats:
            continue
        yield {
            "type": str(scan.type),
            "check_id": check.id,
            "outcome": check.outcome,
            "severity": str(check.severity),
            "title": check.title,
            "fingerprints": list(fingerprints(check.id, check.places.kept, scan.url)),
            "is_cut": check.places.is_cut,
        }
