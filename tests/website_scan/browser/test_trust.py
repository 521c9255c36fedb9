"""Test that a browser trusts the operator's CA bundle."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import BrowserFailed, Visit
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import command_line, find_browser
from website_scan.net.browser_trust import DATABASE, trust
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy
from website_scan.net.targets import parse_target
from website_scan.result import Budget
from website_scan.run import scan

TIME_LIMIT_S = 30.0
PAGE = {"*": Answer("<!doctype html><html lang=en><title>A page</title><h1>Some text</h1>")}
REFUSED = (Certificate.EXPIRED, Certificate.WRONG_HOST, Certificate.SELF_SIGNED)


@pytest.fixture(scope="module")
def site_in_bundle() -> Iterator[Site]:
    """Site with a self-signed certificate from the operator's bundle."""
    with Site(PAGE, certificate=Certificate.SELF_SIGNED) as site:
        yield site


@pytest.fixture(scope="module")
def bundle(site_in_bundle: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert site_in_bundle.ca_file is not None
    certificate = ssl.get_server_certificate((site_in_bundle.address, site_in_bundle.port))
    file = tmp_path_factory.mktemp("bundle") / "ca.pem"
    file.write_text(f"# Two certificates.\n{site_in_bundle.ca_file.read_text()}\n{certificate}")
    return file


@pytest.fixture(scope="module")
def browser(bundle: Path) -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, ca_bundle=bundle) as running:
        yield running


def load(browser: WarmBrowser, site: Site) -> BrowserLoad:
    policy = Policy(allowed_networks=NETWORKS)
    with Network(policy, time_limit_s=TIME_LIMIT_S) as network, BrowserProxy(network) as proxy:
        url = site.url_as("localhost") + "/"
        return browser.load(Visit(url, proxy, policy.user_agent, TIME_LIMIT_S, parts=frozenset()))


def test_browser_trusts_certificates_of_the_bundle(browser: WarmBrowser, site_in_bundle: Site) -> None:
    with Site(PAGE, certificate=Certificate.VALID) as issued:
        for site in (issued, site_in_bundle):
            assert load(browser, site).first.requests[0].status == 200


@pytest.mark.parametrize("certificate", REFUSED)
def test_bundle_does_not_excuse_invalid_certificates(browser: WarmBrowser, certificate: Certificate) -> None:
    # With these names, the site's certificate has a key that is not in the bundle.
    routes, names = {"*": Answer("never sent")}, ("localhost", "127.0.0.1", "another.example")
    with (
        Site(routes, certificate=certificate, names=names) as site,
        pytest.raises(BrowserFailed, match="net::ERR_CERT_"),
    ):
        load(browser, site)
    assert site.requests == []


class FailingBrowser:
    """Fake browser that records its last visit and raises an error."""

    def start(self, limit_s: float) -> None: ...

    def load(self, visit: Visit) -> BrowserLoad:
        self.visit = visit
        raise BrowserFailed("no")


@pytest.mark.parametrize(("certificate", "is_checked"), [(Certificate.VALID, True), (Certificate.EXPIRED, False)])
def test_only_untrusted_pages_ignore_certificate_errors(certificate: Certificate, is_checked: bool) -> None:
    browser = FailingBrowser()
    with Site(PAGE, certificate=certificate) as site:
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            target = parse_target(site.url_as("localhost") + "/", policy)
            scan(target, [ScanType.SECURITY, ScanType.SEO], network, Budget(TIME_LIMIT_S), browser=browser)
    assert browser.visit.ignores_certificate_errors is not is_checked


def test_unreadable_bundle_is_logged_and_not_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert "NSS refuses it" in trust(tmp_path / "one", file)
    command_line(Path("/bin/true"), tmp_path / "two", sandbox=False, ca_bundle=file)
    assert f"does not trust the certificates of {file}: NSS refuses it" in caplog.text


def test_no_bundle_means_no_certificate_database(tmp_path: Path) -> None:
    command_line(Path("/bin/true"), tmp_path, sandbox=False)
    assert not (tmp_path / DATABASE).exists()
