"""Compute the next request of a redirect chain.

It has only the permitted headers and cookies.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.net.errors import BadResponse, TooManyRedirects
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Headers that must not be sent to another origin after a redirect.
CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
# Headers that describe a body are dropped together with the body.
BODY_HEADERS = frozenset({"content-type", "content-length", "content-encoding", "content-language"})


def next_request(request: Request, response: Response) -> Request | None:
    """Return the request to the redirect's target, without cookies.

    None if the response is not a redirect.

    Raises BadResponse for an invalid location, Blocked for a forbidden one.
    """
    # An empty Location header is ignored, as in browsers.
    location = next(filter(None, response.headers.all("Location")), None)
    if response.status not in REDIRECTS or location is None:
        return None
    hop = replace(request, url=_redirect_target(request.target, location))
    # Only the statuses 307 and 308 preserve a POST (RFC 9110, sections 15.4.2 to 15.4.4).
    becomes_get = response.status == 303 and request.method != "HEAD"
    if becomes_get or (response.status in (301, 302) and request.method == "POST"):
        hop = replace(hop, method="GET", body=None, headers=_without_headers(request.headers, BODY_HEADERS))
    if hop.target.origin != request.target.origin:
        hop = replace(hop, headers=_without_headers(hop.headers, CREDENTIALS))
    return hop


def _redirect_target(page: Target, location: str) -> Target:
    try:
        # Python decodes headers as latin-1, but browsers decode the Location header as UTF-8.
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        pass
    try:
        return page.join(location)
    except InvalidUrl as error:
        raise BadResponse(f"The site redirects to an address that can't be used. {error}") from None


def _without_headers(headers: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}


def limit_referrer(request: Request) -> Request:
    """Reduce the Referer of a request to another origin.

    Only the origin of the Referer remains.

    Browsers do so by default (Referrer Policy, `strict-origin-when-cross-origin`), because a URL may contain secrets.
    """
    page = next((value for name, value in request.headers.items() if name.lower() == "referer"), None)
    if page is None or page.startswith(f"{request.target.origin}/"):
        return request
    headers = _without_headers(request.headers, frozenset({"referer"}))
    if not page.startswith("https:") or request.target.is_https:
        headers["Referer"] = "/".join([*page.split("/")[:3], ""])
    return replace(request, headers=headers)


class Trail(Struct):
    """Requests and cookies of a redirect chain so far.

    Some sites redirect to themselves until they receive their cookie. Cookies are sent only to the host that set them,
    Secure ones only over https, and are dropped with the chain.
    """

    _cookies: dict[str, dict[str, tuple[str, bool]]] = field(default_factory=dict)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)

    def add_cookies(self, hop: Request) -> Request:
        """Return the request with its cookies.

        Raises TooManyRedirects if the same request was sent before.
        """
        target = hop.target
        host_cookies = self._cookies.get(target.host, {})
        cookies = "; ".join(
            f"{name}={value}" for name, (value, is_secure) in host_cookies.items() if target.is_https or not is_secure
        )
        request_key = (hop.method, target.url, cookies)
        if request_key in self._seen:
            raise TooManyRedirects(f"The site redirects in a loop: {target.url} leads back to itself.")
        self._seen.add(request_key)
        if not cookies:
            return hop
        own = [value for name, value in hop.headers.items() if name.lower() == "cookie"]
        headers = _without_headers(hop.headers, frozenset({"cookie"})) | {"Cookie": "; ".join([*own, cookies])}
        return replace(hop, headers=headers)

    def store_cookies(self, hop: Request, response: Response) -> None:
        """Store and remove cookies as a response demands.

        This is a subset of RFC 6265.
        """
        jar = self._cookies.setdefault(hop.target.host, {})
        for line in response.headers.all("Set-Cookie"):
            pair, *attributes = (part.strip() for part in line.split(";"))
            name, _, value = (part.strip() for part in pair.partition("="))
            flags = {attribute.lower().replace(" ", "") for attribute in attributes}
            jar.pop(name, None)
            if name and not flags & {"max-age=0", "max-age=-1"}:
                jar[name] = (value, "secure" in flags)
