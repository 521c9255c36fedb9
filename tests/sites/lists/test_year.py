"""A year of weekly runs of sites whose findings change by a script: snapshots and events equal a table written before.

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
from tests.sites.lists.running import UNREACHABLE, Found, Script, check, listed, scored
from webhooks.models import Event

pytestmark = pytest.mark.django_db

WEEKS, SITES = 52, 1_000
EVENTS = ["list.completed", "list.changed"]

# By week, the number of sites with HSTS: 1,000 = 19 * 52 + 12, so each week brings 19, and the first twelve one more.
ADOPTED = [20 * week for week in range(1, 13)] + [240 + 19 * week for week in range(1, 41)]
SILENT = 10  # every hundredth site of 1,000
# By week, the number of sites whose CAA fails.
CAA_FAILS = [0] * 20 + [100] * 10 + [0] * 22

# The script in SQL, at the seam where visits leave their evidence.
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


def silent_in(week: int, sites: int = SITES) -> list[int]:
    return [number for number in range(sites) if (number + week) % 100 == 0]


def expected(week: int) -> dict[str, Any]:
    """Return the counts of a week from the table, less what its silent sites would have been."""
    silent = silent_in(week)
    assert len(silent) == SILENT
    adopted = ADOPTED[week] - sum(number % 52 <= week for number in silent)
    lacking = 20 <= week <= 29
    failing = CAA_FAILS[week] - sum(lacking and number % 10 == 0 for number in silent)
    judged = SITES - SILENT
    return {
        "hsts": [judged - adopted, 0, adopted],
        "caa": [failing, judged - failing, 0],
        "judged": judged,
        "sites": SITES,
    }


def look(towns: SiteList, week: int) -> ListRun:
    run = runs.begin_run(list_id=towns.id)
    now = timezone.now()
    # Each run a week after the one before, so that adoption has an axis.
    ListRun.objects.filter(id=run.id).update(started_at=now - timedelta(weeks=WEEKS - week))
    with connection.cursor() as cursor:
        cursor.execute(SCRIPT, {"now": now, "week": week, "run": run.id})
    assert counting.count_results(run.id) == run.entries
    run.refresh_from_db()
    return run


@pytest.mark.slow
def test_year_of_a_thousand_sites_matches_expected_figures() -> None:
    owner = member_of("Owner", "enterprise")
    register_webhook(owner, "https://example.com/hook", EVENTS)
    towns = listed(owner, SITES)
    for week in range(WEEKS):
        run = look(towns, week)
        assert (run.status, run.done, run.failed) == ("completed", SITES - SILENT, SILENT)
        data = run.counts.get(tag="").data
        assert data["checks"] | {"judged": data["judged"], "sites": data["sites"]} == expected(week), week
        assert sum(data["scores"]["security"].values()) == data["judged"]
    points = adoption(towns, "hsts", limit=WEEKS)
    assert [(passed, of) for _, passed, of in points] == [
        (expected(week)["hsts"][2], SITES - SILENT) for week in range(WEEKS)
    ]
    kinds = Counter(Event.objects.values_list("kind", flat=True))
    assert kinds == {"list.completed": WEEKS, "list.changed": WEEKS - 1}
    entry = towns.entries.get(host="site-40.example.com")
    # It adopts HSTS in week 40; the year's last twelve results are of weeks 40 to 51.
    assert (entry.state, entry.failing, entry.history) == ("judged", [], [90] * 12)


def test_event_matches_expected_changes() -> None:
    owner = member_of("Owner", "enterprise")
    register_webhook(owner, "https://example.com/hook", EVENTS)
    towns = listed(owner, SITES)
    for week in (19, 20):
        look(towns, week)
    body = json.loads(bytes(Event.objects.get(kind="list.changed").body))
    changes = body["data"]["changes"]
    both = [number for number in range(SITES) if number not in {*silent_in(19), *silent_in(20)}]
    newly = sum(number % 52 == 20 for number in both)
    losing = sum(number % 10 == 0 for number in both)
    (fewer,), (more,) = changes["fewer_failures"], changes["more_failures"]
    assert (fewer["check"], fewer["failed_before"] - fewer["failed_after"], fewer["of"]) == ("hsts", newly, len(both))
    assert (more["check"], more["failed_before"], more["failed_after"]) == ("caa", 0, losing)
    # From D to A with HSTS, or B with that and without CAA; from A to B or from D to F without CAA.
    assert changes["grades"] == {"better": newly, "worse": sum(n % 10 == 0 and n % 52 != 20 for n in both)}
    assert (changes["sites"]["lost"], changes["sites"]["regained"]) == (SILENT, SILENT)


def test_counts_through_visits_equal_the_table() -> None:
    owner = member_of("Owner", "business")
    Tier.objects.update(scans_per_month=100_000)
    number_of_sites, weeks = 9, 6
    towns = listed(owner, number_of_sites)
    for week in range(weeks):
        run = Script(functools.partial(scripted, week=week)).run(towns)
        judged = [n for n in range(number_of_sites) if (n + week) % 100]
        adopted = sum(n % 52 <= week for n in judged)
        data = run.counts.get(tag="").data
        assert data["judged"] == len(judged)
        assert data["checks"]["hsts"] == [len(judged) - adopted, 0, adopted]


def scripted(scan: Scan, week: int) -> Found:
    number = int(scan.host.split(".")[0].removeprefix("site-"))
    if (number + week) % 100 == 0:
        return UNREACHABLE
    has_hsts = number % 52 <= week
    return 60 + 30 * has_hsts, [check("hsts", "pass" if has_hsts else "fail"), check("caa", "warn")]


def test_score_changes_within_a_grade_are_no_changes(home: Member) -> None:
    register_webhook(home, "https://example.com/hook", EVENTS)
    towns = listed(home, 2)
    for score in (81, 82):
        Script(scored(score)).run(towns)
    assert Counter(Event.objects.values_list("kind", flat=True)) == {"list.completed": 2}
