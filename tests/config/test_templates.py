"""Tests for the Jinja2 environment of pages and e-mails."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template, render_to_string
from django.test import RequestFactory
from jinja2 import UndefinedError, nodes

from accounts.keys.services import create_api_key
from accounts.models import Organization
from documentation.landing import server_error
from tests.factories import Member, browser_of, make_scan, member_of, person_of
from tests.jinja_templates import TEMPLATES
from website_scan.report import templating

HOSTILE = """<script>alert(1)</script>"'&"""
ADMIN_TEMPLATES = settings.BASE_DIR / "templates" / "django"
NAMES = [
    str(path.relative_to(folder))
    for folder in (settings.BASE_DIR / "templates", templating.TEMPLATES)
    for path in sorted(Path(folder).rglob("*.*"))
    if ADMIN_TEMPLATES not in path.parents
]


@pytest.fixture
def hostile(db: None) -> Member:
    """Organization whose name, member, key and scan contain HTML."""
    made = member_of("Home")
    Organization.objects.update(name=HOSTILE)
    create_api_key(organization=made.organization, name=HOSTILE)
    make_scan(made, url=f"https://a.example/?q={HOSTILE}")
    return made


@pytest.mark.parametrize(
    "page", ["", "scans/", "sites/", "monitors/", "mutes/", "webhooks/", "members/", "keys/", "settings/"]
)
def test_hostile_names_are_escaped_on_pages(hostile: Member, page: str) -> None:
    hostile.organization.refresh_from_db()
    client = browser_of(person_of(hostile, "owner", '"ada\'&"@people.test'))
    text = client.get(f"/o/{hostile.organization.slug}/{page}").content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert HOSTILE not in text


def test_hostile_names_are_escaped_only_in_html(db: None) -> None:
    values = {
        "subject": "Ready",
        "organization": Organization(name=HOSTILE),
        "topic_words": "",
        "unsubscribe_url": "",
        "days": 7,
        "page_url": "https://service.example/?a=1&b=2",
    }
    html = render_to_string("emails/export_ready.html", values)
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    text = render_to_string("emails/export_ready.txt", values)
    assert HOSTILE in text
    assert "https://service.example/?a=1&b=2" in text


def test_json_data_attribute_is_escaped() -> None:
    written = TEMPLATES.from_string('<p data-x="{{ data|as_json }}">').render(data={"a": HOSTILE})
    assert "<script>" not in written
    assert written.count('"') == 2


def test_undefined_template_name_is_an_error() -> None:
    for template in ("{{ mebmership }}", "{% if mebmership %}{% endif %}", "{{ user.emial }}"):
        with pytest.raises(UndefinedError):
            TEMPLATES.from_string(template).render(user=object())


@pytest.mark.parametrize("name", NAMES)
def test_included_templates_exist(name: str) -> None:
    get_template(name, using="jinja2")
    assert TEMPLATES.loader is not None
    parsed = TEMPLATES.parse(TEMPLATES.loader.get_source(TEMPLATES, name)[0])
    used = {node.name for node in parsed.find_all(nodes.Name)}
    for node in parsed.find_all((nodes.Include, nodes.Extends, nodes.FromImport)):
        assert isinstance(node, nodes.Include | nodes.Extends | nodes.FromImport)
        if isinstance(node.template, nodes.Const):
            included = TEMPLATES.get_template(node.template.value)
            for macro in node.names if isinstance(node, nodes.FromImport) else ():
                assert macro in used
                assert hasattr(included.module, str(macro))


def test_server_error_page_needs_no_user(rf: RequestFactory) -> None:
    """The page must not load the user or the session.

    Loading them may have caused the error.
    """
    response = server_error(rf.get("/docs/"))
    assert response.status_code == 500
    assert b"Something went wrong on our side." in response.content
    assert b"Log in" not in response.content


def test_admin_uses_django_templates() -> None:
    assert get_template("error.html").backend.name == "jinja2"  # type: ignore[attr-defined]
    assert get_template("admin/base_site.html").backend.name == "django"  # type: ignore[attr-defined]
