"""Tests of the monitor pages as members see them who are limited to some sites."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.authentication import member_caller
from accounts.models import ActivityEvent, Membership, Tier, User
from sites.models import Audit, Monitor, MonitorRun
from sites.monitors.requests import MonitorRequest
from sites.monitors.services import change_monitor
from tests.factories import Member, browser_of, member_of, person_of, register_webhook
from tests.page_reading import page_of, strings, text_of
from tests.populated_audits import look_at, make_audit, make_pages
from tests.populated_monitors import finding, make_monitor, news, score
from website_scan.urls import host_and_port_of

OWN, OTHER = "shop.example.com", "bakery.example.org"
LIST, NEW = "/o/home/monitors/", "/o/home/monitors/new"
USUAL = {"scope": "page", "type": "seo", "every": "day", "timezone": "UTC"}


@pytest.fixture
def home(home: Member) -> Member:
    Tier.objects.update(schedules=9)
    return home


@pytest.fixture
def user(home: Member) -> User:
    return person_of(home, "member", "client@people.test")


@pytest.fixture
def client(user: User) -> Client:
    limit(user, OWN)
    return browser_of(user)


def limit(user: User, *limits: str) -> None:
    Membership.objects.filter(user=user).update(limited_to=list(limits))


def url_of(host: str, path: str = "") -> str:
    return f"https://{host}/{path}"


def make_monitors(home: Member) -> dict[str, Monitor]:
    """Create a monitor of the own site, one of two own pages, one of another site, and one of both sites."""
    pages = {
        "Own page": [url_of(OWN)],
        "Own pages": [url_of(OWN), url_of(OWN, "cart?from=/")],
        "Foreign page": [url_of(OTHER)],
        "Mixed pages": [url_of(OWN), url_of(OTHER)],
        "Look-alike page": [f"https://{OWN}.{OTHER}/?at={url_of(OWN)}"],
    }
    return {
        name: make_monitor(home, name=name, kind="page" if len(urls) == 1 else "pages", pages=urls)
        for name, urls in pages.items()
    }


def own_ids(monitors: dict[str, Monitor]) -> set[str]:
    return {monitors["Own page"].id, monitors["Own pages"].id}


def names_in(client: Client, query: str = "") -> list[str]:
    return [
        text.strip() for text in strings(page_of(client.get(LIST + query)), "//tbody//th//a//text()") if text.strip()
    ]


def test_table_has_only_monitors_with_all_pages_on_visible_sites(client: Client, home: Member) -> None:
    make_monitors(home)
    assert sorted(names_in(client)) == ["Own page", "Own pages"]
    assert names_in(client, "?sort=name") == ["Own page", "Own pages"]
    assert names_in(client, "?q=page&type=seo&state=ok&sort=-name") == ["Own pages", "Own page"]
    assert names_in(client, "?q=foreign") == []
    assert "No monitor matches these filters." in text_of(client.get(f"{LIST}?q=foreign"))
    assert "in your plan" not in text_of(client.get(LIST))
    assert strings(page_of(client.get(LIST)), "//main//a[contains(@href, 'maintenance')]/@href") == []


def test_table_follows_tags_and_subdomains(client: Client, home: Member, user: User) -> None:
    make_monitors(home)
    limit(user, f"*.{OTHER}")
    assert sorted(names_in(client)) == ["Foreign page", "Look-alike page"]
    limit(user, f"*.{OTHER}", OWN)
    assert len(names_in(client)) == 5
    limit(user, "tag:none")
    assert "No monitors yet" in text_of(client.get(LIST))


def test_links_to_pages_of_the_table_do_not_reveal_the_rank_of_another_monitor(client: Client, home: Member) -> None:
    monitors = make_monitors(home)
    Monitor.objects.filter(id=monitors["Foreign page"].id).update(name="Own page 2")
    for id in (monitors["Foreign page"].id, "mon_" + "0" * 22):
        assert names_in(client, f"?sort=name&after={id}") == ["Own page", "Own pages"]


def test_full_plan_is_explained_without_its_numbers(client: Client, home: Member) -> None:
    Tier.objects.update(schedules=5)
    make_monitors(home)
    for path in (LIST, NEW):
        text = text_of(client.get(path))
        assert "No more monitors can be added" in text
        assert "All 5" not in text


@pytest.mark.parametrize("action", ["", "/live", "/edit", "/pause", "/run", "/delete"])
def test_pages_and_actions_of_other_monitors_do_not_exist(client: Client, home: Member, action: str) -> None:
    monitors = make_monitors(home)
    headers = {"HX-Request": "true"}
    for monitor in monitors.values():
        path, is_own = f"{LIST}{monitor.id}{action}", monitor.id in own_ids(monitors)
        method = client.post if action in ("/pause", "/run") else client.get
        assert (method(path, {"paused": "on"}, headers=headers).status_code != 404) is is_own, monitor.name
        if action in ("/edit", "/delete") and not is_own:
            assert client.post(path, {**USUAL, "url": url_of(OWN)}).status_code == 404
    changed = own_ids(monitors) if action == "/pause" else set()
    assert {monitor.id for monitor in Monitor.objects.exclude(paused_at=None)} == changed
    assert Monitor.objects.count() == len(monitors)
    run = own_ids(monitors) if action == "/run" else set()
    assert set(MonitorRun.objects.values_list("monitor_id", flat=True)) == run


@pytest.mark.parametrize("action", ["pause", "run", "schedule", "deleted"])
def test_selected_monitors_of_other_sites_are_ignored(client: Client, home: Member, action: str) -> None:
    monitors = make_monitors(home)
    fields = {"action": action, "every": "week", "monitor": [monitor.id for monitor in monitors.values()]}
    response = client.post("/o/home/selected-monitors", fields, follow=True)
    assert "2 monitors were" in text_of(response)
    changed = ActivityEvent.objects.filter(action__startswith="monitor.").values_list("details__monitor", flat=True)
    assert set(changed) == own_ids(monitors)


def test_confirmation_of_deletion_names_visible_monitors_only(client: Client, home: Member) -> None:
    fields = {"action": "delete", "monitor": [monitor.id for monitor in make_monitors(home).values()]}
    confirmation = text_of(client.post("/o/home/selected-monitors", fields))
    assert "Delete 2 monitors?" in confirmation
    assert "Foreign page" not in confirmation
    assert "Mixed pages" not in confirmation


def test_limited_viewer_sees_monitors_and_changes_none(home: Member) -> None:
    monitors = make_monitors(home)
    viewer = person_of(home, "viewer", "viewer@people.test")
    limit(viewer, OWN)
    client = browser_of(viewer)
    path = f"{LIST}{monitors['Own page'].id}"
    assert client.get(LIST).status_code == client.get(path).status_code == 200
    assert strings(page_of(client.get(path)), "//main//form/@action") == []
    for action in ("edit", "pause", "run", "delete"):
        assert client.post(f"{path}/{action}", {"paused": "on"}).status_code == 403
    assert client.post("/o/home/selected-monitors", {"action": "pause"}).status_code == 403


def done_run(home: Member, monitor: Monitor, url: str, age: timedelta) -> MonitorRun:
    """Create a run with changes and a score of 33 or, of the own site, 77."""
    at, points = timezone.now() - age, 77 if OWN in url else 33
    audit = make_audit(home, url=url, types=["seo"], run_of="monitor", created_at=at)
    look_at(make_pages(audit, [url])[0], at)
    change = finding(f"Change of {host_and_port_of(url)}")
    return MonitorRun.objects.create(
        monitor=monitor, audit=audit, due_at=at, not_before=at, status="done", scores={"seo": score(points, 50)},
        news=news(new=[change, change] if OWN in url else [change] * 5),
    )  # fmt: skip


def test_runs_of_earlier_pages_stay_hidden(client: Client, home: Member) -> None:
    """Audits may have expired, so that nobody knows which pages a run had."""
    monitor = make_monitor(home, name="Shop", pages=[url_of(OTHER)])
    done_run(home, monitor, url_of(OTHER), timedelta(days=2))
    expired = done_run(home, monitor, url_of(OTHER), timedelta(days=3))
    Audit.objects.filter(id=expired.audit_id).delete()
    Monitor.objects.filter(id=monitor.id).update(pages=[url_of(OWN)])
    path = f"{LIST}{monitor.id}"
    before = text_of(client.get(path))
    assert "No run yet" in before
    assert OTHER not in before
    assert "5 new" not in text_of(client.get(LIST))
    done_run(home, monitor, url_of(OWN), timedelta(days=1))
    page = page_of(client.get(path))
    assert len(page.xpath("//ol[@class='runs']/li")) == 1
    text = text_of(client.get(path))
    assert f"Change of {OWN}" in text
    assert OTHER not in text
    assert "33" not in strings(page, "//main//*[contains(@class, 'result')]//text()")
    assert "2 new" in text_of(client.get(LIST))
    admin = browser_of(person_of(home, "admin", "admin@people.test"))
    assert len(page_of(admin.get(path)).xpath("//ol[@class='runs']/li")) == 3


def test_running_audit_of_earlier_pages_is_not_linked(client: Client, home: Member) -> None:
    monitor = make_monitor(home, pages=[url_of(OWN)])
    audit = make_audit(home, url=url_of(OTHER), run_of="monitor")
    make_pages(audit, [url_of(OTHER)])
    now = timezone.now()
    MonitorRun.objects.create(monitor=monitor, audit=audit, due_at=now, not_before=now, status="running")
    page = client.get(f"{LIST}{monitor.id}")
    assert page.status_code == 200
    assert audit.id not in page.text
    live = client.get(f"{LIST}{monitor.id}/live", headers={"HX-Request": "true"})
    assert audit.id not in live.text


def test_change_of_site_removes_the_results_of_the_former_site(home: Member, target: str) -> None:
    monitor = make_monitor(
        home, pages=[url_of(OTHER)], scores={"seo": {"score": 33, "grade": "F"}},
        certificate_host=OTHER, certificate_expires_at=timezone.now(),
    )  # fmt: skip
    admin = browser_of(person_of(home, "admin", "admin@people.test"))
    path = f"{LIST}{monitor.id}/edit"
    assert admin.post(path, {**USUAL, "url": url_of(OTHER, "page"), "name": "Shop"}).status_code == 302
    monitor.refresh_from_db()
    assert (monitor.scores["seo"]["score"], monitor.certificate_host) == (33, OTHER)
    assert admin.post(path, {**USUAL, "url": target, "name": "Shop"}).status_code == 302
    monitor.refresh_from_db()
    assert (monitor.scores, monitor.certificate_host, monitor.certificate_expires_at) == ({}, "", None)


def test_page_links_to_its_audits_and_back(client: Client, home: Member) -> None:
    monitor = make_monitor(home, name="Shop", pages=[url_of(OWN)])
    run = done_run(home, monitor, url_of(OWN), timedelta(hours=1))
    hrefs = strings(page_of(client.get(f"{LIST}{monitor.id}")), "//main//a/@href")
    assert f"/audit/{run.audit_id}" in hrefs
    assert f"{LIST}{monitor.id}" in client.get(f"/audit/{run.audit_id}").text
    Monitor.objects.filter(id=monitor.id).update(pages=[url_of(OWN), url_of(OTHER)])
    assert monitor.id not in client.get(f"/audit/{run.audit_id}").text


def test_page_shows_neither_other_recipients_nor_webhooks_nor_the_badge(
    client: Client, home: Member, user: User
) -> None:
    ann = person_of(home, "admin", "ann@agency.test")
    webhook, _ = register_webhook(home, "https://8.8.8.8/hook")
    monitor = make_monitor(home, pages=[url_of(OWN)], recipients=[ann.pk], webhook_ids=[webhook.id])
    path = f"{LIST}{monitor.id}"
    pages = [client.get(path), client.get(f"{path}/edit"), client.get(NEW)]
    for page in pages:
        for text in ("ann@agency.test", webhook.id, webhook.name, "/webhooks/", "Badge"):
            assert text not in page.text
    assert "E-mails to you No" in text_of(pages[0])
    Monitor.objects.update(recipients=[ann.pk, user.pk])
    assert "E-mails to you Yes" in text_of(client.get(path))
    assert strings(page_of(client.get(f"{path}/edit")), "//input[@name='emails'][@checked]/@value") == [user.email]
    admin = text_of(browser_of(ann).get(path))
    assert "ann@agency.test, client@people.test" in admin


@pytest.mark.parametrize("receives", [True, False])
def test_editing_keeps_other_recipients_and_webhooks(
    client: Client, home: Member, user: User, target: str, receives: bool
) -> None:
    limit(user, host_and_port_of(target))
    ann, ben = (person_of(home, "admin", f"{name}@agency.test") for name in ("ann", "ben"))
    webhook, _ = register_webhook(home, "https://8.8.8.8/hook")
    monitor = make_monitor(home, pages=[target], recipients=[ann.pk, user.pk], webhook_ids=[webhook.id])
    emails = [ben.email, *([user.email] if receives else [])]
    form: dict[str, Any] = {**USUAL, "url": target, "name": "Market", "emails": emails, "webhooks": ["all"]}
    assert client.post(f"{LIST}{monitor.id}/edit", form).status_code == 302
    monitor.refresh_from_db()
    assert (monitor.name, monitor.webhook_ids) == ("Market", [webhook.id])
    assert monitor.recipients == [ann.pk, *([user.pk] if receives else [])]


def test_limited_member_creates_monitors_of_visible_sites_only(
    client: Client, home: Member, user: User, target: str
) -> None:
    limit(user, host_and_port_of(target))
    for form in (
        {"url": url_of(OTHER)},
        {"url": url_of(OTHER), "scope": "site", "discover": "links"},
        {"scope": "pages", "pages": f"{target} {url_of(OTHER)}"},
    ):
        response = client.post(NEW, {**USUAL, **form})
        assert response.status_code == 400
        assert "You can scan only your own sites in Home" in text_of(response)
    assert not Monitor.objects.exists()
    assert client.post(NEW, {**USUAL, "url": target, "emails": [user.email]}).status_code == 302
    monitor = Monitor.objects.get()
    assert (monitor.recipients, monitor.webhook_ids, monitor.created_by) == ([user.pk], None, user)
    response = client.post(f"{LIST}{monitor.id}/edit", {**USUAL, "url": url_of(OTHER), "name": "Shop"})
    assert response.status_code == 400
    monitor.refresh_from_db()
    assert monitor.pages == [target]


def test_pages_of_own_sites_offer_monitors(client: Client, home: Member) -> None:
    audit = make_audit(home, url=url_of(OWN))
    look_at(make_pages(audit, [url_of(OWN)])[0], timezone.now())
    scan = audit.pages.get().scans.filter(type="seo").get()
    assert f"{NEW}?url=" in client.get(f"/report/{scan.id}").text
    assert f"{NEW}?of={audit.id}" in client.get(f"/audit/{audit.id}").text
    assert f"{NEW}?scope=site" in client.get(f"/o/home/sites/{OWN}").text
    assert client.get(f"{NEW}?of={make_audit(home, url=url_of(OTHER)).id}").status_code == 404


def test_admin_adds_only_limited_recipients_who_see_the_monitor(home: Member, user: User, target: str) -> None:
    limit(user, OWN)
    admin = browser_of(person_of(home, "admin", "admin@people.test"))
    assert "client@people.test Sees only some sites" in text_of(admin.get(NEW))
    form = {**USUAL, "url": target, "emails": [user.email]}
    refused = admin.post(NEW, form)
    assert refused.status_code == 400
    assert "client@people.test is limited to some sites" in text_of(refused)
    limit(user, host_and_port_of(target))
    assert admin.post(NEW, form).status_code == 302
    monitor = Monitor.objects.get()
    assert monitor.recipients == [user.pk]
    # The recipient loses sight of the monitor, and other changes are still possible.
    limit(user, OWN)
    path = f"{LIST}{monitor.id}"
    assert "Nobody by e-mail" in text_of(admin.get(path))
    change_monitor_of(home, monitor, name="Market")
    monitor.refresh_from_db()
    assert (monitor.name, monitor.recipients) == ("Market", [user.pk])


def change_monitor_of(home: Member, monitor: Monitor, **columns: Any) -> None:
    caller = member_caller(Membership.objects.get(organization=home.organization, user__email="admin@people.test"))
    change_monitor(caller=caller, monitor=monitor, request=MonitorRequest(columns=columns))


def test_limits_of_another_organization_do_not_apply(client: Client, user: User) -> None:
    agency = member_of("Agency")
    Membership.objects.create(organization=agency.organization, user=user, role="member")
    make_monitor(agency, name="Bakery", pages=[url_of(OTHER)])
    assert "Bakery" in text_of(client.get("/o/agency/monitors/"))
    assert "Bakery" not in text_of(client.get(LIST))
