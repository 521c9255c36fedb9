"""Tests for logging in with an identity provider."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest
import requests
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.test import Client

from accounts.adapters import providers
from accounts.adapters.providers import BoundedSession
from accounts.closing.services import close_account
from accounts.members import invite
from accounts.models import Mail, Membership, User
from infrastructure.environment import IdentityProvider, identity_providers
from tests.accounts.identity.people import EMAIL, PASSWORD, add_authenticator_app, code, is_logged_in, path_of
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of
from tests.responses import ClientResponse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def acme(identity_provider: IdentityProvider, settings: Any) -> None:
    settings.OIDC_PROVIDERS = [identity_provider]


def log_in_with_provider(client: Client, sub: str, next_page: str = "/dashboard/", **changes: str) -> ClientResponse:
    """Log in at the identity provider as the user `sub`, and follow the callback."""
    page = page_of(client.post("/login/with/acme/", {"next": next_page}))
    (provider_url,) = page.xpath("//main//a/@href")
    assert "code_challenge=" in provider_url
    answer = requests.post(provider_url, data={"sub": sub} | changes, allow_redirects=False, timeout=10)
    return client.get(answer.headers["Location"])


def test_provider_login_connects_to_the_existing_account() -> None:
    ada = User.objects.create_user(EMAIL, PASSWORD)
    client = Client()
    assert log_in_with_provider(client, "ada", "/report/scan_x")["Location"] == "/report/scan_x"
    assert client.session["_auth_user_id"] == str(ada.pk)
    assert User.objects.get().check_password(PASSWORD)
    assert Mail.objects.get(subject="Log-in connected").text.count("with Acme")
    # After the first login, the provider's `sub` identifies the person, even if the account's address changes.
    ada.email = "ada@new.test"
    ada.save()
    again = Client()
    log_in_with_provider(again, "ada")
    assert again.session["_auth_user_id"] == str(ada.pk)
    assert not SocialToken.objects.exists()


def test_provider_login_creates_an_account_for_a_new_person() -> None:
    client = Client()
    assert path_of(log_in_with_provider(client, "bob")) == "/dashboard/"
    bob = User.objects.get(email="bob@people.test")
    assert not bob.has_usable_password()
    assert path_of(client.get("/dashboard/")) == "/organizations/new"
    assert client.get("/account/security/").status_code == 200


@pytest.mark.parametrize("sub", ["unverified", "text", "elsewhere", "nameless", "lines", "two", "both", "list", "long"])
def test_unverified_provider_address_is_refused(sub: str) -> None:
    User.objects.create_user(EMAIL, PASSWORD)
    User.objects.create_user("eve@elsewhere.test", PASSWORD)
    client = Client()
    response = log_in_with_provider(client, sub)
    assert response.status_code == 403
    assert "has not confirmed" in response.content.decode()
    assert not is_logged_in(client)
    assert not SocialAccount.objects.exists()
    assert User.objects.count() == 2


def test_provider_login_still_requires_the_second_factor() -> None:
    add_authenticator_app(User.objects.create_user(EMAIL, PASSWORD))
    client = Client()
    assert path_of(log_in_with_provider(client, "ada", "/organizations/")) == "/login/code/"
    assert not is_logged_in(client)
    assert client.post("/login/code/", {"code": code()})["Location"] == "/organizations/"


def test_closed_sign_up_lets_only_invited_people_use_a_provider(home: Member, settings: Any) -> None:
    settings.SIGN_UP_OPEN = False
    client = Client()
    assert log_in_with_provider(client, "bob").status_code == 403
    assert not User.objects.exists()
    owner = person_of(home, "owner", "owner@people.test")
    invite(actor=Membership.objects.get(user=owner), email="Bob@people.test", role="member")
    assert log_in_with_provider(client, "bob").status_code == 302
    assert is_logged_in(client)


def test_deactivated_account_cannot_log_in_with_a_provider() -> None:
    ada = User.objects.create_user(EMAIL, PASSWORD)
    log_in_with_provider(Client(), "ada")
    User.objects.update(is_active=False)
    client = Client()
    assert log_in_with_provider(client, "ada").status_code == 403
    assert not is_logged_in(client)
    User.objects.update(is_active=True)
    add_authenticator_app(ada)
    close_account(user=ada, actor=ada)
    assert not SocialAccount.objects.exists()
    assert not Authenticator.objects.exists()


def test_callback_of_a_login_begun_in_another_browser_is_refused() -> None:
    """This prevents login CSRF, in which a victim unknowingly uses an attacker's account."""
    page = page_of(Client().post("/login/with/acme/"))
    (provider_url,) = page.xpath("//main//a/@href")
    answer = requests.post(provider_url, data={"sub": "bob"}, allow_redirects=False, timeout=10)
    victim = Client()
    assert victim.get(answer.headers["Location"]).status_code == 403
    assert not is_logged_in(victim)
    assert not User.objects.exists()


def test_login_denied_at_the_provider_is_refused() -> None:
    client = Client()
    assert log_in_with_provider(client, "ada", action="deny").status_code == 403
    assert not is_logged_in(client)


@pytest.mark.parametrize("target", ["https://evil.test/", "//evil.test/", "/\\evil.test"])
def test_provider_login_never_redirects_to_another_host(target: str) -> None:
    assert "evil" not in log_in_with_provider(Client(), "bob", target)["Location"]


def test_unreachable_provider_returns_503(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed_url = f"http://127.0.0.1:{server.getsockname()[1]}"
    settings.OIDC_PROVIDERS = [IdentityProvider("gone", "Gone", closed_url, "wss", "secret")]
    response = Client().post("/login/with/gone/")
    assert response.status_code == 503
    assert "does not answer" in response.content.decode()
    assert Client().post("/login/with/acme/").status_code == 404


def test_slow_provider_response_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "RESPONSE_TIMEOUT_S", 0.5)
    done = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not done.wait(0.05):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        began = time.monotonic()
        with pytest.raises(requests.Timeout), BoundedSession() as session:
            session.get(f"http://127.0.0.1:{server.getsockname()[1]}/")
        assert time.monotonic() - began < 30
        done.set()
        thread.join()


def test_login_page_lists_the_provider() -> None:
    assert "Log in with Acme" in Client().get("/login/").content.decode()


def test_person_without_password_reauthenticates_with_the_provider(home: Member) -> None:
    client = Client()
    log_in_with_provider(client, "bob")
    Membership.objects.create(organization=home.organization, user=User.objects.get(), role="owner")
    form = {"name": "x", "scope": "read", "lifetime": ""}
    assert path_of(client.post("/o/home/keys/", form)) == "/o/home/keys/"
    session = client.session
    session["account_authentication_methods"][-1]["at"] -= 3600
    session.save()
    redirected = client.post("/o/home/keys/", form | {"name": "y"})
    assert path_of(redirected) == "/account/again/provider/"
    assert "Log in with Acme" in client.get(redirected["Location"]).content.decode()


@pytest.mark.parametrize("parameter", ["process=connect", "process=login", "scope=admin", "auth_params=prompt%3Dnone"])
def test_unknown_provider_login_parameters_are_refused(parameter: str) -> None:
    name, _, value = parameter.partition("=")
    for client in (Client(), browser_of(User.objects.create_user(EMAIL, PASSWORD))):
        assert client.post(f"/login/with/acme/?{parameter}").status_code == 400
        assert client.post("/login/with/acme/", {name: value}).status_code == 400


@pytest.mark.parametrize(
    "url", ["http://id.example.com/", "http://localhost.example.com/", "http://10.0.0.1/", "ftp://x/"]
)
def test_provider_request_without_https_is_refused(url: str) -> None:
    """ID token signatures are not verified, so tokens must come directly from the provider over TLS."""
    with pytest.raises(requests.exceptions.InvalidSchema, match="without https"), BoundedSession() as session:
        session.get(url)


def test_provider_redirect_without_https_is_refused(settings: Any) -> None:
    def redirect(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://id.test/\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=redirect, args=(server,))
        thread.start()
        issuer = f"http://127.0.0.1:{server.getsockname()[1]}"
        settings.OIDC_PROVIDERS = [IdentityProvider("led", "Led", issuer, "wss", "secret")]
        assert Client().post("/login/with/led/").status_code == 503
        thread.join()


GOOD = '{"id": "a", "name": "A", "issuer": "https://id.test/", "client_id": "x", "client_secret": "y"}'

PROVIDER_WITH_INVALID_ID = "[" + GOOD.replace('"a"', '"A/b"') + "]"


def test_identity_provider_setting_is_parsed() -> None:
    (provider,) = identity_providers(f"[{GOOD}]")
    assert (provider.id, provider.issuer, provider.domains) == ("a", "https://id.test", ())
    assert "y" not in repr(provider).replace("IdentityProvider", "")
    for host in ("localhost:8080", "127.0.0.1", "[::1]"):
        assert identity_providers(f"[{GOOD.replace('https://id.test', f'http://{host}')}]")
    (limited,) = identity_providers(f'[{GOOD[:-1]}, "domains": ["People.test"]}}]')
    assert limited.speaks_for("ada@PEOPLE.test")
    assert not limited.speaks_for("ada@evilpeople.test")
    assert not limited.speaks_for("ada@people.test@evil.test")


@pytest.mark.parametrize(
    "raw",
    [
        "x",
        "{}",
        "[1]",
        f"[{GOOD}, {GOOD}]",
        f"[{GOOD.replace('id.test', '')}]",
        f"[{GOOD.replace('https', 'ftp')}]",
        f"[{GOOD.replace('https', 'http')}]",
        f'[{GOOD[:-1]}, "more": 1}}]',
        f'[{GOOD[:-1]}, "domains": "x"}}]',
        PROVIDER_WITH_INVALID_ID,
    ],
)
def test_invalid_identity_provider_setting_is_refused(raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        identity_providers(raw)
