"""Tests for link previews of shared audits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from infrastructure.web.cards.drawing import Card, CardGrade, draw
from scans.models import Scan
from sites.models import Audit, AuditFinding
from tests.factories import Member
from tests.populated_audits import make_audit
from tests.reports.people import person
from tests.reports.test_previews import BASE, card_of, preview_of
from tests.sites.audits.pages.test_views import page_audit, site_audit

FOUR = tuple(CardGrade(label, "C", 71) for label in Scan.Type.labels)
HOST = "bakery.example.com"


@pytest.fixture(autouse=True)
def base_url(settings: Any) -> None:
    settings.BASE_URL = BASE


def share_audit(audit: Audit) -> str:
    Audit.objects.filter(id=audit.id).update(shared_at=timezone.now())
    return f"/audit/{audit.id}"


def finish_audit(audit: Audit, **columns: Any) -> None:
    values: dict[str, Any] = {"status": "completed", "completed_at": timezone.now(), **columns}
    Audit.objects.filter(id=audit.id).update(**values)


def format_today() -> str:
    now = timezone.now()
    return f"{now.day} {now:%b %Y}"


def test_audit_card_shows_the_grades(home: Member) -> None:
    audit = site_audit(home, 3)
    finish_audit(audit)
    response = Client().get(share_audit(audit))
    preview = preview_of(response)
    assert preview["og:title"] == f"Security C, Performance C, Accessibility C, SEO C: {HOST}"
    assert preview["twitter:card"] == "summary_large_image"
    card = Client().get(card_of(response))
    assert card.content == draw(Card(HOST, "Whole site, 2 pages", note=format_today(), grades=FOUR))
    assert card["Content-Type"] == "image/png"
    assert card["Cache-Control"] == "private, max-age=31536000, immutable"
    assert card["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_card_changes_when_the_audit_ends(home: Member) -> None:
    audit = site_audit(home, 3)
    page = share_audit(audit)
    before = Client().get(page)
    assert preview_of(before)["og:title"] == f"Scan in progress: {HOST}"
    assert "in progress" in preview_of(before)["og:description"]
    running = card_of(before)
    assert Client().get(running).content == draw(Card(HOST, "Scan in progress"))
    finish_audit(audit)
    after = card_of(Client().get(page))
    assert after != running
    assert Client().get(running)["Location"] == after
    finish_audit(audit, status="cancelled", totals={})
    assert preview_of(Client().get(page))["og:title"] == f"Scan cancelled: {HOST}"
    finish_audit(audit, status="failed")
    assert Client().get(card_of(Client().get(page))).content == draw(Card(HOST, "Scan failed"))


def test_preview_names_the_first_finding(home: Member) -> None:
    audit = site_audit(home, 4)
    finish_audit(audit)
    page = share_audit(audit)
    AuditFinding.objects.exclude(title="Bad thing found", type="seo").delete()
    assert preview_of(Client().get(page))["og:description"] == "Fix first: Bad thing found, on 3 of 3 pages."
    AuditFinding.objects.update(severity="critical", critical_pages=3)
    assert preview_of(Client().get(page))["og:description"] == "Critical: Bad thing found, on 3 of 3 pages."
    AuditFinding.objects.all().delete()
    assert preview_of(Client().get(page))["og:description"] == "Nothing to fix would raise the scores."


def test_card_of_one_type_has_one_gauge(home: Member) -> None:
    audit = page_audit(home)
    finish_audit(audit, types=["seo"])
    card = Client().get(card_of(Client().get(share_audit(audit))))
    assert card.content == draw(Card(HOST, "SEO report", "/", f"One page, {format_today()}", FOUR[3:]))


def test_strangers_get_the_card_of_a_shared_audit(home: Member, stranger: Member) -> None:
    audit = page_audit(home)
    others = (Client(), person(stranger.organization))
    path = card_of(Client().get(share_audit(audit)))
    assert [visitor.get(path).status_code for visitor in others] == [200, 200]
    Audit.objects.update(shared_at=None)
    for address in (path, path.replace(audit.id, make_audit(stranger).id[:4] + "0" * 22)):
        assert [visitor.get(address).status_code for visitor in others] == [302, 404]
    member = person(home.organization, "viewer")
    assert member.get(path)["Cache-Control"] == "private, no-cache"
    assert not preview_of(member.get(f"/audit/{audit.id}"))
    Audit.objects.update(created_at=timezone.now() - timedelta(days=400), released_at=None)
    assert member.get(path).status_code == 404
