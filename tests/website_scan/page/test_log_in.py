"""Test that a log-in page is recognized in place of another page."""

from __future__ import annotations

import pytest

from tests.website_scan.cast import page, target
from website_scan.page.fetch import parse_document
from website_scan.page.log_in import needs_log_in

FORM = "<form><label>User <input autocomplete=username></label><input type=password><button>Sign in</button></form>"
IDENTIFIER_FORM = "<form><label>E-mail <input type=email autocomplete='username webauthn'></label></form>"
NEW = "<form><input autocomplete=username><input type=password autocomplete=new-password></form>"
APP = "<div id=root></div><script src=/app.js></script>"
ARTICLE = "<h1>Log-ins</h1><p>" + "Words about passwords and how to choose them. " * 60
ASKED = "https://shop.example.com/account"


def is_log_in_answer(requested: str, final: str, html: str, status: int = 200, **options: bool) -> bool:
    via = ((requested, 302),) if requested != final else ()
    answer = page(f"<!doctype html><title>Page</title><body>{html}", url=final, status=status, via=via)
    if options.get("has_credentials"):
        answer = type(answer)(answer.requested, answer.target, answer.hops, has_credentials=True)
    return needs_log_in(target(requested), answer, parse_document(answer))


# Addresses that frameworks and identity providers redirect to when a session is missing: Django's LOGIN_URL, Rails with
# Devise, ASP.NET Core Identity, WordPress, Spring Security, Laravel; OpenID Connect Core 1.0, section 3.1.2; SAML 2.0
# bindings, section 3.4; the CAS protocol, section 2.1.
@pytest.mark.parametrize(
    "final",
    [
        pytest.param("https://shop.example.com/accounts/login/?next=/account", id="django"),
        pytest.param("https://shop.example.com/users/sign_in", id="devise"),
        pytest.param("https://shop.example.com/Account/Login?ReturnUrl=%2Faccount", id="asp-net"),
        pytest.param("https://shop.example.com/wp-login.php?redirect_to=%2Faccount", id="wordpress"),
        pytest.param("https://shop.example.com/sign-in.html", id="file"),
        pytest.param("https://shop.example.com/session/new", id="rails"),
        pytest.param("https://shop.example.com/de/anmelden", id="german"),
        pytest.param("https://sso.example.com/realms/shop/protocol/openid-connect/auth?client_id=a", id="keycloak"),
        pytest.param("https://login.microsoftonline.example.com/common/oauth2/v2.0/authorize", id="openid-connect"),
        pytest.param("https://idp.example.com/idp/profile/SAML2/Redirect/SSO?SAMLRequest=a", id="saml"),
        pytest.param("https://cas.example.com/cas/login?service=a", id="cas"),
        pytest.param("https://accounts.example.com/v3/signin/identifier", id="identifier-first"),
    ],
)
@pytest.mark.parametrize("html", [FORM, IDENTIFIER_FORM, APP], ids=["password", "identifier", "scripted"])
def test_redirect_to_log_in_page_is_recognized(final: str, html: str) -> None:
    assert is_log_in_answer(ASKED, final, html)


@pytest.mark.parametrize(
    ("requested", "final", "html", "is_log_in"),
    [
        pytest.param(ASKED, "https://shop.example.com/welcome", FORM, True, id="form-at-other-address"),
        pytest.param(ASKED, "https://shop.example.com/login", FORM + ARTICLE, True, id="long-log-in-page"),
        pytest.param(ASKED, "https://shop.example.com/welcome", FORM + ARTICLE, False, id="form-beside-content"),
        pytest.param(ASKED, "https://shop.example.com/guide/sso", ARTICLE, False, id="article-about-log-ins"),
        pytest.param(ASKED, "https://shop.example.com/account/", FORM, False, id="last-slash"),
        pytest.param("http://shop.example.com/", "https://www.shop.example.com/en/", FORM, False, id="language"),
        pytest.param("https://shop.example.com/login", "https://shop.example.com/en/sign-in", FORM, False, id="asked"),
        pytest.param("https://login.example.com/", "https://login.example.com/start", FORM, False, id="asked-host"),
        pytest.param(ASKED, "https://shop.example.com/shop", "<p>Shoes", False, id="other-page"),
        pytest.param(ASKED, "https://shop.example.com/shop", f"<p>Shoes<div hidden>{FORM}</div>", False, id="hidden"),
        pytest.param(ASKED, "https://shop.example.com/shop", f"<p>Shoes<dialog>{FORM}</dialog>", False, id="dialog"),
        pytest.param(ASKED, ASKED, FORM, False, id="log-in-form-that-was-asked"),
        pytest.param("https://shop.example.com/try", "https://shop.example.com/sign-up", FORM, False, id="sign-up"),
        pytest.param("https://shop.example.com/try", "https://shop.example.com/start", NEW, False, id="new-password"),
        pytest.param(ASKED, "https://shop.example.com/login", FORM + NEW, True, id="log-in-beside-registration"),
        pytest.param("https://shop.example.com/try", "https://shop.example.com/login", FORM, True, id="closed-sign-up"),
    ],
)
def test_log_in_page_replaces_another_page(requested: str, final: str, html: str, is_log_in: bool) -> None:
    assert is_log_in_answer(requested, final, html) is is_log_in


@pytest.mark.parametrize(
    ("html", "status", "has_credentials", "is_log_in"),
    [
        pytest.param(FORM, 200, True, True, id="expired-cookie-and-form-at-same-address"),
        pytest.param("<p>Orders", 200, True, False, id="valid-cookie"),
        pytest.param("<p>Unauthorized", 401, True, True, id="refused-credentials"),
        pytest.param(FORM, 401, False, True, id="form-with-status-401"),
        pytest.param("<p>Unauthorized", 401, False, False, id="status-401-that-the-report-names"),
    ],
)
def test_refused_access_counts_as_a_log_in_page(html: str, status: int, has_credentials: bool, is_log_in: bool) -> None:
    assert is_log_in_answer(ASKED, ASKED, html, status, has_credentials=has_credentials) is is_log_in


def test_large_page_is_not_a_log_in_page() -> None:
    assert not is_log_in_answer(ASKED, "https://shop.example.com/b", FORM + "<i></i>" * 200_000)
