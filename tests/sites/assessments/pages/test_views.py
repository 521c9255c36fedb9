"""Tests for the list of assessments, their forms, their overview and their log."""

from __future__ import annotations

import pytest
from django.test import Client

from sites.models import Assessment
from tests.factories import Member
from tests.page_reading import browser_of
from tests.sites.assessments.cast import assess, museum_audit

LIST = "/o/home/assessments/"


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def assessment(home: Member) -> Assessment:
    return assess(home, museum_audit(home))


def test_pages_render(client: Client, assessment: Assessment) -> None:
    for path in ("", "/texts", "/log", "/pages", "/pages/2", "/criteria/1.1.1", "/pages/2/results/1.1.1", "/delete"):
        response = client.get(f"{LIST}{assessment.id}{path}")
        assert response.status_code == 200, path
    assert client.get(LIST).status_code == 200
    assert client.get(f"{LIST}new").status_code == 200
    assert client.get(f"/assessment/{assessment.id}").status_code == 200
