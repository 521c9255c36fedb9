"""Credentials for pages that require them.

They are headers, basic authentication and cookies. Their values are secrets of users, and appear in no `repr`, message
or log.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from website_scan.errors import Refusal
from website_scan.records import repr_without

MAX_HEADERS_AND_COOKIES = 20
MAX_VALUE_BYTES = 4 * 1024
MAX_TOTAL_BYTES = 16 * 1024

FIELDS = ("headers", "basic_auth", "cookies")
# Users may not set headers that control the connection, or turn a GET into a change.
FORBIDDEN = frozenset(
    {
        *("host", "content-length", "connection", "transfer-encoding", "upgrade", "te", "trailer", "keep-alive"),
        *("expect", "accept-encoding", "range", "user-agent", "origin"),
        *("x-http-method-override", "x-http-method", "x-method-override"),
    }
)
FORBIDDEN_PREFIXES = ("proxy-", "sec-", "if-", "access-control-request-")
# Browsers accept these cookie prefixes over https only (RFC 6265bis, section 4.1.3).
SECURE_PREFIXES = ("__secure-", "__host-")

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # A token by RFC 9110, section 5.6.2.
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_COOKIE_VALUE = re.compile(r'"?([!#-+\--:<-\[\]-~]*)"?')  # A cookie value by RFC 6265, section 4.1.1.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class InvalidRequestField(Refusal):
    """Raised for invalid credentials in the field `request`.

    The message names the invalid part, but never a value.
    """

    code = "INVALID_REQUEST_FIELD"
    status = 400


class Credentials(Struct, frozen=True):
    """Credentials of a scan.

    Headers and cookies are pairs of name and value. `basic_auth` is a pair of user name and password.
    """

    headers: tuple[tuple[str, str], ...] = ()
    basic_auth: tuple[str, str] | None = None
    cookies: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return repr_without(self, "headers", "basic_auth", "cookies")

    @property
    def names(self) -> dict[str, Any]:
        """Return the names in the credentials without secret values.

        `{"headers": [names], "basic_auth": bool, "cookies": [names]}`.
        """
        return {
            "headers": [name for name, _ in self.headers],
            "basic_auth": self.basic_auth is not None,
            "cookies": [name for name, _ in self.cookies],
        }

    @property
    def request(self) -> dict[str, Any]:
        """Return the credentials as a JSON object without empty members.

        `parse` accepts the object.
        """
        request: dict[str, Any] = {}
        if self.headers:
            request["headers"] = dict(self.headers)
        if self.basic_auth is not None:
            request["basic_auth"] = dict(zip(("username", "password"), self.basic_auth, strict=True))
        if self.cookies:
            request["cookies"] = dict(self.cookies)
        return request

    @property
    def authorization(self) -> str | None:
        """Return the Authorization header for basic authentication.

        RFC 7617.
        """
        if self.basic_auth is None:
            return None
        return "Basic " + b64encode(":".join(self.basic_auth).encode()).decode()


class OriginCredentials(Struct, frozen=True):
    """Credentials with the only origin that may receive them.

    The origin is `https://host[:port]`.
    """

    origin: str
    credentials: Credentials

    def __repr__(self) -> str:
        return repr_without(self, "credentials")

    def cookies_for(self, origin: str) -> tuple[tuple[str, str], ...]:
        """Return the cookies that a browser would send to an origin.

        Empty if the credentials are for another origin.
        """
        is_https = origin.startswith("https://")
        return tuple(
            (name, value)
            for name, value in self.credentials.cookies
            if origin == self.origin and (is_https or not name.lower().startswith(SECURE_PREFIXES))
        )

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers for all requests to the origin, without cookies."""
        authorization = self.credentials.authorization
        return dict(self.credentials.headers) | ({"Authorization": authorization} if authorization else {})

    def add_to_headers(self, headers: Mapping[str, str], origin: str) -> Mapping[str, str]:
        """Return a request's headers with the credentials for its origin.

        Unchanged if the credentials are for another origin. A cookie that the site has set during the scan replaces the
        cookie of the same name in the credentials.
        """
        if origin != self.origin:
            return headers
        site_cookies = next((value for name, value in headers.items() if name.lower() == "cookie"), "")
        site_cookie_names = {pair.partition("=")[0].strip() for pair in site_cookies.split(";")}
        cookies = [f"{name}={value}" for name, value in self.cookies_for(origin) if name not in site_cookie_names]
        added = self.headers
        if pairs := [*filter(None, (site_cookies,)), *cookies]:
            added["Cookie"] = "; ".join(pairs)
        replaced = {name.lower() for name in added}
        return {name: value for name, value in headers.items() if name.lower() not in replaced} | added


def parse(value: object) -> Credentials | None:
    """Parse the credentials in the field `request`.

    Scans, audits and monitors have this field. None if absent, null or empty. Raises `InvalidRequestField`.
    """
    members = _parse_object("request", value)
    if unknown := members.keys() - set(FIELDS):
        raise InvalidRequestField(f"request may have {', '.join(FIELDS)}, and nothing else: {len(unknown)} more found.")
    credentials = Credentials(
        headers=tuple(_parse_headers(members.get("headers"))),
        basic_auth=_parse_basic_auth(members.get("basic_auth")),
        cookies=tuple(_parse_cookies(members.get("cookies"))),
    )
    if credentials.basic_auth is not None and any(name.lower() == "authorization" for name, _ in credentials.headers):
        raise InvalidRequestField("request.headers: Authorization cannot be combined with request.basic_auth.")
    pairs = [*credentials.headers, *credentials.cookies, *filter(None, (credentials.basic_auth,))]
    if len(pairs) > MAX_HEADERS_AND_COOKIES:
        raise InvalidRequestField(f"request may have at most {MAX_HEADERS_AND_COOKIES} headers and cookies in all.")
    if sum(_byte_length(name) + _byte_length(value) for name, value in pairs) > MAX_TOTAL_BYTES:
        raise InvalidRequestField(f"request may have at most {MAX_TOTAL_BYTES // 1024} KiB in all.")
    return credentials if pairs else None


def _parse_headers(value: object) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    for name, text in _parse_pairs("request.headers", value):
        lower = name.lower()
        if lower == "cookie":
            raise InvalidRequestField("request.headers: use request.cookies instead of the header Cookie.")
        if lower in FORBIDDEN or lower.startswith(FORBIDDEN_PREFIXES):
            raise InvalidRequestField(f"request.headers: {name} cannot be set.")
        if lower in names:
            raise InvalidRequestField(f"request.headers: {name} appears twice.")
        names.add(lower)
        if not _HEADER_VALUE.fullmatch(text):
            raise InvalidRequestField(
                f"request.headers: the value of {name} must be printable ASCII without spaces around it, and not empty."
            )
        yield name, text


def _parse_cookies(value: object) -> Iterator[tuple[str, str]]:
    for name, text in _parse_pairs("request.cookies", value):
        if not _COOKIE_VALUE.fullmatch(text) or text.count('"') not in (0, 2):
            raise InvalidRequestField(
                f"request.cookies: the value of {name} must be printable ASCII without spaces, quotes, commas, "
                "semicolons and backslashes."
            )
        yield name, text


def _parse_basic_auth(value: object) -> tuple[str, str] | None:
    if value is None:
        return None
    members = _parse_object("request.basic_auth", value)
    username, password = members.get("username"), members.get("password")
    if members.keys() != {"username", "password"} or not isinstance(username, str) or not isinstance(password, str):
        raise InvalidRequestField("request.basic_auth must have username and password, both strings.")
    if ":" in username:
        raise InvalidRequestField("request.basic_auth: username must not contain a colon.")
    if _CONTROL.search(username + password):
        raise InvalidRequestField("request.basic_auth must not contain control characters.")
    if not username and not password:
        raise InvalidRequestField("request.basic_auth needs a username or a password.")
    if _byte_length(username) + _byte_length(password) > MAX_VALUE_BYTES:
        raise InvalidRequestField(f"request.basic_auth may have at most {MAX_VALUE_BYTES // 1024} KiB.")
    return username, password


def _parse_pairs(field: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a JSON object's members.

    Names must be tokens, and values must be strings of limited size.
    """
    for name, text in _parse_object(field, value).items():
        if not _TOKEN.fullmatch(name):
            # The message does not contain the name, which may be a misplaced secret value.
            raise InvalidRequestField(f"{field}: a name has other characters than letters, digits and !#$%&'*+-.^_`|~.")
        if not isinstance(text, str):
            raise InvalidRequestField(f"{field}: the value of {name[:100]} must be a string.")
        if _byte_length(name) + _byte_length(text) > MAX_VALUE_BYTES:
            raise InvalidRequestField(f"{field}: {name[:100]} is longer than {MAX_VALUE_BYTES // 1024} KiB.")
        yield name, text


def _parse_object(field: str, value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidRequestField(f"{field} must be a JSON object.")
    return value


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
