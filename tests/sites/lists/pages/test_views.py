"""Tests for the list pages and their bulk actions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ActivityEvent, MonthlyUsage, Tier
from accounts.usage import month_of
from sites.models import ListEntry, ListResult, ListRun, SiteList
from tests.factories import Member, person_of
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.populated_lists import CHECKS, populate_lists
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot
from tests.sites.monitors.pages.test_views import form_errors

NEW = "/o/home/lists/new"
USUAL = {"name": "Schools", "type": ["seo", "security"], "pages_per_entry": "1", "every": "month"}
USUAL |= {"window_hours": "12", "timezone": "Europe/Berlin", "webhooks": "all"}
A, B, C = (f"https://{letter}.example/" for letter in "abc")


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def list_ids(home: Member) -> dict[str, Any]:
    """Create lists in every state and return their IDs.

    One list has weekly snapshots.
    """
    Tier.objects.update(lists=20, list_entries=10_000)
    return populate_lists(home, 12, timezone.now(), person_of(home, "owner", "ada@people.test"))


def make_list_of_urls(home: Member, *urls: str, **columns: Any) -> SiteList:
    """Create a list with these URLs, none of which has been scanned."""
    site_list = make_list(home, entries_count=len(urls), **columns)
    ListEntry.objects.bulk_create(ListEntry(site_list=site_list, url=url, host=url.split("/")[2]) for url in urls)
    return site_list


def listed_sites(response: Any) -> list[str]:
    """Return the addresses in the table of sites."""
    return [
        " ".join(element.text_content().split()) for element in page_of(response).xpath("//tbody//*[@class='address']")
    ]


def test_page_without_lists_explains_them(client: Client, home: Member) -> None:
    page = client.get("/o/home/lists/")
    assert "No lists yet" in text_of(page)
    (form,) = page_of(page).xpath("//main//form[@method='post']")
    assert form.get("action") == NEW
    viewer = browser_of(home, "viewer").get("/o/home/lists/")
    assert "Creating one requires the role member." in text_of(viewer)
    assert not page_of(viewer).xpath("//main//form[@method='post']")


def test_lists_page_shows_the_states(client: Client, list_ids: dict[str, Any]) -> None:
    text = text_of(client.get("/o/home/lists/"))
    assert "Municipal sites 12 sites Runs every week, spread over 24 hours Completed 2 days ago" in text
    assert "Universities 12 sites Runs every month, spread over 24 hours Running 4 of 12 sites done" in text
    assert "Customers, not judged yet 12 sites Runs when someone starts it Not run yet" in text
    assert "Agencies 0 sites Runs when someone starts it, spread over 24 hours Empty Add its sites" in text
    assert "Cancelled 3 days ago 2 of 12 sites were judged before someone cancelled it." in text
    assert "5 of 20 lists and 48 of 10,000 sites in your plan are used." in text
    assert "Nothing found" in text_of(client.get("/o/home/lists/?q=nowhere"))
    assert "Clinics" not in text_of(client.get("/o/home/lists/?q=universities"))


def test_full_plan_hides_the_form(client: Client, home: Member) -> None:
    make_list(home)
    assert "The only list of your plan is in use" in text_of(client.get(NEW))
    page = client.get("/o/home/lists/")
    assert "The only list of your plan is in use" in text_of(page)
    assert NEW not in page.content.decode()
    assert "Your plan allows 1 list." in text_of(client.post(NEW, USUAL))


def test_form_creates_a_list_with_its_values(client: Client) -> None:
    response = client.post(NEW, USUAL)
    site_list = SiteList.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/o/home/lists/{site_list.id}/import")
    assert (site_list.name, site_list.types, site_list.every) == ("Schools", ["security", "seo"], "month")
    assert (site_list.window_hours, site_list.timezone, site_list.webhook_ids) == (12, "Europe/Berlin", None)
    assert site_list.next_run_at is not None
    assert ActivityEvent.objects.latest("id").action == "list.created"


def test_form_sent_twice_creates_one_list(client: Client) -> None:
    (once,) = page_of(client.get(NEW)).xpath("//input[@name='once']/@value")
    places = {client.post(NEW, {**USUAL, "once": once})["Location"] for _ in range(2)}
    assert len(places) == SiteList.objects.count() == 1


def test_form_without_a_name_has_one_error(client: Client) -> None:
    assert form_errors(client.post(NEW, {**USUAL, "name": ""})) == {"id_name": "Enter a name."}
    assert not SiteList.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        pytest.param({"type": []}, "id_type", "", id="missing types"),
        pytest.param({"pages_per_entry": "0"}, "id_pages_per_entry", "", id="no pages"),
        pytest.param(
            {"pages_per_entry": "99999"}, "id_pages_per_entry", "your plan allows", id="pages beyond the plan"
        ),
        pytest.param({"window_hours": "1000"}, "id_window_hours", "", id="too long window"),
        pytest.param({"timezone": "Mars/Base"}, "id_timezone", "", id="unknown time zone"),
    ],
)
def test_form_shows_errors_at_their_fields(client: Client, changes: dict[str, Any], field: str, message: str) -> None:
    assert message in form_errors(client.post(NEW, {**USUAL, **changes}))[field]
    assert not SiteList.objects.exists()


def test_list_can_be_deleted(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, A)
    path = f"/o/home/lists/{site_list.id}"
    assert page_of(client.get(f"{path}/edit")).xpath("//input[@name='name']/@value") == ["Cities"]
    assert client.post(f"{path}/edit", {**USUAL, "every": ""})["Location"] == path
    site_list.refresh_from_db()
    assert (site_list.name, site_list.every, site_list.next_run_at) == ("Schools", "", None)
    assert "Delete this list?" in text_of(client.get(f"{path}/delete"))
    assert client.post(f"{path}/delete")["Location"] == "/o/home/lists/"
    assert not SiteList.objects.exists()


def test_list_page_explains_each_state(client: Client, home: Member, list_ids: dict[str, Any]) -> None:
    def list_text(name: str) -> str:
        return text_of(client.get(f"/o/home/lists/{list_ids[name]}"))

    assert "No sites yet Paste addresses below, or choose a file." in list_text("empty_list_id")
    assert "No site has been judged yet. Run the list now. A run uses up to 48 of the" in list_text("fresh_list_id")
    assert (
        "Running now Cancel the run 4 of 12 sites done, 1 of them could not be judged. 8 still to come."
        in list_text("running_list_id")
    )
    assert (
        "2 of 12 sites were judged before someone cancelled it. The 10 sites left out keep their earlier"
        in list_text("cancelled_list_id")
    )
    tier = home.organization.tier
    MonthlyUsage.objects.create(
        organization=home.organization, period=month_of(timezone.now()), used=tier.scans_per_month - 1
    )
    assert "A run uses up to 48 scans, but 1 is left this month." in list_text("fresh_list_id")
    MonthlyUsage.objects.update(used=tier.scans_per_month)
    for name in ("list_id", "fresh_list_id"):
        page = client.get(f"/o/home/lists/{list_ids[name]}")
        assert "scans are used up" in text_of(page)
        assert "Run now" not in text_of(page)


def test_site_table_has_grades_and_tags(client: Client, list_ids: dict[str, Any]) -> None:
    page = page_of(client.get(f"/o/home/lists/{list_ids['list_id']}"))
    row = page.xpath("//tbody/tr[.//a[contains(@href, '/audit/')]]")[0]
    assert len(row.xpath(".//a[contains(@href, '?type=')]")) == 4
    assert row.xpath(".//*[@class='spark grade-b' or contains(@class, 'spark')]")
    text = " ".join(page.text_content().split())
    assert "Redesign planned" in text
    assert "Moved to new.example.org" in text
    assert "Not reached" in text
    assert "points more than before" in text or "point more than before" in text


def test_site_table_is_filtered(client: Client, list_ids: dict[str, Any]) -> None:
    path = f"/o/home/lists/{list_ids['list_id']}"
    entries = ListEntry.objects.filter(site_list=list_ids["list_id"])
    assert len(listed_sites(client.get(path))) == 12
    for query, expected_entries in (
        ("tag=north", entries.filter(tags__contains=["north"])),
        ("check=hsts", entries.filter(failing__contains=["hsts"])),
        ("type=security&grade=C", entries.filter(security_grade="C")),
        ("state=failed", entries.filter(state="failed")),
        ("text=library", entries.filter(url__contains="library")),
        # Invalid values of filters are ignored.
        ("grade=Z&type=tea&tag=%00&cursor=x&sort=y", entries.all()),
    ):
        assert len(listed_sites(client.get(f"{path}?{query}"))) == expected_entries.count() > 0, query
    best = listed_sites(client.get(f"{path}?sort=-seo"))
    assert best[0].startswith(entries.exclude(seo_score=None).order_by("-seo_score", "-id")[0].host)
    (head,) = page_of(client.get(f"{path}?sort=-seo&tag=north")).xpath("//th[@aria-sort]")
    assert head.get("aria-sort") == "descending"
    assert head.xpath("./a/@href") == ["?tag=north&sort=seo"]
    assert "No site matches" in text_of(client.get(f"{path}?text=nowhere"))
    # The filter does not offer checks that no site fails.
    options = page_of(client.get(path)).xpath("//select[@id='check']//option/@value")
    assert set(options[1:]) <= set(CHECKS)


def test_site_table_needs_few_queries(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, *(f"https://site-{n:03}.example/" for n in range(120)))
    path = f"/o/home/lists/{site_list.id}"
    all_sites: list[str] = []
    query = ""
    for _ in range(3):
        with counted() as queries:
            page = client.get(path + query)
        assert len(queries) <= 12
        all_sites += listed_sites(page)
        (query, *_) = [*strings(page_of(page), "//a[@rel='next']/@href"), ""]
    assert query == ""
    assert all_sites == [f"site-{n:03}.example" for n in range(120)]
    assert len(page_of(page).xpath("//a[@rel='prev']")) == 1


def test_ticked_sites_are_removed(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, A, B, C)
    path = f"/o/home/lists/{site_list.id}/entries"
    first, second, third = site_list.entries.order_by("host")
    ticked = {"entry": [first.id, second.id], "back": "sort=-url"}
    assert client.post(path, {**ticked, "action": "tag", "tags": "north; sea"})["Location"].endswith("?sort=-url")
    assert [entry.tags for entry in site_list.entries.order_by("host")] == [["north", "sea"], ["north", "sea"], []]
    client.post(path, {"entry": first.id, "action": "untag", "tags": "sea"})
    assert site_list.entries.get(id=first.id).tags == ["north"]
    confirmation = client.post(path, {**ticked, "action": "remove"})
    assert "Remove 2 sites?" in text_of(confirmation)
    assert site_list.entries.count() == 3
    client.post(path, {**ticked, "action": "removed"})
    assert list(site_list.entries.all()) == [third]
    assert "Select at least one site first." in text_of(client.post(path, {"action": "tag", "tags": "x"}, follow=True))
    assert "Enter at least one tag." in text_of(
        client.post(path, {"action": "tag", "tags": " ;", "entry": third.id}, follow=True)
    )
    assert client.post(path, {"action": "sell", "entry": third.id}).status_code == 400


def test_action_on_all_matches_spans_pages(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, *(f"https://site-{n:03}.example/" for n in range(80)), C)
    path = f"/o/home/lists/{site_list.id}/entries"
    client.post(path, {"all": "yes", "text": "site-", "action": "tag", "tags": "north"})
    assert site_list.entries.filter(tags=["north"]).count() == 80
    confirmation = client.post(path, {"all": "yes", "tag": "north", "action": "remove"})
    assert "Remove 80 sites?" in text_of(confirmation)
    fields = {
        element.get("name"): element.get("value")
        for element in page_of(confirmation).xpath("//main//input[@type='hidden']")
    }
    client.post(path, fields | {"action": "removed"})
    assert [entry.url for entry in site_list.entries.all()] == [C]


def test_sites_can_be_scanned_again(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, A, B, C, types=["seo"])
    path = f"/o/home/lists/{site_list.id}/entries"
    first = site_list.entries.order_by("host")[0]
    assert "1 site is being scanned again." in text_of(client.post(path, {"scan": first.id}, follow=True))
    assert "2 sites are being scanned again." in text_of(
        client.post(path, {"all": "yes", "action": "scan"}, follow=True)
    )
    assert ListResult.objects.filter(run=None).count() == 3


def test_run_is_cancelled_without_javascript(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, A, B, types=["seo"])
    path = f"/o/home/lists/{site_list.id}"
    assert "The run has begun: 2 sites." in text_of(client.post(f"{path}/run", follow=True))
    run = ListRun.objects.get()
    assert "A run of this list is in progress." in text_of(client.post(f"{path}/run", follow=True))
    live = client.get(f"{path}/live?run={run.id}", headers={"HX-Request": "true"})
    assert "0 of 2 sites done. 2 still to come." in text_of(live)
    assert "Cancelled." in text_of(client.post(f"{path}/runs/{run.id}/cancel", follow=True))
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert client.get(f"{path}/live?run={run.id}", headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "had already ended" in text_of(client.post(f"{path}/runs/{run.id}/cancel", follow=True))
    empty = make_list(home)
    assert "The list has no sites yet." in text_of(client.post(f"/o/home/lists/{empty.id}/run", follow=True))


def test_viewers_cannot_change_lists(home: Member, list_ids: dict[str, Any]) -> None:
    viewer = browser_of(home, "viewer")
    for page in ("", "/snapshot", "/adoption", "/runs", "/sharing"):
        response = viewer.get(f"/o/home/lists/{list_ids['list_id']}{page}")
        assert response.status_code == 200
        assert page_of(response).xpath("//main//form[@method='post']") == []
    assert viewer.get(f"/o/home/lists/{list_ids['list_id']}/import").status_code == 403


def test_partial_run_names_omitted_sites(client: Client, home: Member) -> None:
    site_list = make_list_of_urls(home, B, every="week", next_run_at=timezone.now() + timedelta(days=3))
    snapshot(
        site_list, [SnapshotSite(A, {"security": 50, "seo": 60}, "pppp")], status="partial", entries=3, left_out=2,
        error_code="QUOTA_EXCEEDED", error_message="The scans of the month were used up.",
    )  # fmt: skip
    text = text_of(client.get(f"/o/home/lists/{site_list.id}"))
    assert "1 of 3 sites was judged. The scans of the month were used up." in text
    assert "The 2 sites left out keep their earlier results and are judged in the next run." in text
