"""Number of database queries of each page with dozens of rows of everything."""

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
from tests.populated import Furnished, furnish
from tests.queries import counted
from tests.router import ADMIN, address, routes
from tests.test_who_sees_what import TABLE

ROWS = 55
MOST = 12
SPACE_BEFORE_END = re.compile(r"\S+\s+[.,;](?=\s|$)")


def queries(client: Client, path: str) -> list[str]:
    """Return the queries of a page that responds with 200, after a first request that fills the process' caches."""
    assert client.get(path).status_code == 200, path
    with counted() as asked:
        client.get(path)
    return asked


@pytest.fixture(scope="module")
def furnished_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Furnished]:
    """Furnished organization for all tests; each test's own writes are rolled back with the test."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield furnish(ROWS)
        transaction.set_rollback(True)


@pytest.fixture
def furnished(furnished_once: Furnished, db: None) -> Furnished:
    return furnished_once


def test_every_page_asks_the_database_little(furnished: Furnished) -> None:
    owner = browser_of(furnished.people["owner"])
    shown = [route for route, (gets, _, _) in TABLE.items() if gets.startswith("200")]
    paths = [address(route, furnished.ids) for route in shown]
    paths += [f"/report/{furnished.ids[f'{state}_id']}" for state in ("queued", "running", "failed", "partial")]
    paths += ["/o/home/scans/?q=example&type=seo", f"/o/home/webhooks/{furnished.ids['disabled_id']}"]
    assert {path: len(asked) for path in paths if len(asked := queries(owner, path)) > MOST} == {}


def test_every_list_of_the_admin_asks_the_database_little(furnished: Furnished) -> None:
    operator = copy(furnished.people["owner"])
    operator.is_staff = operator.is_superuser = True
    operator.save()
    client = browser_of(operator)
    ids = {"object_id": 1, "id": 1, "content_type_id": 1}
    paths = {address(each, ids) for each in routes() if each.startswith(ADMIN) and each.count("/") == 3}
    paths |= {"/admin/", "/admin/operations/"}
    assert {path: len(asked) for path in sorted(paths) if len(asked := queries(client, path)) > MOST} == {}


def test_no_sentence_has_a_space_before_its_end(furnished: Furnished) -> None:
    owner, found = browser_of(furnished.people["owner"]), {}
    shown = [route for route, (gets, _, _) in TABLE.items() if gets.startswith("200") and not route.startswith("docs")]
    paths = [address(route, furnished.ids) for route in shown]
    paths += [f"/report/{furnished.ids[f'{state}_id']}" for state in ("queued", "running", "failed", "partial")]
    paths += [f"/o/home/webhooks/{furnished.ids['disabled_id']}"]
    for path in paths:
        response = owner.get(path)
        if response["Content-Type"].startswith("text/html"):
            tree = page_of(response)
            for code in tree.xpath("//code | //pre | //script"):
                code[:], code.text = (), "code"
            if faults := SPACE_BEFORE_END.findall(tree.text_content()):
                found[path] = faults
    assert found == {}


def test_the_count_counts_prepared_queries_too(home: Member) -> None:
    with counted() as asked:
        home.api.get("/v1/scans")
    assert len(asked) >= 2
