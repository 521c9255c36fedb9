"""Factories for mute rules, findings and reports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

from msgspec.structs import replace

from accounts.authentication import Caller, member_caller
from accounts.models import Membership
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.results import check_of, elements, stored_finding
from website_scan.catalogue import caps
from website_scan.findings import CRITICAL, HIGH, MEDIUM, ScanType
from website_scan.report.mute_matching import MuteRule
from website_scan.report_json import ExportedFinding
from website_scan.result import AppliedCap, CategoryResult, CheckResult
from website_scan.score_basis import basis
from website_scan.scoring import score
from website_scan.security.checks.cookies import SentCookie

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
URL = "https://example.com/shop/shoes?page=2"


def rule(check_id: str = "hsts", **changes: Any) -> MuteRule:
    """Return a mute rule.

    By default, it mutes all places of a check on example.com.
    """
    values: dict[str, Any] = {
        "id": f"mute_{len(repr(changes)):022}",
        "check_id": check_id,
        "host": "example.com",
        "path_prefix": "",
        "outcome": "",
        "fingerprint": "",
        "place": "",
        "reason": "The load balancer sends it.",
        "by": "ada@example.com",
        "created_at": NOW - timedelta(days=1),
        "expires_at": NOW + timedelta(days=30),
    }
    return MuteRule(**values | changes)


def finding(id: str = "image-alt", *selectors: str, **changes: Any) -> ExportedFinding:
    """Return a failed check of a JSON export.

    Its places are elements with these selectors.
    """
    return cast("ExportedFinding", stored_finding(id, *elements(*selectors), points=1.0, later=1.0) | changes)


def cookie(name: str, **columns: Any) -> SentCookie:
    """Return a cookie of example.com as the place of a finding."""
    values: dict[str, Any] = {"session_like": True, "secure": False, "http_only": True, "same_site": None}
    return SentCookie(name, "example.com", **values | columns, fault=None)


def caller_with_key(member: Member) -> Caller:
    """Return the Caller of an API request with the organization's key."""
    as_member = member_caller(Membership(organization=member.organization))
    return replace(as_member, member=None, key_id=member.key.id, key_name=member.key.name)


CHECKS = (
    check_of(
        "exposed-git",
        "No Git repository is public",
        "Git repository is public",
        "fail",
        CRITICAL,
        CRITICAL,
        "There.",
        "Remove it.",
    ),
    check_of(
        "cookie-secure",
        "Cookies are Secure",
        "Cookies without Secure",
        "fail",
        HIGH,
        HIGH,
        "2 cookies.",
        "Set Secure.",
        (cookie("session"), cookie("lang")),
    ),
    check_of("hsts", "HSTS is on", "HSTS is off", "warn", MEDIUM, MEDIUM, "No HSTS.", "Send it."),
    check_of("csp-present", "There is a policy", "There is a policy", "pass", None, HIGH, "All is well."),
)


def finished_scan_with(
    member: Member, url: str = URL, checks: tuple[CheckResult, ...] = CHECKS, **columns: Any
) -> Scan:
    """Create a finished security scan with these checks.

    The checks decide the score.
    """
    scan = make_scan(member, url=url, **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    categories, limits = [CategoryResult("things", "Things", 10, checks)], caps(ScanType.SECURITY)
    scored = score(categories, limits)
    result = make_result(
        scan,
        score=scored.value,
        grade=scored.grade,
        categories=scored.categories,
        caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in scored.held),
        scoring=basis(categories, limits),
    )
    assert finish_scan(claim, result)
    return Scan.objects.get(id=scan.id)
