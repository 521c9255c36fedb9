from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from tests.targets.server import Answer, Request, Site
from tests.website_scan.browser.loads import load, request, visit
from tests.website_scan.cast import POLICY, head, target
from tests.website_scan.net.seams import PUBLIC, Names, Records, Wires
from website_scan.browser.evidence import BrowserLoad, Load, LoadedRequest
from website_scan.findings import ScanType
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.page.evidence import Page
from website_scan.page.fetch import fetch_page, page_references, parse_document
from website_scan.page.image_headers import ImageFormat, ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Protocols, Resource, Resources, Timing
from website_scan.performance.probes import resources as probe
from website_scan.performance.probes import timing as timing_probe
from website_scan.performance.probes.timing import timing
from website_scan.plan import plan


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def resources_of(site: Site, markup: str, limits: Limits = Limits()) -> Resources:  # noqa: B008  (frozen)
    site.routes["/"] = Answer(head("", markup))
    with Network(POLICY, limits=limits) as network:
        page = fetch_page(target(site.url), network)
        return probe.resources(page, page_references(parse_document(page)), timing(page, network), network)


def resources_by_path(site: Site, found_resources: Resources) -> dict[str, Resource]:
    return {resource.url.removeprefix(site.url): resource for resource in found_resources.items}


def test_each_url_is_requested_once(site: Site) -> None:
    site.routes["/a.png"] = Answer(b"PNG", headers={"Content-Type": "image/png"})
    page_resources = resources_of(site, "<img src=/a.png><img src=/a.png#x><img src=/a.png loading=lazy>")
    (image,) = page_resources.items
    assert site.paths().count("/a.png") == 1
    assert (image.status, image.wire_bytes, image.body_bytes, image.eager) == (200, 3, 3, True)
    assert image.headers.get("Content-Type") == "image/png"
    assert image.header_bytes > 0


def test_failed_requests_are_evidence(site: Site) -> None:
    site.routes["/loop"] = Answer.redirect("/loop")
    resources_by_url = resources_by_path(
        site, resources_of(site, "<img src=/gone><img src=/loop><img src=http://intranet.internal/x>")
    )
    assert resources_by_url["/gone"].status == 404
    assert resources_by_url["/loop"].status is None
    assert "loop" in resources_by_url["/loop"].error
    assert resources_by_url["http://intranet.internal/x"].error


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (Records({}), True),  # In a closed network, hosts of other sites have no address.
        (Records({}, top_level="com"), False),
        (Records({}, top_level="com", silent="cdn.net"), True),  # The name servers do not answer for cdn.net.
        (Records({"cdn.net": PUBLIC}), True),  # The name servers failed only at first.
    ],
)
def test_missing_host_may_exist_in_closed_network(site: Site, records: Records, expected: bool) -> None:
    site.routes["/"] = Answer(head("", "<script src=//cdn.net/a.js></script><img src=//img.shop.com/a.png>"))
    names = Names({"www.shop.com": (PUBLIC,)})
    with Network(Policy(), resolver=names, lookup=records, dialer=Wires({PUBLIC: site})) as network:
        page = fetch_page(target("http://www.shop.com"), network)
        page_resources = probe.resources(page, page_references(parse_document(page)), timing(page, network), network)
    assert {resource.host: resource.may_exist for resource in page_resources.items} == {
        "cdn.net": expected,
        "img.shop.com": False,  # The name servers are authoritative for the page's own site.
    }


def test_redirects_are_followed_and_counted(site: Site) -> None:
    site.routes |= {"/old.js": Answer.redirect("/new.js"), "/new.js": Answer("run()")}
    (script,) = resources_of(site, "<script src=/old.js></script>").items
    assert (script.status, script.redirects, script.final_url) == (200, 1, f"{site.url}/new.js")
    assert script.body == b"run()"


def test_imported_references_are_not_loaded(site: Site) -> None:
    site.routes |= {
        "/css/a.css": Answer("@import 'b.css'; p{background:url(../bg.png)}", headers={"Content-Type": "text/css"}),
        "/css/b.css": Answer("@import 'c.css'; p{background:url(deep.png)}", headers={"Content-Type": "text/css"}),
    }
    resources_by_url = resources_by_path(site, resources_of(site, "<link rel=stylesheet href=/css/a.css>"))
    assert {
        path: (resource.kind.value, resource.depth, resource.eager) for path, resource in resources_by_url.items()
    } == {
        "/css/a.css": ("stylesheet", 1, True),
        "/css/b.css": ("stylesheet", 2, True),
        "/bg.png": ("image", 2, False),
    }


def test_referer_header_allows_hotlinks(site: Site) -> None:
    def require_referer(request: Request) -> Answer:
        return Answer(b"PNG") if request.header("Referer") == f"{site.url}/" else Answer(status=403)

    site.routes["/a.png"] = require_referer
    assert resources_of(site, "<img src=/a.png>").items[0].status == 200


def test_eight_resources_load_at_once(site: Site) -> None:
    lock = threading.Lock()
    waiting, most = 0, 0
    gate = threading.Event()

    def count_concurrent_requests(request: Request) -> Answer:
        nonlocal waiting, most
        with lock:
            waiting += 1
            most = max(most, waiting)
            if waiting == probe.MAX_CONCURRENT_REQUESTS:
                gate.set()
        gate.wait(10)
        with lock:
            waiting -= 1
        return Answer(b"PNG")

    site.routes["*"] = count_concurrent_requests
    page_resources = resources_of(site, "".join(f"<img src=/{number}.png>" for number in range(16)))
    assert len(page_resources.items) == 16
    assert most == probe.MAX_CONCURRENT_REQUESTS


def test_resources_beyond_limit_are_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_RESOURCES", 3)
    page_resources = resources_of(site, "".join(f"<img src=/{number}.png>" for number in range(5)))
    assert (len(page_resources.items), page_resources.left_out) == (3, 2)


def test_background_images_are_not_left_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a style sheet with many unused images.

    For example, a template may refer to 250 flags that the page does not use.
    """
    monkeypatch.setattr(probe, "MAX_RESOURCES", 2)
    site.routes["/a.css"] = Answer(
        "".join(f".f{n}{{background:url(/{n}.svg)}}" for n in range(9)), headers={"Content-Type": "text/css"}
    )
    page_resources = resources_of(site, "<link rel=stylesheet href=/a.css>")
    assert (len(page_resources.items), page_resources.left_out) == (2, 0)


def test_resources_beyond_request_budget_are_left_out(site: Site) -> None:
    markup = "".join(f"<img src=/{number}.png>" for number in range(30))
    page_resources = resources_of(site, markup, Limits(requests=10))
    assert 0 < len(page_resources.items) < 10
    assert len(page_resources.items) + page_resources.left_out == 30
    assert not any(resource.error for resource in page_resources.items)


def test_resources_are_left_out_after_time_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_LOADING_S", 0.0)
    page_resources = resources_of(site, "<img src=/a.png>")
    assert (page_resources.items, page_resources.left_out) == ((), 1)


def test_different_times_cause_a_third_request(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # The limit is higher than differences on a busy machine.
    monkeypatch.setattr(timing_probe, "MAX_DIFFERENCE_S", 5)
    site.routes["/"] = Answer("<p>Text")
    with Network(POLICY) as network:
        page: Page = fetch_page(target(site.url), network)
        result = timing(page, network)
        assert len(result.ttfb_s) == 2
        slow = replace(page, hops=(replace(page.response, ttfb_s=9.0),))
        assert len(timing(slow, network).ttfb_s) == 3
    assert site.paths() == ["/"] * 4


def test_timing_ends_after_status_429(site: Site) -> None:
    answers = iter([Answer("<p>Text"), Answer("Slow down", status=429)])
    site.routes["/"] = lambda _: next(answers)
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        assert len(timing(page, network).ttfb_s) == 1


def test_resource_has_encoded_and_decoded_size(site: Site) -> None:
    body = b"run();" * 1000
    packed = gzip.compress(body)
    site.routes["/old.js"] = Answer.redirect("/a.js", X_Padding="x" * 3000)
    site.routes["/a.js"] = Answer(packed, headers={"Content-Encoding": "gzip", "Content-Type": "text/javascript; a=b"})
    (script,) = resources_of(site, "<script src=/old.js></script>").items
    assert (script.body, script.body_bytes, script.last_response_wire_bytes) == (body, len(body), len(packed))
    assert script.headers.get("Content-Encoding") == "gzip"
    assert 3000 < script.header_bytes < 3300  # The larger header section counts, not the sum of both.
    assert (script.media_type, script.http_version, script.is_cut) == ("text/javascript", "1.1", False)


def test_body_beyond_the_limit_is_cut(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_BODY_BYTES", 100)
    site.routes["/a.js"] = Answer(b"a" * 101)
    (script,) = resources_of(site, "<script src=/a.js></script>").items
    assert (script.body_bytes, script.is_cut) == (100, True)


def test_image_size_is_read_beyond_stored_body(site: Site) -> None:
    # Large metadata moves the photograph's size beyond the stored part of the body.
    part = b"\xff\xe2\xff\xff" + b"x" * 65_533
    photo = b"\xff\xd8" + part * 2 + b"\xff\xc0\x00\x0b\x08\x01\xe0\x02\x80\x03abc"
    site.routes |= {"/a.jpg": Answer(photo), "/b.svg": Answer("<svg width='9' height='8'>" + " " * 70_000 + "</svg>")}
    resources_by_url = resources_by_path(site, resources_of(site, "<img src=/a.jpg><img src=/b.svg><img src=/c.png>"))
    assert resources_by_url["/a.jpg"].picture == ImageHeader(ImageFormat.JPEG, 640, 480)
    assert len(resources_by_url["/a.jpg"].body) == probe.MAX_STORED_BINARY_BYTES
    assert resources_by_url["/b.svg"].picture == ImageHeader(ImageFormat.SVG, 9, 8)
    assert len(resources_by_url["/b.svg"].body) == resources_by_url["/b.svg"].body_bytes > probe.MAX_STORED_BINARY_BYTES
    assert resources_by_url["/c.png"].picture is None


def resources_with_browser(site: Site, *requests: LoadedRequest) -> Resources:
    site.routes["/"] = Answer(head("", "<img src=/not-loaded.png loading=lazy>"))
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        browser_visit = browser_load(request(page.target.url, None, 0.0, 0.1), *requests)
        return probe.resources(
            page, page_references(parse_document(page)), Timing((0.1,)), network, visit(browser_visit)
        )


def browser_load(*requests: LoadedRequest) -> Load:
    return replace(load(), requests=requests)


def test_browser_requests_become_resources(site: Site) -> None:
    site.routes |= {"/a.js": Answer("run()", headers={"Cache-Control": "no-cache"}), "/late.png": Answer(b"PNG")}
    resources_by_url = resources_by_path(
        site,
        resources_with_browser(
            site,
            request(f"{site.url}/a.js", ResourceKind.SCRIPT, wire_bytes=77, initiator=f"{site.url}/"),
            request(f"{site.url}/late.png", initiator=f"{site.url}/a.js"),
            request(f"{site.url}/frame", None, is_in_frame=True, wire_bytes=5000),
            request(f"{site.url}/collect", ResourceKind.OTHER, is_sent_by_script=True, method="POST", status=204),
        ),
    )
    assert [(path, resource.depth, resource.is_fetched) for path, resource in resources_by_url.items()] == [
        ("/a.js", 1, True),
        ("/late.png", 2, True),
        ("/frame", 2, False),
        ("/collect", 2, False),
    ]
    assert (
        resources_by_url["/a.js"].wire_bytes,
        resources_by_url["/a.js"].last_response_wire_bytes,
        resources_by_url["/a.js"].body,
    ) == (
        77,
        5,
        b"run()",
    )
    assert resources_by_url["/a.js"].headers.get("Cache-Control") == "no-cache"
    assert sorted(site.paths()) == ["/", "/a.js", "/late.png"]


def test_resource_is_requested_once(site: Site) -> None:
    site.routes["/a.js"] = Answer("run()")
    twice = [request(f"{site.url}/a.js", ResourceKind.SCRIPT, wire_bytes=9)] * 2
    items = resources_with_browser(site, *twice).items
    assert [(item.wire_bytes, item.is_fetched) for item in items] == [(9, True), (9, False)]
    assert site.paths().count("/a.js") == 1


def test_scanner_request_explains_browser_failure(site: Site) -> None:
    site.routes["/limits.png"] = Answer(b"PNG")
    failure: dict[str, Any] = {"status": None, "error": "net::ERR_TUNNEL_CONNECTION_FAILED", "wire_bytes": 0}
    resources_by_url = resources_by_path(
        site,
        resources_with_browser(
            site,
            request(f"{site.url}/limits.png", **failure),
            request("http://intranet.internal/x.png", **failure),
            request("http://intranet.internal/api", ResourceKind.OTHER, is_sent_by_script=True, **failure),
        ),
    )
    assert resources_by_url["/limits.png"].status == 200
    assert resources_by_url["http://intranet.internal/x.png"].error
    assert not resources_by_url["http://intranet.internal/api"].error


def test_browser_resources_beyond_limit_are_left_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_RESOURCES", 1)
    site.routes["*"] = Answer(b"PNG")
    page_resources = resources_with_browser(site, *[request(f"{site.url}/{number}.png") for number in range(3)])
    assert [resource.is_fetched for resource in page_resources.items] == [True, False, False]
    assert page_resources.left_out == 0


def test_markup_references_are_loaded_without_log(site: Site) -> None:
    site.routes |= {"/": Answer(head("", "<img src=/a.png>")), "/a.png": Answer(b"PNG")}
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        empty = visit(browser_load())
        page_resources = probe.resources(page, page_references(parse_document(page)), Timing((0.1,)), network, empty)
    assert [resource.url for resource in page_resources.items] == [f"{site.url}/a.png"]


def test_requests_wait_for_browser_and_timing() -> None:
    """Every probe that sends requests waits for the browser's load."""
    probes = plan(ScanType.PERFORMANCE, has_browser=True).probes

    def transitive_needs(evidence: type) -> set[type]:
        needs = {need.evidence for need in probes[evidence].needs if need.evidence in probes}
        return needs.union(*map(transitive_needs, needs))

    network_probes = {
        evidence for evidence, planned in probes.items() if any(need.evidence is Network for need in planned.needs)
    }
    assert network_probes == {Page, BrowserLoad, Timing, Resources, Protocols}
    assert all(BrowserLoad in transitive_needs(evidence) for evidence in (Timing, Resources, Protocols))
    assert Timing in transitive_needs(Resources)


def test_plan_without_browser_has_no_browser_load() -> None:
    assert BrowserLoad not in plan(ScanType.PERFORMANCE).probes
