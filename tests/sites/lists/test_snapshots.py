"""Tests for snapshot statistics, differences and adoption over time."""

from __future__ import annotations

from datetime import timedelta
from statistics import mean, quantiles
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.api.errors import NotFound
from infrastructure.postgresql.statements import fetch
from scans.check_catalogue import entries
from sites.lists.adoption import PREDICATES, adoption, percent, sentence
from sites.lists.differences import calculate_difference
from sites.lists.snapshots import (
    figures,
    find_snapshot,
    grade_of,
    is_kept,
    latest,
    previous,
    snapshots_of,
    summary,
    type_figures,
)
from sites.models import ListEntry
from tests.factories import Member
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot

NOW = timezone.now()
A, B, C, D, E = (f"https://{letter}.example/" for letter in "abcde")


def test_snapshot_has_figures_for_each_type(home: Member) -> None:
    sites = [
        SnapshotSite(A, {"security": 100, "seo": 97}, "pppp", ("north",), {"security": "A+"}),
        SnapshotSite(B, {"security": 60, "seo": 90}, "ffwp", ("north", "south")),
        SnapshotSite(C, {"security": 50}, "pffw"),
        SnapshotSite(D, tags=("south",)),
    ]
    summarized = summary(snapshot(make_list(home), sites))
    assert (summarized["sites"], summarized["judged"], summarized["left_out"]) == (4, 3, 0)
    assert summarized["types"]["security"] == {
        "judged": 3,
        "mean": 70.0,
        "lower_quartile": 55.0,
        "median": 60.0,
        "upper_quartile": 80.0,
        "grades": {"A+": 1, "A": 0, "B": 0, "C": 0, "D": 1, "F": 1},
    }
    assert summarized["types"]["seo"]["judged"] == 2
    assert summarized["not_reached"] == {"total": 1, "codes": {"TARGET_UNREACHABLE": 1}}
    assert summarized["unreached"] == [
        {"url": D, "code": "TARGET_UNREACHABLE", "message": "The site cannot be reached."}
    ]
    checks = {
        check["check"]: (check["failed"], check["warned"], check["passed"], check["of"])
        for check in summarized["checks"]
    }
    assert checks["http-to-https-redirect"] == (2, 0, 1, 3)
    assert checks["hsts"] == (1, 1, 1, 3)
    assert [check["failed"] for check in summarized["checks"]] == [1, 2, 1, 0]
    assert {tag["tag"]: (tag["sites"], tag["judged"]) for tag in summarized["tags"]} == {
        "north": (2, 2),
        "south": (2, 1),
    }
    security_means = {tag["tag"]: tag["types"]["security"]["mean"] for tag in summarized["tags"]}
    assert security_means == {"north": 80.0, "south": 60.0}


def test_tag_figures_cover_only_its_sites(home: Member) -> None:
    sites = [SnapshotSite(A, {"seo": 70}, "p", ("x",)), SnapshotSite(B, {"seo": 90}, "f"), SnapshotSite(C, tags=("x",))]
    run = snapshot(make_list(home), sites, checks=["title"])
    summarized = summary(run, "x")
    assert (summarized["sites"], summarized["judged"], summarized["not_reached"]["total"]) == (2, 1, 1)
    assert summarized["types"]["seo"]["mean"] == 70.0
    assert summarized["tags"] == []
    empty_summary = summary(run, "unknown")
    assert (empty_summary["sites"], empty_summary["judged"], empty_summary["types"]["seo"]["mean"]) == (0, 0, None)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=60))
def test_quartiles_match_spreadsheets(scores: list[int]) -> None:
    counts = {str(score): scores.count(score) for score in scores}
    figures_of_scores = type_figures(counts, {})
    quartiles = (figures_of_scores["lower_quartile"], figures_of_scores["median"], figures_of_scores["upper_quartile"])
    assert quartiles == pytest.approx(tuple(quantiles(scores, n=4, method="inclusive")))
    assert figures_of_scores["mean"] == pytest.approx(mean(scores), abs=0.051)


def test_quartiles_handle_a_single_score() -> None:
    one = type_figures({"83": 1}, {"B": 1})
    assert (one["lower_quartile"], one["median"], one["upper_quartile"], one["mean"]) == (83, 83, 83, 83.0)
    none = type_figures({}, {})
    assert (none["judged"], none["mean"], none["median"], grade_of(none)) == (0, None, None, "")


def test_mean_grade_a_plus_needs_all_sites() -> None:
    assert grade_of(type_figures({"100": 2}, {"A+": 2})) == "A+"
    assert grade_of(type_figures({"100": 2}, {"A+": 1, "A": 1})) == "A"


@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_percent_is_0_or_100_only_if_exact(numbers: tuple[int, int]) -> None:
    part, of = numbers
    percentage = percent(part, of)
    assert (percentage == 100) == (part == of)
    assert (percentage == 0) == (part == 0)
    assert abs(percentage - 100 * part / of) < 1


@pytest.mark.parametrize(
    ("check", "passed", "total", "expected"),
    [
        ("http-to-https-redirect", 1047, 1204, "87 % of 1,204 sites redirect to HTTPS"),
        ("http-to-https-redirect", 1203, 1204, "99 % of 1,204 sites redirect to HTTPS"),
        ("https-available", 1, 1, "100 % of 1 site is available over HTTPS"),
        ("caa", 0, 1, "0 % of 1 site has CAA records"),
        ("h1", 1, 2, "50 % of 2 sites pass: Page has a main heading"),
        ("h1", 1, 1, "100 % of 1 site passes: Page has a main heading"),
        ("hsts", 0, 0, "No site has a result: HTTP Strict Transport Security"),
    ],
)
def test_adoption_sentence_has_the_share(check: str, passed: int, total: int, expected: str) -> None:
    assert sentence(check, passed, total) == expected


def test_predicates_belong_to_existing_checks() -> None:
    assert PREDICATES.keys() <= entries().keys()


def test_only_ended_runs_are_snapshots(home: Member, stranger: Member) -> None:
    site_list = make_list(home)
    run = snapshot(site_list, [SnapshotSite(A, {"seo": 70}, "p")])
    organization = home.organization.id
    assert find_snapshot(organization, site_list.id, run.id) == run
    running = snapshot(make_list(home), [], status="running", ended_at=None)
    expired = snapshot(site_list, [], at=NOW - timedelta(days=9), kept_days=8)
    for owner, list_id, run_id in (
        (stranger.organization.id, site_list.id, run.id),
        (organization, running.site_list_id, run.id),
        (organization, running.site_list_id, running.id),
        (organization, site_list.id, expired.id),
        (organization, site_list.id, "run_\0"),
        (organization, "", ""),
    ):
        with pytest.raises(NotFound, match="no snapshot"):
            find_snapshot(owner, list_id, run_id)
    assert [is_kept(list_run) for list_run in (run, running, expired)] == [True, False, False]
    assert [*snapshots_of(site_list)] == [run]


def test_latest_snapshot_skips_failed_runs(home: Member) -> None:
    site_list = make_list(home)
    sites = [SnapshotSite(A, {"seo": 70}, "p")]
    runs = [
        snapshot(site_list, sites, at=NOW - timedelta(days=10 - index), status=status)
        for index, status in enumerate(("completed", "partial", "cancelled", "failed"))
    ]
    assert latest(site_list) == runs[1]
    assert previous(runs[3]) == runs[1]
    assert previous(runs[1]) == runs[0]
    assert previous(runs[0]) is None


def test_difference_query_has_no_nested_loops(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query must not use nested loops.

    Right after a run, PostgreSQL expects only one row, so they would take minutes.
    """
    site_list = make_list(home)
    sites = [SnapshotSite(A, {"security": 50}, "pppp"), SnapshotSite(B, {"security": 60}, "pppp")]
    before, after = snapshot(site_list, sites, at=NOW - timedelta(days=7)), snapshot(site_list, sites)
    modes = []

    def fetch_and_record_mode(sql: str, params: Any) -> Any:
        modes.append(fetch("SHOW enable_nestloop", {}))
        return fetch(sql, params)

    monkeypatch.setattr("sites.lists.differences.fetch", fetch_and_record_mode)
    assert calculate_difference(after, before)["sites"]["compared"] == 2
    assert modes == [[("off",)]] * 3


def test_difference_lists_changed_checks(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(
        site_list,
        [
            SnapshotSite(A, {"security": 50, "seo": 80}, "pffp", ("x",)),
            SnapshotSite(B, {"security": 90, "seo": 90}, "ppff"),
            SnapshotSite(C, {"security": 70, "seo": 70}, "pppp"),
            SnapshotSite(D, {"security": 70}, "pppp"),
        ],
        at=NOW - timedelta(days=7),
    )
    ListEntry.objects.filter(url=A).delete()
    after = snapshot(
        site_list,
        [
            SnapshotSite(A, {"security": 81, "seo": 80}, "pppp", ("x",)),
            SnapshotSite(B, {"security": 90, "seo": 89}, "fpfp"),
            SnapshotSite(C, {"security": 70, "seo": 70}, "pppp"),
            SnapshotSite(D),
            SnapshotSite(E, {"security": 1, "seo": 1}, "ffff"),
        ],
    )
    difference = calculate_difference(after, before)
    assert difference["sites"] == {
        "compared": 3,
        "better": 1,
        "worse": 1,
        "added": 1,
        "removed": 0,
        "lost": 1,
        "regained": 0,
    }
    (better,) = difference["better"]
    assert (better["url"], better["change"], better["tags"]) == (A, 15.5, ["x"])
    assert better["entry_id"] == site_list.entries.get(url=A).id, "it was deleted and added again"
    assert better["types"]["security"] == {
        "before": {"score": 50, "grade": "F"},
        "after": {"score": 81, "grade": "B"},
    }
    assert [(site["url"], site["change"]) for site in difference["worse"]] == [(B, -0.5)]
    assert difference["lost"] == [D]
    fewer = {
        failure["check"]: (failure["failed_before"], failure["failed_after"], failure["of"])
        for failure in difference["fewer_failures"]
    }
    assert fewer == {"http-to-https-redirect": (1, 0, 3), "hsts": (2, 1, 3), "title": (1, 0, 3)}
    (more,) = difference["more_failures"]
    assert (more["check"], more["fixed"], more["broken"]) == ("https-available", 0, 1)
    reversed_difference = calculate_difference(before, after)
    assert (reversed_difference["regained"], reversed_difference["sites"]["removed"]) == ([D], 1)
    assert [site["url"] for site in reversed_difference["better"]] == [B]


def test_severe_checks_precede_frequent_ones(home: Member) -> None:
    """HTTPS matters more than DMARC.

    One site without HTTPS is worse than a failed DMARC check on every site.
    """
    site_list = make_list(home)
    checks = ["dmarc", "caa", "hsts", "https-available", "tls-cert-expiry", "of-an-older-version"]
    before = snapshot(
        site_list,
        [SnapshotSite(url, {"security": 60}, "pppppp") for url in (A, B, C)],
        checks=checks,
        at=NOW - timedelta(days=7),
    )
    letters = {A: "fffffp", B: "ffpppf", C: "fppppp"}
    after = snapshot(
        site_list, [SnapshotSite(url, {"security": 50}, text) for url, text in letters.items()], checks=checks
    )
    order = ["https-available", "tls-cert-expiry", "hsts", "caa", "dmarc", "of-an-older-version"]
    assert [check["check"] for check in figures(after)["checks"]][:3] == order[:3]
    assert [check["check"] for check in figures(after)["checks"]][-1] == "of-an-older-version"
    assert [check["check"] for check in calculate_difference(after, before)["more_failures"]][:3] == order[:3]


def test_deleted_entry_remains_in_snapshots(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [SnapshotSite(A, {"seo": 50}, "f")], checks=["title"], at=NOW - timedelta(days=7))
    after = snapshot(site_list, [SnapshotSite(A, {"seo": 60}, "p")], checks=["title"])
    entry_id = site_list.entries.get().id
    assert home.api.put(f"/v1/lists/{site_list.id}/entries", {"entries": []}).status_code == 200
    (better,) = calculate_difference(after, before)["better"]
    assert (better["url"], better["entry_id"]) == (A, entry_id)
    assert figures(after)["judged"] == 1


def test_missing_check_does_not_count_as_fixed(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(
        site_list, [SnapshotSite(A, {"seo": 50}, "ff")], checks=["gone", "title"], at=NOW - timedelta(days=7)
    )
    # In the later run, `title` has another index, and the last letter is missing.
    after = snapshot(site_list, [SnapshotSite(A, {"seo": 50}, "p")], checks=["title", "h1"])
    difference = calculate_difference(after, before)
    assert [failure["check"] for failure in difference["fewer_failures"]] == ["title"]
    assert difference["more_failures"] == []
    assert (difference["checks_added"], difference["checks_removed"]) == (["h1"], ["gone"])


def test_skipped_check_does_not_count_as_fixed(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [SnapshotSite(A, {"seo": 50}, "f")], checks=["title"], at=NOW - timedelta(days=7))
    after = snapshot(site_list, [SnapshotSite(A, {"seo": 50}, "-")], checks=["title"])
    assert calculate_difference(after, before)["fewer_failures"] == []


def test_only_common_types_are_compared(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [SnapshotSite(A, {"security": 50, "seo": 50}, "")], at=NOW - timedelta(days=7))
    one = snapshot(site_list, [SnapshotSite(A, {"seo": 50}, "")], types=["seo"])
    other = snapshot(site_list, [SnapshotSite(A, {"performance": 50}, "")], types=["performance"])
    difference = calculate_difference(one, before)
    assert (difference["types"], difference["sites"]["better"], difference["sites"]["worse"]) == (["seo"], 0, 0)
    empty_difference = calculate_difference(other, before)
    assert (empty_difference["types"], empty_difference["sites"]["compared"], empty_difference["fewer_failures"]) == (
        [],
        0,
        [],
    )


def test_adoption_starts_with_the_oldest(home: Member) -> None:
    site_list = make_list(home)
    snapshots = []
    for age, letters in ((30, "pf"), (20, "pp"), (10, "w-")):
        sites = [SnapshotSite(url, {"seo": 70}, letter, ("x",)) for url, letter in zip((A, B), letters, strict=True)]
        snapshots.append(snapshot(site_list, sites, checks=["title"], at=NOW - timedelta(days=age)))
    snapshot(site_list, [SnapshotSite(A, {"seo": 70}, "f")], checks=["title"], status="cancelled")
    snapshot(site_list, [SnapshotSite(A, {"seo": 70}, "f")], checks=["h1"], at=NOW - timedelta(days=5))
    with counted() as queries:
        adopted = adoption(site_list, "title")
    assert [(run.id, passed, of) for run, passed, of in adopted] == [
        (snapshots[0].id, 1, 2),
        (snapshots[1].id, 2, 2),
        (snapshots[2].id, 0, 1),
    ]
    assert len(queries) == 1
    assert [of for _, _, of in adoption(site_list, "title", limit=2)] == [2, 1]
    assert [passed for _, passed, _ in adoption(site_list, "title", "x")] == [1, 2, 0]
    assert adoption(site_list, "title", "unknown") == adoption(site_list, "nothing") == []


def test_snapshot_query_count_is_constant(home: Member) -> None:
    numbers: list[Any] = []
    for size in (1, 40):
        site_list = make_list(home)
        sites = [SnapshotSite(f"https://{n}.example/", {"seo": n}, "fpwp", (f"tag {n}",)) for n in range(size)]
        before = snapshot(site_list, sites, at=NOW - timedelta(days=7))
        after = snapshot(site_list, sites)
        with counted() as queries:
            summary(after)
            calculate_difference(after, before)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1] <= 8
