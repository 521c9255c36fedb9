"""Redirects, hop by hop: compute the next request, and the headers and cookies that it may carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from website_scan.net.errors import BadResponse, TooManyRedirects
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Headers that must not be sent to another origin after a redirect.
CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
# Headers that describe a body. They are dropped with the body.
OF_THE_BODY = frozenset({"content-type", "content-length", "content-encoding", "content-language"})


def following(request: Request, response: Response) -> Request | None:
    """Return the request that follows this response, without cookies; None if the response is final.

    Raises BadResponse for an invalid location, Blocked for a forbidden one.
    """
    # Browsers ignore an empty location.
    location = next(filter(None, response.headers.all("Location")), None)
    if response.status not in REDIRECTS or location is None:
        return None
    hop = replace(request, url=_target(request.target, location))
    # RFC 9110, sections 15.4.2 to 15.4.4: a POST becomes a GET, except by 307 and 308.
    turns_to_get = response.status == 303 and request.method != "HEAD"
    if turns_to_get or (response.status in (301, 302) and request.method == "POST"):
        hop = replace(hop, method="GET", body=None, headers=_without(request.headers, OF_THE_BODY))
    if hop.target.origin != request.target.origin:
        hop = replace(hop, headers=_without(hop.headers, CREDENTIALS))
    return hop


def _target(page: Target, location: str) -> Target:
    try:
        # Python decodes headers as latin-1; browsers decode them as UTF-8.
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        pass
    try:
        return page.join(location)
    except InvalidUrl as error:
        raise BadResponse(f"The site redirects to an address that can't be used. {error}") from None


def _without(headers: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}


def with_referrer(request: Request) -> Request:
    """Return the request with the Referer that its target may get. For another origin it is reduced to the origin.

    Browsers do so by default (Referrer Policy, `strict-origin-when-cross-origin`), because a URL may contain secrets.
    """
    page = next((value for name, value in request.headers.items() if name.lower() == "referer"), None)
    if page is None or page.startswith(f"{request.target.origin}/"):
        return request
    headers = _without(request.headers, frozenset({"referer"}))
    if not page.startswith("https:") or request.target.is_https:
        headers["Referer"] = "/".join([*page.split("/")[:3], ""])
    return replace(request, headers=headers)


@dataclass(slots=True)
class Trail:
    """History of a chain of redirects: requests made so far, and cookies received.

    Some sites redirect to themselves until their cookie comes back. Cookies are sent only to the host that set them,
    Secure ones only over https, and are dropped with the chain.
    """

    _cookies: dict[str, dict[str, tuple[str, bool]]] = field(default_factory=dict)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)

    def with_cookies(self, hop: Request) -> Request:
        """Return the request with its cookies. Raises TooManyRedirects if the same request was made before."""
        target = hop.target
        kept = self._cookies.get(target.host, {})
        cookies = "; ".join(
            f"{name}={value}" for name, (value, is_secure) in kept.items() if target.is_https or not is_secure
        )
        place = (hop.method, target.url, cookies)
        if place in self._seen:
            raise TooManyRedirects(f"The site redirects in a loop: {target.url} leads back to itself.")
        self._seen.add(place)
        if not cookies:
            return hop
        own = [value for name, value in hop.headers.items() if name.lower() == "cookie"]
        headers = _without(hop.headers, frozenset({"cookie"})) | {"Cookie": "; ".join([*own, cookies])}
        return replace(hop, headers=headers)

    def keep_cookies(self, hop: Request, response: Response) -> None:
        """Store the cookies that a hop sets, drop those it deletes (RFC 6265, as far as a chain needs it)."""
        jar = self._cookies.setdefault(hop.target.host, {})
        for line in response.headers.all("Set-Cookie"):
            pair, *attributes = (part.strip() for part in line.split(";"))
            name, _, value = (part.strip() for part in pair.partition("="))
            flags = {attribute.lower().replace(" ", "") for attribute in attributes}
            jar.pop(name, None)
            if name and not flags & {"max-age=0", "max-age=-1"}:
                jar[name] = (value, "secure" in flags)
