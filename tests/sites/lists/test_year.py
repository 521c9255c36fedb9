"""Tests for a year of weekly list runs.

Snapshots and events are compared with precomputed ones.

The script, for site n in week w (both from 0):
- HSTS fails until the site adopts it in week n modulo 52, and passes from then on;
- CAA fails in weeks 20 to 29 on every tenth site, and warns else;
- the site does not answer in the weeks in which (n + w) modulo 100 is 0;
- the score is 90 with HSTS and 60 without, and 5 less while CAA fails.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Tier
from scans.models import Scan
from sites.lists import counting, runs
from sites.lists.adoption import adoption
from sites.models import ListRun, SiteList
from tests.factories import Member, member_of, register_webhook
from tests.sites.lists.running import (
    UNREACHABLE,
    FakeWorker,
    ScriptedResult,
    make_check,
    make_numbered_list,
    result_with_score,
)
from webhooks.models import Event

pytestmark = pytest.mark.django_db

WEEKS, SITES = 52, 1_000
EVENTS = ["list.completed", "list.changed"]

# Sites with HSTS by week: 19 more every week, and 20 in the first twelve weeks.
ADOPTED = [20 * week for week in range(1, 13)] + [240 + 19 * week for week in range(1, 41)]
UNREACHABLE_SITES = 10  # Every hundredth site does not respond.
# Number of sites whose CAA check fails in each week.
CAA_FAILURES = [0] * 20 + [100] * 10 + [0] * 22

# SQL that writes a week's scripted results without any visits.
SCRIPT = """
    UPDATE sites_listresult AS result SET ended_at = %(now)s, status = 'ended',
        error_code = CASE WHEN silent THEN 'URL_NOT_REACHABLE' ELSE '' END,
        security_score = CASE WHEN NOT silent THEN 60 + 30 * has_hsts::int - 5 * no_caa::int END,
        security_grade = CASE WHEN silent THEN '' WHEN has_hsts AND no_caa THEN 'B' WHEN has_hsts THEN 'A'
            WHEN no_caa THEN 'F' ELSE 'D' END,
        seen = CASE WHEN silent THEN '{}' ELSE jsonb_build_object(
            'hsts', CASE WHEN has_hsts THEN 'pass' ELSE 'fail' END, 'caa', CASE WHEN no_caa THEN 'fail' ELSE 'warn' END
        ) END
    FROM (
        SELECT id, n %% 52 <= %(week)s AS has_hsts, n %% 10 = 0 AND %(week)s BETWEEN 20 AND 29 AS no_caa,
            (n + %(week)s) %% 100 = 0 AS silent
        FROM (
            SELECT id, substring(url FROM 'site-([0-9]+)')::int AS n FROM sites_listresult WHERE run_id = %(run)s
        ) AS numbered
    ) AS script
    WHERE script.id = result.id
"""


def unreachable_sites(week: int, sites: int = SITES) -> list[int]:
    return [number for number in range(sites) if (number + week) % 100 == 0]


def expected_counts(week: int) -> dict[str, Any]:
    """Return the expected counts of a week.

    Sites that do not respond are excluded.
    """
    silent = unreachable_sites(week)
    assert len(silent) == UNREACHABLE_SITES
    adopted = ADOPTED[week] - sum(number % 52 <= week for number in silent)
    lacking = 20 <= week <= 29
    failing = CAA_FAILURES[week] - sum(lacking and number % 10 == 0 for number in silent)
    judged = SITES - UNREACHABLE_SITES
    return {
        "hsts": [judged - adopted, 0, adopted],
        "caa": [failing, judged - failing, 0],
        "judged": judged,
        "sites": SITES,
    }


def run_week(towns: SiteList, week: int) -> ListRun:
    run = runs.begin_run(list_id=towns.id)
    now = timezone.now()
    # The adoption chart needs runs that are a week apart.
    ListRun.objects.filter(id=run.id).update(started_at=now - timedelta(weeks=WEEKS - week))
    with connection.cursor() as cursor:
        cursor.execute(SCRIPT, {"now": now, "week": week, "run": run.id})
    assert counting.count_results(run.id) == run.entries
    run.refresh_from_db()
    return run


@pytest.mark.slow
def test_year_has_the_expected_figures() -> None:
    owner = member_of("Owner", "enterprise")
    register_webhook(owner, "https://example.com/hook", EVENTS)
    towns = make_numbered_list(owner, SITES)
    for week in range(WEEKS):
        run = run_week(towns, week)
        assert (run.status, run.done, run.failed) == ("completed", SITES - UNREACHABLE_SITES, UNREACHABLE_SITES)
        data = run.counts.get(tag="").data
        assert data["checks"] | {"judged": data["judged"], "sites": data["sites"]} == expected_counts(week), week
        assert sum(data["scores"]["security"].values()) == data["judged"]
    points = adoption(towns, "hsts", limit=WEEKS)
    assert [(passed, of) for _, passed, of in points] == [
        (expected_counts(week)["hsts"][2], SITES - UNREACHABLE_SITES) for week in range(WEEKS)
    ]
    kinds = Counter(Event.objects.values_list("kind", flat=True))
    assert kinds == {"list.completed": WEEKS, "list.changed": WEEKS - 1}
    entry = towns.entries.get(host="site-40.example.com")
    # The site adopts HSTS in week 40, and its history has the results of weeks 40 to 51.
    assert (entry.state, entry.failing, entry.history) == ("judged", [], [90] * 12)


def test_event_contains_the_expected_changes() -> None:
    owner = member_of("Owner", "enterprise")
    register_webhook(owner, "https://example.com/hook", EVENTS)
    towns = make_numbered_list(owner, SITES)
    for week in (19, 20):
        run_week(towns, week)
    body = json.loads(bytes(Event.objects.get(kind="list.changed").body))
    changes = body["data"]["changes"]
    numbers_in_both_weeks = [
        number for number in range(SITES) if number not in {*unreachable_sites(19), *unreachable_sites(20)}
    ]
    newly_adopted = sum(number % 52 == 20 for number in numbers_in_both_weeks)
    losing = sum(number % 10 == 0 for number in numbers_in_both_weeks)
    (fewer,), (more,) = changes["fewer_failures"], changes["more_failures"]
    assert (fewer["check"], fewer["failed_before"] - fewer["failed_after"], fewer["of"]) == (
        "hsts",
        newly_adopted,
        len(numbers_in_both_weeks),
    )
    assert (more["check"], more["failed_before"], more["failed_after"]) == ("caa", 0, losing)
    # Adopting HSTS raises the grade from D, and losing CAA lowers it to B or F.
    assert changes["grades"] == {
        "better": newly_adopted,
        "worse": sum(n % 10 == 0 and n % 52 != 20 for n in numbers_in_both_weeks),
    }
    assert (changes["sites"]["lost"], changes["sites"]["regained"]) == (UNREACHABLE_SITES, UNREACHABLE_SITES)


def test_simulated_visits_match_the_table() -> None:
    owner = member_of("Owner", "business")
    Tier.objects.update(scans_per_month=100_000)
    number_of_sites, weeks = 9, 6
    towns = make_numbered_list(owner, number_of_sites)
    for week in range(weeks):
        run = FakeWorker(functools.partial(result_in_week, week=week)).run(towns)
        judged = [n for n in range(number_of_sites) if (n + week) % 100]
        adopted = sum(n % 52 <= week for n in judged)
        data = run.counts.get(tag="").data
        assert data["judged"] == len(judged)
        assert data["checks"]["hsts"] == [len(judged) - adopted, 0, adopted]


def result_in_week(scan: Scan, week: int) -> ScriptedResult:
    number = int(scan.host.split(".")[0].removeprefix("site-"))
    if (number + week) % 100 == 0:
        return UNREACHABLE
    has_hsts = number % 52 <= week
    return 60 + 30 * has_hsts, [make_check("hsts", "pass" if has_hsts else "fail"), make_check("caa", "warn")]


def test_small_score_changes_are_not_reported(home: Member) -> None:
    register_webhook(home, "https://example.com/hook", EVENTS)
    towns = make_numbered_list(home, 2)
    for score in (81, 82):
        FakeWorker(result_with_score(score)).run(towns)
    assert Counter(Event.objects.values_list("kind", flat=True)) == {"list.completed": 2}
