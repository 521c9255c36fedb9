"""Tests for the monitor pages."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.mailing.topics import Subscription
from accounts.models import ActivityEvent, Tier
from infrastructure.api import idempotency
from scans.models import Scan
from sites.models import Audit, Monitor, MonitorRun, SiteState
from sites.models.stored_json import News
from sites.recipients import topic_of, warning_of
from tests.factories import Member, person_of
from tests.page_reading import browser_of, page_of, rows_of, strings, text_of
from tests.populated_audits import SITE, look_at, make_audit, make_pages
from tests.populated_monitors import add_runs, finding, make_monitor, news, score
from tests.queries import counted

NEW = "/o/home/monitors/new"
USUAL = {"scope": "page", "type": ["seo", "security"], "every": "day", "timezone": "Europe/Berlin", "at": "06:00"}


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def form_errors(response: Any) -> dict[str, str]:
    """Return the error messages of a form by field ID."""
    elements = page_of(response).xpath("//p[contains(@class, 'problem')][@id]")
    return {element.get("id").removesuffix("_error"): " ".join(element.text_content().split()) for element in elements}


def test_empty_monitor_list_explains_monitors(client: Client, home: Member) -> None:
    page = client.get("/o/home/monitors/")
    assert "No monitors yet" in text_of(page)
    assert page_of(page).xpath("//main//a/@href") == [NEW]
    assert NEW not in browser_of(home, "viewer").get("/o/home/monitors/").content.decode()


def test_list_shows_the_status_of_monitors(client: Client, home: Member) -> None:
    now = timezone.now()
    well = make_monitor(home, name="Well", scores={"seo": {"score": 91, "grade": "A"}}, types=["seo"])
    add_runs(well, 30, now - timedelta(hours=3))
    make_monitor(home, name="Down", failing_since=now - timedelta(hours=2), scores={"seo": {"score": 1, "grade": "F"}})
    make_monitor(home, name="Held", paused_at=now, pause_reason="quota", next_run_at=now + timedelta(days=9))
    make_monitor(home, name="Fresh", next_run_at=now + timedelta(minutes=31))
    text = text_of(client.get("/o/home/monitors/"))
    assert re.search(r"Well Active https\S+ Every day .*Changed 4 days ago 1 new .* SEO Grade A 91 3 hours ago", text)
    assert re.search(r"Down Unreachable https", text)
    assert "Held Paused" in text
    assert re.search(r"Fresh No result yet .* Not yet next in 3", text)
    assert "4 of 1 monitor in your plan are used." in text
    headings = page_of(client.get("/o/home/monitors/?state=failing")).xpath("//tbody//th/a")
    assert [heading.text_content() for heading in headings] == ["Down"]
    assert "Nothing found" in text_of(client.get("/o/home/monitors/?q=nowhere"))


def test_list_shows_the_state_of_the_site(client: Client, home: Member) -> None:
    """Regression test (U8): a monitor was "Active" in green beside a critical finding."""
    make_monitor(home, name="Fine", pages=["https://fine.example.com/"], scores={"seo": {"score": 9, "grade": "F"}})
    make_monitor(home, name="Leaking", scores={"seo": {"score": 91, "grade": "A"}})
    state = {"organization": home.organization, "url": "x", "scanned_at": timezone.now()}
    SiteState.objects.create(**state, host="fine.example.com", urgency=3_009)
    SiteState.objects.create(**state, host="bakery.example.com", urgency=91, critical=1, high=2)
    page = page_of(client.get("/o/home/monitors/"))
    marks = [" ".join(cell.text_content().split()) for cell in page.xpath("//td[@class='marks']")]
    assert marks == ["1 critical 2 high, on bakery.example.com", "No urgent problems, on fine.example.com"]
    assert not page.xpath("//*[@class='badge good' and text()='Active']")
    for query, expected in (("site=critical", ["Leaking"]), ("grade=F", ["Fine"]), ("sort=-name", ["Leaking", "Fine"])):
        found = page_of(client.get(f"/o/home/monitors/?{query}")).xpath("//tbody//th/a")
        assert [link.text_content() for link in found] == expected, query


def test_selected_monitors_are_changed_together(client: Client, home: Member) -> None:
    Tier.objects.update(schedules=5)
    one, two = make_monitor(home, name="One"), make_monitor(home, name="Two", paused_at=timezone.now())
    ids = [one.id, two.id]

    def post(action: str, **fields: Any) -> Any:
        return client.post("/o/home/selected-monitors", {"action": action, "monitor": ids, "back": "q=x", **fields})

    assert post("pause")["Location"] == "/o/home/monitors/?q=x"
    assert "1 monitor was paused." in text_of(client.get("/o/home/monitors/"))
    post("resume")
    assert not Monitor.objects.exclude(paused_at=None).exists()
    post("schedule", every="week")
    assert set(Monitor.objects.values_list("every", flat=True)) == {"week"}
    post("schedule", every="hour")
    assert "Nothing was changed." in text_of(client.get("/o/home/monitors/"))
    assert post("unknown").status_code == 400
    assert "Delete 2 monitors?" in text_of(post("delete"))
    assert Monitor.objects.count() == 2
    post("deleted")
    assert not Monitor.objects.exists()
    post("pause")
    assert "Select at least one monitor first." in text_of(client.get("/o/home/monitors/"))


def test_monitor_pages_need_few_queries(client: Client, home: Member) -> None:
    monitor = make_monitor(home, every="hour")
    add_runs(monitor, 400, timezone.now(), timedelta(hours=1))
    for n in range(60):
        make_monitor(home, name=f"Shop {n}", created_at=timezone.now() - timedelta(days=n + 1))
    with counted() as queries:
        first = client.get("/o/home/monitors/")
    assert len(queries) <= 9
    (older,) = page_of(first).xpath("//a[@rel='next']/@href")
    names = [
        element.text_content() for element in page_of(client.get(f"/o/home/monitors/{older}")).xpath("//tbody//th/a")
    ]
    assert len(names) == 25
    path = f"/o/home/monitors/{monitor.id}"
    due_times: list[str] = []
    query = ""
    for _ in range(3):
        page = page_of(client.get(path + query))
        due_times += page.xpath("//ol[@class='runs']/li//time/@datetime")
        (query,) = page.xpath("//a[@rel='next']/@href")
    assert len(due_times) == len(set(due_times)) == 60
    assert due_times == sorted(due_times, reverse=True)
    (newer,) = page.xpath("//a[@rel='prev']/@href")
    assert page_of(client.get(path + newer)).xpath("//ol[@class='runs']/li//time/@datetime") == due_times[20:40]


def test_form_creates_a_monitor(client: Client, home: Member, target: str) -> None:
    entered = {
        **USUAL,
        "url": target,
        "name": "Shop",
        "new_findings": "medium",
        "score_drop": "",
        "score_below_seo": "80",
    }
    response = client.post(NEW, {**entered, "certificate_days": "30", "unreachable": "on", "webhooks": "all"})
    monitor = Monitor.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/o/home/monitors/{monitor.id}")
    assert (monitor.name, monitor.url, monitor.types) == ("Shop", target, ["security", "seo"])
    assert (monitor.every, f"{monitor.at:%H:%M}", monitor.timezone) == ("day", "06:00", "Europe/Berlin")
    assert monitor.alert == {
        "new_findings": "medium",
        "score_drop": None,
        "score_below": {"seo": 80},
        "certificate_days": 30,
        "unreachable": True,
        "recovered": False,
        "fixed": False,
    }
    assert (monitor.recipients, monitor.webhook_ids) == ([], None)
    assert "First run in progress" in text_of(client.get(response["Location"]))
    assert ActivityEvent.objects.latest("id").action == "monitor.created"


def test_form_offers_webhooks_by_name(client: Client, home: Member, target: str) -> None:
    body = {"name": "Ops channel", "url": f"{target}hook", "events": ["monitor.changed"]}
    webhook_id = home.api.post("/api/webhooks", body).json()["id"]
    page = client.get(NEW)
    assert page_of(page).xpath("//input[@name='webhooks'][@checked]/@value") == ["all"]
    assert "Ops channel" in text_of(page)
    client.post(NEW, {**USUAL, "url": target, "webhooks": webhook_id})
    monitor = Monitor.objects.get()
    assert monitor.webhook_ids == [webhook_id]
    path = f"/o/home/monitors/{monitor.id}"
    assert "Nobody by e-mail, Ops channel" in text_of(client.get(path))
    assert page_of(client.get(f"{path}/edit")).xpath("//input[@name='webhooks'][@checked]/@value") == [webhook_id]
    refused = client.post(f"{path}/edit", {**USUAL, "url": target, "webhooks": "wh_unknown"})
    (problem,) = page_of(refused).xpath("//*[@id='id_webhooks_error']/text()")
    assert problem == "notify.webhooks: number 1 is not the ID of a webhook."


def test_second_submission_creates_no_monitor(client: Client, home: Member, target: str) -> None:
    (once,) = page_of(client.get(NEW)).xpath("//input[@name='once']/@value")
    entered = {**USUAL, "url": target, "once": once}
    places = {client.post(NEW, entered)["Location"] for _ in range(2)}
    assert len(places) == Monitor.objects.count() == 1
    Tier.objects.update(schedules=5)
    # A changed form with the same key may be a second monitor, so the user must confirm it.
    again = client.post(NEW, {**entered, "name": "Another"})
    assert again.status_code == 409
    assert "This form has already created a monitor." in text_of(again)
    (fresh,) = page_of(again).xpath("//input[@name='once']/@value")
    assert client.post(NEW, {**entered, "name": "Another", "once": fresh}).status_code == 302
    assert Monitor.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        pytest.param({"url": ""}, "id_url", "", id="missing URL"),
        pytest.param({"url": "http://10.0.0.1/"}, "id_url", "not publicly accessible", id="private address"),
        pytest.param({"url": "http://127.0.0.1:1/"}, "id_url", "", id="loopback address"),
        pytest.param({"scope": "pages", "pages": "http://10.0.0.1/"}, "id_pages", "1:", id="private address in pages"),
        pytest.param({"scope": "pages", "pages": ""}, "id_pages", "", id="missing pages"),
        pytest.param({"type": []}, "id_type", "", id="missing types"),
        pytest.param({"every": "hour"}, "id_every", "", id="interval beyond the plan"),
        pytest.param({"timezone": "Mars/Olympus"}, "id_timezone", "", id="unknown time zone"),
        pytest.param({"every": "week", "weekday": "1", "at": ""}, "id_at", "", id="weekday without time"),
        pytest.param({"score_drop": "101"}, "id_score_drop", "", id="score drop over 100"),
        pytest.param({"score_below_seo": "0"}, "id_score_below_seo", "", id="score threshold of 0"),
        pytest.param({"emails": ["nobody@people.test"]}, "id_emails", "", id="recipient without membership"),
        pytest.param({"headers": "Host: x"}, "id_headers", "", id="forbidden request header"),
    ],
)
def test_form_shows_errors_at_their_fields(
    client: Client, target: str, changes: dict[str, Any], field: str, message: str
) -> None:
    assert message in form_errors(client.post(NEW, {**USUAL, "url": target, **changes}))[field]
    assert Monitor.objects.count() == 0


def test_monitor_beyond_the_plan_is_refused(client: Client, home: Member, target: str) -> None:
    make_monitor(home)
    full = client.post(NEW, {**USUAL, "url": target})
    assert full.status_code == 409
    assert "Your plan allows 1 monitor." in text_of(full)


def test_intervals_beyond_the_plan_are_disabled(client: Client, home: Member) -> None:
    def disabled_intervals() -> list[str]:
        return strings(page_of(client.get(NEW)), "//input[@name='every'][@disabled]/@value")

    assert disabled_intervals() == ["hour", "6h"]
    assert "Your plan, Free, allows runs at most every day." in text_of(client.get(NEW))
    Tier.objects.update(shortest_interval="hour")
    assert disabled_intervals() == []


def test_pages_and_sites_can_be_monitored(client: Client, home: Member, target: str) -> None:
    Tier.objects.update(schedules=9)
    listed = {**USUAL, "scope": "pages", "url": "ignored", "pages": f"{target}a\n {target}b\n"}
    assert client.post(NEW, listed).status_code == 302
    site = {**USUAL, "scope": "site", "url": target, "max_pages": "7", "discover": "links", "include": "/a*"}
    assert client.post(NEW, {**site, "every": "month", "monthday": "31"}).status_code == 302
    site_monitor, pages_monitor = Monitor.objects.order_by("-created_at")
    assert (pages_monitor.kind, pages_monitor.pages) == ("pages", [f"{target}a", f"{target}b"])
    assert (site_monitor.kind, site_monitor.max_pages, site_monitor.discover, site_monitor.include) == (
        "site",
        7,
        ["links"],
        ["/a*"],
    )
    assert (site_monitor.every, site_monitor.day) == ("month", 31)
    assert "Every month on day 31 at 06:00, Europe/Berlin" in text_of(client.get(f"/o/home/monitors/{site_monitor.id}"))


def test_form_is_prefilled_from_a_page(client: Client, home: Member, stranger: Member) -> None:
    audit = make_audit(home, kind="site", types=["seo"], max_pages=3, exclude=["/x*"], discover=["links"])
    page = page_of(client.get(f"{NEW}?of={audit.id}"))
    assert page.xpath("//input[@name='url']/@value") == [SITE]
    assert page.xpath("//input[@name='scope'][@checked]/@value") == ["site"]
    assert page.xpath("//input[@name='type'][@checked]/@value") == ["seo"]
    assert page.xpath("//textarea[@name='exclude']")[0].text.strip() == "/x*"
    theirs = make_audit(stranger)
    assert client.get(f"{NEW}?of={theirs.id}").status_code == 404
    done = make_audit(home)
    look_at(make_pages(done, [SITE])[0], timezone.now())
    assert f"{NEW}?of={done.id}" in client.get(f"/audit/{done.id}").content.decode()
    scan = Scan.objects.get(audit_page__audit=done, type="seo")
    assert f"{NEW}?url=https%3A%2F%2Fbakery.example.com%2F" in client.get(f"/report/{scan.id}").content.decode()
    assert f"{NEW}?scope=site" in client.get("/o/home/sites/bakery.example.com").content.decode()


def test_editing_keeps_hidden_credentials(client: Client, home: Member, target: str) -> None:
    key = {"headers": "X-Preview: very-secret-value"}
    client.post(NEW, {**USUAL, "url": target, "name": "Shop", "every": "week", "weekday": "3", **key})
    monitor = Monitor.objects.get()
    path = f"/o/home/monitors/{monitor.id}/edit"
    page = client.get(path)
    assert "very-secret-value" not in page.content.decode()
    assert page_of(page).xpath("//select[@name='timezone']/option[@selected]/text()") == ["Europe/Berlin"]
    assert page_of(page).xpath("//select[@name='weekday']/option[@selected]/@value") == ["3"]
    entered = {**USUAL, "url": target, "name": "Market", "every": "week", "weekday": "3"}
    assert client.post(path, entered).status_code == 302
    monitor.refresh_from_db()
    assert (monitor.name, monitor.day) == ("Market", 3)
    assert monitor.credential_names is not None
    assert client.post(path, {**entered, "forget_key": "on"}).status_code == 302
    monitor.refresh_from_db()
    assert monitor.credential_names is None
    assert "id_name" in form_errors(client.post(path, {**entered, "name": "\u202eevil"}))


def test_interval_beyond_the_plan_can_be_kept(client: Client, home: Member, target: str) -> None:
    monitor = make_monitor(home, every="hour", pages=[target], types=["seo"])
    entered = {**USUAL, "url": target, "type": "seo", "every": "hour", "name": "Still hourly"}
    assert client.post(f"/o/home/monitors/{monitor.id}/edit", entered).status_code == 302
    monitor.refresh_from_db()
    assert (monitor.name, monitor.every) == ("Still hourly", "hour")


def test_run_links_changes_to_reports(client: Client, home: Member) -> None:
    monitor = make_monitor(home, types=["seo"], scores={"seo": {"score": 80, "grade": "B"}})
    now = timezone.now()
    old, new = "scan_" + "a" * 22, "scan_" + "b" * 22
    fault = finding("<script>alert(1)</script>", scan=new, before=old, pages=9)
    runs: tuple[tuple[str, News, str], ...] = (
        ("done", news(new=[fault], fixed=[finding("Slow")], more=2), ""),
        ("failed", {}, "Too slow."),
        ("skipped", {}, "The run before it had not ended."),
    )
    for age, (status, run_news, problem) in enumerate(runs):
        monitor.runs.create(
            due_at=now - timedelta(days=age),
            not_before=now,
            status=status,
            news=run_news,
            scores={"seo": score(80, 97)} if run_news else {},
            error_message=problem,
            is_told=bool(run_news),
        )
    page = client.get(f"/o/home/monitors/{monitor.id}")
    text = text_of(page)
    assert "Changed 20" in text
    assert "notification sent" in text
    assert "3 new 1 fixed" in text
    assert "<script>alert(1)" not in page.content.decode()
    assert "from 97 → to Grade B 80" in text
    assert "and 4 more pages" in text
    links = page_of(page).xpath("//ul[@class='changed-pages']//a/@href")
    assert links[:3] == [f"/report/{new}", f"/report/{old}", f"/report/{new}/diff?with={old}"]
    assert "Too slow." in text
    assert "Left out" in text


def test_page_lists_changes_of_the_last_week(client: Client, home: Member) -> None:
    monitor, now = make_monitor(home, types=["seo", "security"]), timezone.now()

    def create_run(days: int, before: int | None, seo: int) -> None:
        scores = {"seo": score(seo, before=before), "security": score(80, before=None if before is None else 80)}
        at = now - timedelta(days=days)
        MonitorRun.objects.create(monitor=monitor, due_at=at, not_before=at, ended_at=at, status="done", scores=scores)

    path = f"/o/home/monitors/{monitor.id}"
    create_run(9, None, 99)
    assert "Since " not in text_of(client.get(path))
    create_run(8, None, 70)  # After a change of the scoring rules, a run has no previous score.
    assert "Since " not in text_of(client.get(path))
    create_run(7, 70, 73)
    create_run(3, 73, 90)
    create_run(0, 90, 75)
    day = now - timedelta(days=7)
    assert f"Since {day:%-d %B %Y} Security unchanged, SEO +2 " in text_of(client.get(path))


def test_run_reports_link_to_comparisons(client: Client, home: Member) -> None:
    monitor = make_monitor(home)
    for age in (1, 0):
        audit = make_audit(home, run_of="monitor")
        look_at(make_pages(audit, [SITE])[0], timezone.now() - timedelta(days=age))
        at = timezone.now() - timedelta(days=age)
        scores = {scan_type: score(71) for scan_type in monitor.types}
        monitor.runs.create(due_at=at, not_before=at, status="done", audit=audit, scores=scores)
    page = page_of(client.get(f"/o/home/monitors/{monitor.id}"))
    compared = page.xpath("//a[@class='compare']/@href")
    assert len(compared) == 8
    assert client.get(compared[0]).status_code == 200
    audit_page = client.get(f"/audit/{audit.id}")
    assert "Run of Bakery" in text_of(audit_page)


def test_page_updates_until_the_run_ends(client: Client, home: Member) -> None:
    monitor = make_monitor(home)
    path = f"/o/home/monitors/{monitor.id}"
    assert client.post(f"{path}/run").status_code == 302
    assert "A run is already in progress." in text_of(client.post(f"{path}/run", follow=True))
    page = page_of(client.get(path))
    (part,) = page.xpath("//*[@hx-get]/@hx-get")
    htmx = {"HX-Request": "true"}
    assert "Waiting in the queue" in text_of(client.get(part, headers=htmx))
    assert page.xpath("//noscript/meta[@http-equiv='refresh']")
    MonitorRun.objects.update(status="done", ended_at=timezone.now())
    assert client.get(part, headers=htmx)["HX-Refresh"] == "true"
    assert not page_of(client.get(path)).xpath("//*[@hx-get]")


def test_pending_retry_shows_its_time(client: Client, home: Member) -> None:
    monitor = make_monitor(home, next_run_at=timezone.now() + timedelta(days=1))
    at = timezone.now() + timedelta(minutes=4)
    run = monitor.runs.create(due_at=timezone.now(), not_before=at, attempts=1)
    path = f"/o/home/monitors/{monitor.id}"
    text = text_of(client.get(path))
    assert f"It could not be reached. The next try is at {at:%H:%M} UTC." in text
    assert "Try again now" in text
    assert client.post(f"{path}/run").status_code == 302
    run.refresh_from_db()
    assert run.not_before < at
    text = text_of(client.get(path))
    assert "Try again now" not in text
    assert "Run now" not in text


def test_page_marks_unsubscribed_recipients(client: Client, home: Member) -> None:
    ann, ben = (person_of(home, "member", f"{name}@home.test") for name in ("ann", "ben"))
    monitor = make_monitor(home, recipients=[ann.pk, ben.pk])
    path = f"/o/home/monitors/{monitor.id}"
    assert "ann@home.test, ben@home.test" in text_of(client.get(path))
    assert warning_of(Monitor) not in text_of(client.get(path))
    Subscription(ann, topic_of(monitor)).stop()
    assert "ann@home.test (unsubscribed) , ben@home.test" in text_of(client.get(path))
    assert "ann@home.test Unsubscribed" in text_of(client.get(f"{path}/edit"))
    Subscription(ben, topic_of(monitor)).stop()
    page = client.get(path)
    assert warning_of(Monitor) in text_of(page)
    assert page_of(page).xpath("//p[contains(@class, 'warning')]/a/@href") == [f"{path}/edit"]


def test_monitor_can_be_paused_and_resumed(client: Client, home: Member) -> None:
    monitor = make_monitor(home, next_run_at=timezone.now())
    path = f"/o/home/monitors/{monitor.id}"
    page = client.post(f"{path}/pause", {"paused": "on"}, follow=True)
    assert "It does not run until someone resumes it." in text_of(page)
    monitor.refresh_from_db()
    assert monitor.is_paused
    client.post(f"{path}/pause", {"paused": "off"})
    monitor.refresh_from_db()
    assert monitor.next_run_at is not None
    assert client.post(f"{path}/pause", {"paused": "maybe"}).status_code == 400
    assert "Delete this monitor?" in text_of(client.get(f"{path}/delete"))
    assert Monitor.objects.count() == 1
    assert client.post(f"{path}/delete")["Location"] == "/o/home/monitors/"
    assert client.get(path).status_code == 404


def test_viewer_sees_no_controls(home: Member) -> None:
    monitor = make_monitor(home)
    page = page_of(browser_of(home, "viewer").get(f"/o/home/monitors/{monitor.id}"))
    assert not page.xpath("//main//form")


def test_scan_list_shows_runs_on_request(client: Client, home: Member) -> None:
    audit = make_audit(home, run_of="monitor", url=f"{SITE}watched")
    look_at(make_pages(audit, [f"{SITE}watched"])[0], timezone.now())
    make_audit(home, url=f"{SITE}asked-for", status="completed")
    assert rows_of(client.get("/o/home/scans/")) == [f"{SITE}asked-for"]
    page = client.get("/o/home/scans/?monitors=yes")
    assert set(rows_of(page)) == {f"{SITE}asked-for", f"{SITE}watched"}
    assert text_of(page).count("Monitor ") >= 1
    assert rows_of(client.get("/o/home/")) == [f"{SITE}asked-for"]
    # Sites and their trends include the monitors' scans.
    assert f"{SITE}watched".rpartition("/")[2] in text_of(client.get("/o/home/sites/bakery.example.com"))
    Audit.objects.filter(id=audit.id).delete()
    assert rows_of(client.get("/o/home/scans/?monitors=yes")) == [f"{SITE}asked-for"]


def test_overview_lists_reported_changes(client: Client, home: Member) -> None:
    assert "All clear" in text_of(client.get("/o/home/"))
    now = timezone.now()
    make_monitor(home, name="Down", failing_since=now - timedelta(hours=1))
    changed = make_monitor(home, name="Changed")
    changed.runs.create(
        due_at=now - timedelta(hours=5), not_before=now, status="done", news=news(worse=[finding("Slower")])
    )
    old = make_monitor(home, name="Long ago")
    old.runs.create(due_at=now - timedelta(days=40), not_before=now, status="done", news=news(new=[finding("Slow")]))
    text = text_of(client.get("/o/home/"))
    assert "Down Down since" in text
    assert "Changed 1 worse 5 hours ago" in text
    assert "Long ago" not in text.partition("Monitors that notify nobody")[0]


def test_concurrent_submission_redirects(
    client: Client, home: Member, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submit the form while its key is in use, as in a double click.

    The browser shows the second response.
    """

    def refuse_key(organization_id: int, key: str) -> None:
        raise idempotency.IdempotencyConflict("A request with this Idempotency-Key is still in progress.")

    monkeypatch.setattr(idempotency, "hold", refuse_key)
    answer = client.post(NEW, {**USUAL, "url": target, "once": "a" * 32})
    assert answer["Location"] == "/o/home/monitors/"
    assert Monitor.objects.count() == 0
