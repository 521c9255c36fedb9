"""Figures of snapshots, differences between two, and adoption over time."""

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
from sites.lists.differences import diff
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
from tests.sites.lists.snapshot_cast import Looked, snapshot

NOW = timezone.now()
A, B, C, D, E = (f"https://{each}.example/" for each in "abcde")


def test_snapshot_has_figures_of_each_type(home: Member) -> None:
    sites = [
        Looked(A, {"security": 100, "seo": 97}, "pppp", ("north",), {"security": "A+"}),
        Looked(B, {"security": 60, "seo": 90}, "ffwp", ("north", "south")),
        Looked(C, {"security": 50}, "pffw"),
        Looked(D, tags=("south",)),
    ]
    found = summary(snapshot(make_list(home), sites))
    assert (found["sites"], found["judged"], found["left_out"]) == (4, 3, 0)
    assert found["types"]["security"] == {
        "judged": 3,
        "mean": 70.0,
        "lower_quartile": 55.0,
        "median": 60.0,
        "upper_quartile": 80.0,
        "grades": {"A+": 1, "A": 0, "B": 0, "C": 0, "D": 1, "F": 1},
    }
    assert found["types"]["seo"]["judged"] == 2
    assert found["not_reached"] == {"total": 1, "codes": {"TARGET_UNREACHABLE": 1}}
    assert found["unreached"] == [{"url": D, "code": "TARGET_UNREACHABLE", "message": "The site cannot be reached."}]
    checks = {each["check"]: (each["failed"], each["warned"], each["passed"], each["of"]) for each in found["checks"]}
    assert checks["http-to-https-redirect"] == (2, 0, 1, 3)
    assert checks["hsts"] == (1, 1, 1, 3)
    assert [each["failed"] for each in found["checks"]] == [2, 1, 1, 0]
    assert {each["tag"]: (each["sites"], each["judged"]) for each in found["tags"]} == {
        "north": (2, 2),
        "south": (2, 1),
    }
    by_tag = {each["tag"]: each["types"]["security"]["mean"] for each in found["tags"]}
    assert by_tag == {"north": 80.0, "south": 60.0}


def test_figures_of_a_tag_cover_its_sites(home: Member) -> None:
    sites = [Looked(A, {"seo": 70}, "p", ("x",)), Looked(B, {"seo": 90}, "f"), Looked(C, tags=("x",))]
    run = snapshot(make_list(home), sites, checks=["title"])
    found = summary(run, "x")
    assert (found["sites"], found["judged"], found["not_reached"]["total"]) == (2, 1, 1)
    assert found["types"]["seo"]["mean"] == 70.0
    assert found["tags"] == []
    nothing = summary(run, "unknown")
    assert (nothing["sites"], nothing["judged"], nothing["types"]["seo"]["mean"]) == (0, 0, None)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=60))
def test_quartiles_equal_those_of_spreadsheets(scores: list[int]) -> None:
    counts = {str(each): scores.count(each) for each in scores}
    found = type_figures(counts, {})
    quartiles = (found["lower_quartile"], found["median"], found["upper_quartile"])
    assert quartiles == pytest.approx(tuple(quantiles(scores, n=4, method="inclusive")))
    assert found["mean"] == pytest.approx(mean(scores), abs=0.051)


def test_quartiles_of_one_score_equal_it_and_of_no_score_are_none() -> None:
    one = type_figures({"83": 1}, {"B": 1})
    assert (one["lower_quartile"], one["median"], one["upper_quartile"], one["mean"]) == (83, 83, 83, 83.0)
    none = type_figures({}, {})
    assert (none["judged"], none["mean"], none["median"], grade_of(none)) == (0, None, None, "")


def test_mean_grade_is_a_plus_only_if_all_sites_have_a_plus() -> None:
    assert grade_of(type_figures({"100": 2}, {"A+": 2})) == "A+"
    assert grade_of(type_figures({"100": 2}, {"A+": 1, "A": 1})) == "A"


@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_percent_is_0_or_100_only_if_exact(numbers: tuple[int, int]) -> None:
    part, of = numbers
    shown = percent(part, of)
    assert (shown == 100) == (part == of)
    assert (shown == 0) == (part == 0)
    assert abs(shown - 100 * part / of) < 1


def test_sentences_count_passing_sites() -> None:
    assert sentence("http-to-https-redirect", 1047, 1204) == "87 % of 1,204 sites redirect to HTTPS"
    assert sentence("http-to-https-redirect", 1203, 1204) == "99 % of 1,204 sites redirect to HTTPS"
    assert sentence("https-available", 1, 1) == "100 % of 1 site is available over HTTPS"
    assert sentence("caa", 0, 1) == "0 % of 1 site has CAA records"
    assert sentence("h1", 1, 2) == "50 % of 2 sites pass: Page has a main heading"
    assert sentence("h1", 1, 1) == "100 % of 1 site passes: Page has a main heading"
    assert sentence("hsts", 0, 0) == "No site has a result: HTTP Strict Transport Security"


def test_predicates_are_of_existing_checks() -> None:
    assert PREDICATES.keys() <= entries().keys()


def test_snapshots_are_ended_runs_of_the_own_organization(home: Member, stranger: Member) -> None:
    site_list = make_list(home)
    run = snapshot(site_list, [Looked(A, {"seo": 70}, "p")])
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
    assert [is_kept(each) for each in (run, running, expired)] == [True, False, False]
    assert [*snapshots_of(site_list)] == [run]


def test_latest_snapshot_skips_cancelled_and_failed_runs(home: Member) -> None:
    site_list = make_list(home)
    sites = [Looked(A, {"seo": 70}, "p")]
    runs = [
        snapshot(site_list, sites, at=NOW - timedelta(days=10 - each), status=status)
        for each, status in enumerate(("completed", "partial", "cancelled", "failed"))
    ]
    assert latest(site_list) == runs[1]
    assert previous(runs[3]) == runs[1]
    assert previous(runs[1]) == runs[0]
    assert previous(runs[0]) is None


def test_difference_query_uses_no_nested_loop_join(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right after a run, PostgreSQL's planner estimates a single row, and comparing 10,000 sites would take minutes."""
    site_list = make_list(home)
    sites = [Looked(A, {"security": 50}, "pppp"), Looked(B, {"security": 60}, "pppp")]
    before, after = snapshot(site_list, sites, at=NOW - timedelta(days=7)), snapshot(site_list, sites)
    modes = []

    def noted(sql: str, params: Any) -> Any:
        modes.append(fetch("SHOW enable_nestloop", {}))
        return fetch(sql, params)

    monkeypatch.setattr("sites.lists.differences.fetch", noted)
    assert diff(after, before)["sites"]["compared"] == 2
    assert modes == [[("off",)]] * 3


def test_difference_has_changed_sites_and_checks(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(
        site_list,
        [
            Looked(A, {"security": 50, "seo": 80}, "pffp", ("x",)),
            Looked(B, {"security": 90, "seo": 90}, "ppff"),
            Looked(C, {"security": 70, "seo": 70}, "pppp"),
            Looked(D, {"security": 70}, "pppp"),
        ],
        at=NOW - timedelta(days=7),
    )
    ListEntry.objects.filter(url=A).delete()
    after = snapshot(
        site_list,
        [
            Looked(A, {"security": 81, "seo": 80}, "pppp", ("x",)),
            Looked(B, {"security": 90, "seo": 89}, "fpfp"),
            Looked(C, {"security": 70, "seo": 70}, "pppp"),
            Looked(D),
            Looked(E, {"security": 1, "seo": 1}, "ffff"),
        ],
    )
    found = diff(after, before)
    assert found["sites"] == {
        "compared": 3,
        "better": 1,
        "worse": 1,
        "added": 1,
        "removed": 0,
        "lost": 1,
        "regained": 0,
    }
    (better,) = found["better"]
    assert (better["url"], better["change"], better["tags"]) == (A, 15.5, ["x"])
    assert better["entry_id"] == site_list.entries.get(url=A).id, "it was deleted and added again"
    assert better["types"]["security"] == {
        "before": {"score": 50, "grade": "F"},
        "after": {"score": 81, "grade": "B"},
    }
    assert [(each["url"], each["change"]) for each in found["worse"]] == [(B, -0.5)]
    assert found["lost"] == [D]
    fewer = {
        each["check"]: (each["failed_before"], each["failed_after"], each["of"]) for each in found["fewer_failures"]
    }
    assert fewer == {"http-to-https-redirect": (1, 0, 3), "hsts": (2, 1, 3), "title": (1, 0, 3)}
    (more,) = found["more_failures"]
    assert (more["check"], more["fixed"], more["broken"]) == ("https-available", 0, 1)
    turned = diff(before, after)
    assert (turned["regained"], turned["sites"]["removed"]) == ([D], 1)
    assert [each["url"] for each in turned["better"]] == [B]


def test_deleted_entry_remains_in_snapshots(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [Looked(A, {"seo": 50}, "f")], checks=["title"], at=NOW - timedelta(days=7))
    after = snapshot(site_list, [Looked(A, {"seo": 60}, "p")], checks=["title"])
    site_list.entries.all().delete()
    (better,) = diff(after, before)["better"]
    assert (better["url"], better["entry_id"]) == (A, None)
    assert figures(after)["judged"] == 1


def test_check_missing_in_one_snapshot_is_not_fixed(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [Looked(A, {"seo": 50}, "ff")], checks=["gone", "title"], at=NOW - timedelta(days=7))
    # Another order of the same check, and a result that was counted before the run had its last check.
    after = snapshot(site_list, [Looked(A, {"seo": 50}, "p")], checks=["title", "h1"])
    found = diff(after, before)
    assert [each["check"] for each in found["fewer_failures"]] == ["title"]
    assert found["more_failures"] == []
    assert (found["checks_added"], found["checks_removed"]) == (["h1"], ["gone"])


def test_check_that_did_not_run_again_on_a_site_is_not_fixed(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [Looked(A, {"seo": 50}, "f")], checks=["title"], at=NOW - timedelta(days=7))
    after = snapshot(site_list, [Looked(A, {"seo": 50}, "-")], checks=["title"])
    assert diff(after, before)["fewer_failures"] == []


def test_only_types_of_both_snapshots_are_compared(home: Member) -> None:
    site_list = make_list(home)
    before = snapshot(site_list, [Looked(A, {"security": 50, "seo": 50}, "")], at=NOW - timedelta(days=7))
    one = snapshot(site_list, [Looked(A, {"seo": 50}, "")], types=["seo"])
    other = snapshot(site_list, [Looked(A, {"performance": 50}, "")], types=["performance"])
    found = diff(one, before)
    assert (found["types"], found["sites"]["better"], found["sites"]["worse"]) == (["seo"], 0, 0)
    nothing = diff(other, before)
    assert (nothing["types"], nothing["sites"]["compared"], nothing["fewer_failures"]) == ([], 0, [])


def test_adoption_is_ordered_from_oldest_to_newest(home: Member) -> None:
    site_list = make_list(home)
    told = []
    for age, letters in ((30, "pf"), (20, "pp"), (10, "w-")):
        sites = [Looked(url, {"seo": 70}, letter, ("x",)) for url, letter in zip((A, B), letters, strict=True)]
        told.append(snapshot(site_list, sites, checks=["title"], at=NOW - timedelta(days=age)))
    snapshot(site_list, [Looked(A, {"seo": 70}, "f")], checks=["title"], status="cancelled")
    snapshot(site_list, [Looked(A, {"seo": 70}, "f")], checks=["h1"], at=NOW - timedelta(days=5))
    with counted() as asked:
        found = adoption(site_list, "title")
    assert [(run.id, passed, of) for run, passed, of in found] == [
        (told[0].id, 1, 2),
        (told[1].id, 2, 2),
        (told[2].id, 0, 1),
    ]
    assert len(asked) == 1
    assert [of for _, _, of in adoption(site_list, "title", limit=2)] == [2, 1]
    assert [passed for _, passed, _ in adoption(site_list, "title", "x")] == [1, 2, 0]
    assert adoption(site_list, "title", "unknown") == adoption(site_list, "nothing") == []


def test_snapshot_query_count_does_not_depend_on_the_list(home: Member) -> None:
    numbers: list[Any] = []
    for size in (1, 40):
        site_list = make_list(home)
        sites = [Looked(f"https://{n}.example/", {"seo": n}, "fpwp", (f"tag {n}",)) for n in range(size)]
        before = snapshot(site_list, sites, at=NOW - timedelta(days=7))
        after = snapshot(site_list, sites)
        with counted() as asked:
            summary(after)
            diff(after, before)
        numbers.append(len(asked))
    assert numbers[0] == numbers[1] <= 8
