"""Tests for client addresses behind reverse proxies."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
import pytest_django
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from accounts.pages import login
from infrastructure import environment
from infrastructure.web.proxies import TrustedProxyMiddleware, header_problem

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


def client_address(peer: str, forwarded: str | None) -> str:
    """Return the REMOTE_ADDR that the middleware passes to a view."""

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(request.META["REMOTE_ADDR"])

    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = RequestFactory().get("/", headers=headers, REMOTE_ADDR=peer)
    return TrustedProxyMiddleware(view)(request).content.decode()


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        # In these test cases, there are two trusted proxies.
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),
        # Entries sent by the client itself come first and are ignored.
        ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.9, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.9, 203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        # The header of an untrusted peer is ignored.
        ("198.51.100.7", "203.0.113.9", "198.51.100.7"),
        ("198.51.100.7", "10.0.0.1", "198.51.100.7"),
        # The last valid address replaces an invalid entry.
        ("10.0.0.1", "unknown", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, <script>", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
        ("", "203.0.113.9", ""),
        # All addresses in the header are trusted.
        ("10.0.0.1", "10.0.0.5", "10.0.0.5"),
        # The same address has several notations.
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", "198.51.100.7:4711", "198.51.100.7"),
        ("10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9," * 10_000 + "198.51.100.7", "198.51.100.7"),
    ],
)
def test_trusted_networks_select_the_client_address(
    settings: pytest_django.Settings, peer: str, forwarded: str | None, client: str
) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    assert client_address(peer, forwarded) == client


@pytest.mark.parametrize(
    ("hops", "forwarded", "client"),
    [
        (1, "198.51.100.7", "198.51.100.7"),
        (1, "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        (2, "203.0.113.9, 198.51.100.7, 192.0.2.1", "198.51.100.7"),
        # A header with too few entries means that the request bypassed a proxy.
        (2, "198.51.100.7", "10.0.0.1"),
        (1, None, "10.0.0.1"),
        (1, "203.0.113.9, unknown", "10.0.0.1"),
        (40, "203.0.113.9, " * 60 + "198.51.100.7", "10.0.0.1"),
    ],
)
def test_number_of_proxies_selects_the_address(
    settings: pytest_django.Settings, hops: int, forwarded: str | None, client: str
) -> None:
    settings.TRUSTED_PROXIES = hops
    assert client_address("10.0.0.1", forwarded) == client


def test_X_Forwarded_For_is_ignored_by_default() -> None:
    assert client_address("127.0.0.1", "198.51.100.7") == "127.0.0.1"


@pytest.mark.parametrize(
    ("raw", "value"),
    [("1", 1), ("10.0.0.0/8, fd00::/8", PROXIES), ("10.0.0.1", (ip_network("10.0.0.1/32"),))],
)
def test_TRUSTED_PROXIES_accepts_networks(raw: str, value: object) -> None:
    assert environment.trusted_proxies(raw) == value


@pytest.mark.parametrize("raw", ["0", "10.0.0.1/8", "proxy", "-1", "1,2.3.4.5/99"])
def test_invalid_TRUSTED_PROXIES_raises_ValueError(raw: str) -> None:
    with pytest.raises(ValueError):
        environment.trusted_proxies(raw)


def test_login_limit_counts_the_client_address(
    db: None, settings: pytest_django.Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    monkeypatch.setattr(login, "MAX_ATTEMPTS_PER_ADDRESS", 1)

    def status(number: int, forwarded: str) -> int:
        form = {"login": f"nobody-{number}@people.test", "password": "wrong"}
        client = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": forwarded})
        return client.post("/login/", form).status_code

    assert status(1, "198.51.100.7") == 200
    assert status(2, "203.0.113.99, 198.51.100.7") == 429  # The entry that the client sent itself does not matter.
    assert status(3, "198.51.100.8") == 200


@pytest.mark.parametrize(
    ("trusted", "secure", "meta", "expected"),
    [
        ((), False, {"REMOTE_ADDR": "127.0.0.1"}, None),
        ((), False, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}, "TRUSTED_PROXIES=10.0.0.1"),
        # A client with a public address can send any header.
        ((), False, {"REMOTE_ADDR": "8.8.8.8", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}, None),
        (PROXIES, False, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}, None),
        (PROXIES, False, {"REMOTE_ADDR": "172.18.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}, "Add 172.18.0.1 to"),
        (2, False, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7, 10.0.0.2"}, None),
        (2, False, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "198.51.100.7"}, "has fewer entries"),
        (1, True, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_PROTO": "https"}, None),
        (1, True, {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_PROTO": "http"}, "without X-Forwarded-Proto: https"),
        (1, True, {"REMOTE_ADDR": "10.0.0.1"}, "without X-Forwarded-Proto: https"),
    ],
)  # fmt: skip
def test_header_problem_explains_its_remedy(
    settings: pytest_django.Settings, trusted: object, secure: bool, meta: dict[str, str], expected: str | None
) -> None:
    settings.TRUSTED_PROXIES, settings.SECURE = trusted, secure
    problem = header_problem(meta)
    assert problem is None if expected is None else expected in (problem or "")


def test_proxy_header_problem_is_logged_once(
    settings: pytest_django.Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.TRUSTED_PROXIES = ()
    middleware = TrustedProxyMiddleware(lambda request: HttpResponse())
    for peer, path in (("10.0.0.1", "/healthz"), ("10.0.0.1", "/"), ("10.0.0.2", "/"), ("10.0.0.1", "/")):
        middleware(RequestFactory().get(path, headers={"X-Forwarded-For": "8.8.8.8"}, REMOTE_ADDR=peer))
    assert caplog.text.count("TRUSTED_PROXIES is not set") == 1
