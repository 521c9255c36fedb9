"""Tests that users can list and end their login sessions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import sessions
from accounts.models import LoginSession, User
from accounts.retention import delete_sessions
from tests.factories import browser_of

EMAIL, PASSWORD = "ada@people.test", "correct horse 9"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user(EMAIL, PASSWORD)


def log_in(client: Client, **data: str) -> None:
    response = client.post("/login/", {"login": EMAIL, "password": PASSWORD, **data})
    assert response.status_code == 302


def test_session_is_listed_with_browser_and_address(ada: User) -> None:
    client = Client(REMOTE_ADDR="198.51.100.7", headers={"User-Agent": FIREFOX})
    log_in(client)
    page = client.get("/account/").content.decode()
    assert "Firefox on Linux" in page
    assert "198.51.100.7" in page
    assert "This session" in page
    row = LoginSession.objects.get()
    assert client.session.session_key not in (row.id, row.user_agent, row.address)


def test_user_agent_is_escaped(ada: User) -> None:
    client = Client(REMOTE_ADDR="<b>&", headers={"User-Agent": "<script>alert(1)</script>\0" + "x" * 5000})
    log_in(client)
    page = client.get("/account/").content.decode()
    assert "<script>alert" not in page
    assert "<b>&" not in page
    assert "Unknown browser" in page


def test_ended_session_is_logged_out_at_once(ada: User) -> None:
    here, elsewhere = browser_of(ada), browser_of(ada)
    other = LoginSession.objects.get(id=elsewhere.session["login"])
    assert here.post(f"/account/sessions/{other.id}/end")["Location"] == "/account/"
    assert elsewhere.get("/account/")["Location"].startswith("/login/")
    assert "_auth_user_id" not in elsewhere.session
    assert here.get("/account/").status_code == 200


def test_other_sessions_are_ended_together(ada: User) -> None:
    here, *others = (browser_of(ada) for _ in range(3))
    here.post("/account/sessions/")
    assert [other.get("/account/").status_code for other in others] == [302, 302]
    assert here.get("/account/").status_code == 200


def test_foreign_session_cannot_be_ended(ada: User) -> None:
    elsewhere = browser_of(ada)
    eve = browser_of(User.objects.create_user("eve@people.test"))
    assert eve.post(f"/account/sessions/{elsewhere.session['login']}/end").status_code == 404
    assert eve.post("/account/sessions/").status_code == 302
    assert elsewhere.get("/account/").status_code == 200


def test_foreign_login_session_is_invalid(ada: User) -> None:
    client, other = browser_of(ada), browser_of(User.objects.create_user("eve@people.test"))
    session = client.session
    session["login"] = other.session["login"]
    session.save()
    assert client.get("/account/").status_code == 302


def test_logout_deletes_the_login_session(ada: User) -> None:
    client = browser_of(ada)
    client.post("/logout/")
    assert not LoginSession.objects.exists()


def test_second_login_replaces_the_session(ada: User) -> None:
    client = browser_of(ada)
    client.force_login(ada)
    assert LoginSession.objects.count() == 1
    assert client.get("/account/").status_code == 200


def test_last_seen_at_is_rarely_written(ada: User) -> None:
    client = browser_of(ada)
    with CaptureQueriesContext(connection) as queries:
        client.get("/account/")
    assert not [query for query in queries if "UPDATE" in query["sql"]]
    LoginSession.objects.update(last_seen_at=timezone.now() - sessions.LAST_SEEN_UPDATE_INTERVAL - timedelta(seconds=1))
    client.get("/account/", REMOTE_ADDR="198.51.100.9")
    row = LoginSession.objects.get()
    assert timezone.now() - row.last_seen_at < timedelta(minutes=1)
    assert row.address == "198.51.100.9"


def test_expired_sessions_are_deleted_at_login(ada: User) -> None:
    browser_of(ada)
    LoginSession.objects.update(last_seen_at=timezone.now() - timedelta(days=15))
    assert list(sessions.sessions_of_user(ada)) == []
    browser_of(ada)
    assert LoginSession.objects.count() == 1


def test_password_change_by_operator_ends_sessions(ada: User) -> None:
    client = browser_of(ada)
    ada.set_password("yet another horse 11")
    ada.save()
    assert client.get("/account/").status_code == 302
    assert not LoginSession.objects.exists()


def test_retention_deletes_expired_sessions(ada: User) -> None:
    alive, dead = browser_of(ada), browser_of(ada)
    expired_at = timezone.now() - timedelta(days=15)
    LoginSession.objects.filter(id=dead.session["login"]).update(last_seen_at=expired_at)
    Session.objects.filter(session_key=dead.session.session_key).update(expire_date=expired_at)
    delete_sessions()
    assert [row.id for row in LoginSession.objects.all()] == [alive.session["login"]]
    assert Session.objects.count() == 1


@pytest.mark.parametrize(("data", "ends_with_the_browser"), [({}, True), ({"remember": "on"}, False)])
def test_remember_option_keeps_the_cookie(ada: User, data: dict[str, str], ends_with_the_browser: bool) -> None:
    client = Client()
    log_in(client, **data)
    assert (client.cookies["sessionid"]["max-age"] == "") is ends_with_the_browser
    assert client.cookies["sessionid"]["httponly"]
    assert client.cookies["sessionid"]["samesite"] == "Lax"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iOS"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15", "Safari on macOS"),
        ("curl/8.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_browser_name_is_read_from_the_user_agent(user_agent: str, name: str) -> None:
    assert sessions.browser_name(user_agent) == name


def test_api_response_does_not_vary_by_cookie(home: object, client: Client) -> None:
    response = client.get("/v1/usage", headers={"Authorization": f"Bearer {home.plaintext}"})  # type: ignore[attr-defined]
    assert response.status_code == 200
    assert "Cookie" not in response.get("Vary", "")
