"""Test that a scan follows an immediate refresh to another page."""

from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

BOATS = "<!doctype html><html lang=en><title>Boats</title><main><h1>Boats</h1><p>Boats for hire.<img src=/boat.png>"


def scan_page(url: str) -> dict[ScanType, ScanResult]:
    with Network(POLICY) as network:
        return {result.type: result for result in scan(target(url), list(ScanType), network, Budget())}


def refreshing(content: str) -> Answer:
    return Answer(f'<!doctype html><title>Moved</title><meta http-equiv="refresh" content="{content}"><p>Moved.')


# ACT rule bc659a: a refresh after 0 seconds is a redirect (HTML, "shared declarative refresh steps").
@pytest.mark.parametrize(
    ("page", "is_followed"),
    [
        pytest.param(refreshing("0; url=/boats"), True, id="refresh"),
        pytest.param(refreshing("0;URL='/boats'"), True, id="quoted"),
        pytest.param(refreshing("0 /boats"), True, id="without-url"),
        pytest.param(refreshing(".9, url = /boats"), True, id="fraction"),
        pytest.param(
            Answer("<p>Moved", headers={"Refresh": "0;url=/boats", "Content-Type": "text/html"}), True, id="header"
        ),
        pytest.param(refreshing("5; url=/boats"), False, id="readable-for-seconds"),
        pytest.param(refreshing("1200; url=/boats"), False, id="after-minutes"),
        pytest.param(refreshing("0"), False, id="same-page"),
        pytest.param(refreshing("0; url=/start#top"), False, id="fragment-of-same-page"),
        pytest.param(refreshing("-1; url=/boats"), False, id="invalid"),
        pytest.param(refreshing("0; url=mailto:boats@example.com"), False, id="no-page"),
        pytest.param(
            Answer("<noscript><meta http-equiv=refresh content='0;url=/boats'></noscript>"), False, id="noscript"
        ),
        pytest.param(
            Answer("<template><meta http-equiv=refresh content='0;url=/boats'></template>"), False, id="template"
        ),
        pytest.param(Answer("<!-- <meta http-equiv=refresh content='0;url=/boats'> -->"), False, id="comment"),
    ],
)
def test_scan_follows_immediate_refresh(page: Answer, is_followed: bool) -> None:
    with Site({"/start": page, "/boats": Answer(BOATS)}) as site:
        results = scan_page(f"{site.url}/start")
    for result in results.values():
        assert result.error is None
        assert result.url == f"{site.url}/start"
        assert result.facts["final_url"] == f"{site.url}/{'boats' if is_followed else 'start'}"
        assert ("leads to another page at once" in result.facts.get("notice", "")) is is_followed
    images = {check.id: check.status for check in results[ScanType.ACCESSIBILITY].checks}
    assert ("image-alt" in images) is is_followed


def test_scan_does_not_follow_second_refresh() -> None:
    routes = {"/start": refreshing("0; url=/next"), "/next": refreshing("0; url=/boats"), "/boats": Answer(BOATS)}
    with Site(routes) as site:
        results = scan_page(f"{site.url}/start")
    for result in results.values():
        assert result.error is not None
        assert (result.error.code, result.grade) == ("TOO_MANY_REDIRECTS", None)
        assert result.error.message == (
            f"The page leads to {site.url}/next, which leads to {site.url}/boats. Only one of these is followed."
        )


def test_refresh_to_forbidden_address_is_refused() -> None:
    with Site({"/start": refreshing("0; url=http://169.254.169.254/latest/")}) as site:
        results = scan_page(f"{site.url}/start")
    for result in results.values():
        assert result.error is not None
        assert (result.error.code, result.grade) == ("DOMAIN_BLOCKED", None)
        assert result.error.message.startswith("The page leads to http://169.254.169.254/latest/. ")


def test_refresh_to_missing_page_fails() -> None:
    with Site({"/start": refreshing("0; url=/gone")}) as site:
        results = scan_page(f"{site.url}/start")
    error = results[ScanType.ACCESSIBILITY].error
    assert error is not None
    assert error.code == "TARGET_STATUS"
    assert error.message.startswith(f"The page leads to {site.url}/gone. ")


def test_refresh_on_error_page_is_ignored() -> None:
    markup = '<!doctype html><title>Gone</title><meta http-equiv="refresh" content="0; url=/boats">'
    with Site({"/start": Answer(markup, status=404), "/boats": Answer(BOATS)}) as site:
        result = scan_page(f"{site.url}/start")[ScanType.SEO]
    assert result.facts["final_url"] == f"{site.url}/start"
