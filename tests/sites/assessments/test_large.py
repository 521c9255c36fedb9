"""Tests that an assessment of 1,000 pages needs few queries and little time."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from functools import partial

import pytest
import yaml
from django.db import connection, transaction
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.services import INSERT_RESULTS, criteria_of
from sites.models import Assessment, AssessmentFinding, AssessmentPage, AssessmentResult
from tests.factories import Api, Member, member_of
from tests.page_reading import browser_of
from tests.processor_time import least_cpu_s, slowness
from tests.queries import counted
from tests.sites.assessments.storing import whole_report

PAGES, CRITERIA = 1_000, 55
MAX_CPU_S = 0.04
MAX_QUERIES, MAX_QUERIES_OF_PAGE = 5, 15


@pytest.fixture(scope="module")
def large_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Member, Assessment]]:
    """Organization with a large assessment for all tests. Each test rolls its changes back."""
    with django_db_blocker.unblock(), transaction.atomic():
        home = member_of("Museum", "business")
        yield home, make_large_assessment(home)
        transaction.set_rollback(True)


@pytest.fixture
def home(large_once: tuple[Member, Assessment], db: None) -> Member:
    return large_once[0]


@pytest.fixture
def large(large_once: tuple[Member, Assessment], db: None) -> Assessment:
    return large_once[1]


def make_large_assessment(home: Member) -> Assessment:
    """Create an assessment of 1,000 pages with results on half of them, and ten findings on each."""
    assessment = Assessment.objects.create(organization=home.organization, name="Museum", url="https://example.com/")
    pages = AssessmentPage.objects.bulk_create(
        AssessmentPage(assessment=assessment, number=number, url=f"https://example.com/{number}")
        for number in range(1, PAGES + 1)
    )
    with connection.cursor() as cursor:
        cursor.execute(INSERT_RESULTS, [criteria_of(assessment), [page.id for page in pages]])
        # Without statistics, PostgreSQL plans the next statement for a few rows.
        cursor.execute("ANALYZE sites_assessmentpage, sites_assessmentresult")
    AssessmentResult.objects.filter(page__number__lte=PAGES // 2).update(result="passed", note="By keyboard.")
    now = timezone.now()
    AssessmentFinding.objects.bulk_create(
        AssessmentFinding(
            assessment=assessment,
            page=page,
            check_id=f"check-{number}",
            has_failed=False,
            severity="low",
            title="Thing",
            message="It is so-so.",
            criteria=["1.1.1", "2.4.3"],
            places=[{"fingerprint": f"{place:016x}", "text": "html > body > main > p"} for place in range(20)],
            place_count=20,
            first_seen_at=now,
            seen_at=now,
        )
        for page in pages
        for number in range(10)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE sites_assessmentpage, sites_assessmentresult, sites_assessmentfinding")
    return assessment


def too_slow(client: Client | Api, paths: Iterable[str], max_queries: int) -> dict[str, tuple[int, float]]:
    """Return the number of queries and the processor time of each path that exceeds a limit."""
    measured = {}
    for path in paths:
        assert client.get(path).status_code == 200, path
        with counted() as queries:
            client.get(path)
        measured[path] = (len(queries), least_cpu_s(partial(client.get, path)))
    max_cpu_s = MAX_CPU_S * slowness()
    return {path: values for path, values in measured.items() if values[0] > max_queries or values[1] > max_cpu_s}


def test_requests_need_few_queries_and_little_time(home: Member, large: Assessment) -> None:
    path = f"/v1/assessments/{large.id}"
    requests = (
        *("/v1/assessments", path, f"{path}/pages?limit=100&offset=900", f"{path}/criteria"),
        *(f"{path}/results?page=700&limit=100", f"{path}/results?criterion=2.4.3&limit=100&offset=900"),
        *(f"{path}/results?limit=100&offset=54900", f"{path}/results?outcome=untested&limit=100&offset=20000"),
        *(f"{path}/findings?limit=100&offset=9900", f"{path}/findings?page=700", f"{path}/log?limit=100"),
    )
    assert too_slow(home.api, requests, MAX_QUERIES) == {}


def test_pages_need_few_queries_and_little_time(home: Member, large: Assessment) -> None:
    client = browser_of(home)
    AssessmentResult.objects.filter(criterion__in=("1.1.1", "2.4.3")).update(result="failed", note="It jumps. " * 200)
    start = f"/o/{home.organization.slug}/assessments/"
    path = f"{start}{large.id}"
    pages = (
        *(start, path, f"{path}?show=review", f"{path}/texts", f"{path}/log", f"{path}/pages", f"{path}/delete"),
        *(f"{path}/criteria/2.4.3", f"{path}/criteria/2.4.3?show=failed&part=50", f"{path}/criteria/2.4.3/remaining"),
        *(f"{path}/pages/700", f"{path}/pages/700/results/2.4.3", f"{path}/pages/700/remove"),
        *(f"/assessment/{large.id}", f"/assessment/{large.id}/statement"),
    )
    assert too_slow(client, pages, MAX_QUERIES_OF_PAGE) == {}


def test_numbers_of_large_assessments_are_read_from_counters(home: Member, large: Assessment) -> None:
    with counted() as queries:
        browser_of(home).get(f"/o/{home.organization.slug}/assessments/")
        (listed,) = home.api.get("/v1/assessments").json()["assessments"]
        criteria = home.api.get(f"/v1/assessments/{large.id}/criteria").json()["criteria"]
    assert [query for query in queries if "sites_assessmentresult" in query] == []
    assert listed["progress"] == {
        "criteria": CRITERIA,
        "criteria_tested": 0,
        "criteria_decided": 0,
        "results": PAGES * CRITERIA,
        "results_tested": PAGES * CRITERIA // 2,
    }
    assert {(row["pages"]["passed"], row["pages"]["untested"]) for row in criteria} == {(PAGES // 2, PAGES // 2)}


@pytest.mark.parametrize("name", DOCUMENT_FORMATS)
def test_documents_need_little_memory(large: Assessment, name: str) -> None:
    AssessmentFinding.objects.exclude(check_id="check-0").delete()
    AssessmentResult.objects.exclude(criterion__in=("1.1.1", "2.4.3")).delete()
    AssessmentResult.objects.update(result="failed", note="a" * 10_000, remedy="b" * 10_000)
    largest = size = 0
    tracemalloc.start()
    try:
        for chunk in DOCUMENT_FORMATS[name].write(large):
            largest, size = max(largest, len(chunk)), size + len(chunk)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > (40_000_000 if name in ("json", "earl", "csv") else 2_000)
    assert largest < 4_000_000
    assert peak < 12_000_000


def test_summaries_say_how_many_pages_with_notes_they_leave_out(large: Assessment) -> None:
    AssessmentResult.objects.filter(criterion="2.4.3").update(result="failed", note=Concat(Value("Page "), "page_id"))
    for name in ("openacr", "statement"):
        text = "".join(DOCUMENT_FORMATS[name].write(large))
        if name == "openacr":
            # Strings in quotation marks have a backslash where a line is wrapped, depending on the IDs in them.
            text = json.dumps(yaml.safe_load(text))
        text = " ".join(text.split())
        more = PAGES - (5 if name == "openacr" else 3)
        assert f"There are notes or automatic findings about {more} more pages in the assessment." in text
        assert "and 995 more" in text or name == "openacr"


def test_report_in_pieces_is_the_report(large: Assessment) -> None:
    AssessmentPage.objects.filter(number__gt=250).delete()
    document = json.loads("".join(DOCUMENT_FORMATS["json"].write(large)))
    assert document == json.loads(json.dumps(whole_report(large)))
    assert len(document["criteria"][0]["results"]) == 250
    assert len(document["criteria"][0]["findings"]) == 2_500
