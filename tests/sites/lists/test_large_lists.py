"""Tests for searches and comparisons of large lists, with limits that make small lists large."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from infrastructure import queue
from sites.lists import comparisons, entry_filters, entry_search, services, shared_page
from sites.lists.comparisons import store_comparison
from sites.lists.differences import calculate_difference
from sites.lists.entries import ORDERS, EntryPage, entries_page
from sites.lists.entry_filters import EntryFilter
from sites.lists.not_judged import count_not_judged
from sites.models import ListComparison, ListCount, ListRun, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, text_of
from tests.sites.lists.cast import make_entries, make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

pytestmark = pytest.mark.django_db
FILTERS = {
    "nothing": EntryFilter(),
    "tag": EntryFilter(tag="north"),
    "check": EntryFilter(check="hsts"),
    "outcome": EntryFilter(outcome="caa.missing"),
    "state": EntryFilter(state="failed"),
    "grade": EntryFilter(grade="A"),
    "scores of a type": EntryFilter(type="security", least=70, most=80),
    "scores of any type": EntryFilter(least=90),
    "HTTP status": EntryFilter(http_status=404),
    "facts without an index": EntryFilter(hsts="no", generator="press", language="de"),
    "tag and facts": EntryFilter(tag="north", hsts="yes"),
    "no match": EntryFilter(generator="nothing"),
}


def random_site(number: int, rng: random.Random) -> dict[str, Any]:
    score = rng.choice([None, 65, 75, 95])
    return {
        "url": f"https://site-{rng.randrange(10**6)}-{number}.example/",
        "tags": ["north"] if number % 3 == 0 else [],
        "state": "failed" if number % 5 == 0 else "judged",
        "failing": ["hsts"] if number % 2 else ["title"],
        "outcomes": ["caa.missing"] if number % 4 == 0 else [],
        "security_score": score,
        "security_grade": {None: "", 65: "D", 75: "C", 95: "A"}[score],
        "security_change": None if score is None else rng.choice([-3, 0, 3]),
        "facts": {
            "hsts": number % 7 != 0,
            "status": 404 if number == 8 else 200,
            "generator": "WordPress" if number % 2 else "TYPO3",
            "language": "de-AT",
        },
    }


@pytest.fixture
def large_list(home: Member, monkeypatch: pytest.MonkeyPatch) -> SiteList:
    rng = random.Random(7)
    site_list = make_list(home, types=["security"])
    make_entries(site_list, [random_site(number, rng) for number in range(40)])
    make_entries(make_list(home), [random_site(100, rng)])
    make_large(monkeypatch)
    return site_list


def make_large(monkeypatch: pytest.MonkeyPatch, small: int = 3, examined: int = 7) -> None:
    monkeypatch.setattr(entry_filters, "MAX_SMALL_LIST", small)
    monkeypatch.setattr(entry_search, "MAX_SMALL_LIST", small)
    monkeypatch.setattr(entry_search, "MAX_CANDIDATES", examined)
    monkeypatch.setattr(entry_search, "MAX_EXAMINED", examined)


def all_pages(site_list: SiteList, entry_filter: EntryFilter, sort: str, limit: int) -> list[EntryPage]:
    pages = [entries_page(site_list, entry_filter, sort=sort, limit=limit)]
    while pages[-1].next_cursor:
        pages.append(entries_page(site_list, entry_filter, sort=sort, cursor=pages[-1].next_cursor, limit=limit))
        assert len(pages) < 100
    return pages


def ids_of(pages: list[EntryPage]) -> list[str]:
    return [entry.id for page in pages for entry in page.rows]


@pytest.mark.parametrize("name", FILTERS)
def test_search_of_a_large_list_finds_the_same_sites_in_the_same_order(
    large_list: SiteList, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for sort in ORDERS:
        pages = all_pages(large_list, FILTERS[name], sort, 4)
        totals = {page.total for page in pages}
        with monkeypatch.context() as patch:
            make_large(patch, small=1_000)
            (expected,) = all_pages(large_list, FILTERS[name], sort, 100)
        assert ids_of(pages) == ids_of([expected]), sort
        assert totals <= {expected.total, None}, sort


@pytest.mark.parametrize("sort", ORDERS)
def test_previous_pages_of_a_large_list_lead_back(large_list: SiteList, sort: str) -> None:
    pages = all_pages(large_list, EntryFilter(), sort, 4)
    for before, page in itertools.pairwise(pages):
        assert page.previous_cursor
        previous = entries_page(large_list, EntryFilter(), sort=sort, cursor=page.previous_cursor, limit=4)
        assert ids_of([previous]) == ids_of([before])


def test_search_that_stops_early_returns_a_cursor_and_no_total(home: Member, large_list: SiteList) -> None:
    page: Any = home.api.get(f"/v1/lists/{large_list.id}/entries?generator=nothing").json()
    assert (page["entries"], page["total"]) == ([], None)
    following: Any = home.api.get(
        f"/v1/lists/{large_list.id}/entries?generator=nothing&cursor={page['next_cursor']}"
    ).json()
    assert following["next_cursor"] not in (None, page["next_cursor"])
    html = browser_of(home).get(f"/o/home/lists/{large_list.id}?generator=nothing")
    assert "Search further" in text_of(html)


def test_few_matches_of_an_index_are_counted(home: Member, large_list: SiteList) -> None:
    page: Any = home.api.get(f"/v1/lists/{large_list.id}/entries?http_status=404").json()
    assert (len(page["entries"]), page["total"], page["next_cursor"]) == (1, 1, None)


def test_condition_with_the_fewest_entries_is_searched(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    site_list = make_list(home)
    sites = [{"url": f"https://{n}.example/", "facts": {"status": 200}, "failing": ["hsts"]} for n in range(300)]
    sites[0]["tags"] = ["rare"]
    make_entries(site_list, sites)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE sites_listentry")
    make_large(monkeypatch, examined=20)
    monkeypatch.setattr(entry_search, "MAX_TRIED_CONDITIONS", 1)
    page = entries_page(site_list, EntryFilter(http_status=200, check="hsts", tag="rare"), limit=5)
    assert (len(page.rows), page.total) == (1, 1)


def test_conditions_of_many_entries_are_not_tried(
    home: Member, large_list: SiteList, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(entry_search, "MAX_ESTIMATED_CANDIDATES", 0)
    # One query plans the search, two read the entries up to the limit.
    with django_assert_num_queries(3):
        entries_page(large_list, EntryFilter(check="hsts", generator="nothing"), limit=4)


@pytest.mark.parametrize("text", ["shop.exa", "SHOP.example", "https://www.shop.example", "https://shop", "münchen"])
def test_text_is_the_beginning_of_an_address_in_a_large_list(
    home: Member, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    site_list = make_list(home)
    hosts = ("www.shop.example", "xn--mnchen-3ya.de", "other-shop.example", "shop.example")
    make_entries(site_list, [{"url": f"https://{host}/", "note": "shop.exa münchen"} for host in hosts])
    make_large(monkeypatch)
    page = entries_page(site_list, EntryFilter(text=text))
    expected = {"https://www.shop.example": {"www.shop.example"}, "münchen": {"xn--mnchen-3ya.de"}}
    assert {entry.host for entry in page.rows} == expected.get(text, {"shop.example", "www.shop.example"})


def test_action_on_too_many_matching_sites_is_refused(
    home: Member, large_list: SiteList, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_SELECTED_ENTRIES", 10)
    client = browser_of(home)
    for action in ("tag", "scan", "remove", "removed"):
        data = {"all": "yes", "action": action, "tags": "new"}
        response = client.post(f"/o/home/lists/{large_list.id}/entries", data, follow=True)
        assert "More than 10 sites match" in text_of(response), action
    assert large_list.entries.filter(tags__contains=["new"]).count() == 0
    assert large_list.entries.count() == 40


@pytest.fixture
def runs(home: Member, monkeypatch: pytest.MonkeyPatch) -> tuple[ListRun, ListRun]:
    """Return two snapshots that are compared by a worker."""
    monkeypatch.setattr(comparisons, "MAX_SITES_AT_ONCE", 2)
    monkeypatch.setattr("sites.lists.differences.PAIRS_PER_BATCH", 2)
    site_list, now = make_list(home, types=["security"]), timezone.now()
    scores = [
        [SnapshotSite(f"https://{n}.example/", {"security": 50 + age * n}, "pf"[age] + "pfp") for n in range(5)]
        for age in (0, 1)
    ]
    before = snapshot(site_list, scores[0], at=now - timedelta(days=2))
    return snapshot(site_list, scores[1], at=now - timedelta(days=1)), before


def test_large_snapshots_are_compared_by_a_worker(
    home: Member,
    runs: tuple[ListRun, ListRun],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    run, before = runs
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *message: sent.append(message))
    path = f"/v1/lists/{run.site_list_id}/snapshots/{run.id}/diff?limit=2"
    with django_capture_on_commit_callbacks(execute=True):
        answers = [home.api.get(path) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0]["Retry-After"] == "30"
    browser, page = browser_of(home), f"/o/home/lists/{run.site_list_id}/runs/{run.id}/compare"
    assert "are being compared" in text_of(browser.get(page))
    comparison = ListComparison.objects.get()
    assert sent == [("sites.tasks.compare_snapshots", str(comparison.id))]
    store_comparison(comparison.id)
    difference: Any = home.api.get(path).json()
    assert difference == {"run_id": run.id, "with_run_id": before.id, **calculate_difference(run, before, 2)}
    assert difference["sites"]["better"] == 4
    assert [(check["check"], check["broken"], check["of"]) for check in difference["more_failures"]] == [
        ("https-available", 5, 5)
    ]
    assert "Judged in both" in text_of(browser.get(page))


def test_lost_comparison_is_enqueued_again(
    home: Member,
    runs: tuple[ListRun, ListRun],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    run, before = runs
    ListComparison.objects.create(run=run, other=before, enqueued_at=timezone.now() - timedelta(hours=1))
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(queue, "enqueue", lambda *message: sent.append(message))
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            assert home.api.get(f"/v1/lists/{run.site_list_id}/snapshots/{run.id}/diff").status_code == 503
    assert len(sent) == 1


def test_sites_without_score_are_counted_by_tag_when_a_run_ends(home: Member) -> None:
    site_list = make_list(home, types=["security"])
    sites = [SnapshotSite(f"https://{n}.example/", {}, tags=("north",) if n % 2 else ()) for n in range(5)]
    run = snapshot(site_list, [*sites, SnapshotSite("https://good.example/", {"security": 90}, "pppp")])
    # Runs of former releases have no such counts.
    path = f"/v1/lists/{site_list.id}/snapshots/{run.id}"
    expected: list[Any] = [home.api.get(f"{path}{query}").json() for query in ("", "?tag=north", "?tag=unknown")]
    assert expected[0]["not_reached"] == {"total": 5, "codes": {"TARGET_UNREACHABLE": 5}}
    assert expected[1]["not_reached"] == {"total": 2, "codes": {"TARGET_UNREACHABLE": 2}}
    tags = list(ListCount.objects.order_by("tag").values_list("tag", flat=True))
    count_not_judged(run)
    assert list(ListCount.objects.order_by("tag").values_list("tag", flat=True)) == tags
    assert [home.api.get(f"{path}{query}").json() for query in ("", "?tag=north", "?tag=unknown")] == expected


def test_public_table_of_a_large_snapshot_has_the_order_of_the_run(
    home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_page, "PAGE_SIZE", 2)
    site_list = make_list(home, types=["security"])
    run = snapshot(site_list, [SnapshotSite(f"https://{name}.example/", {"security": 90}) for name in "cabed"])

    def hosts() -> str:
        pages = [shared_page.sites_page(run, number) for number in (1, 2, 3)]
        return "".join(row.shown[0] for page in pages if page for row in page.rows)

    assert hosts() == "abcde"
    monkeypatch.setattr(shared_page, "MAX_SORTED_SITES", 3)
    assert hosts() == "cabed"
    # Entries that are deleted during a run leave gaps.
    run.results.filter(position__lt=1).delete()
    run.entries -= 1
    assert hosts() == "abed"
    assert shared_page.sites_page(run, 4) is None
