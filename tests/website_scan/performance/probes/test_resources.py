from __future__ import annotations

import dataclasses
import gzip
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

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
from website_scan.performance.probes.timing import timing
from website_scan.plan import plan


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def loaded(site: Site, markup: str, limits: Limits = Limits()) -> Resources:  # noqa: B008  (frozen)
    site.routes["/"] = Answer(head("", markup))
    with Network(POLICY, limits=limits) as network:
        page = fetch_page(target(site.url), network)
        return probe.resources(page, page_references(parse_document(page)), timing(page, network), network)


def by_path(site: Site, found: Resources) -> dict[str, Resource]:
    return {each.url.removeprefix(site.url): each for each in found.items}


def test_each_address_is_asked_for_once(site: Site) -> None:
    site.routes["/a.png"] = Answer(b"PNG", headers={"Content-Type": "image/png"})
    found = loaded(site, "<img src=/a.png><img src=/a.png#x><img src=/a.png loading=lazy>")
    (image,) = found.items
    assert site.paths().count("/a.png") == 1
    assert (image.status, image.wire_bytes, image.body_bytes, image.eager) == (200, 3, 3, True)
    assert image.headers.get("Content-Type") == "image/png"
    assert image.header_bytes > 0


def test_a_failure_is_evidence(site: Site) -> None:
    site.routes["/loop"] = Answer.redirect("/loop")
    found = by_path(site, loaded(site, "<img src=/gone><img src=/loop><img src=http://intranet.internal/x>"))
    assert found["/gone"].status == 404
    assert found["/loop"].status is None
    assert "loop" in found["/loop"].error
    assert found["http://intranet.internal/x"].error


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (Records({}), True),  # a closed network, in which no other site's name has an address
        (Records({}, top_level="com"), False),
        (Records({}, top_level="com", silent="cdn.net"), True),  # the name servers fail
        (Records({"cdn.net": PUBLIC}), True),  # they failed at first
    ],
)
def test_a_name_without_an_address_may_exist_if_the_name_servers_know_no_other(
    site: Site, records: Records, expected: bool
) -> None:
    site.routes["/"] = Answer(head("", "<script src=//cdn.net/a.js></script><img src=//img.shop.com/a.png>"))
    names = Names({"www.shop.com": (PUBLIC,)})
    with Network(Policy(), resolver=names, lookup=records, dialer=Wires({PUBLIC: site})) as network:
        page = fetch_page(target("http://www.shop.com"), network)
        found = probe.resources(page, page_references(parse_document(page)), timing(page, network), network)
    assert {each.host: each.may_exist for each in found.items} == {
        "cdn.net": expected,
        "img.shop.com": False,  # a name of the page's own site, which the name servers know
    }


def test_redirects_are_followed_and_counted(site: Site) -> None:
    site.routes |= {"/old.js": Answer.redirect("/new.js"), "/new.js": Answer("run()")}
    (script,) = loaded(site, "<script src=/old.js></script>").items
    assert (script.status, script.redirects, script.final_url) == (200, 1, f"{site.url}/new.js")
    assert script.body == b"run()"


def test_style_sheets_are_read_one_level_deep(site: Site) -> None:
    site.routes |= {
        "/css/a.css": Answer("@import 'b.css'; p{background:url(../bg.png)}", headers={"Content-Type": "text/css"}),
        "/css/b.css": Answer("@import 'c.css'; p{background:url(deep.png)}", headers={"Content-Type": "text/css"}),
    }
    found = by_path(site, loaded(site, "<link rel=stylesheet href=/css/a.css>"))
    assert {path: (each.kind.value, each.depth, each.eager) for path, each in found.items()} == {
        "/css/a.css": ("stylesheet", 1, True),
        "/css/b.css": ("stylesheet", 2, True),
        "/bg.png": ("image", 2, False),
    }


def test_the_page_is_named_as_referrer_because_some_sites_give_images_to_their_pages_only(site: Site) -> None:
    def guarded(request: Request) -> Answer:
        return Answer(b"PNG") if request.header("Referer") == f"{site.url}/" else Answer(status=403)

    site.routes["/a.png"] = guarded
    assert loaded(site, "<img src=/a.png>").items[0].status == 200


def test_eight_are_loaded_at_once_and_no_more(site: Site) -> None:
    lock = threading.Lock()
    waiting, most = 0, 0
    gate = threading.Event()

    def counted(request: Request) -> Answer:
        nonlocal waiting, most
        with lock:
            waiting += 1
            most = max(most, waiting)
            if waiting == probe.AT_ONCE:
                gate.set()
        gate.wait(10)
        with lock:
            waiting -= 1
        return Answer(b"PNG")

    site.routes["*"] = counted
    found = loaded(site, "".join(f"<img src=/{number}.png>" for number in range(16)))
    assert len(found.items) == 16
    assert most == probe.AT_ONCE


def test_too_many_are_left_out_and_counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_RESOURCES", 3)
    found = loaded(site, "".join(f"<img src=/{number}.png>" for number in range(5)))
    assert (len(found.items), found.left_out) == (3, 2)


def test_pictures_that_style_sheets_only_name_are_not_counted_as_left_out(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flags of a template's style sheet are 250 pictures, of which the page shows none."""
    monkeypatch.setattr(probe, "MAX_RESOURCES", 2)
    site.routes["/a.css"] = Answer(
        "".join(f".f{n}{{background:url(/{n}.svg)}}" for n in range(9)), headers={"Content-Type": "text/css"}
    )
    found = loaded(site, "<link rel=stylesheet href=/a.css>")
    assert (len(found.items), found.left_out) == (2, 0)


def test_a_used_up_budget_leaves_the_rest_out(site: Site) -> None:
    markup = "".join(f"<img src=/{number}.png>" for number in range(30))
    found = loaded(site, markup, Limits(requests=10))
    assert 0 < len(found.items) < 10
    assert len(found.items) + found.left_out == 30
    assert not any(each.error for each in found.items)


def test_no_time_leaves_all_out(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "TIME_LIMIT_S", 0.0)
    found = loaded(site, "<img src=/a.png>")
    assert (found.items, found.left_out) == ((), 1)


def test_timing_asks_once_more_and_only_then_again_if_the_times_differ(site: Site) -> None:
    site.routes["/"] = Answer("<p>Text")
    with Network(POLICY) as network:
        page: Page = fetch_page(target(site.url), network)
        found = timing(page, network)
        assert len(found.ttfb_s) == 2
        slow = dataclasses.replace(page, hops=(dataclasses.replace(page.response, ttfb_s=9.0),))
        assert len(timing(slow, network).ttfb_s) == 3
    assert site.paths() == ["/"] * 4


def test_timing_ends_where_the_site_has_enough(site: Site) -> None:
    answers = iter([Answer("<p>Text"), Answer("Slow down", status=429)])
    site.routes["/"] = lambda _: next(answers)
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        assert len(timing(page, network).ttfb_s) == 1


def test_what_was_sent_is_told_beside_what_came_of_it(site: Site) -> None:
    body = b"run();" * 1000
    packed = gzip.compress(body)
    site.routes["/old.js"] = Answer.redirect("/a.js", X_Padding="x" * 3000)
    site.routes["/a.js"] = Answer(packed, headers={"Content-Encoding": "gzip", "Content-Type": "text/javascript; a=b"})
    (script,) = loaded(site, "<script src=/old.js></script>").items
    assert (script.body, script.body_bytes, script.own_wire_bytes) == (body, len(body), len(packed))
    assert script.headers.get("Content-Encoding") == "gzip"
    assert 3000 < script.header_bytes < 3300  # the larger of the two, not their sum
    assert (script.media_type, script.http_version, script.is_cut) == ("text/javascript", "1.1", False)


def test_what_is_larger_than_the_limit_is_cut_and_says_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_BYTES", 100)
    site.routes["/a.js"] = Answer(b"a" * 101)
    (script,) = loaded(site, "<script src=/a.js></script>").items
    assert (script.body_bytes, script.is_cut) == (100, True)


def test_a_picture_is_read_behind_what_is_kept_of_it(site: Site) -> None:
    # A photograph with large metadata: its size comes after the part that is kept.
    part = b"\xff\xe2\xff\xff" + b"x" * 65_533
    photo = b"\xff\xd8" + part * 2 + b"\xff\xc0\x00\x0b\x08\x01\xe0\x02\x80\x03abc"
    site.routes |= {"/a.jpg": Answer(photo), "/b.svg": Answer("<svg width='9' height='8'>" + " " * 70_000 + "</svg>")}
    found = by_path(site, loaded(site, "<img src=/a.jpg><img src=/b.svg><img src=/c.png>"))
    assert found["/a.jpg"].picture == ImageHeader(ImageFormat.JPEG, 640, 480)
    assert len(found["/a.jpg"].body) == probe.KEPT_BYTES
    assert found["/b.svg"].picture == ImageHeader(ImageFormat.SVG, 9, 8)
    assert len(found["/b.svg"].body) == found["/b.svg"].body_bytes > probe.KEPT_BYTES
    assert found["/c.png"].picture is None


def seen_by_browser(site: Site, *requests: LoadedRequest) -> Resources:
    site.routes["/"] = Answer(head("", "<img src=/not-loaded.png loading=lazy>"))
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        seen = browser_load(request(page.target.url, None, 0.0, 0.1), *requests)
        return probe.resources(page, page_references(parse_document(page)), Timing((0.1,)), network, visit(seen))


def browser_load(*requests: LoadedRequest) -> Load:
    return replace(load(), requests=requests)


def test_with_a_browser_the_list_is_that_of_its_requests(site: Site) -> None:
    site.routes |= {"/a.js": Answer("run()", headers={"Cache-Control": "no-cache"}), "/late.png": Answer(b"PNG")}
    found = by_path(
        site,
        seen_by_browser(
            site,
            request(f"{site.url}/a.js", ResourceKind.SCRIPT, wire_bytes=77, initiator=f"{site.url}/"),
            request(f"{site.url}/late.png", initiator=f"{site.url}/a.js"),
            request(f"{site.url}/frame", None, in_frame=True, wire_bytes=5000),
            request(f"{site.url}/collect", ResourceKind.OTHER, is_programmed=True, method="POST", status=204),
        ),
    )
    assert [(path, each.depth, each.is_fetched) for path, each in found.items()] == [
        ("/a.js", 1, True),
        ("/late.png", 2, True),
        ("/frame", 2, False),
        ("/collect", 2, False),
    ]
    assert (found["/a.js"].wire_bytes, found["/a.js"].own_wire_bytes, found["/a.js"].body) == (77, 5, b"run()")
    assert found["/a.js"].headers.get("Cache-Control") == "no-cache"
    assert sorted(site.paths()) == ["/", "/a.js", "/late.png"]


def test_what_the_browser_loaded_twice_is_asked_for_once(site: Site) -> None:
    site.routes["/a.js"] = Answer("run()")
    twice = [request(f"{site.url}/a.js", ResourceKind.SCRIPT, wire_bytes=9)] * 2
    items = seen_by_browser(site, *twice).items
    assert [(each.wire_bytes, each.is_fetched) for each in items] == [(9, True), (9, False)]
    assert site.paths().count("/a.js") == 1


def test_why_the_browser_got_no_answer_our_own_request_tells(site: Site) -> None:
    site.routes["/limits.png"] = Answer(b"PNG")
    lost: dict[str, Any] = {"status": None, "error": "net::ERR_TUNNEL_CONNECTION_FAILED", "wire_bytes": 0}
    found = by_path(
        site,
        seen_by_browser(
            site,
            request(f"{site.url}/limits.png", **lost),
            request("http://intranet.internal/x.png", **lost),
            request("http://intranet.internal/api", ResourceKind.OTHER, is_programmed=True, **lost),
        ),
    )
    assert found["/limits.png"].status == 200
    assert found["http://intranet.internal/x.png"].error
    assert not found["http://intranet.internal/api"].error


def test_beyond_the_limit_the_browsers_log_stands_alone(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_RESOURCES", 1)
    site.routes["*"] = Answer(b"PNG")
    found = seen_by_browser(site, *[request(f"{site.url}/{number}.png") for number in range(3)])
    assert [each.is_fetched for each in found.items] == [True, False, False]
    assert found.left_out == 0


def test_a_browser_that_saw_nothing_leaves_it_to_the_markup(site: Site) -> None:
    site.routes |= {"/": Answer(head("", "<img src=/a.png>")), "/a.png": Answer(b"PNG")}
    with Network(POLICY) as network:
        page = fetch_page(target(site.url), network)
        empty = visit(browser_load())
        found = probe.resources(page, page_references(parse_document(page)), Timing((0.1,)), network, empty)
    assert [each.url for each in found.items] == [f"{site.url}/a.png"]


def test_nothing_of_ours_disturbs_the_browsers_load_or_the_timing() -> None:
    """Every probe that sends requests to the site waits for the browser's load, according to the plan."""
    probes = plan(ScanType.PERFORMANCE, has_browser=True).probes

    def waits_for(evidence: type) -> set[type]:
        needs = {need.evidence for need in probes[evidence].needs if need.evidence in probes}
        return needs.union(*map(waits_for, needs))

    asking = {each for each, how in probes.items() if any(need.evidence is Network for need in how.needs)}
    assert asking == {Page, BrowserLoad, Timing, Resources, Protocols}
    assert all(BrowserLoad in waits_for(each) for each in (Timing, Resources, Protocols))
    assert Timing in waits_for(Resources)


def test_without_a_browser_no_load_is_planned() -> None:
    assert BrowserLoad not in plan(ScanType.PERFORMANCE).probes
