"""Tests for validating and sending credentials."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, InvalidRequestField, OriginCredentials, parse
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy

SECRET = "s3cret-value"
GIVEN = Credentials(headers=(("X-Key", SECRET),), basic_auth=("user", "pass:word"), cookies=(("sid", "a"), ("b", "c")))
BASIC = "Basic dXNlcjpwYXNzOndvcmQ="
CREDENTIAL_HEADERS = ("X-Key", "Authorization", "Cookie")


@pytest.mark.parametrize(
    "request_",
    [
        {"headers": {"X-Key": "a b"}, "cookies": {"sid": ""}},
        {"headers": {"Authorization": "Bearer x"}},
        {"headers": {"Accept-Language": "de"}},
        {"cookies": {"__Host-sid": '"quoted"'}},
        {"basic_auth": {"username": "ü", "password": ""}},
        {"headers": {f"X-{number}": "v" for number in range(20)}},
    ],
)
def test_parsed_credentials_round_trip(request_: dict[str, Any]) -> None:
    credentials = parse(request_)
    assert credentials is not None
    assert credentials.request == request_
    assert parse(credentials.request) == credentials


def headers(count: int, total_bytes: int) -> dict[str, str]:
    """Return headers with this number of bytes.

    The names count, too.
    """
    names = [f"X-{number:02}" for number in range(count)]
    return {name: "v" * (total_bytes // count - len(name)) for name in names}


@pytest.mark.parametrize(
    ("accepted", "refused", "reason"),
    [
        ({"headers": {"X": "v" * 4095}}, {"headers": {"X": "v" * 4096}}, "request.headers: X is longer than 4 KiB."),
        (
            {"basic_auth": {"username": "u" * 4000, "password": "p" * 96}},
            {"basic_auth": {"username": "u" * 4000, "password": "p" * 97}},
            "request.basic_auth may have at most 4 KiB.",
        ),
        (
            {"headers": headers(4, 16 * 1024)},
            {"headers": headers(4, 16 * 1024), "cookies": {"a": ""}},
            "request may have at most 16 KiB in all.",
        ),
        (
            {"headers": headers(19, 190), "cookies": {"a": ""}},
            {"headers": headers(20, 200), "cookies": {"a": ""}},
            "request may have at most 20 headers and cookies in all.",
        ),
        (
            {"headers": {"X-A": "1"}, "basic_auth": {"username": "u", "password": ""}},
            {"headers": {"AUTHORIZATION": "1"}, "basic_auth": {"username": "u", "password": ""}},
            "request.headers: Authorization cannot be combined with request.basic_auth.",
        ),
        (
            {"headers": {"X-Cookie": "1"}},
            {"headers": {"COOKIE": "1"}},
            "request.headers: use request.cookies instead of the header Cookie.",
        ),
        ({"headers": {"X-Host": "1"}}, {"headers": {"HOST": "1"}}, "request.headers: HOST cannot be set."),
        ({"headers": {"X-Sec": "1"}}, {"headers": {"Sec-X": "1"}}, "request.headers: Sec-X cannot be set."),
        (
            {"headers": {"X-A": "1", "X-B": "1"}},
            {"headers": {"X-A": "1", "x-a": "1"}},
            "request.headers: x-a appears twice.",
        ),
        (
            {"basic_auth": {"username": "", "password": ":"}},
            {"basic_auth": {"username": ":", "password": ""}},
            "request.basic_auth: username must not contain a colon.",
        ),
        (
            {"basic_auth": {"username": "", "password": "p"}},
            {"basic_auth": {"username": "", "password": ""}},
            "request.basic_auth needs a username or a password.",
        ),
        (
            {"basic_auth": {"username": "ü", "password": "p"}},
            {"basic_auth": {"username": "u", "password": "p\n"}},
            "request.basic_auth must not contain control characters.",
        ),
        (
            {"cookies": {"a": '"1"'}},
            {"cookies": {"a": '"1'}},
            "request.cookies: the value of a must be printable ASCII without spaces, quotes, commas, "
            "semicolons and backslashes.",
        ),
        (
            {"headers": {"X-A": "a b"}},
            {"headers": {"X-A": "a "}},
            "request.headers: the value of X-A must be printable ASCII without spaces around it, and not empty.",
        ),
        (
            {"headers": {"X-A": "1"}},
            {"headers": {"a secret": "1"}},
            "request.headers: a name has other characters than letters, digits and !#$%&'*+-.^_`|~.",
        ),
        ({"cookies": {"a": "1"}}, {"cookies": {"a": 1}}, "request.cookies: the value of a must be a string."),
        ({"headers": {}}, {"headers": []}, "request.headers must be a JSON object."),
        ({"basic_auth": None}, {"basic_auth": []}, "request.basic_auth must be a JSON object."),
        ({}, [], "request must be a JSON object."),
        (
            {"headers": {"X-A": "1"}},
            {"header": {}, "b": 1},
            "request may have headers, basic_auth, cookies, and nothing else: 2 more found.",
        ),
        (
            {"basic_auth": {"username": "u", "password": "p"}},
            {"basic_auth": {"username": "u", "password": "p", "realm": "r"}},
            "request.basic_auth must have username and password, both strings.",
        ),
    ],
)
def test_refusal_names_the_faulty_part(accepted: object, refused: object, reason: str) -> None:
    parse(accepted)
    with pytest.raises(InvalidRequestField) as refusal:
        parse(refused)
    assert str(refusal.value) == reason


def test_site_cookies_replace_user_cookies() -> None:
    credentials = OriginCredentials("https://example.com", GIVEN)
    assert credentials.add_to_headers({"cookie": "b=1=2;sid=new"}, "https://example.com")["Cookie"] == "b=1=2;sid=new"
    assert credentials.add_to_headers({"Cookie": "sid=new"}, "https://example.com")["Cookie"] == "sid=new; b=c"


@pytest.mark.parametrize("nothing", [None, {}, {"headers": {}}, {"cookies": None, "basic_auth": None}])
def test_empty_credentials_are_None(nothing: object) -> None:
    assert parse(nothing) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.dictionaries(
            st.sampled_from(["headers", "cookies", "basic_auth", "username", "password"]) | st.text(), inner
        ),
    )
)
def test_arbitrary_credentials_are_parsed_or_refused(value: object) -> None:
    try:
        credentials = parse(value)
    except InvalidRequestField:
        return
    assert credentials is None or parse(credentials.request) == credentials


def test_credentials_have_no_values_in_repr() -> None:
    assert SECRET not in repr(GIVEN) + repr(OriginCredentials("https://x", GIVEN))


def network(site: Site, **options: Any) -> Network:
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file if options.pop("trusts", True) else None)
    return Network(policy, credentials=OriginCredentials(options.pop("origin", site.url), GIVEN))


def sent_credentials(site: Site) -> list[tuple[str | None, ...]]:
    return [tuple(request.header(name) for name in CREDENTIAL_HEADERS) for request in site.requests]


ALL, NONE = (SECRET, BASIC, "sid=a; b=c"), (None, None, None)


def test_hops_send_credentials_only_to_their_origin() -> None:
    with Site() as site, Site() as other, network(site) as out:
        site.routes |= {"/": Answer.redirect("/in"), "/in": Answer.redirect(f"{other.url}/"), "/back": Answer("end")}
        other.routes["/"] = Answer.redirect(f"{site.url}/back")
        out.follow(Request(f"{site.url}/", with_credentials=True))
        assert sent_credentials(site) == [ALL, ALL, ALL]
        assert sent_credentials(other) == [NONE]
        # Another host name for the same address is a different origin.
        out.fetch(Request(site.url_as("localhost"), with_credentials=True))
        assert sent_credentials(site)[-1] == NONE


def test_request_without_credentials_sends_none() -> None:
    with Site() as site, network(site) as out:
        out.follow(f"{site.url}/")
        out.fetch(Request(f"{site.url}/", headers={"Cookie": "own=1"}))
        assert sent_credentials(site) == [NONE, (None, None, "own=1")]


def test_redirect_cookie_replaces_the_user_cookie() -> None:
    with Site() as site, network(site) as out:
        site.routes["/"] = Answer.redirect("/in", Set_Cookie="sid=new")
        out.follow(Request(f"{site.url}/", with_credentials=True))
        assert [request.header("Cookie") for request in site.requests] == ["sid=a; b=c", "sid=new; b=c"]


def test_user_headers_replace_scan_headers() -> None:
    own = OriginCredentials("https://x", Credentials(headers=(("accept-language", "de"),)))
    assert own.add_to_headers({"Accept-Language": "en", "Accept": "*/*"}, "https://x") == {
        "Accept": "*/*",
        "accept-language": "de",
    }


@pytest.mark.parametrize("trusts", [True, False])
def test_untrusted_site_gets_no_credentials(trusts: bool) -> None:
    with Site({"*": Answer("page")}, certificate=Certificate.VALID) as site, network(site, trusts=trusts) as out:
        for _ in range(2):
            out.fetch(Request(f"{site.url}/", verify=False, with_credentials=True))
        assert sent_credentials(site) == [ALL if trusts else NONE] * 2


def test_secure_cookies_are_not_sent_over_HTTP() -> None:
    credentials = Credentials(cookies=(("__Host-a", "1"), ("__Secure-b", "2"), ("c", "3")))
    assert OriginCredentials("http://x", credentials).cookies_for("http://x") == (("c", "3"),)
    assert OriginCredentials("https://x", credentials).cookies_for("https://x") == credentials.cookies
    assert OriginCredentials("http://x", credentials).cookies_for("https://x") == ()
