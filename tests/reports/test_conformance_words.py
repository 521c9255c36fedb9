"""Tests that no automatic result is called a success: a machine proves failures only."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from reports.conformance_files import FILES
from scans.models import Scan
from sites.lists.conformance_api import FORMATS as FORMATS_OF_LISTS
from sites.models import Audit, SiteList
from tests.factories import Member
from tests.page_reading import browser_of, page_of
from tests.reports.test_conformance_api import accessibility_scan
from tests.sites.audits.test_conformance import audit_of, check
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import snapshot
from tests.sites.lists.test_conformance import CHECKS, LETTERS, site_of
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.report.conformance import RESULT_LABELS, Result
from website_scan.report.earl import INFORMATION, OUTCOMES

# Words that say that a page or site meets a criterion or a standard.
SUCCESS = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|conform(?:s|ed|ing|ant)?|compl(?:y|ies|iant|iance)|met|meets|satisf\w+|fulfil\w*"
    # Criterion 3.3.8 is called Accessible Authentication.
    r"|accessible(?![ -]authentication))\b",
    re.IGNORECASE,
)


@pytest.fixture
def scan(home: Member) -> Scan:
    return accessibility_scan(home)


@pytest.fixture
def audit(home: Member) -> Audit:
    """Audit without a failure."""
    return audit_of(home, (check("image-alt", "pass"), check("html-has-lang", "warn")), kind="site")


@pytest.fixture
def site_list(home: Member) -> SiteList:
    """List with sites of each result."""
    site_list = make_list(home, types=["security", "accessibility"])
    snapshot(site_list, [site_of(number, letters) for number, letters in enumerate(LETTERS)], checks=CHECKS)
    return site_list


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


def words_of_page(response: Any) -> str:
    """Return the text of the page's main part, without what people do and WCAG asks in the procedures of criteria."""
    (part,) = page_of(response).xpath("//article | //section[contains(@class, 'conformance')]")
    for procedure in part.xpath(".//details[contains(@class, 'procedure')]//*[self::ol or self::div/p[1]]"):
        procedure.getparent().remove(procedure)
    return str(part.text_content())


@pytest.mark.parametrize(
    "text", ["It passes.", "The site conforms to WCAG.", "Compliant with EN 301 549", "1.1.1 passed"]
)
def test_words_of_success_are_recognized(text: str) -> None:
    assert SUCCESS.search(text)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("standard", list(Standard))
def test_pages_never_say_that_a_criterion_is_met(
    client: Client, scan: Scan, audit: Audit, site_list: SiteList, standard: Standard, level: str
) -> None:
    list_path = f"/o/home/lists/{site_list.id}/conformance"
    for path in (f"/report/{scan.id}/conformance", f"/audit/{audit.id}/conformance", list_path):
        response = client.get(f"{path}?standard={standard}&level={level}")
        assert response.status_code == 200
        text = words_of_page(response)
        assert SUCCESS.findall(text) == []
        assert "Automatic checks prove failures only." in text
        # A tick would say the same without words.
        assert "#icon-pass" not in response.content.decode()


@pytest.mark.parametrize("file_format", sorted(FILES))
def test_files_never_say_that_a_criterion_is_met(client: Client, scan: Scan, audit: Audit, file_format: str) -> None:
    for path in (f"/report/{scan.id}/conformance", f"/audit/{audit.id}/conformance"):
        content = client.get(f"{path}?level=AAA&format={file_format}").content.decode()
        # In JSON, `passed` has the IDs of checks, as in reports.
        assert SUCCESS.findall(content.replace('"passed":[', "")) == []


@pytest.mark.parametrize("file_format", sorted(FORMATS_OF_LISTS))
def test_files_of_a_list_never_say_that_a_criterion_is_met(
    client: Client, site_list: SiteList, file_format: str
) -> None:
    path = f"/o/home/lists/{site_list.id}/conformance?level=AAA&format={file_format}"
    content = client.get(path).content.decode()
    # In JSON, `passed` is the number of sites on which a check found no failure.
    assert SUCCESS.findall(content.replace('"passed":', "")) == []


def test_earl_has_no_outcome_of_success(client: Client, scan: Scan, audit: Audit) -> None:
    assert set(OUTCOMES) == set(Result)
    assert "earl:passed" not in OUTCOMES.values()
    for path in (f"/report/{scan.id}/conformance", f"/audit/{audit.id}/conformance"):
        graph = json.loads(client.get(f"{path}?format=earl").content)["@graph"]
        outcomes = {node["earl:result"]["earl:outcome"] for node in graph if node["@type"] == "earl:Assertion"}
        assert outcomes <= {"earl:failed", "earl:cantTell", "earl:untested"}


@pytest.mark.parametrize("text", [*RESULT_LABELS.values(), *INFORMATION.values()])
def test_names_of_results_say_nothing_of_success(text: str) -> None:
    assert not SUCCESS.search(text)
