"""Test that nothing reaches the canary, a forbidden server.

The site is on 127.0.0.1, which is exempted; the canary is on 127.0.0.2, which is not, on the same port, and that port
is allowed. The service's own resolver resolves names, through a name server on loopback.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from pathlib import Path

import pytest
import pytest_django
from msgspec import Struct

from scans.models import Scan
from scans.tasks import run_scan
from tests.factories import Member, attempt_deliveries, finished_scan
from tests.targets.canary import Canary
from tests.targets.lures import LIVE, lure_routes, redirecting_files
from tests.targets.name_server import hosts, name_server
from tests.targets.server import Answer, Certificate, Route, Site
from tests.website_scan.net.seams import PUBLIC
from tests.website_scan.net.tls_servers import Identity
from webhooks.models import Attempt, Delivery
from website_scan.findings import ScanType
from website_scan.net import resolver
from website_scan.net.addresses import IPNetwork
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

# pytest-socket allows these hosts, so that only the guard can refuse a connection to the canary. The last two are the
# same address as written by Python 3.12 and by Python 3.13.
pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2", "::1", "::ffff:7f00:2", "::ffff:127.0.0.2"])

SITE, CANARY = "127.0.0.1", "127.0.0.2"
GUARDED: tuple[IPNetwork, ...] = (ip_network("127.0.0.1/32"),)
UNGUARDED: tuple[IPNetwork, ...] = (ip_network("127.0.0.0/8"),)
PATIENCE_S = 20.0

# All of these names and spellings lead to the canary, the rebinding name from its second answer. That name is at a
# hosting service, whose DNS is not judged, so that only the guard looks it up.
NAMES: Mapping[str, tuple[str, ...] | list[tuple[str, ...]]] = {
    "www.example.com": (SITE,),
    "inside.example.com": (CANARY,),
    "mixed.example.com": (SITE, CANARY),
    "alias.example.com": ("hop.example.net.",),
    "hop.example.net": ("inside.example.com.",),
    "rebind.github.io": [(SITE,), (CANARY,)],
}
HOSTS = (
    "127.0.0.2", "127.2", "127.0.2", "0177.0.0.2", "0x7f000002", "2130706434", "127.0.0.2.", "%3127.0.0.2",
    "\uff11\uff12\uff17\u30020\u30020\u3002\uff12", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]",
    "inside.example.com", "mixed.example.com", "alias.example.com", "INSIDE.example.com.",
)  # fmt: skip


class World(Struct):
    site: Site
    canary: Canary

    @property
    def port(self) -> int:
        return self.site.port

    def url(self, host: str = "www.example.com", path: str = "/") -> str:
        return f"{'https' if self.site.is_https else 'http'}://{host}:{self.port}{path}"

    def lure_url(self, host: str) -> str:
        return f"http://{host}:{self.port}"

    def policy(self, networks: tuple[IPNetwork, ...]) -> Policy:
        return Policy(
            networks, allowed_ports=frozenset({80, 443, self.port, self.canary.port}), ca_bundle=self.site.ca_file
        )

    def scan(self, url: str, scan_type: ScanType, networks: tuple[IPNetwork, ...] = GUARDED) -> ScanResult | None:
        """Scan the URL like a worker.

        The result is None if the URL itself is refused.
        """
        policy = self.policy(networks)
        try:
            target = parse_target(url, policy)
        except (Blocked, InvalidUrl):
            return None
        with Network(policy, time_limit_s=PATIENCE_S) as network:
            return scan(target, [scan_type], network, Budget(PATIENCE_S))[0]


@pytest.fixture(params=[None, Certificate.VALID], ids=["http", "https"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(resolver, "HOSTS_FILE", tmp_path / "none")
    site = Site(certificate=request.param, names=("www.example.com", "rebind.github.io"))
    with site, Canary(CANARY, site.port) as canary, name_server(hosts(NAMES), monkeypatch):
        yield World(site, canary)


http_only = pytest.mark.parametrize("world", [None], ids=["http"], indirect=True)
each_type = pytest.mark.parametrize("scan_type", list(ScanType))


# Tests for scanned URLs.


@each_type
def test_no_name_leads_a_scan_to_the_canary(world: World, scan_type: ScanType) -> None:
    for host in HOSTS:
        result = world.scan(world.url(host), scan_type)
        if result is not None:
            assert result.error is not None, host
            assert result.error.code == "DOMAIN_BLOCKED", host
    assert world.canary.count() == 0


@http_only
# The name resolves to the allowed site first.
@pytest.mark.parametrize("host", [host for host in HOSTS if host != "mixed.example.com"])
def test_exempted_hosts_lead_to_the_canary(world: World, host: str) -> None:
    # Control test: the hosts lead to the canary unless the guard refuses them.
    result = world.scan(world.url(host), ScanType.SEO, UNGUARDED)
    assert result is not None
    assert world.canary.count() > 0


@each_type
def test_rebound_name_keeps_its_address_in_a_scan(world: World, scan_type: ScanType) -> None:
    world.site.routes["*"] = Answer(
        "<!doctype html><title>A page</title><h1>A page</h1>", headers=[("Connection", "close")]
    )
    result = world.scan(world.url("rebind.github.io"), scan_type)
    assert result is not None
    assert result.status in ("completed", "partial"), result.error
    assert (
        world.site.connections > 1 or scan_type is ScanType.ACCESSIBILITY
    )  # An accessibility scan requests only the page itself.
    assert world.canary.count() == 0
    # The name now resolves to the canary, so the next scan is refused.
    again = world.scan(world.url("rebind.github.io"), scan_type)
    assert again is not None
    assert again.error is not None
    assert again.error.code == "DOMAIN_BLOCKED"
    assert world.canary.count() == 0


# Tests of redirects.

# Location headers that browsers follow, then Location headers that no client follows.
FOLLOWED = (
    "//{host}/", "http://{host}/", "/\\{host}/", "\\\\{host}\\", "ht\ttp://{host}/", "HTTP:\\\\{host}",
    " http://{host}/ ", "http:///{host}/", "/hop",
)  # fmt: skip
UNFOLLOWED_LOCATIONS = (
    "http://user:secret@{host}/", "//user@{host}/", "ftp://{host}/", "gopher://{host}/_x", "dict://{host}/",
    "ws://{host}/", "file://{host}/etc/passwd", "javascript:location='http://{host}/'", "http://{host}@{host}/",
)  # fmt: skip


def redirecting_site(location: str, host: str, status: int) -> dict[str, Route]:
    """Return routes that redirect every path to the location.

    The path `/hop` redirects to the host.
    """
    answer = Answer.redirect(location.format(host=host), status)
    return {"*": answer, "/hop": Answer.redirect(f"//{host}/", status)}


STATUSES = (301, 302, 303, 307, 308)


@pytest.mark.parametrize("status", STATUSES)
def test_no_redirect_leads_a_scan_to_the_canary(world: World, status: int) -> None:
    """Test all pairs of a location and a status.

    The scan types alternate.
    """
    types = list(ScanType)
    for number, location in enumerate(FOLLOWED + UNFOLLOWED_LOCATIONS):
        scan_type = types[(number + STATUSES.index(status)) % len(types)]
        host = f"{CANARY}:{world.port}"
        world.site.routes = redirecting_site(location, host, status)
        result = world.scan(world.url(), scan_type)
        assert result is not None
        assert result.error is not None, location
        assert result.error.code in ("DOMAIN_BLOCKED", "BAD_RESPONSE"), location
    assert world.canary.count() == 0


@http_only
@each_type
def test_no_redirect_by_name_reaches_the_canary(world: World, scan_type: ScanType) -> None:
    for host in HOSTS:
        world.site.routes = redirecting_site("http://{host}/", f"{host}:{world.port}".encode().decode("latin-1"), 302)
        result = world.scan(world.url(), scan_type)
        assert result is not None
        assert result.error is not None, host
        assert result.error.code == "DOMAIN_BLOCKED", host
    assert world.canary.count() == 0


@http_only
@pytest.mark.parametrize("location", FOLLOWED)
def test_exempted_redirects_lead_to_the_canary(world: World, location: str) -> None:
    world.site.routes = redirecting_site(location, f"{CANARY}:{world.port}", 302)
    assert world.scan(world.url(), ScanType.SEO, UNGUARDED) is not None
    assert world.canary.count() > 0


@http_only
@pytest.mark.parametrize("location", UNFOLLOWED_LOCATIONS)
def test_invalid_redirects_are_not_followed(world: World, location: str) -> None:
    world.site.routes = redirecting_site(location, f"{CANARY}:{world.port}", 302)
    assert world.scan(world.url(), ScanType.SEO, UNGUARDED) is not None
    assert world.canary.count() == 0


# Tests of refreshes, which scans follow like redirects if they have no delay.


@each_type
@pytest.mark.parametrize("location", FOLLOWED)
def test_refresh_cannot_lead_a_scan_to_the_canary(world: World, scan_type: ScanType, location: str) -> None:
    host = f"{CANARY}:{world.port}"
    refresh = f"0; url={location.format(host=host)}"
    page = "<!doctype html><title>A page</title><h1>A page</h1>"
    for answer in (
        Answer(f'<meta http-equiv="refresh" content="{refresh}">{page}'),
        Answer(page, headers=[("Refresh", refresh)]),
    ):
        world.site.routes = {"*": answer, "/hop": Answer.redirect(f"//{host}/")}
        result = world.scan(world.url(), scan_type)
        assert result is not None
        assert result.error is not None
        assert result.error.code in ("DOMAIN_BLOCKED", "BAD_RESPONSE")
    assert world.canary.count() == 0


@http_only
@pytest.mark.parametrize("location", FOLLOWED)
def test_exempted_refreshes_lead_to_the_canary(world: World, location: str) -> None:
    host = f"{CANARY}:{world.port}"
    page = f'<meta http-equiv="refresh" content="0; url={location.format(host=host)}"><title>A page</title>'
    world.site.routes = {"*": Answer(page), "/hop": Answer.redirect(f"//{host}/")}
    assert world.scan(world.url(), ScanType.SEO, UNGUARDED) is not None
    assert world.canary.count() > 0


# Tests of links and resources of pages.


@each_type
@pytest.mark.parametrize(
    "host", ["127.0.0.2", "2130706434", "inside.example.com", "mixed.example.com", "alias.example.com"]
)
def test_no_page_resource_reaches_the_canary(world: World, scan_type: ScanType, host: str) -> None:
    for routes in (lure_routes(world.url(path=""), f"{host}:{world.port}"), redirecting_files(f"{host}:{world.port}")):
        world.site.routes = routes
        result = world.scan(world.url(), scan_type)
        assert result is not None
        assert result.status in ("completed", "partial")
    assert world.canary.count() == 0


@http_only
def test_rebinding_sub_resource_keeps_its_address(world: World) -> None:
    world.site.routes = lure_routes(world.url(path=""), f"rebind.github.io:{world.port}")
    assert world.scan(world.url(), ScanType.PERFORMANCE) is not None
    assert "/img" in world.site.paths()
    assert world.canary.count() == 0


@http_only
def test_exempted_links_lead_to_the_canary(world: World) -> None:
    lure_url = f"inside.example.com:{world.port}"
    for scan_type in ScanType:
        for routes in (lure_routes(world.url(path=""), lure_url), redirecting_files(lure_url)):
            world.site.routes = routes
            world.scan(world.url(), scan_type, UNGUARDED)
    assert world.canary.count() > 0
    assert set(world.canary.paths) >= LIVE, LIVE - set(world.canary.paths)


def with_issuer_url(url: str, folder: Path) -> Callable[[ssl.SSLContext], None]:
    """Return TLS settings with a certificate that names its issuer's URL.

    The server does not send the issuer.
    """

    def present(context: ssl.SSLContext) -> None:
        leaf = Identity.root("Nobody knows").issue(SITE, ca_issuers=url)
        bundle = folder / "leaf.pem"
        bundle.write_bytes(leaf.key_pem + leaf.pem)
        context.load_cert_chain(bundle)

    return present


@pytest.mark.parametrize(("networks", "visits"), [(GUARDED, 0), (UNGUARDED, 1)])
def test_issuer_URL_does_not_reach_the_canary(networks: tuple[IPNetwork, ...], visits: int, tmp_path: Path) -> None:
    with Canary(CANARY) as canary:
        tune = with_issuer_url(f"http://{CANARY}:{canary.port}/issuer", tmp_path)
        with Site({"*": Answer("x")}, certificate=Certificate.VALID, tune=tune) as site:
            result = World(site, canary).scan(site.url + "/", ScanType.SECURITY, networks)
        assert result is not None
        assert result.error is None
        assert canary.count() == visits


def test_forbidden_issuer_port_skips_no_checks(tmp_path: Path) -> None:
    tune = with_issuer_url(f"http://{PUBLIC}:22/issuer", tmp_path)
    with Canary(CANARY) as canary, Site({"*": Answer("x")}, certificate=Certificate.VALID, tune=tune) as site:
        result = World(site, canary).scan(site.url + "/", ScanType.SECURITY)
    assert result is not None
    assert [skipped for skipped in result.skipped_checks if "Port 22" in skipped.reason] == []


# Tests of the API and of webhook deliveries.


@pytest.fixture
def open_settings(world: World, settings: pytest_django.Settings) -> World:
    """Write the world's policy into the settings.

    The API and the workers read them.
    """
    settings.SCAN_ALLOWED_NETWORKS = GUARDED
    settings.SCAN_ALLOWED_PORTS = world.policy(()).allowed_ports
    settings.SCAN_CA_BUNDLE = world.site.ca_file
    return world


@http_only
@pytest.mark.django_db
def test_API_refuses_scans_and_webhooks_at_the_canary(open_settings: World, home: Member) -> None:
    for host in HOSTS:
        url = open_settings.url(host)
        for path, body in (("/v1/scan", {"type": "seo"}), ("/api/webhooks", {"events": ["scan.completed"]})):
            answer = home.api.post(path, {"url": url, **body})
            assert (answer.status_code, answer.json()["code"]) == (403, "DOMAIN_BLOCKED"), url
    assert open_settings.canary.count() == 0


@http_only
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_name_rebound_after_acceptance_is_refused(open_settings: World, home: Member) -> None:
    answer = home.api.post("/v1/scan", {"url": open_settings.url("rebind.github.io"), "type": "seo"})
    assert answer.status_code == 201
    run_scan(answer.json()["id"])
    scan_row = Scan.objects.get()
    assert (scan_row.status, scan_row.error_code) == ("failed", "DOMAIN_BLOCKED")
    assert open_settings.canary.count() == 0


def deliver_event(world: World, home: Member, host: str) -> tuple[str, Attempt]:
    """Return the status and the only attempt of a delivery.

    The receiver is new.
    """
    registered = home.api.post("/api/webhooks", {"url": world.url(host, "/hook"), "events": ["scan.completed"]})
    assert registered.status_code == 201
    finished_scan(home)
    attempt_deliveries()
    return Delivery.objects.get().status, Attempt.objects.get()


@http_only
def test_rebound_receiver_gets_no_delivery(open_settings: World, home: Member) -> None:
    status, attempt = deliver_event(open_settings, home, "rebind.github.io")
    assert (status, attempt.blocked) == ("pending", True)
    assert "not publicly accessible" in attempt.error_message
    assert open_settings.canary.count() == 0


@http_only
def test_exempted_receiver_gets_its_delivery(
    open_settings: World, home: Member, settings: pytest_django.Settings
) -> None:
    settings.SCAN_ALLOWED_NETWORKS = UNGUARDED
    status, _ = deliver_event(open_settings, home, "rebind.github.io")
    assert status == "delivered"
    assert open_settings.canary.count() == 1
