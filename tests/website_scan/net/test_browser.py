"""Tests for Chromium with the guard's proxy.

A page tries every way to reach a refused address.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error

from tests.chromium import Chromium, chromium
from tests.targets.server import Answer, Request, Site
from tests.website_scan.net.seams import PUBLIC, Names
from website_scan.net.browser import ARGUMENTS, find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy

GOOD = ip_network("127.0.0.1/32")
CANARY = "127.0.0.2"
# JavaScript expression that is true as soon as the page has made all attempts.
DONE = "document.documentElement.dataset.done === 'yes'"

PAGE = """<!doctype html><html lang="en"><head><title>Attempts</title>
<link rel="stylesheet" href="{canary}/link-stylesheet">
<link rel="preload" as="image" href="{canary}/preload">
<link rel="prefetch" href="{canary}/prefetch">
<link rel="preconnect" href="{canary}">
<link rel="dns-prefetch" href="{canary}">
<link rel="icon" href="{canary}/icon">
<link rel="manifest" href="{canary}/manifest">
<style>@import "{canary}/import"; @font-face {{ font-family: f; src: url({canary}/font) }}
body {{ background: url({canary}/background); font-family: f }}</style>
<script type="speculationrules">{{"prefetch": [{{"urls": ["{canary}/speculation"]}}]}}</script>
<script src="{canary}/script"></script><script type="module" src="{canary}/module"></script>
</head><body>text<img src="{canary}/img"><img srcset="{canary}/srcset 1x"><img src="{site}/redirect/301">
<video src="{canary}/video" preload="auto"></video><audio src="{canary}/audio" preload="auto"></audio>
<object data="{canary}/object"></object><embed src="{canary}/embed"><iframe src="{canary}/iframe"></iframe>
<iframe srcdoc="&lt;img src={canary}/srcdoc&gt;"></iframe><iframe src="{site}/refresh"></iframe>
<svg><image href="{canary}/svg"/></svg>
<form id="form" action="{canary}/form" target="_blank" method="post"></form>
<a id="link" href="#" ping="{canary}/ping">link</a>
<script src="{site}/attempts.js"></script></body></html>"""

SCRIPT = """
const canary = '{canary}', address = '{address}', port = {port}, site = '{site}';
const quiet = (promise) => Promise.race([promise, new Promise((end) => setTimeout(end, 2500))]).catch(() => null);
const event = (target, ...names) => new Promise((end) => names.forEach((name) => target.addEventListener(name, end)));
const attempts = [
  () => fetch(canary + '/fetch', {{mode: 'no-cors'}}),
  () => fetch(site + '/redirect/307', {{mode: 'no-cors', method: 'POST', body: 'x'}}),
  () => fetch(site + '/redirect/302', {{mode: 'no-cors'}}),
  () => {{ const x = new XMLHttpRequest(); x.open('GET', canary + '/xhr'); x.send(); return event(x, 'loadend'); }},
  () => navigator.sendBeacon(canary + '/beacon', 'x'),
  () => event(new WebSocket(`ws://${{address}}:${{port}}/websocket`), 'open', 'error'),
  () => event(new WebSocket(`wss://${{address}}:${{port}}/websocket-tls`), 'open', 'error'),
  () => event(new EventSource(canary + '/eventsource'), 'open', 'error'),
  () => event(new Worker(URL.createObjectURL(new Blob([
      `fetch('${{canary}}/worker', {{mode: 'no-cors'}}).finally(() => postMessage(1))`]))), 'message', 'error'),
  () => event(new Worker(URL.createObjectURL(new Blob([
      `try {{ importScripts('${{canary}}/importscripts') }} finally {{ postMessage(1) }}`]))), 'message', 'error'),
  () => navigator.serviceWorker.register('/service-worker.js').then(() => navigator.serviceWorker.ready).then(
      (ready) => new Promise((end) => {{
        const channel = new MessageChannel(); channel.port1.onmessage = end;
        ready.active.postMessage('go', [channel.port2]); }})),
  () => import(canary + '/dynamic-import'),
  () => fetch('https://' + address + ':' + port + '/fetch-tls', {{mode: 'no-cors'}}),
  () => fetch('http://rebind.example.com:' + port + '/rebound', {{mode: 'no-cors'}}),
  () => fetch('http://mixed.example.com:' + port + '/mixed', {{mode: 'no-cors'}}),
  () => fetch('http://localhost:' + port + '/localhost', {{mode: 'no-cors'}}),
  () => fetch('http://[::1]:' + port + '/six', {{mode: 'no-cors'}}),
  () => fetch('http://[::ffff:7f00:2]:' + port + '/mapped', {{mode: 'no-cors'}}),
  () => {{ window.open(canary + '/popup'); }},
  () => {{ document.getElementById('form').submit(); }},
  () => {{ document.getElementById('link').click(); }},
  () => {{ const t = new WebTransport(`https://${{address}}:${{port}}/webtransport`); return t.ready; }},
  () => {{
    const peer = new RTCPeerConnection({{iceServers: [
      {{urls: `stun:${{address}}:{udp}`}}, {{urls: `stun:127.0.0.1:{good_udp}`}},
      {{urls: [`turn:${{address}}:{udp}?transport=udp`, `turn:${{address}}:${{port}}?transport=tcp`],
        username: 'u', credential: 'p'}}]}});
    peer.createDataChannel('x');
    const gathered = event(peer, 'icegatheringstatechange').then(() => new Promise((end) => {{
      const look = () => peer.iceGatheringState === 'complete' ? end() : setTimeout(look, 20); look(); }}));
    return peer.createOffer().then((offer) => peer.setLocalDescription(offer)).then(() => gathered);
  }},
];
addEventListener('load', () => Promise.all(attempts.map((each) => {{
  try {{ return quiet(Promise.resolve(each())); }} catch (error) {{ return null; }}
}})).then(() => {{ document.documentElement.dataset.done = 'yes'; }}));
"""

SERVICE_WORKER = """
self.addEventListener('message', (event) => {{
  fetch('{canary}/service-worker-fetch', {{mode: 'no-cors'}}).catch(() => null)
    .then(() => event.ports[0].postMessage('done'));
}});
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
"""


class Datagrams:
    """Counter of received UDP datagrams."""

    def __init__(self, address: str) -> None:
        self.count = 0
        self.came = threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Datagrams:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", self._socket.getsockname())
        self._thread.join(5)
        self._socket.close()

    def _listen(self) -> None:
        while self._socket.recv(2048) != b"end":
            self.count += 1
            self.came.set()


@contextmanager
def attempts(canary: Site, udp: int, allowed_udp: int) -> Iterator[Site]:
    """Run a site with the page that tries to reach the canary."""
    with Site() as site:
        values = {
            "canary": canary.url,
            "site": site.url,
            "address": canary.address,
            "port": canary.port,
            "udp": udp,
            "good_udp": allowed_udp,
        }

        def script(source: str) -> Answer:
            return Answer(source.format(**values), headers={"Content-Type": "text/javascript"})

        site.routes |= {
            "/": Answer(PAGE.format(**values)),
            "/attempts.js": script(SCRIPT),
            "/service-worker.js": script(SERVICE_WORKER),
            "/refresh": Answer(f'<meta http-equiv="refresh" content="0; url={canary.url}/refresh">'),
            "/redirect/301": Answer.redirect(f"{canary.url}/redirected-301", 301),
            "/redirect/302": Answer.redirect(f"{canary.url}/redirected-302", 302),
            "/redirect/307": Answer.redirect(f"{canary.url}/redirected-307", 307),
        }
        yield site


def make_attempts(context: BrowserContext, site: Site) -> None:
    page = context.new_page()
    page.goto(f"{site.url}/", wait_until="commit")
    page.wait_for_function(DONE, timeout=15_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """Return a Chromium in which pages can try to open windows.

    The service's Chromium forbids windows.
    """
    with chromium({"args": [argument for argument in ARGUMENTS if argument != "--block-new-web-contents"]}) as running:
        yield running


def names(*literals: str) -> Names:
    return Names(
        {
            **{host: (host,) for host in ("127.0.0.1", CANARY, *literals)},
            "rebind.example.com": [(PUBLIC,), (CANARY,)],
            "mixed.example.com": (PUBLIC, CANARY),
            "localhost": ("127.0.0.1",),
        }
    )


def do_nothing(request: Request) -> Answer:
    return Answer("x", headers={"Access-Control-Allow-Origin": "*", "Content-Type": "text/plain"})


def test_page_in_a_browser_reaches_no_refused_address(browser: Chromium) -> None:
    with (
        Site({"*": do_nothing}, address=CANARY) as canary,
        Datagrams(CANARY) as udp,
        Datagrams("127.0.0.1") as allowed_udp,
        attempts(canary, udp.port, allowed_udp.port) as site,
        Network(Policy(allowed_networks=(GOOD,)), resolver=names("::1", "::ffff:7f00:2")) as network,
        BrowserProxy(network) as proxy,
    ):
        browser.visit(proxy, lambda context: make_attempts(context, site))
        assert {"/", "/attempts.js", "/refresh", "/service-worker.js", "/redirect/307"} <= set(site.paths())
        assert len(proxy.refused) > 30
        assert (canary.connections, canary.paths(), udp.count, allowed_udp.count) == (0, [], 0, 0)


def test_exempted_page_reaches_the_canary(browser: Chromium) -> None:
    """Control test: the attempts succeed if the address is exempted."""
    with (
        Site({"*": do_nothing}, address=CANARY) as canary,
        Datagrams(CANARY) as udp,
        Datagrams("127.0.0.1") as allowed_udp,
        attempts(canary, udp.port, allowed_udp.port) as site,
        Network(Policy(allowed_networks=(GOOD, ip_network(f"{CANARY}/32"))), resolver=names()) as network,
        BrowserProxy(network) as proxy,
    ):
        browser.visit(proxy, lambda context: make_attempts(context, site))
        reached = {path.strip("/") for path in canary.paths()}
        assert (udp.count, allowed_udp.count) == (0, 0)
    assert reached >= {
        *("link-stylesheet", "preload", "prefetch", "import", "background", "script", "module", "img", "srcset"),
        *(
            "video",
            "audio",
            "object",
            "iframe",
            "srcdoc",
            "refresh",
            "svg",
            "form",
            "fetch",
            "xhr",
            "beacon",
            "websocket",
        ),
        *("eventsource", "worker", "importscripts", "service-worker-fetch", "dynamic-import", "popup"),
        *("redirected-301", "redirected-302", "redirected-307"),
    }


def test_Chromium_without_arguments_bypasses_the_proxy() -> None:
    """Control test: without these arguments, WebRTC sends datagrams."""
    with (
        Site({"*": do_nothing}, address=CANARY) as canary,
        Datagrams(CANARY) as udp,
        Datagrams("127.0.0.1") as allowed_udp,
        attempts(canary, udp.port, allowed_udp.port) as site,
        Network(Policy(allowed_networks=(GOOD,)), resolver=names()) as network,
        BrowserProxy(network) as proxy,
        chromium({"args": []}) as unguarded,
    ):
        unguarded.visit(proxy, lambda context: make_attempts(context, site))
        assert udp.came.is_set() or allowed_udp.came.is_set()


def test_context_without_a_proxy_reaches_no_server() -> None:
    program = find_browser("auto")
    assert program is not None
    with Site({"/": Answer("Hello")}) as site, chromium() as walled:

        def visit() -> str:
            context = walled._browser.new_context()
            try:
                context.new_page().goto(f"{site.url}/")
            except Error as error:
                return str(error)
            return "reached"

        assert "ERR_" in walled._thread.submit(visit).result(30)
    assert site.connections == 0


def test_SCAN_BROWSER_selects_the_browser(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_browser("off") is None
    assert find_browser(str(program)) == program
    with pytest.raises(FileNotFoundError):
        find_browser(str(tmp_path / "missing"))


def test_browser_is_found_in_PATH(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_browser("auto") is None
    shell = "chrome-headless-shell-linux64/chrome-headless-shell"
    for name in (
        "Library/Caches/ms-playwright/chromium_headless_shell-1200/chrome-headless-shell-mac-arm64/chrome-headless-shell",
        ".cache/ms-playwright/chromium-1200/chrome-linux/chrome",
        f".cache/ms-playwright/chromium_headless_shell-1200/{shell}",
        "bin/chromium",
    ):
        program = tmp_path / name
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        assert find_browser("auto") == program
