"""Tests that forms and the API create equal requests.

The same rules apply to both.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from msgspec.structs import replace

from accounts.models import Tier
from scans.policy import scan_policy
from scans.requests import InvalidType
from sites.audits.requests import AuditRequest, AuditRequestSerializer, InvalidPages, targets_of
from sites.lists import requests as of_lists
from sites.lists.entry_filters import EntryFilter
from sites.lists.pages.forms import ListForm
from sites.monitors import requests as of_monitors
from sites.monitors.pages.forms import MonitorForm
from sites.pages.forms import ScanForm
from tests.factories import Member
from website_scan.errors import Refusal
from website_scan.net.credentials import Credentials, InvalidRequestField
from website_scan.net.errors import Blocked

pytestmark = pytest.mark.django_db

SITE, PAGE, OTHER_PAGE = "https://example.com/", "https://example.com/a", "https://example.org/"
KEY = Credentials(headers=(("X-Key", "1"),))


def form_data(**values: Any) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


def make_audit_request(kind: str, urls: list[str], **options: Any) -> AuditRequest:
    return AuditRequest.of(kind, targets_of(kind, urls, scan_policy(), 100), 100, **options)


def test_form_and_json_create_the_same_audit() -> None:
    entered = {"url": SITE, "scope": "site", "type": ["seo", "security"], "max_pages": "7", "discover": ["links"]}
    form = ScanForm(form_data(**entered, include="/docs/*\n/docs/*\n/blog/*", headers="X-Key: 1"), pages_per_audit=100)
    assert form.is_valid()
    body = {"site": SITE, "types": ["seo", "security"], "max_pages": 7, "discover": ["links"]}
    body |= {"include": ["/docs/*", "/blog/*"], "request": {"headers": {"X-Key": "1"}}}
    parsed = AuditRequestSerializer.judged(body, policy=scan_policy(), pages_per_audit=100)
    assert form.audit_request([SITE]) == parsed
    assert (parsed.types, parsed.credentials) == (("security", "seo"), KEY)


def test_form_and_json_create_the_same_monitor(home: Member) -> None:
    tier, organization_id = Tier.objects.get(organization=home.organization), home.organization.id
    entered = {"scope": "pages", "pages": f"{SITE} {PAGE}", "type": "seo", "name": " Shop  front "}
    entered |= {"every": "month", "at": "06:00", "monthday": "31", "timezone": "Europe/Berlin", "score_drop": "5"}
    form = MonitorForm(form_data(**entered), tier=tier, people={}, webhooks=())
    assert form.is_valid()
    alert = dict.fromkeys(("unreachable", "recovered", "fixed"), False) | {"score_drop": 5, "score_below": {}}
    body = {"pages": [SITE, PAGE], "types": ["seo"], "name": "Shop front", "every": "month", "at": "06:00", "day": 31}
    body |= {"timezone": "Europe/Berlin", "notify": {"emails": [], "webhooks": False}}
    body["alert"] = alert | {"new_findings": None, "certificate_days": None}
    parsed_form = form.monitor_request("", organization_id)
    assert parsed_form == of_monitors.parse_new(body, scan_policy(), organization_id)


def test_form_and_json_create_the_same_list(home: Member) -> None:
    tier, organization_id = Tier.objects.get(organization=home.organization), home.organization.id
    entered = {"name": "Towns", "type": ["seo"], "pages_per_entry": "1", "every": "", "window_hours": "0"}
    form = ListForm(form_data(**entered, timezone="UTC", webhooks="all"), tier=tier, people={}, webhooks=())
    assert form.is_valid()
    body = {"name": "Towns", "types": ["seo"], "pages_per_entry": 1, "every": None, "window_hours": 0}
    body |= {"timezone": "UTC", "notify": {"emails": [], "webhooks": True}}
    parsed_form = form.list_request(organization_id)
    parsed_body = of_lists.parse_new(body, scan_policy(), organization_id)
    # A form replaces the widths, the colour scheme and the own requirements, also by the usual ones and by none.
    assert parsed_form == replace(parsed_body, columns={"viewing": None, "requirements": None, **parsed_body.columns})


@pytest.mark.parametrize(
    ("kind", "urls", "options", "kind_of_refusal", "field"),
    [
        ("page", ["http://10.0.0.1/"], {}, Blocked, "page"),
        ("pages", [], {}, Refusal, "pages"),
        ("pages", [SITE, "ftp://example.com/"], {}, InvalidPages, "pages"),
        ("pages", [SITE, OTHER_PAGE], {"credentials": KEY}, InvalidRequestField, "request"),
        ("pages", [f"{SITE}{number}" for number in range(101)], {}, Refusal, "pages"),
        ("page", [SITE], {"types": ["looks"]}, InvalidType, "types"),
        ("page", [SITE], {"types": []}, InvalidType, "types"),
        ("site", [SITE], {"max_pages": 101}, Refusal, "max_pages"),
        ("site", [SITE], {"discover": []}, Refusal, "discover"),
        ("site", [SITE], {"include": ["docs"]}, Refusal, "include"),
        ("site", [SITE], {"exclude": ["/*"] * 51}, Refusal, "exclude"),
    ],
)
def test_plain_request_follows_the_same_rules(
    kind: str, urls: list[str], options: dict[str, Any], kind_of_refusal: type[Refusal], field: str
) -> None:
    with pytest.raises(kind_of_refusal) as refused:
        make_audit_request(kind, urls, **options)
    assert refused.value.field == field


def test_lenient_filter_ignores_invalid_values() -> None:
    query = {"type": "seo", "grade": "G", "least": "0", "most": "101", "tag": "", "text": " bread "}
    assert EntryFilter.of(query, is_lenient=True) == EntryFilter(type="seo", least=0, text="bread")
    with pytest.raises(Refusal, match="most must be a whole number from 0 to 100"):
        EntryFilter.of(query)
