from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.cast import head
from tests.website_scan.net.loopback import NETWORKS
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.page.fetch import fetch_page, page_references, parse_document
from website_scan.performance.evidence import Protocols
from website_scan.performance.probes.protocols import protocols
from website_scan.performance.probes.resources import resources
from website_scan.performance.probes.timing import timing


def alpn_site(*names: str) -> Iterator[Site]:
    def tune(context: ssl.SSLContext) -> None:
        if names:
            context.set_alpn_protocols(list(names))

    with Site(certificate=Certificate.VALID, tune=tune) as site:
        yield site


@pytest.fixture
def old_site() -> Iterator[Site]:
    yield from alpn_site()


@pytest.fixture
def new_site() -> Iterator[Site]:
    yield from alpn_site("h2", "http/1.1")


def probe_protocols(
    site: Site, count: int, headers: dict[str, str] | None = None, *, is_gone: bool = False
) -> Protocols:
    """Return the protocols of a site with `count` images.

    With `is_gone`, the site shuts down before the handshakes.
    """
    site.routes["/"] = Answer(head("", "".join(f"<img src=/{number}.png>" for number in range(count))))
    site.routes["*"] = Answer(b"PNG", headers={"Content-Type": "image/png"} | (headers or {}))
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
    with Network(policy) as network:
        page = fetch_page(parse_target(site.url, policy), network)
        page_resources = resources(page, page_references(parse_document(page)), timing(page, network), network)
        assert [resource.status for resource in page_resources.items] == [200] * count
        if is_gone:
            site.__exit__()
        return protocols(page, page_resources, network)


def test_origin_with_six_files_is_probed(old_site: Site) -> None:
    (origin,) = probe_protocols(old_site, 6).origins
    assert (origin.origin, origin.static_requests, origin.alpn, origin.is_multiplexed) == (
        old_site.url,
        6,
        "http/1.1",
        False,
    )


def test_origin_with_few_files_is_not_probed(old_site: Site) -> None:
    before = old_site.connections
    assert probe_protocols(old_site, 5).origins == ()
    assert old_site.connections - before <= 6  # The page uses one connection, and its images use five.


def test_closed_connections_cause_a_probe(old_site: Site) -> None:
    (origin,) = probe_protocols(old_site, 2, {"Connection": "close"}).origins
    assert (origin.static_requests, origin.alpn) == (2, "http/1.1")


def test_alt_svc_header_offers_http_3(old_site: Site) -> None:
    (origin,) = probe_protocols(old_site, 6, {"Alt-Svc": 'h3=":443"; ma=86400'}).origins
    assert origin.h3
    assert origin.is_multiplexed


def test_http_origin_is_never_probed() -> None:
    with Site() as site:
        assert probe_protocols(site, 9, {"Connection": "close"}).origins == ()


def test_probe_needs_a_successful_handshake(old_site: Site) -> None:
    with pytest.raises(NetError):
        probe_protocols(old_site, 6, is_gone=True)


def test_server_with_http_2_chooses_h2(new_site: Site) -> None:
    (origin,) = probe_protocols(new_site, 6).origins
    assert (origin.alpn, origin.is_multiplexed) == ("h2", True)
