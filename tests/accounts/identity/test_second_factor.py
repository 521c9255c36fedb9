"""Tests for authenticator apps and recovery codes."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import ActivityEvent, LoginSession, Mail, User
from accounts.pages import security
from infrastructure import encryption
from tests.accounts.identity import people
from tests.accounts.identity.people import (
    EMAIL,
    PASSWORD,
    SECRET,
    add_authenticator_app,
    code,
    is_logged_in,
    log_in,
    path_of,
    recovery_codes,
)
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of, parsed


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user(EMAIL, PASSWORD)


@pytest.fixture
def member(home: Member) -> User:
    user = person_of(home, "owner", EMAIL)
    user.set_password(PASSWORD)
    user.save()
    return user


def actions() -> list[str]:
    return list(ActivityEvent.objects.order_by("id").values_list("action", flat=True))


def subjects() -> list[str]:
    return list(Mail.objects.order_by("created_at").values_list("subject", flat=True))


def test_adding_an_app_ends_other_sessions_and_requires_its_code_at_login(
    member: User, django_capture_on_commit_callbacks: Any
) -> None:
    client, elsewhere = Client(), Client()
    log_in(client)
    log_in(elsewhere)
    page = page_of(client.get("/account/security/app/"))
    (secret,) = page.xpath("//code/text()")
    assert page.xpath("//*[local-name()='svg']/@aria-label")
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post("/account/security/app/", {"code": code(secret.replace(" ", ""))})
    assert path_of(response) == "/account/security/codes/"
    assert len(page_of(client.get(response["Location"])).xpath("//li/code")) == 10
    assert LoginSession.objects.count() == 1, "other sessions have ended"
    assert "Authenticator app added" in subjects()
    assert actions()[-1] == "person.second_factor_added"
    # After adding the app, a login requires its code.
    again = Client()
    login_response = log_in(again)
    assert path_of(login_response) == "/login/code/"
    assert not is_logged_in(again)
    assert again.get("/account/").status_code == 302
    assert not LoginSession.objects.filter(id=again.session.get("login", "")).exists()


@pytest.mark.parametrize("later", [-1, 0, 1])
def test_app_code_logs_in_only_once(ada: User, later: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    stopped = SimpleNamespace(time=lambda: now)
    monkeypatch.setattr(people, "time", stopped)
    monkeypatch.setattr(auth, "time", stopped)
    add_authenticator_app(ada)
    client, replayed = Client(), Client()
    used = code(later=later)
    for browser in (client, replayed):
        log_in(browser, next="/report/scan_x")
        browser.get("/login/code/")
    assert client.post("/login/code/", {"code": used})["Location"] == "/report/scan_x"
    assert is_logged_in(client)
    assert replayed.post("/login/code/", {"code": used}).status_code == 200
    assert not is_logged_in(replayed)


@pytest.mark.parametrize("entered", ["000000", "", "abcdef", "\x00", "9" * 5000])
def test_wrong_app_code_does_not_log_in(member: User, entered: str) -> None:
    add_authenticator_app(member)
    client = Client()
    log_in(client)
    assert client.post("/login/code/", {"code": entered}).status_code == 200
    assert not is_logged_in(client)
    if entered == "000000":
        assert actions()[-1] == "person.second_factor_failed"


def test_second_factor_page_requires_the_password_first(ada: User) -> None:
    add_authenticator_app(ada)
    client = Client()
    assert path_of(client.get("/login/code/")) == "/login/"
    assert path_of(client.post("/login/code/", {"code": code()})) == "/login/"
    assert not is_logged_in(client)


def test_recovery_code_logs_in_once_and_sends_a_notice(ada: User) -> None:
    add_authenticator_app(ada)
    one = recovery_codes(ada)[0]
    for works in (True, False):
        client = Client()
        log_in(client)
        client.post("/login/code/", {"code": one})
        assert is_logged_in(client) == works
    assert subjects().count("Recovery code used") == 1


def test_code_guesses_are_limited_per_account_except_in_known_browsers(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_authenticator_app(ada)
    known_browser = Client()
    log_in(known_browser)
    known_browser.post("/login/code/", {"code": code()})
    known_browser.post("/logout/")
    monkeypatch.setattr(security, "MAX_AUTHENTICATIONS_PER_MINUTE", 2)
    for number in range(2):
        stranger = Client(REMOTE_ADDR=f"192.0.{number}.1")
        log_in(stranger)
        assert stranger.post("/login/code/", {"code": "000000"}).status_code == 200
    stranger = Client(REMOTE_ADDR="198.51.100.1")
    log_in(stranger)
    assert stranger.post("/login/code/", {"code": code(later=1)}).status_code == 429
    log_in(known_browser)
    known_browser.post("/login/code/", {"code": code(later=1)})
    assert is_logged_in(known_browser)


def test_redis_outage_refuses_codes_with_503(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from redis.exceptions import ConnectionError as RedisConnectionError

    from accounts import limits

    add_authenticator_app(ada)
    client = Client()
    log_in(client)

    def fail(*args: object, **kwargs: object) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr(limits, "get_usage", fail)
    assert client.post("/login/code/", {"code": code()}).status_code == 503
    assert not is_logged_in(client)


def test_admin_login_requires_the_second_factor(ada: User) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    add_authenticator_app(ada)
    client = Client()
    assert client.get("/admin/", follow=True).request["PATH_INFO"] == "/login/"
    log_in(client, next="/admin/")
    assert client.get("/admin/").status_code == 302
    assert client.post("/login/code/", {"code": code()})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_password_reset_keeps_the_second_factor(ada: User) -> None:
    from tests.accounts.mailbox import link_in_mail

    add_authenticator_app(ada)
    client = Client()
    client.post("/password/", {"email": EMAIL})
    form = client.get(link_in_mail(EMAIL))["Location"]
    client.post(form, {"new_password1": "another horse 10", "new_password2": "another horse 10"})
    assert path_of(log_in(client, password="another horse 10")) == "/login/code/"
    assert not is_logged_in(client)


def test_second_factor_secrets_are_encrypted_and_reencrypted(ada: User, settings: Any) -> None:
    settings.ENCRYPTION_KEYS = ["former" * 8]
    add_authenticator_app(ada)
    codes = recovery_codes(ada)
    stored = {authenticator.type: authenticator.data for authenticator in Authenticator.objects.all()}
    assert SECRET not in str(stored)
    settings.ENCRYPTION_KEYS = ["newest" * 8, "former" * 8]
    call_command("reencrypt_secrets")
    settings.ENCRYPTION_KEYS = ["newest" * 8]
    assert recovery_codes(ada) == codes
    secret = Authenticator.objects.get(type="totp").data["secret"]
    assert encryption.decrypt(secret.encode()) == SECRET
    call_command("reencrypt_secrets")
    assert Authenticator.objects.get(type="totp").data["secret"] == secret, "once is enough"


def test_app_removal_requires_reauthentication_and_sends_a_notice(member: User) -> None:
    add_authenticator_app(member)
    client = browser_of(member)
    redirected = client.get("/account/security/app/remove/")
    assert path_of(redirected) == "/account/again/"
    assert client.post(redirected["Location"], {"password": "wrong"}).status_code == 200
    assert client.post("/account/security/app/remove/").status_code == 302
    assert Authenticator.objects.count() == 2
    # The service executes the request after the reauthentication.
    assert client.post(redirected["Location"], {"password": PASSWORD})["Location"] == "/account/security/"
    assert not Authenticator.objects.exists()
    assert "Authenticator app removed" in subjects()
    assert actions()[-1] == "person.second_factor_removed"


def test_password_guesses_at_reauthentication_are_limited(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MAX_AUTHENTICATIONS_PER_MINUTE", 1)
    client = browser_of(ada)
    assert client.post("/account/again/?next=/account/", {"password": "wrong"}).status_code == 200
    assert client.post("/account/again/?next=/account/", {"password": PASSWORD}).status_code == 429


def test_recovery_codes_are_visible_only_to_their_person(ada: User) -> None:
    add_authenticator_app(ada)
    eve = browser_of(User.objects.create_user("eve@people.test"))
    for path in ("/account/security/codes/", "/account/security/codes/download/"):
        assert eve.get(path).status_code == 404
    client = Client()
    log_in(client)
    client.post("/login/code/", {"code": code()})
    downloaded = client.get("/account/security/codes/download/")
    assert set(re.findall(r"^\d{8}$", downloaded.content.decode(), re.M)) == set(recovery_codes(ada))
    assert "no-store" in downloaded["Cache-Control"]


def test_login_from_a_new_browser_sends_a_notice(member: User) -> None:
    client = Client(REMOTE_ADDR="198.51.100.7", headers={"User-Agent": "Firefox/140.0 Linux"})
    log_in(client)
    assert subjects() == [], "the first of all is nobody's news"
    client.post("/logout/")
    log_in(client)
    assert subjects() == []
    log_in(Client(REMOTE_ADDR="203.0.113.9"))
    assert subjects() == ["New log-in to your account"]
    mail = Mail.objects.get()
    assert "203.0.113.9" in mail.text.replace("\u2060", "")
    assert "Unsubscribe" not in mail.text + mail.html
    logged = [event for event in ActivityEvent.objects.all() if event.action == "person.logged_in"]
    assert [event.details["method"] for event in logged] == ["a password"] * 3


def test_operator_command_removes_all_second_factors(member: User, capsys: pytest.CaptureFixture[str]) -> None:
    add_authenticator_app(member)
    elsewhere = browser_of(member)
    call_command("remove_second_factor", EMAIL.upper())
    assert EMAIL in capsys.readouterr().out
    assert elsewhere.get("/account/").status_code == 302
    assert subjects() == ["Second factor removed"]
    assert actions()[-1] == "person.second_factors_reset"
    client = Client()
    log_in(client)
    assert is_logged_in(client)
    for email in (EMAIL, "nobody@people.test"):
        with pytest.raises(CommandError):
            call_command("remove_second_factor", email)


def test_number_of_passkeys_is_limited(member: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MAX_PASSKEYS", 1)
    Authenticator.objects.create(user=member, type="webauthn", data={"name": "Phone", "credential": {}})
    client = browser_of(member)
    client.post("/account/again/", {"password": PASSWORD})
    refused = client.post("/account/security/passkeys/add/", {"credential": "{}"}, follow=True)
    assert "which is the maximum. Remove one first." in refused.content.decode()


def test_passkey_challenges_have_a_rate_limit(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MAX_ATTEMPTS_PER_ADDRESS", 2)
    responses = [Client().get("/login/passkey/", headers={"X-Requested-With": "XMLHttpRequest"}) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert Session.objects.count() == 2


def test_passkey_name_is_escaped_on_pages(member: User) -> None:
    add_authenticator_app(member)
    name = 'Phone "<b>"'
    passkey = Authenticator.objects.create(user=member, type="webauthn", data={"name": name, "credential": {}})
    client = browser_of(member)
    client.post("/account/again/", {"password": PASSWORD})
    pages = (
        "/account/security/",
        f"/account/security/passkeys/{passkey.pk}/",
        f"/account/security/passkeys/{passkey.pk}/remove/",
    )
    for page in pages:
        response = client.get(page)
        assert response.status_code == 200
        text = response.content.decode()
        assert "<b>" not in text
        assert name in parsed(text).text_content() + "".join(parsed(text).xpath("//@value"))
    for page in ("/account/security/app/remove/", "/account/again/code/"):
        assert client.get(page).status_code == 200
