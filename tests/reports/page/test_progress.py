"""Tests for the pages of running, failed, cancelled and expired scans."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from reports.models import Report
from reports.page.steps import LABELS
from tests.factories import Member, finished_scan, make_scan
from tests.reports.people import page_of, person, text_of
from website_scan.result import Phase

HTMX = {"HX-Request": "true"}


def test_page_of_a_running_scan_polls(home: Member) -> None:
    scan = make_scan(home, status="scanning", percent=42, phase="checking", checks_done=9, checks_total=31)
    client = person(home.organization)
    page = page_of(client.get(f"/report/{scan.id}"))
    (polling_element,) = page.xpath("//*[@hx-get]")
    assert polling_element.get("hx-get") == f"/report/{scan.id}/progress?status=scanning"
    # Only browsers without scripts reload the page by a meta element.
    assert page.xpath("//meta[@http-equiv]/parent::noscript")
    assert page.xpath("//script[contains(@src, 'htmx')]")
    fragment = client.get(polling_element.get("hx-get"), headers=HTMX)
    assert fragment.content.strip().startswith(b"<title>42 %")
    (next_element,) = page_of(fragment).xpath("//*[@hx-get]")
    assert (next_element.get("id"), next_element.get("hx-get")) == (
        polling_element.get("id"),
        polling_element.get("hx-get"),
    )
    assert "Running the checks 9 of 31" in text_of(fragment)


def test_progress_steps_match_engine_phases(home: Member) -> None:
    client = person(home.organization)
    assert list(LABELS) == list(get_args(Phase))
    for number, phase in enumerate(list(LABELS)[:-1]):
        status = "queued" if phase == "queued" else "scanning"
        scan = make_scan(home, status=status, phase=phase)
        steps = page_of(client.get(f"/report/{scan.id}")).xpath("//ol[contains(@class, 'steps')]/li")
        assert [step.get("class") for step in steps] == ["is-done"] * number + ["is-current"] + ["is-ahead"] * (
            4 - number
        )
        (current,) = (step for step in steps if step.get("aria-current") == "step")
        assert current.findtext("strong") == LABELS[phase]


@pytest.mark.parametrize("status", ["scanning", "completed", "failed"])
def test_progress_page_reloads_on_status_changes(home: Member, status: str) -> None:
    scan = finished_scan(home) if status == "completed" else make_scan(home, status=status)
    response = person(home.organization).get(f"/report/{scan.id}/progress?status=queued", headers=HTMX)
    assert response["HX-Refresh"] == "true"


def test_progress_without_access_reloads_the_page(home: Member, stranger: Member) -> None:
    scan = make_scan(home)
    for client in (Client(), person(stranger.organization)):
        response = client.get(f"/report/{scan.id}/progress", headers=HTMX)
        assert response["HX-Refresh"] == "true"
        assert response.content == b""


@pytest.mark.parametrize(
    ("role", "status", "expected"), [("member", "queued", 1), ("viewer", "queued", 0), ("member", "scanning", 0)]
)
def test_queued_scan_can_be_cancelled_by_members(home: Member, role: str, status: str, expected: int) -> None:
    scan = make_scan(home, status=status)
    page = page_of(person(home.organization, role).get(f"/report/{scan.id}"))
    assert len(page.xpath(f"//form[@action='/o/home/scans/{scan.id}/cancel']")) == expected


@pytest.mark.parametrize("role", ["member", "viewer"])
def test_failed_scan_can_be_repeated_by_members(home: Member, role: str) -> None:
    scan = make_scan(home, status="failed", error_code="TLS_FAILED", error_message="The certificate expired.")
    response = person(home.organization, role).get(f"/report/{scan.id}")
    text = text_of(response)
    assert "The scan failed" in text
    assert "The certificate expired." in text
    assert "TLS_FAILED" in text
    assert "Check the certificate, its whole chain" in text
    forms = page_of(response).xpath(f"//form[@action='/o/home/scans/{scan.id}/again']")
    assert len(forms) == (role == "member")
    assert page_of(response).xpath("//meta[@http-equiv]") == []


def test_cancelled_scan_is_not_called_failed(home: Member) -> None:
    scan = make_scan(home, status="failed", error_code="SCAN_CANCELLED", error_message="Cancelled by somebody.")
    text = text_of(person(home.organization).get(f"/report/{scan.id}"))
    assert "The scan was cancelled" in text
    assert "failed" not in text


def test_expired_report_is_explained_to_members(home: Member, stranger: Member) -> None:
    scan = finished_scan(home, age=timedelta(days=31))
    response = person(home.organization).get(f"/report/{scan.id}")
    assert response.status_code == 404
    text = text_of(response)
    assert "This report is no longer available" in text
    assert "Its score was 71, grade C." in text
    assert scan.url in text
    other = person(stranger.organization).get(f"/report/{scan.id}")
    assert other.status_code == 404
    assert scan.url not in text_of(other)


def test_deleted_report_is_shown_as_expired(home: Member) -> None:
    scan = finished_scan(home)
    Report.objects.all().delete()
    response = person(home.organization).get(f"/report/{scan.id}")
    assert response.status_code == 404
    assert "is no longer available" in text_of(response)


@pytest.mark.parametrize("status", ["queued", "failed", "completed"])
def test_pages_without_a_report_need_few_queries(
    home: Member, status: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    scan = make_scan(home, status="queued", created_at=timezone.now() - timedelta(days=status == "completed" and 31))
    client = person(home.organization)
    with django_assert_max_num_queries(8):
        client.get(f"/report/{scan.id}")
