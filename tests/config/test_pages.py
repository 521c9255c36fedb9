"""The landing page, the documentation, error pages, and what holds for every page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.http import HttpResponse
from django.test import Client
from lxml import html

from accounts.models import Membership, User
from config import views
from config.csp import policy
from tests.world import Member, finished_scan, make_scan


def browser(member: Member) -> Client:
    """Somebody of the organization who is staff, logged in."""
    user = User.objects.create_superuser("staff@people.test")
    Membership.objects.create(organization=member.organization, user=user)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def assert_nothing_is_inline(response: HttpResponse) -> None:
    page = html.fromstring(response.content.decode())
    assert page.xpath("//style") == []
    assert page.xpath("//@style") == []
    assert [script for script in page.xpath("//script") if not script.get("src")] == []
    assert [name for element in page.iter() for name in element.attrib if name.startswith("on")] == []
    assert [url for url in page.xpath("//@src | //link/@href") if re.match(r"[a-z]+:|//", url)] == []


def assert_is_strict(response: HttpResponse) -> None:
    header = response["Content-Security-Policy"]
    assert "unsafe" not in header
    assert "*" not in header
    for directive in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"):
        assert directive in header


def test_the_landing_page_says_how_to_begin(db: None, settings) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    text = Client().get("/").content.decode()
    assert "curl https://scan.acme.test/v1/scan" in text
    for kind in ("security", "performance", "accessibility", "seo"):
        assert f"&quot;type&quot;: &quot;{kind}&quot;" in text or f'"type": "{kind}"' in text
    assert {"/docs/", "/login/"} <= set(html.fromstring(text).xpath("//a/@href"))


def test_a_stranger_costs_no_query(django_assert_num_queries, db: None) -> None:
    with django_assert_num_queries(0):
        assert Client().get("/").status_code == 200


def test_who_is_logged_in_sees_a_way_out_and_staff_the_admin(home: Member) -> None:
    page = html.fromstring(browser(home).get("/").content.decode())
    assert page.xpath("//form[@method='post']/@action") == ["/logout/"]
    assert "/admin/" in page.xpath("//a/@href")
    assert "/login/" not in page.xpath("//a/@href")


def test_every_page_keeps_to_the_strict_policy(home: Member) -> None:
    client = browser(home)
    failed = make_scan(home, status="failed", error_code="X", error_message="Why.")
    pages = [
        *("/", "/nope", "/docs/", f"/report/{finished_scan(home, 'partial').id}", f"/report/{failed.id}"),
        *(f"/report/{make_scan(home).id}", "/report/nope", "/admin/", "/admin/scans/scan/"),
    ]
    responses = [client.get(path) for path in pages] + [Client().get("/login/")]
    for response in responses:
        assert response.status_code in (200, 404)
        assert_is_strict(response)
        assert_nothing_is_inline(response)


def test_the_policy_stands_on_the_api_too(db: None) -> None:
    response = Client().get("/v1/scans")
    assert response.status_code == 401
    assert response["Content-Security-Policy"] == policy(django_settings.SECURE_CSP)


def test_the_documentation_brings_its_script_as_a_file(db: None) -> None:
    response = Client().get("/docs/")
    scripts = html.fromstring(response.content.decode()).xpath("//script/@src")
    assert scripts[-1] == "/docs/?script="
    assert "img-src 'self' data:;" in response["Content-Security-Policy"]
    script = Client().get(scripts[-1])
    assert script["Content-Type"].startswith("application/javascript")
    assert "SwaggerUIBundle(" in script.content.decode()


@pytest.mark.parametrize("query", ["lang=</script><script>alert(1)</script>", 'version="-alert(1)-"'])
def test_the_documentation_echoes_nothing_unescaped(db: None, query: str) -> None:
    for path in (f"/docs/?{query}", f"/docs/?{query}&script="):
        text = Client().get(path).content.decode()
        assert "<script>alert" not in text
        assert '"-alert' not in text


def test_an_unknown_page_is_a_clear_404(db: None) -> None:
    response = Client().get("/nope")
    assert response.status_code == 404
    assert "There is nothing at this address." in response.content.decode()


@pytest.fixture
def broken_landing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(views, "render", fail)


def test_a_crash_shows_the_request_id_and_no_detail(broken_landing: None) -> None:
    response = Client(raise_request_exception=False).get("/", headers={"X-Request-ID": "my-request-1"})
    assert response.status_code == 500
    text = response.content.decode()
    assert "Something went wrong on our side." in text
    assert "my-request-1" in text
    assert "secret detail" not in text
    assert_is_strict(response)
    assert_nothing_is_inline(response)


def test_a_crash_without_static_files_is_answered_all_the_same(broken_landing: None, settings) -> None:
    manifest = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": manifest}}
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert "Something went wrong on our side." in response.content.decode()


def test_the_description_of_the_api_is_the_committed_one(client: Client, settings: Any) -> None:
    response = client.get("/openapi.yaml")
    assert response.content == (settings.BASE_DIR / "openapi.yaml").read_bytes()


@pytest.mark.parametrize("name", ["docs", "login", "admin"])
def test_a_forgotten_slash_is_added(client: Client, name: str) -> None:
    assert client.get(f"/{name}")["Location"] == f"/{name}/"
