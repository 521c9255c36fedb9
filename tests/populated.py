"""Test data for an organization, its people and an outsider.

The organization has rows of each kind.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

from django.utils import timezone
from msgspec import Struct
from msgspec.structs import replace
from PIL import Image

from accounts import activity
from accounts.keys import minting
from accounts.mailing import topics
from accounts.members import invitation_token
from accounts.models import (
    ApiKey,
    Branding,
    FormerKey,
    Invitation,
    LoginSession,
    Mail,
    Membership,
    MonthlyUsage,
    Organization,
    User,
)
from accounts.models.branding import new_logo_id
from accounts.services import sign_up_token
from accounts.usage import month_of
from infrastructure import encryption
from infrastructure.api.scopes import Scope
from reports.models import Mute, Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.models import Audit
from tests.factories import Member, make_result, make_scan, member_of
from tests.populated_assessments import populate_assessment
from tests.populated_audits import populate_audits
from tests.populated_journeys import populate_journeys
from tests.populated_lists import populate_lists
from tests.populated_monitors import populate_monitors
from tests.targets.sample import sample_site
from webhooks.delivery.signing import new_secret
from webhooks.examples import example
from webhooks.models import Attempt, Delivery, Event, EventKind, Webhook
from website_scan.browser.visit import Browser
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.places import NO_ROWS, Resource, Rows
from website_scan.report.mute_matching import host_and_path
from website_scan.result import Budget, CategoryResult, HowToFix, ScanResult
from website_scan.run import scan

ROLES = ("owner", "admin", "member", "viewer")
SITES = ("bakery.example.com", "shop.example.com", "www.example.org", "docs.example.net:8443", "xn--bcher-kva.example")
NAMES = ("ada", "bert", "chiyo", "dmitri", "efua", "a.rather.long.name.of.somebody.in.accounting")
ELSEWHERE = "https://www.example.org/"
GRADES = ((97, "A+"), (90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))
ACTIONS = tuple(activity.ACTIONS)
# All names contain this, so that tests can search responses for leaks.
NAME, DOMAIN = "Larkspur", "larkspur.example"


class Populated(Struct, frozen=True):
    """An organization with rows of each kind.

    `people` are users by role, including an outsider.
    """

    home: Member
    people: Mapping[str, User]
    # IDs by their names in URL patterns, such as `scan_id`.
    ids: Mapping[str, Any]


def populate(rows: int, results: Mapping[ScanType, ScanResult] | None = None) -> Populated:
    """Create an organization with `rows` rows in each list.

    Scans have `results` or a small default result.
    """
    home, away = member_of(NAME, "business"), member_of("Away")
    # Redirects of strangers contain the slug, so the name must not be in it.
    Organization.objects.filter(id=home.organization.id).update(slug="home")
    people = {role: _person(home.organization, role, f"{role}@{DOMAIN}") for role in ROLES}
    people["outsider"] = _person(away.organization, "owner", "outsider@people.test")
    now = timezone.now()
    ids = _scans(home, rows, now, results)
    ids |= populate_audits(home, min(rows, 30), now, results)
    ids |= populate_monitors(home, min(rows, 30), now, people["owner"], results)
    ids |= populate_lists(home, min(rows, 60), now, people["owner"])
    ids |= populate_assessment(home)
    ids |= populate_journeys(home, min(rows, 30), now, people["owner"])
    ids |= _webhooks(home.organization, rows, now, ids["scan_id"])
    ids |= _mutes(home.organization, people["owner"], rows, now)
    _mute_displayed_findings(home.organization, people["owner"], ids, now)
    ids |= _accounts(home, people["owner"], rows, now)
    MonthlyUsage.objects.create(organization=home.organization, period=month_of(now), used=12_345)
    return Populated(home, people, ids)


@functools.cache
def real_result(scan_type: ScanType, browser: Browser | None = None) -> ScanResult:
    """Scan the sample site with the real scan engine."""
    with sample_site() as site:
        policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file)
        target = parse_target(site.url_as("localhost") + "/", policy)
        with Network(policy) as network:
            return scan(target, [scan_type], network, Budget(), browser=browser)[0]


def finish_with(member: Member, result: ScanResult, created_at: datetime) -> Scan:
    """Create a scan and finish it with this result, as a worker does."""
    row = make_scan(member, type=result.type, url=result.url, created_at=created_at)
    claim = claim_scan(row.id)
    assert claim is not None
    assert finish_scan(claim, result)
    Scan.objects.filter(id=row.id).update(started_at=created_at, completed_at=created_at + timedelta(seconds=9))
    return row


def _person(organization: Organization, role: str, email: str) -> User:
    user = User.objects.create_user(email)
    Membership.objects.create(organization=organization, user=user, role=role)
    return user


def _scans(home: Member, rows: int, now: datetime, results: Mapping[ScanType, ScanResult] | None) -> dict[str, Any]:
    types = list(ScanType)
    Scan.objects.bulk_create(
        _create_ended_scans(
            home, types[n % 4], f"https://{_create_site(n // 4)}/", now - timedelta(hours=7 * n + 3), 40 + 17 * n % 60
        )
        for n in range(4 * rows)
    )
    failed = make_scan(home, status="failed", url=ELSEWHERE, error_code="TIMEOUT", error_message="It took too long.")
    expired = _create_ended_scans(home, ScanType.SEO, ELSEWHERE, now - timedelta(days=31), 77)
    expired.save(force_insert=True)
    report_ids = {}
    for scan_type in types:
        result = (results or {}).get(scan_type) or make_result(Scan(type=scan_type, url=f"https://{SITES[0]}/"))
        for age in range(rows if scan_type == ScanType.SECURITY else 2, 0, -1):
            created_at = now - timedelta(days=age % 25, minutes=age)
            report_ids[scan_type] = finish_with(home, _earlier_version(result, age - 1), created_at).id
    partial = make_result(Scan(type=ScanType.SECURITY, url=ELSEWHERE), "partial")
    shared = finish_with(home, partial, now)
    earlier_shared_scan = finish_with(home, _earlier_version(partial, 4), now - timedelta(hours=2))
    Report.objects.filter(scan__in=[shared, earlier_shared_scan]).update(shared_at=now)
    ids: dict[str, Any] = {f"{name}_id": scan_id for name, scan_id in report_ids.items()}
    ids["ending"] = "xml"  # No export format is called xml.
    ids |= {
        "scan_id": report_ids[ScanType.SECURITY],
        "partial_id": finish_with(home, partial, now - timedelta(hours=1)).id,
        "shared_id": shared.id,
        "shared_before_id": earlier_shared_scan.id,
        "expired_id": expired.id,
        "failed_id": failed.id,
        "host": SITES[0],
        # URLs of the documentation contain these IDs.
        "check_id": "hsts",
        "group": "scans",
        "guide": "errors",
        "export_format": "json",
        "webhook_format": "slack",
        "digest": "0" * 16,
    }
    for n in range(max(2, rows // 2)):
        queued = make_scan(home, type=types[n % 4], url=f"https://{_create_site(n)}/queue", created_at=now)
        running = make_scan(home, type=types[n % 4], url=f"https://{_create_site(n)}/a/page", created_at=now)
        Scan.objects.filter(id=running.id).update(
            status="scanning", percent=37, phase="checking", checks_done=12, checks_total=31, started_at=now
        )
        ids |= {"queued_id": queued.id, "running_id": running.id}
    return ids


def _create_site(number: int) -> str:
    return SITES[number] if number < len(SITES) else f"site-{number}.example.com"


def _create_ended_scans(home: Member, scan_type: ScanType, url: str, at: datetime, score: int) -> Scan:
    grade = next(grade for least, grade in GRADES if score >= least)
    return Scan(
        organization=home.organization,
        api_key=home.key,
        type=scan_type,
        url=url,
        status="completed",
        score=score,
        grade=grade,
        percent=100,
        phase="done",
        created_at=at,
        started_at=at,
        completed_at=at + timedelta(seconds=8),
        period=month_of(at),
    )


def _earlier_version(result: ScanResult, points: int) -> ScanResult:
    """Return an earlier version of the result.

    Its score is lower. It has faults that were fixed later, but none of the new ones.
    """
    if not points:
        return result
    score = max(0, (result.score or 0) - points)
    return replace(result, score=score, categories=tuple(_earlier_category(category) for category in result.categories))


def _earlier_category(category: CategoryResult) -> CategoryResult:
    """Return an earlier version of the category.

    The first passed check failed then, the last failed check passed, and failed checks had one more place.
    """
    checks = list(category.checks)
    passed = [position for position, check in enumerate(checks) if check.status == "pass"]
    faulty = [position for position, check in enumerate(checks) if check.status != "pass"]
    for position in faulty:
        if places := checks[position].places.kept:
            another_place = places[0].mapped(lambda text: f"{text} > a")
            checks[position] = replace(checks[position], places=Rows.of([*places, another_place]))
    for position in passed[:1]:
        checks[position] = replace(
            checks[position],
            status="fail",
            severity=checks[position].declared_severity,
            outcome="faulty",
            how_to_fix=HowToFix("Remove them."),
            places=Rows.of([Resource(f"{ELSEWHERE}{name}.js") for name in ("analytics", "chat")]),
        )
    for position in faulty[-1:]:
        checks[position] = replace(
            checks[position], status="pass", severity=None, outcome="", how_to_fix=None, places=NO_ROWS
        )
    return replace(category, checks=tuple(checks))


def _webhooks(organization: Organization, rows: int, now: datetime, scan_id: str) -> dict[str, Any]:
    kinds = list(EventKind.values)
    webhooks = Webhook.objects.bulk_create(
        Webhook(
            name=f"Receiver {n}",
            organization=organization,
            url=f"https://hooks.{DOMAIN}/team/{n}",
            receiver=f"hooks.{DOMAIN}:443",
            events=kinds[: 1 + n % 3],
            encrypted_secret=encryption.encrypt(new_secret()),
            created_at=now - timedelta(days=rows - n),
            enabled=n != 1,
            disabled_at=now if n == 1 else None,
            disabled_reason="failing" if n == 1 else "",
            failing_since=now - timedelta(hours=5) if n == 2 else None,
        )
        for n in range(rows)
    )
    statuses = list(Delivery.Status.values)
    events = Event.objects.bulk_create(
        Event(
            organization=organization,
            scan_id=scan_id if n % 5 else None,
            kind=kinds[n % 3],
            body=example(EventKind(kinds[n % 3]), now),
        )
        for n in range(rows)
    )
    deliveries = Delivery.objects.bulk_create(
        Delivery(
            webhook=webhooks[0],
            event=event,
            status=statuses[n % 3],
            attempts_made=3,
            created_at=now - timedelta(minutes=9 * n),
            next_attempt_at=now + timedelta(minutes=n + 3),
            finished_at=now if n % 3 else None,
        )
        for n, event in enumerate(events)
    )
    Attempt.objects.bulk_create(
        Attempt(
            delivery=delivery,
            at=delivery.created_at + timedelta(seconds=5 * k),
            latency_ms=31 + k,
            response_status=(200 if delivery.status == "delivered" else 503) if k else None,
            response_body="Thank you." if k else "",
            error_code="" if k else "CONNECTION_FAILED",
            error_message="" if k else "The receiver does not accept connections.",
        )
        for delivery in deliveries
        for k in range(3)
    )
    failed = next(delivery for delivery in deliveries if delivery.status == "failed")
    return {"webhook_id": webhooks[0].id, "disabled_id": webhooks[1].id, "delivery_id": failed.id}


def _accounts(home: Member, owner: User, rows: int, now: datetime) -> dict[str, Any]:
    organization = home.organization
    users = User.objects.bulk_create(User(email=f"{_name(n)}@{DOMAIN}", password="!") for n in range(rows))
    memberships = Membership.objects.bulk_create(
        Membership(organization=organization, user=user, role=ROLES[n % 4]) for n, user in enumerate(users)
    )
    other_organizations = Organization.objects.bulk_create(
        Organization(name=f"Client {n} of {NAME}", slug=f"client-{n}") for n in range(rows)
    )
    Membership.objects.bulk_create(
        Membership(organization=other, user=owner, role="viewer") for other in other_organizations
    )
    invitations = Invitation.objects.bulk_create(
        Invitation(
            organization=organization,
            email=f"asked-{n}@{DOMAIN}",
            role=ROLES[n % 4],
            invited_by=owner,
            expires_at=now + timedelta(days=6),
        )
        for n in range(rows)
    )
    keys = ApiKey.objects.bulk_create(
        ApiKey(
            organization=organization,
            name=f"{NAME} nightly build {n}",
            prefix=minting.mint().prefix,
            digest=minting.mint().digest,
            created_by=owner,
            created_at=now - timedelta(days=n),
            expires_at=(None, now + timedelta(days=60), now - timedelta(days=1))[n % 3],
            revoked_at=now if n % 4 == 3 else None,
            last_used_at=now - timedelta(hours=n) if n % 2 else None,
            last_used_from=f"2001:db8:85a3:8d3:1319:8a2e:370:{n}" if n % 2 else "",
            scope=tuple(Scope)[n % 3],
        )
        for n in range(rows)
    )
    previous_key = FormerKey.objects.create(
        key=keys[0],
        prefix=minting.mint().prefix,
        digest=minting.mint().digest,
        expires_at=now + timedelta(hours=20),
        last_used_at=now - timedelta(minutes=3),
        last_used_from="192.0.2.7",
    )
    sessions = LoginSession.objects.bulk_create(
        LoginSession(user=owner, address=f"192.0.2.{n}", user_agent="Mozilla/5.0 (X11; Linux) Firefox/140.0")
        for n in range(rows)
    )
    logo_id = new_logo_id()
    logo = {"logo": _logo(100, 50), "logo_id": logo_id, "logo_width": 100, "logo_height": 50}
    Branding.objects.create(organization=organization, name="Harbour Agency", **logo)
    for n in range(rows):
        activity.record(organization, owner if n % 7 else None, ACTIONS[n % len(ACTIONS)], f"{_name(n)}@{DOMAIN}")
    return {
        "key_id": keys[0].id,
        "key_prefix": keys[0].prefix,
        "former_id": previous_key.pk,
        "membership_id": memberships[0].id,
        "invitation_id": invitations[0].id,
        "session_id": sessions[0].id,
        "logo_id": logo_id,
        "organization_id": organization.id,
        "organization": "home",
        "name": "performance",  # Name of a sample report.
        "number": 0,
        "path": "screenshot.webp",  # Picture of a sample report.
        "slug": "site",  # Slug of a prerendered sample page.
        "signup/token": sign_up_token("new@people.test"),
        "invite/token": invitation_token(invitations[0]),
        "unsubscribe/token": topics.token(owner, _mails(organization, owner, rows)),
        "login/provider_id": "unknown",
        "account/key": "forged",
        "account/pk": 4711,
        "password/uidb64": "MQ",
        "password/token": "used-up",
    }


def _mutes(organization: Organization, owner: User, rows: int, now: datetime) -> dict[str, Any]:
    """Create mutes on the sites of the displayed reports.

    They mute paths or single places.
    """
    mutes = Mute.objects.bulk_create(
        Mute(
            organization=organization,
            check_id=("hsts", "csp-present", "cookie-secure")[n % 3],
            host=SITES[n % len(SITES)],
            path_prefix=f"/{_name(n)}" if n % 4 else "",
            fingerprint=f"{n:016x}" if n % 2 else "",
            place="main > div.teaser > a.more" if n % 2 else "",
            reason="The load balancer sends it from next month on." if n % 3 else "Accepted.\nSee SEC-142.",
            created_by=owner if n % 5 else None,
            created_at=now - timedelta(days=n % 80),
            expires_at=now + timedelta(days=3 + n),
        )
        for n in range(rows)
    )
    return {"mute_id": mutes[0].id}


def _mute_displayed_findings(organization: Organization, owner: User, ids: Mapping[str, Any], now: datetime) -> None:
    """Mute findings in the displayed report and site audit."""
    scan, audit = Scan.objects.get(id=ids["security_id"]), Audit.objects.get(id=ids["site_audit_id"])
    for check_id, url in (("clickjacking", scan.url), ("meh", scan.url), ("odd-1", audit.url)):
        Mute.objects.create(
            organization=organization,
            check_id=check_id,
            host=host_and_path(url)[0],
            reason="Partners frame the page. See SEC-142.",
            created_by=owner,
            created_at=now,
            expires_at=now + timedelta(days=200),
        )


def _mails(organization: Organization, owner: User, rows: int) -> str:
    """Create e-mails on one subscribed topic and many others.

    Returns the subscribed topic.
    """
    topic = f"webhooks:{organization.pk}"
    for mail_topic in (topic, *(f"monitor:mon_{n}" for n in range(rows))):
        subject = f"A webhook of {NAME} was disabled" if mail_topic == topic else f"{NAME} shop: 2 new findings"
        Mail.objects.create(
            user=owner, organization=organization, topic=mail_topic, subject=subject, sent_at=timezone.now()
        )
        if mail_topic != topic:
            topics.Subscription(owner, mail_topic).stop()
    return topic


def _logo(width: int, height: int) -> bytes:
    """Return a WebP picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "WEBP")
    return file.getvalue()


def _name(number: int) -> str:
    return NAMES[number] if number < len(NAMES) else f"person-{number}"
