"""Tests for the landing page and other public pages."""

from __future__ import annotations

import re
import struct
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import pytest
import yaml
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.test import Client
from lxml import etree
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Membership, User
from documentation import landing as views
from infrastructure.api.references import resolve_references
from infrastructure.environment import contact
from infrastructure.web.cards.drawing import BRAND, draw
from infrastructure.web.csp import policy
from reports.page.sample import find_sample
from tests.factories import Member, finished_scan, make_scan
from tests.generated import description
from tests.page_reading import page_of, parsed, strings
from tests.responses import ClientResponse
from website_scan import __version__
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.page.image_headers import read_image_header


def browser(member: Member) -> Client:
    """Return a client logged in as a staff member of the organization."""
    user = User.objects.create_superuser("staff@people.test")
    Membership.objects.create(organization=member.organization, user=user)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def assert_nothing_is_inline(response: ClientResponse) -> None:
    page = page_of(response)
    assert page.xpath("//style") == []
    assert page.xpath("//@style") == []
    assert [script for script in page.xpath("//script") if not script.get("src")] == []
    assert [name for element in page.iter() for name in element.attrib if name.startswith("on")] == []
    loaded = page.xpath("//@src | //link[not(@rel='canonical')]/@href")
    assert [url for url in loaded if re.match(r"[a-z]+:|//", url)] == []


def assert_strict_csp(response: ClientResponse) -> None:
    header = response["Content-Security-Policy"]
    assert "unsafe" not in header
    assert "*" not in header
    for directive in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"):
        assert directive in header


@pytest.mark.parametrize(
    "path",
    ["/", "/docs/", "/docs/checks/", "/docs/errors", "/about-our-scans", "/report/sample/seo"],
)
def test_page_for_logged_in_person_is_not_cached(home: Member, path: str) -> None:
    response_of_person, anonymous_response = browser(home).get(path), Client(raise_request_exception=False).get(path)
    assert "staff@people.test" in response_of_person.content.decode()
    assert "no-store" in response_of_person["Cache-Control"]
    assert "no-store" not in anonymous_response.get("Cache-Control", "")


def test_landing_page_has_curl_examples(db: None, settings: Settings) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    text = Client().get("/").content.decode()
    assert "curl https://scan.acme.test/v1/scan" in text
    for kind in ("security", "performance", "accessibility", "seo"):
        assert f"&quot;type&quot;: &quot;{kind}&quot;" in text or f'"type": "{kind}"' in text
    assert {"/docs/", "/login/"} <= set(parsed(text).xpath("//a/@href"))


def test_landing_page_has_three_articles(db: None) -> None:
    page = page_of(Client().get("/"))
    articles = {element.findtext(".//h2"): element for element in page.xpath("//article")}
    assert list(articles) == ["Your program scans", "Your team looks after sites", "Somebody sent you a report"]
    for element in page.xpath("//picture//*[@src or @srcset]"):
        path = (element.get("srcset") or element.get("src")).removeprefix("/static/")
        picture = Path(finders.find(path) or "").read_bytes()
        assert picture[8:12] == b"WEBP", path
    images = page.xpath("//picture//img")
    assert len(images) == 3
    for element in images:
        file = Path(finders.find(element.get("src").removeprefix("/static/")) or "").read_bytes()
        header = read_image_header(file)
        assert header is not None
        # A wrong width or height shifts the layout.
        assert (header.width, header.height) == (int(element.get("width")), int(element.get("height")))
    links = {link for article in articles.values() for link in article.xpath(".//a/@href")}
    assert {f"/report/sample/{scan_type}" for scan_type in ScanType} <= links
    assert {"/docs/", "/docs/webhooks", "/docs/monitors", "/docs/mutes", "/samples/", "/docs/scoring"} <= links
    # The navigation at the top links to each article.
    assert page.xpath("//nav[@aria-label='Start here']//a/@href") == [
        f"#{article.get('id')}" for article in articles.values()
    ]
    for article in articles.values():
        assert "First step:" in article.text_content()
        assert article.xpath(".//picture | .//pre")


def test_curl_example_starts_a_scan(home: Member, target: str) -> None:
    text = page_of(Client().get("/")).xpath("string(//pre[@id='curl'])")
    address, headers, (body,) = text.split()[1], re.findall(r'-H "(.+?): (.+?)"', text), re.findall(r"-d '(.+)'", text)
    assert address == f"{django_settings.BASE_URL}/v1/scan"
    sent = {name: value.replace("$API_KEY", home.plaintext) for name, value in headers}
    body = body.replace("https://example.com/", target)
    response = Client().post("/v1/scan", body, content_type=sent.pop("Content-Type"), headers=sent)
    assert response.status_code == 201, response.content


def test_landing_page_leads_to_the_guide_to_a_statement(db: None) -> None:
    (paragraph,) = page_of(Client().get("/")).xpath("//article[@id='teams']//p[a/@href='/docs/statement']")
    text = " ".join(paragraph.text_content().split())
    assert text.startswith("In an assessment, people test a site by the criteria of WCAG, EN 301 549 or Section 508")
    assert text.endswith("the draft of an accessibility statement.")


def test_landing_page_has_no_broken_link(db: None) -> None:
    links = set(page_of(Client().get("/")).xpath("//a/@href"))
    inside = {link for link in links if link.startswith("/")}
    assert {path: Client().get(path).status_code for path in inside} == dict.fromkeys(inside, 200)


def test_landing_page_shows_command_output(db: None) -> None:
    text = page_of(Client().get("/")).xpath("string(//section[@aria-labelledby='gate']//pre)")
    (exposed,) = [check for check in checks(ScanType.SECURITY) if check.id == "exposed-git"]
    assert text.startswith("$ website-scan https://shop.example.com/ ")
    for text in (exposed.found, exposed.why, "Gate failed"):
        assert text in " ".join(text.split())


def test_landing_page_counts_the_checks(db: None) -> None:
    text = " ".join(page_of(Client().get("/")).text_content().split())
    total = 0
    for scan_type in ScanType:
        count = len(checks(scan_type))
        total += count
        assert f"{count} checks" in text
    assert f"Four types of scan, {total} checks" in text


@pytest.mark.parametrize("is_open", [True, False])
def test_landing_page_links_to_sign_up_if_open(db: None, settings: Settings, is_open: bool) -> None:
    settings.SIGN_UP_OPEN = is_open
    links = page_of(Client().get("/")).xpath("//header//a/@href")
    assert ("/signup/" in links) is is_open
    assert "/login/" in links


def test_url_field_leads_to_the_scan_form(db: None, settings: Settings, home: Member) -> None:
    form = page_of(Client().get("/")).forms[0]
    assert (form.method, form.action, [field.name for field in form.inputs]) == ("GET", "/scan", ["url"])
    path = "/scan?url=shop.example.com/a%3Fb%3Dc%26d"
    login_query = "next=/scan%3Furl%3Dshop.example.com/a%253Fb%253Dc%2526d"
    assert Client().get(path)["Location"] == f"/signup/?{login_query}"
    settings.SIGN_UP_OPEN = False
    assert Client().get(path)["Location"] == f"/login/?{login_query}"
    form_page = browser(home).get(path, follow=True)
    assert form_page.redirect_chain == [
        (f"/o/{home.organization.slug}/scans/new?url=shop.example.com%2Fa%3Fb%3Dc%26d", 302)
    ]
    (field,) = page_of(form_page).xpath("//main//input[@name='url']/@value")
    assert field == "shop.example.com/a?b=c&d"


@pytest.mark.parametrize("scan_type", ScanType)
def test_sample_report_of_each_type_is_public(db: None, scan_type: ScanType) -> None:
    response = Client().get(f"/report/sample/{scan_type}")
    page = page_of(response)
    assert response.status_code == 200
    assert "This is a sample" in page.text_content()
    # The sample report is about a site that does not exist.
    assert page.xpath("//meta[@name='robots']/@content") == ["noindex, nofollow"]
    assert "localhost:" not in page.text_content()
    for link in {link for link in page.xpath("//main//a/@href | //main//img/@src") if link.startswith("/")}:
        assert Client().get(link).status_code == 200, link
    assert not [link for link in page.xpath("//main//a/@href") if "shop.example.com" in link]


def test_unknown_sample_report_returns_404(db: None) -> None:
    for path in ("/report/sample/design", "/report/sample/design/screenshot.webp", "/report/sample/../../x"):
        assert Client().get(path).status_code in (302, 404)


@pytest.mark.parametrize("scan_type", ScanType)
def test_sample_reports_contain_only_existing_checks(scan_type: ScanType) -> None:
    """Run `make pictures` to create new samples if this test fails."""
    sample = find_sample(scan_type)
    assert sample is not None
    categories = sample.export_json["categories"]
    reported_check_ids = {check["id"] for category in categories for check in category["checks"]}
    assert reported_check_ids <= {entry.id for entry in checks(scan_type)}
    assert len(reported_check_ids) > 20


def test_pages_have_footer_links_and_icons(db: None, settings: Settings) -> None:
    settings.SOURCE_URL = "https://git.acme.test/scan"
    client = Client(raise_request_exception=False)
    for path in ("/", "/login/", "/nowhere", "/report/sample/seo"):
        page = page_of(client.get(path))
        links = page.xpath("//footer//a/@href")
        assert {"/docs/", "/openapi.yaml", "/licence", settings.SOURCE_URL} <= set(links)
        assert "/readyz" not in links  # The page /readyz is JSON for machines.
        assert page.xpath("//link[@rel='apple-touch-icon' or @rel='manifest']/@href") == [
            "/static/img/icon-180.png",
            "/site.webmanifest",
        ]
    assert "MIT License" in client.get("/licence").content.decode()


def test_icon_files_have_the_declared_size(db: None) -> None:
    manifest = Client().get("/site.webmanifest")
    assert manifest["Content-Type"] == "application/manifest+json"
    icons = {icon["src"]: icon["sizes"] for icon in manifest.json()["icons"]} | {"/static/img/icon-180.png": "180x180"}
    for path, sizes in icons.items():
        data = Path(finders.find(path.removeprefix("/static/")) or "").read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert "{}x{}".format(*struct.unpack(">II", data[16:24])) == sizes
    favicon = Path(finders.find("img/favicon.ico") or "").read_bytes()
    assert Client().get("/favicon.ico")["Location"] == "/static/img/favicon.ico"
    assert favicon[:4] == b"\0\0\1\0"
    assert favicon[22:30] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    "path",
    ["/", "/docs/", "/docs/errors", "/docs/api/scans", "/docs/checks/", "/docs/checks/dmarc", "/samples/"],
)
def test_public_pages_have_link_previews(db: None, settings: Settings, path: str) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    head = page_of(Client().get(path)).find("head")

    def value(name: str) -> str:
        (content,) = head.xpath("//meta[@name=$name or @property=$name]/@content", name=name)
        return str(content)

    assert head.xpath("//link[@rel='canonical']/@href") == [f"https://scan.acme.test{path}"]
    assert head.xpath("//meta[@name='robots']") == []
    assert 70 <= len(value("description")) <= 160
    assert value("og:url") == f"https://scan.acme.test{path}"
    assert value("og:title") == head.findtext("title").strip()
    assert value("twitter:card") == "summary_large_image"
    card = Client().get(value("og:image").removeprefix("https://scan.acme.test"))
    assert (card.status_code, card["Content-Type"]) == (200, "image/png")
    assert card.content == draw(BRAND)
    assert card["Cache-Control"] == "public, max-age=31536000, immutable"
    assert card["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_robots_txt_allows_link_previews(db: None) -> None:
    rules = RobotFileParser()
    rules.parse(Client().get("/robots.txt").content.decode().splitlines())
    for path in (
        "/report/scan_0",
        "/report/scan_0/card/0.png",
        "/audit/aud_0/card/0.png",
        "/badge/bdg_0.png",
        "/card/0.png",
    ):
        for agent in ("Twitterbot", "Slackbot-LinkExpanding", "facebookexternalhit/1.1"):
            assert rules.can_fetch(agent, f"https://scan.acme.test{path}")


def test_sitemap_lists_public_pages(db: None, settings: Settings) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    robots = Client().get("/robots.txt")
    assert robots["Content-Type"].startswith("text/plain")
    lines = robots.content.decode().splitlines()
    assert {"User-agent: *", "Disallow: /dashboard/", "Sitemap: https://scan.acme.test/sitemap.xml"} <= set(lines)
    sitemap = Client().get("/sitemap.xml")
    assert sitemap["Content-Type"].startswith("application/xml")
    locations = strings(etree.fromstring(sitemap.content), "//*[local-name()='loc']/text()")
    pages = ["/", "/about-our-scans", "/docs/"]
    assert locations[:3] == [f"https://scan.acme.test{page}" for page in pages]
    assert {"https://scan.acme.test/docs/checks/hsts", "https://scan.acme.test/samples/"} <= {*locations}
    assert len(locations) == len(set(locations))
    assert {Client().get(urlsplit(url).path).status_code for url in locations[:30]} == {200}


def test_security_txt_contains_the_contact(db: None, settings: Settings) -> None:
    assert Client().get("/.well-known/security.txt").status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@acme.test"
    response = Client().get("/.well-known/security.txt")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    lines = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    assert lines["Contact"] == "mailto:security@acme.test"
    expires = datetime.fromisoformat(lines["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)


@pytest.mark.parametrize(
    ("raw", "uri"),
    [
        ("security@acme.test", "mailto:security@acme.test"),
        ("mailto:security@acme.test", "mailto:security@acme.test"),
        ("https://acme.test/security", "https://acme.test/security"),
    ],
)
def test_contact_is_converted_to_a_uri(raw: str, uri: str) -> None:
    assert contact(raw) == uri


@pytest.mark.parametrize(
    "raw", ["acme", "http://acme.test/", "javascript:alert(1)", "a@b\nExpires: x", "a b@c", "https://"]
)
def test_invalid_contact_is_refused(raw: str) -> None:
    with pytest.raises(ValueError):
        contact(raw)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_checks_accept_any_host(db: None, path: str) -> None:
    for host in ("10.1.2.3", "10.1.2.3:8000", "unknown.test", "a b", ""):
        response = Client().get(path, headers={"Host": host})
        assert response.status_code == 200, host
        assert host not in response.content.decode() or not host
    assert Client(raise_request_exception=False).get("/", headers={"Host": "unknown.test"}).status_code == 400


def test_version_is_defined_in_one_file(settings: Settings) -> None:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["version"] == {"path": "website_scan/__init__.py"}
    assert "version" in project["project"]["dynamic"]
    assert f"version: {__version__}\n" in (settings.BASE_DIR / "openapi.yaml").read_text()[:200]


def test_landing_page_needs_no_query(django_assert_num_queries: DjangoAssertNumQueries, db: None) -> None:
    with django_assert_num_queries(0):
        assert Client().get("/").status_code == 200


def test_header_has_admin_link_for_staff(home: Member) -> None:
    page = page_of(browser(home).get("/"))
    assert page.xpath("//form[@method='post']/@action") == ["/logout/"]
    assert "/admin/" in page.xpath("//a/@href")
    assert "/login/" not in page.xpath("//a/@href")


def test_pages_obey_the_content_security_policy(home: Member) -> None:
    client = browser(home)
    failed = make_scan(home, status="failed", error_code="X", error_message="Why.")
    pages = [
        *("/", "/nope", "/docs/", f"/report/{finished_scan(home, 'partial').id}", f"/report/{failed.id}"),
        *(f"/report/{make_scan(home).id}", "/report/nope", "/admin/", "/admin/scans/scan/", "/admin/operations/"),
    ]
    responses = [client.get(path) for path in pages] + [Client().get("/login/")]
    for response in responses:
        assert response.status_code in (200, 404)
        assert_strict_csp(response)
        assert_nothing_is_inline(response)


def test_api_responses_have_a_content_security_policy(db: None) -> None:
    response = Client().get("/v1/scans")
    assert response.status_code == 401
    assert response["Content-Security-Policy"] == policy(django_settings.SECURE_CSP)


def test_documentation_shows_logout(home: Member) -> None:
    page = page_of(browser(home).get("/docs/"))
    assert page.xpath("//form[@method='post']/@action") == ["/logout/"]


def test_responses_have_a_permissions_policy(db: None) -> None:
    for path in ("/", "/v1/scans", "/healthz", "/robots.txt"):
        assert "camera=()" in Client().get(path)["Permissions-Policy"]


def test_unknown_page_returns_404(db: None) -> None:
    response = Client().get("/nope")
    assert response.status_code == 404
    assert "There is nothing at this address." in response.content.decode()


@pytest.fixture
def break_landing_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(views, "render", fail)


def test_server_error_page_shows_the_request_id(break_landing_page: None) -> None:
    response = Client(raise_request_exception=False).get("/", headers={"X-Request-ID": "my-request-1"})
    assert response.status_code == 500
    text = response.content.decode()
    assert "Something went wrong on our side." in text
    assert "my-request-1" in text
    assert "secret detail" not in text
    assert_strict_csp(response)
    assert_nothing_is_inline(response)


def test_error_page_works_without_static_files(break_landing_page: None, settings: Settings) -> None:
    manifest = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": manifest}}
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 500
    assert "Something went wrong on our side." in response.content.decode()


def test_openapi_yaml_is_served_with_base_url(client: Client, settings: Any) -> None:
    served = resolve_references(yaml.load(client.get("/openapi.yaml").content, yaml.CSafeLoader))
    assert served["servers"] == [{"url": settings.BASE_URL, "description": "The installation"}]
    assert served | {"servers": description()["servers"]} == description()
