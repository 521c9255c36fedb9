"""Tests that pages need few database queries.

Their lists have dozens of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import copy

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from tests.factories import Member, browser_of
from tests.page_reading import page_of
from tests.populated import Populated, populate
from tests.queries import counted
from tests.router import ADMIN, address, routes
from tests.test_who_sees_what import TABLE

ROWS = 55
MAX_QUERIES = 12
# The overview has six queries about what needs attention. A monitor's page has one about its chosen webhooks, and an
# audit's page one about the organization's logo. The report and the statement of an assessment have one about disputed
# findings. None of them depends on the number of rows.
MAX_QUERIES_BY_ROUTE = {
    "o/<slug:organization>/": 16,
    "o/<slug:organization>/monitors/<any:monitor_id>": 13,
    "audit/<any:audit_id>": 13,
    "assessment/<str:assessment_id>": 13,
    "assessment/<str:assessment_id>/statement": 13,
}
# A search that could begin within words would take quadratic time for long ones.
SPACE_BEFORE_FULL_STOP = re.compile(r"(?<!\S)\S+\s+[.,;](?=\s|$)")


def queries(client: Client, path: str) -> list[str]:
    """Return the page's queries.

    A first request, which must return 200, fills the caches.
    """
    assert client.get(path).status_code == 200, path
    with counted() as executed:
        client.get(path)
    return executed


@pytest.fixture(scope="module")
def populated_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Populated]:
    """Populated organization for all tests.

    Each test rolls its changes back.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield populate(ROWS)
        transaction.set_rollback(True)


@pytest.fixture
def populated(populated_once: Populated, db: None) -> Populated:
    return populated_once


def test_pages_need_few_queries(populated: Populated) -> None:
    owner = browser_of(populated.people["owner"])
    page_routes = [route for route, (gets, _, _) in TABLE.items() if gets.startswith("200")]
    paths = [address(route, populated.ids) for route in page_routes]
    paths += [f"/report/{populated.ids[f'{state}_id']}" for state in ("queued", "running", "failed", "partial")]
    paths += ["/o/home/scans/?q=example&type=seo", f"/o/home/webhooks/{populated.ids['disabled_id']}"]
    limits = {address(route, populated.ids): limit for route, limit in MAX_QUERIES_BY_ROUTE.items()}
    counts = {path: len(queries(owner, path)) for path in paths}
    assert {path: count for path, count in counts.items() if count > limits.get(path, MAX_QUERIES)} == {}


def test_admin_lists_need_few_queries(populated: Populated) -> None:
    operator = copy(populated.people["owner"])
    operator.is_staff = operator.is_superuser = True
    operator.save()
    client = browser_of(operator)
    ids = {"object_id": 1, "id": 1, "content_type_id": 1}
    paths = {address(route, ids) for route in routes() if route.startswith(ADMIN) and route.count("/") == 3}
    paths |= {"/admin/", "/admin/operations/"}
    assert {path: len(executed) for path in sorted(paths) if len(executed := queries(client, path)) > MAX_QUERIES} == {}


def test_no_space_precedes_a_full_stop(populated: Populated) -> None:
    owner, faults_by_path = browser_of(populated.people["owner"]), {}
    page_routes = [
        route for route, (gets, _, _) in TABLE.items() if gets.startswith("200") and not route.startswith("docs")
    ]
    paths = [address(route, populated.ids) for route in page_routes]
    paths += [f"/report/{populated.ids[f'{state}_id']}" for state in ("queued", "running", "failed", "partial")]
    paths += [f"/o/home/webhooks/{populated.ids['disabled_id']}"]
    for path in paths:
        response = owner.get(path)
        if response["Content-Type"].startswith("text/html"):
            tree = page_of(response)
            for code in tree.xpath("//code | //pre | //script"):
                code[:], code.text = (), "code"
            if faults := SPACE_BEFORE_FULL_STOP.findall(tree.text_content()):
                faults_by_path[path] = faults
    assert faults_by_path == {}


def test_prepared_statements_are_counted(home: Member) -> None:
    with counted() as queries:
        home.api.get("/v1/scans")
    assert len(queries) >= 2
