"""Tests that drafts restore form input after a new login.

The session had ended before the form was submitted.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import pytest
from allauth.socialaccount.models import SocialAccount
from django import forms
from django.contrib.sessions.models import Session
from django.test import Client

from accounts import drafts
from accounts.models import LoginSession, Membership, Organization, User
from infrastructure.environment import IdentityProvider
from reports.models import Mute
from sites.models import Audit, Monitor
from sites.pages.forms import SecretField
from tests.factories import Member, browser_of, finished_scan, person_of
from tests.page_reading import page_of
from tests.responses import ClientResponse
from webhooks.models import Webhook

PASSWORD = "correct horse 9"
ADA = "ada@people.test"
SCAN_FORM_PATH = "/o/home/scans/new"
WEBHOOK_FORM_PATH = "/o/home/webhooks/new/standard"
# Path of a form's page, path of its submission, and valid input.
FORMS = [
    ("/o/home/", SCAN_FORM_PATH, {"url": "https://example.com/a", "scope": "site", "include": "/docs/*\n/shop/*"}),
    (SCAN_FORM_PATH, SCAN_FORM_PATH, {"url": "https://example.com/b", "type": "seo"}),
    ("/o/home/monitors/new", "/o/home/monitors/new", {"url": "https://example.com/c", "name": "Ours", "every": "week"}),
    (WEBHOOK_FORM_PATH, WEBHOOK_FORM_PATH, {"url": "https://example.com/hook", "event": "scan.failed"}),
    ("/o/home/keys/", "/o/home/keys/", {"name": "Nightly", "scope": "read", "lifetime": "30"}),
    ("/o/home/members/", "/o/home/members/", {"email": "bert@people.test", "role": "viewer"}),
    ("/o/home/settings/", "/o/home/settings/", {"name": "Home sweet home"}),
    ("/organizations/new", "/organizations/new", {"organization": "One more"}),
]


def person(home: Member, email: str = ADA, role: str = "owner") -> User:
    user = person_of(home, role, email)
    user.set_password(PASSWORD)
    user.save()
    return user


def log_in(client: Client, email: str = ADA, next_page: str = "") -> ClientResponse:
    return client.post("/login/", {"login": email, "password": PASSWORD, "next": next_page})


def signed_author_in_form(page: ClientResponse, action: str) -> str:
    """Return the draft that the form with this `action` contains."""
    tree = page_of(page)
    (token,) = tree.xpath(f"//form[@action='{action}' or not(@action)]//input[@name='{drafts.FIELD}']/@value")
    return str(token)


def field_values(page: ClientResponse, name: str) -> list[str]:
    """Return the values of the form field on the page."""
    tree = page_of(page)
    found = tree.xpath(f"//main//input[@name='{name}'][not(@type='checkbox' or @type='radio') or @checked]/@value")
    found += tree.xpath(f"//main//select[@name='{name}']/option[@selected]/@value")
    return [
        *found,
        *(element.text.strip() for element in tree.xpath(f"//main//textarea[@name='{name}']") if element.text),
    ]


@pytest.fixture
def client(home: Member) -> Client:
    """Return a client that is logged in as an owner."""
    person(home)
    client = Client()
    log_in(client)
    return client


def submit_after_session_end(client: Client, page: str, action: str, entered: dict[str, str]) -> ClientResponse:
    """Open a page, end the session, and submit the page's form."""
    token = signed_author_in_form(client.get(page), action)
    LoginSession.objects.all().delete()
    return client.post(action, entered | {drafts.FIELD: token})


@pytest.mark.parametrize(("page", "action", "entered"), FORMS, ids=[page for page, _, _ in FORMS])
def test_form_input_is_restored_after_login(
    home: Member, client: Client, page: str, action: str, entered: dict[str, str]
) -> None:
    late = submit_after_session_end(client, page, action, entered)
    assert late["Location"] == f"/login/?next={action}"
    assert "Log in to return to the form with your input." in client.get(late["Location"]).content.decode()
    assert log_in(client, next_page=action)["Location"] == action
    form = client.get(action)
    assert form.status_code == 200
    assert "Your input is back" in form.content.decode()
    for name, value in entered.items():
        assert field_values(form, name)[:1] == [value], name
    assert not [model for model in (Audit, Monitor, Webhook) if model.objects.exists()]
    assert Organization.objects.get().name == "Home"
    again = client.get(action, follow=True)
    assert "Your input is back" not in again.content.decode()


def test_draft_of_a_mute_keeps_its_finding(home: Member, client: Client) -> None:
    path = f"/o/home/mutes/new?scan={finished_scan(home).id}&check=bad"
    late = submit_after_session_end(client, path, path, {"reason": "We know.", "until": "2030-01-01"})
    form = client.get(log_in(client, next_page=path)["Location"])
    assert late["Location"] == f"/login/?next={quote(path)}"
    assert field_values(form, "reason") == ["We know."]
    assert not Mute.objects.exists()


def test_draft_is_restored_after_reauthentication(home: Member, client: Client, settings: Any) -> None:
    settings.OIDC_PROVIDERS = [IdentityProvider("id", "Our ID", "https://id.test", "us", "s3cret")]
    ada = User.objects.get()
    ada.set_unusable_password()
    ada.save()
    SocialAccount.objects.create(user=ada, provider="id", uid="1")
    provider_client = browser_of(ada)
    entered = {"url": "https://example.com/hook", "event": "scan.failed"}
    token = signed_author_in_form(provider_client.get(WEBHOOK_FORM_PATH), WEBHOOK_FORM_PATH)
    redirected = provider_client.post(WEBHOOK_FORM_PATH, entered | {drafts.FIELD: token})
    assert redirected["Location"] == "/account/again/provider/?next=%2Fo%2Fhome%2Fwebhooks%2Fnew%2Fstandard"
    assert field_values(provider_client.get(WEBHOOK_FORM_PATH), "url") == ["https://example.com/hook"]


def test_draft_excludes_passwords(home: Member, client: Client) -> None:
    secrets = {"headers": "X-Key: s3cret", "cookies": "a=s3cret", "username": "s3cret", "password": "s3cret"}
    submit_after_session_end(client, SCAN_FORM_PATH, SCAN_FORM_PATH, {"url": "https://example.com/plain"} | secrets)
    log_in(client)
    draft = drafts.DRAFTS._decrypted(client.session["drafts"][SCAN_FORM_PATH])
    assert draft["text"] == "url=https%3A%2F%2Fexample.com%2Fplain"
    stored = [session.get_decoded() for session in Session.objects.all()]
    assert "example.com" not in str(stored), "sessions hold it encrypted"


def test_draft_excludes_secret_fields() -> None:
    """Only forms with `accounts/_draft.html` store their input."""
    form_classes, secret_fields = [forms.BaseForm], set()
    while form_classes:
        form_class = form_classes.pop()
        form_classes += form_class.__subclasses__()
        if form_class.__module__.startswith(("dashboard", "webhooks", "sites", "reports")):
            for name, field in form_class.base_fields.items():  # type: ignore[attr-defined]
                if isinstance(field, SecretField) or isinstance(field.widget, forms.PasswordInput):
                    secret_fields.add(name)
    assert secret_fields
    assert secret_fields <= drafts.UNSAVED_FIELDS


def test_draft_is_not_restored_for_another_person(home: Member, client: Client) -> None:
    person(home, "bert@people.test")
    submit_after_session_end(client, SCAN_FORM_PATH, SCAN_FORM_PATH, {"url": "https://example.com/mine"})
    log_in(client, "bert@people.test")
    assert field_values(client.get(SCAN_FORM_PATH), "url") == []
    assert "drafts" not in client.session
    client.post("/logout/")
    log_in(client)
    assert field_values(client.get(SCAN_FORM_PATH), "url") == []


def test_draft_page_returns_404_to_former_members(home: Member, client: Client) -> None:
    submit_after_session_end(client, SCAN_FORM_PATH, SCAN_FORM_PATH, {"url": "https://example.com/mine"})
    Membership.objects.all().delete()
    log_in(client)
    assert client.get(SCAN_FORM_PATH).status_code == 404


@pytest.mark.parametrize("token", ["", "x", "1:x:y"])
def test_draft_without_valid_author_is_not_stored(db: None, token: str) -> None:
    client = Client()
    answer = client.post(SCAN_FORM_PATH, {"url": "https://example.com/", drafts.FIELD: token})
    assert answer["Location"] == "/login/?next=/dashboard/"
    assert not client.session.keys()


def test_drafts_are_limited_in_size_and_number(home: Member, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = {path: signed_author_in_form(client.get(path), path) for path in (SCAN_FORM_PATH, "/o/home/monitors/new")}
    LoginSession.objects.all().delete()
    token = tokens[SCAN_FORM_PATH]
    large = client.post(SCAN_FORM_PATH, {"url": "x" * drafts.MAX_DRAFT_LENGTH, drafts.FIELD: token})
    assert large["Location"] == "/login/?next=/dashboard/"
    assert "your input could not be saved" in client.get("/login/").content.decode()
    for number in range(drafts.DRAFTS.most + 2):
        client.post(f"{SCAN_FORM_PATH}?tab={number}", {"url": "https://example.com/", drafts.FIELD: token})
    assert len(client.session["drafts"]) == drafts.DRAFTS.most
    log_in(client)
    later = time.time() + drafts.DRAFTS.max_age_s + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert field_values(client.get(f"{SCAN_FORM_PATH}?tab=4"), "url") == []


def test_form_with_outdated_csrf_token_is_restored(home: Member, client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    page = strict.get(SCAN_FORM_PATH)
    token = signed_author_in_form(page, SCAN_FORM_PATH)
    (csrf,) = set(page_of(page).xpath("//input[@name='csrfmiddlewaretoken']/@value"))
    strict.cookies["csrftoken"] = "a" * 32  # A login in another tab makes Django set another CSRF token.
    entered = {"url": "https://example.com/mine", "csrfmiddlewaretoken": csrf, drafts.FIELD: token}
    same_origin_headers = strict.post(SCAN_FORM_PATH, entered, HTTP_ORIGIN="http://testserver")
    assert (same_origin_headers.status_code, same_origin_headers["Location"]) == (302, SCAN_FORM_PATH)
    assert field_values(strict.get(SCAN_FORM_PATH), "url") == ["https://example.com/mine"]
    for headers in ({"Origin": "http://evil.test"}, None):
        foreign = strict.post(SCAN_FORM_PATH, entered, headers=headers)
        assert foreign.status_code == 403
        assert "The form has expired." in foreign.content.decode()
    assert field_values(strict.get(SCAN_FORM_PATH), "url") == []
    assert not Audit.objects.exists()
