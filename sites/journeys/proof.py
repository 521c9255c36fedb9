"""Proof that an organization controls the site on which its journey acts.

The site publishes the token of the journey as a DNS record, as a file, or as a meta element of its start page. All
answers come from strangers, so requests have small limits, and only the token itself is compared.
"""

from __future__ import annotations

import functools
import hmac
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from django.conf import settings
from django.utils import timezone
from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from sites.journeys.login_hosts import is_login_host
from sites.models import Journey
from website_scan.errors import Refusal
from website_scan.ids import random_base62
from website_scan.messages import excerpt
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl
from website_scan.page.bounded_parser import MAX_UNTRIED_BYTES, limit_markup
from website_scan.page.registrable_domain import site_of
from website_scan.urls import DEFAULT_PORTS, Url

NAME = "website-scan"
FILE_PATH = "/.well-known/website-scan.txt"
TOKEN_CHARACTERS = 32
MAX_FILE_BYTES = 4 * 1024
# Small enough to be parsed in this process.
MAX_PAGE_BYTES = MAX_UNTRIED_BYTES
MAX_RECORDS = MAX_LINES = MAX_META_ELEMENTS = 50
REQUEST_TIMEOUT_S = 3.0
TIME_LIMIT_S = 8.0
LIMITS = Limits(connect_s=2.0, first_byte_s=3.0, total_s=REQUEST_TIMEOUT_S, requests=20, redirects=3)


class ControlNotProven(Refusal):
    """Raised for a run of a journey on a site that the organization does not control, as far as it has shown."""

    code = "JOURNEY_NOT_PROVEN"
    status = 409


class Proof(Struct, frozen=True):
    """Proof of control that the site publishes now.

    `scope` is a host, which includes the hosts below it, with a port if only that port is proven.
    """

    method: Journey.Proof
    scope: str


class ProofCheck(Struct, frozen=True):
    """Result of looking for proofs. `problems` are sentences, one for each method without success.

    If `is_certain` is False, no proof was found, but some server did not answer.
    """

    proof: Proof | None
    problems: tuple[str, ...] = ()
    is_certain: bool = True


def new_token() -> str:
    """Return a new token, which nobody can guess."""
    return random_base62(TOKEN_CHARACTERS)


def dns_value(token: str) -> str:
    """Return the text of the DNS record that proves control."""
    return f"{NAME}={token}"


def proof_network(policy: Policy) -> Network:
    """Return network access for one check, with small limits."""
    return Network(policy, limits=LIMITS, time_limit_s=TIME_LIMIT_S)


def is_proven(journey: Journey, network: Network) -> bool:
    """Check now whether the organization controls the hosts of the journey, and store the result."""
    return check_control(journey, network).proof is not None


def check_control(journey: Journey, network: Network) -> ProofCheck:
    """Look for the proofs of control over all hosts of the journey, and store the result.

    A stored proof stays if servers did not answer. Never raises for anything that the site does.
    """
    check = _find_proof(journey.start_url, journey.proof_token, network)
    if check.proof is not None:
        for host in journey.identity_providers:
            if is_login_host(host) or _is_below(host, check.proof.scope):
                continue
            provider_check = _find_proof(f"https://{host}/", journey.proof_token, network)
            if provider_check.proof is None:
                problems = tuple(f"Place of log-in {host}: {problem}" for problem in provider_check.problems)
                check = ProofCheck(None, problems, provider_check.is_certain)
                break
    _store(journey, check)
    return check


def allowed_addresses(journey: Journey) -> Callable[[str], bool]:
    """Return a function that decides whether the journey may act on an address.

    Allowed are the hosts whose control has been proven, and the journey's places of log-in. If the start is encrypted,
    all addresses have to be.
    """
    scope, providers = journey.proven_scope, frozenset(journey.identity_providers)
    is_encrypted = Url.of(journey.start_url).scheme == "https"

    def is_allowed(address: str) -> bool:
        url = Url.parse(address)
        if url is None or not url.is_http or (is_encrypted and url.scheme != "https"):
            return False
        return is_in_scope(url, scope) or url.host in providers

    return is_allowed


def is_in_scope(url: Url, scope: str) -> bool:
    """Return True if control over the URL's host and port has been proven."""
    if not scope:
        return False
    of_scope = Url.of(f"{url.scheme}://{scope}/")
    has_port = scope != of_scope.hostname
    return _is_below(url.host, of_scope.host) and (not has_port or url.port == of_scope.port)


def _is_below(host: str, ancestor: str) -> bool:
    return host == ancestor or host.endswith(f".{ancestor}")


def _store(journey: Journey, check: ProofCheck) -> None:
    """Store the result, unless the journey or its site has changed meanwhile."""
    if check.proof is not None:
        journey.proof_method, journey.proven_scope = check.proof.method, check.proof.scope
        journey.proven_at = timezone.now()
    elif check.is_certain:
        journey.proof_method, journey.proven_scope, journey.proven_at = "", "", None
    else:
        return
    columns = {name: getattr(journey, name) for name in ("proof_method", "proven_scope", "proven_at")}
    unchanged = Journey.objects.filter(
        id=journey.id,
        start_url=journey.start_url,
        proof_token=journey.proof_token,
        identity_providers=journey.identity_providers,
    )
    unchanged.update(**columns)


def _find_proof(address: str, token: str, network: Network) -> ProofCheck:
    """Look for one proof of control over an address. The widest scope is tried first."""
    url = Url.of(address)
    problems: list[str] = []
    is_certain = True
    for look in _looks(url, token, network):
        try:
            result = look()
        except (Blocked, InvalidUrl) as error:
            problems.append(str(error))
        except Refusal as error:
            is_certain = False
            problems.append(str(error))
        else:
            if isinstance(result, Proof):
                return ProofCheck(result)
            problems.append(result)
    return ProofCheck(None, tuple(dict.fromkeys(problem for problem in problems if problem)), is_certain)


def _looks(url: Url, token: str, network: Network) -> Iterator[Callable[[], Proof | str]]:
    """Yield functions that return a proof, or a sentence that says why there is none."""
    site = site_of(url.host)
    has_name = not _is_ip_address(url.host)
    yield functools.partial(_exemption, url, network)
    for host in dict.fromkeys((site, url.host)) if has_name else ():
        yield functools.partial(_dns_record, host, token, network)
    origins = [url]
    if has_name and site != url.host and url.port == DEFAULT_PORTS[url.scheme]:
        origins.insert(0, url.with_host(site))
    for origin in origins:
        yield functools.partial(_file, origin, token, network)
        yield functools.partial(_meta_element, origin, token, network)


def _exemption(url: Url, network: Network) -> Proof | str:
    """Return a proof if the operator has exempted all addresses of the host."""
    if not settings.SCAN_JOURNEY_NETWORKS:
        return ""
    assert url.port is not None
    addresses = [ip_address(address) for address in network.addresses(url.host, url.port)]
    exempted = [
        exemption[0] if isinstance(exemption, tuple) else exemption
        for exemption in settings.SCAN_JOURNEY_NETWORKS
        if not isinstance(exemption, tuple) or exemption[1] == url.port
    ]
    if addresses and all(any(address in one for one in exempted) for address in addresses):
        return Proof(Journey.Proof.EXEMPT, f"{url.hostname}:{url.port}")
    return ""


def _dns_record(host: str, token: str, network: Network) -> Proof | str:
    expected = dns_value(token)
    if any(_is_equal(record, expected) for record in network.records(host, "TXT").records[:MAX_RECORDS]):
        return Proof(Journey.Proof.DNS, host)
    return f"The DNS records of {host} do not contain the token."


def _file(origin: Url, token: str, network: Network) -> Proof | str:
    address = f"{origin.origin}{FILE_PATH}"
    response = _fetch(origin, address, MAX_FILE_BYTES, network)
    if isinstance(response, str):
        return response
    lines = response.body[:MAX_FILE_BYTES].decode("utf-8", "replace").splitlines()[:MAX_LINES]
    if any(_is_equal(line, token) or _is_equal(line, dns_value(token)) for line in lines):
        return Proof(Journey.Proof.FILE, _scope_of(origin))
    return f"{address} does not contain the token."


def _meta_element(origin: Url, token: str, network: Network) -> Proof | str:
    """Look for the element in the start page of the host, because others may write pages below it."""
    address = f"{origin.origin}/"
    response = _fetch(origin, address, MAX_PAGE_BYTES, network)
    if isinstance(response, str):
        return response
    markup = response.body[:MAX_PAGE_BYTES].decode("utf-8", "replace")
    tree = LexborHTMLParser(limit_markup(markup), scripting=True)
    # Others may also write comments and articles, so the element has to be in the head.
    elements = tree.css(f'head > meta[name="{NAME}" i][content]')[:MAX_META_ELEMENTS]
    if any(_is_equal(element.attributes.get("content") or "", token) for element in elements):
        return Proof(Journey.Proof.META, _scope_of(origin))
    return f"{address} has no meta element with the token."


def _fetch(origin: Url, address: str, max_bytes: int, network: Network) -> Response | str:
    """Return the response with the content, or a sentence. Redirects to other hosts prove nothing."""
    hops = network.follow(Request(address, max_bytes=max_bytes, timeout_s=REQUEST_TIMEOUT_S))
    for hop in hops:
        url = Url.of(hop.url)
        is_same_host = _without_www(url.host) == _without_www(origin.host)
        is_usual_port = url.port in (origin.port, DEFAULT_PORTS[url.scheme])
        if not is_same_host or not is_usual_port or (origin.scheme == "https" and url.scheme != "https"):
            return f"{address} redirects to {excerpt(url.origin, 100)}, which proves nothing."
    if hops[-1].status != 200:
        return f"{address} was answered with status {hops[-1].status}."
    return hops[-1]


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _scope_of(origin: Url) -> str:
    """Return what a server on this port proves. Who serves the usual ports serves the host."""
    return origin.hostname if origin.port == DEFAULT_PORTS[origin.scheme] else f"{origin.hostname}:{origin.port}"


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_equal(text: str, expected: str) -> bool:
    return hmac.compare_digest(text.strip().encode("utf-8", "replace"), expected.encode())
