"""Tests for requests that continue after a reauthentication."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from django.test import Client
from lxml import html

from accounts.keys.services import create_api_key
from accounts.models import User
from tests.accounts.identity.people import EMAIL, PASSWORD, add_authenticator_app, path_of
from tests.factories import Member, browser_of, person_of


@pytest.fixture
def ada(home: Member) -> Client:
    """Return a client of an owner who must reauthenticate on sensitive pages."""
    user = person_of(home, "owner", EMAIL)
    user.set_password(PASSWORD)
    user.save()
    person_of(home, "owner", "bob@people.test")
    return browser_of(user)


def page_after_reauthentication(client: Client, path: str, data: Mapping[str, str]) -> html.HtmlElement:
    """Submit the form, reauthenticate with the password, and return the resulting page."""
    redirected = client.post(path, data)
    assert path_of(redirected) == "/account/again/"
    answer = client.post(redirected["Location"], {"password": PASSWORD})
    assert answer["Content-Type"].startswith("text/html")
    return html.fromstring(answer.content.decode())


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/o/home/settings/delete", {"confirmation": "Away"}),
        ("/o/home/settings/login", {"login-second_factor": "on"}),
        ("/o/home/keys/", {"name": ""}),
        ("/o/home/keys/{key}/regenerate", {"lifetime": "date"}),
        ("/o/home/webhooks/new/standard", {"url": "http://localhost/"}),
        ("/account/delete", {"confirmation": "Away"}),
        ("/account/email/", {"email": "no address"}),
        ("/account/security/app/", {"code": "1"}),
    ],
)
def test_form_after_reauthentication_has_an_explicit_action(
    home: Member, ada: Client, path: str, data: Mapping[str, str]
) -> None:
    """The form needs an `action`, because the page has the URL of the reauthentication page."""
    key, _ = create_api_key(organization=home.organization, name="CI")
    forms = page_after_reauthentication(ada, path.format(key=key.id), data).xpath("//main//form[@method='post']")
    assert forms
    for form in forms:
        assert form.get("action", "").startswith("/"), html.tostring(form)[:200]
        assert not form.get("action").startswith("/account/again/")


def test_reauthentication_for_a_download_returns_to_its_page(home: Member, ada: Client) -> None:
    """If the download began directly, the browser would still display the reauthentication page."""
    redirected = ada.post("/o/home/settings/export/1")
    assert path_of(redirected) == "/account/again/"
    assert path_of(ada.post(redirected["Location"], {"password": PASSWORD})) == "/o/home/settings/export"


def test_reauthentication_for_recovery_codes_file_returns_to_its_page(ada: Client) -> None:
    add_authenticator_app(User.objects.get(email=EMAIL))
    redirected = ada.get("/account/security/codes/download/")
    assert path_of(redirected) == "/account/again/"
    assert path_of(ada.post(redirected["Location"], {"password": PASSWORD})) == "/account/security/codes/"
