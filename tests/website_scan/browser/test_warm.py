"""The warm Chromium: it keeps running, survives hostile pages, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.targets.server import Answer, Certificate, Request, Site
from website_scan.browser.devtools import Session
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.processes import ProcessMeter, Usage
from website_scan.browser.reasons import BUSY, OUT_OF_TIME, SERVER_BUSY, explain_timeout
from website_scan.browser.visit import BrowserFailed, Visit
from website_scan.browser.warm import FOLDER, MEMORY_MIB, WarmBrowser
from website_scan.net.browser import BROWSER_UID, find_browser, sandbox_problem
from website_scan.net.budget import MIB, Limits
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy

LOOPBACK = ip_network("127.0.0.1/32")
POLICY = Policy(allowed_networks=(LOOPBACK,))
PATIENCE_S = 20.0

# A page whose only fault is an image without alternative text.
PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width">{head}</head>
<body><main><h1>Hello</h1><p>Some text to look at.</p><img src="/image.png" width="40" height="30"></main>{body}
</body></html>"""

# Hostile scripts that do not stop a page: they break built-ins, and ask people for things.
BLINDING = """<script nonce="n">
Object.defineProperty(window, 'axe', {get() { throw 1 }, set() { throw 2 }});
const kinds = [Array, Element, Node, Document, Promise, Object, String, Function, Map, RegExp, PerformanceObserver];
for (const kind of [...kinds, Performance])
  for (const name of Object.getOwnPropertyNames(kind.prototype)) {
    if (name === 'constructor') continue;
    try { Object.defineProperty(kind.prototype, name, {value() { throw 'no' }}) } catch (error) {}
  }
JSON.stringify = JSON.parse = () => { throw 'no' };
</script>"""
CLOBBERING = (
    "<form name=querySelectorAll></form><form name=documentElement><input name=attributes><input name=children>"
    "<input name=id><input name=tagName></form><img alt='' name=createTreeWalker><a id=axe></a><a id=performance></a>"
)
ASKING = """<script>
onbeforeunload = () => 'Stay?';
for (let count = 0; count < 20; count += 1) { alert(count); confirm(count); prompt(count); window.open('/plain'); }
for (let count = 0; count < 20; count += 1) {
  const link = document.createElement('a');
  link.href = 'data:application/octet-stream,x'; link.download = 'f' + count; link.click();
}
setInterval(() => window.open('/plain'), 5);
navigator.geolocation.getCurrentPosition(() => 0); Notification.requestPermission(); print();
</script>"""
STRICT = {
    "Content-Type": "text/html",
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; script-src 'nonce-n';"
    " require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts",
}

ENDURED = {
    "plain": Answer(PAGE.format(head="", body=""), headers={"Content-Type": "text/html"}),
    "blinding": Answer(PAGE.format(head=BLINDING, body=""), headers=STRICT),
    "clobbering": Answer(PAGE.format(head="", body=CLOBBERING), headers={"Content-Type": "text/html"}),
    "asking": Answer(PAGE.format(head="", body=ASKING), headers={"Content-Type": "text/html"}),
    "busy": Answer(
        PAGE.format(
            head="",
            body="<script>setInterval(() => { const end = Date.now() + 60; while (Date.now() < end); }, 70)</script>",
        ),
        headers={"Content-Type": "text/html"},
    ),
    "frames": Answer(
        PAGE.format(
            head="", body='<iframe title="a" src="/frames?a"></iframe><iframe title="b" src="/frames?b"></iframe>'
        ),
        headers={"Content-Type": "text/html"},
    ),
    "endless": Answer(
        PAGE.format(
            head="", body="<script>setInterval(() => history.pushState(1, '', '?' + Math.random()), 2)</script>"
        ),
        headers={"Content-Type": "text/html"},
    ),
}
# Scripts that no page survives, and the report's reason then.
TIME_IS_UP = "busy|ran out"  # the page kept the browser busy, or the browser got too little of the machine to answer
REFUSED = {
    "loop-at-once": ("<script>while (true);</script>", TIME_IS_UP),
    "loop-later": ("<script>onload = () => setTimeout(() => { while (true); }, 20)</script>", TIME_IS_UP),
    "many-frames": (
        "<script>for (let count = 0; count < 10_000; count += 1) {"
        " const frame = document.createElement('iframe'); frame.srcdoc = '<p>' + count; document.body.append(frame) }"
        "</script>",
        TIME_IS_UP,
    ),
    "elsewhere": ("<script>setTimeout(() => { location.href = '/plain' }, 50)</script>", "elsewhere"),
    "again-and-again": ("<script>setTimeout(() => location.reload(), 50)</script>", "elsewhere"),
    "never-at-rest": ("<script>location.reload()</script>", "elsewhere"),
}
KILLS = {
    "renderer": "--type=renderer",
    "gpu": "--type=gpu-process",
    "browser": "--remote-debugging-pipe",
}


# The children that this process had before: the browser of another test's pages is none of ours.
STRANGERS: set[psutil.Process] = set()


@pytest.fixture(scope="module", autouse=True)
def strangers() -> Iterator[None]:
    STRANGERS.update(psutil.Process().children())
    yield
    STRANGERS.clear()


def children(sign: str) -> list[psutil.Process]:
    """Return the descendant processes whose command line contains the sign, those of strangers excluded."""
    found = []
    for child in set(psutil.Process().children()) - STRANGERS:
        try:
            family = [child, *child.children(recursive=True)]
        except psutil.Error:
            continue
        for process in family:
            with contextlib.suppress(psutil.Error):
                if sign in " ".join(process.cmdline()):
                    found.append(process)
    return found


def browsers() -> list[psutil.Process]:
    """Return the browsers that were started. Chromium's own forks show its command line for a moment, too."""
    return [process for process in children(KILLS["browser"]) if process.ppid() == os.getpid()]


def kill(request: Request) -> Answer:
    """Kill the processes that the path names, in the middle of the load."""
    for process in children(KILLS[request.path.rpartition("/")[2]]):
        with contextlib.suppress(psutil.NoSuchProcess):  # some end with the first
            process.kill()
    return Answer(b"")


ROUTES = {
    **{f"/{name}": answer for name, answer in ENDURED.items()},
    **{
        f"/{name}": Answer(PAGE.format(head="", body=script), headers={"Content-Type": "text/html"})
        for name, (script, _) in REFUSED.items()
    },
    **{f"/kill/{name}": kill for name in KILLS},
    **{
        f"/killing-{name}": Answer(
            PAGE.format(head=f'<script src="/kill/{name}"></script>', body=""), headers={"Content-Type": "text/html"}
        )
        for name in KILLS
    },
    "/leading-axe-astray": Answer(
        PAGE.format(head="", body="<form><input name=parentElement></form>"), headers={"Content-Type": "text/html"}
    ),
    "/image.png": Answer(b"no image", headers={"Content-Type": "image/png"}),
    "/never": Answer(PAGE.format(head="", body='<img alt="" src="/slow">'), headers={"Content-Type": "text/html"}),
    "/slow": Answer(b"", delay_s=PATIENCE_S),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    # The tests of the sandbox request one themselves.
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running
    assert not children("chrom")
    assert not folders()


def folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{FOLDER}{os.getpid()}-*"))


def visit(browser: WarmBrowser, url: str, time_limit_s: float = PATIENCE_S, again: int = 0) -> BrowserLoad:
    with Network(POLICY, time_limit_s=PATIENCE_S) as network, BrowserProxy(network) as proxy:
        return browser.load(Visit(url, proxy, POLICY.user_agent, time_limit_s, again=again))


@pytest.mark.parametrize("name", ENDURED)
def test_a_page_is_judged_whatever_it_does_to_scripts_and_people(browser: WarmBrowser, site: Site, name: str) -> None:
    seen = visit(browser, f"{site.url}/{name}")
    assert not seen.problems
    assert seen.first.fcp_s
    assert seen.first.lcp
    assert seen.first.load_s
    assert seen.layout
    assert seen.layout.markup
    assert "Some text to look at." in seen.layout.markup
    assert seen.first_screen
    assert seen.first_screen.data.startswith(b"RIFF")
    assert seen.axe
    assert seen.axe.violations["image-alt"].nodes[0].snippet.startswith("<img")
    assert "html-has-lang" in seen.axe.passes


@pytest.mark.parametrize("name", REFUSED)
def test_a_page_that_cannot_be_looked_at_is_told_of_and_costs_only_itself(
    browser: WarmBrowser, site: Site, name: str
) -> None:
    reason = REFUSED[name][1]
    with pytest.raises(BrowserFailed, match=reason):
        visit(browser, f"{site.url}/{name}", time_limit_s=3.0 if reason == TIME_IS_UP else PATIENCE_S)
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("name", KILLS)
def test_a_process_that_dies_during_a_load_is_replaced(browser: WarmBrowser, site: Site, name: str) -> None:
    if name == "gpu":
        assert visit(browser, f"{site.url}/killing-{name}")  # Chromium starts another one
    else:
        with pytest.raises(BrowserFailed):
            visit(browser, f"{site.url}/killing-{name}")
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("changes", [1, 2])
def test_a_change_of_the_network_is_not_the_pages_fault(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    """As when a container starts on this machine. The page is loaded once more; a second change ends the visit."""
    send, left = Session.send, changes

    async def navigate(session: Session, method: str, params: dict[str, Any] | None = None) -> Any:
        nonlocal left
        if method == "Page.navigate" and left:
            left -= 1
            return {"errorText": "net::ERR_NETWORK_CHANGED"}
        return await send(session, method, params)

    monkeypatch.setattr(Session, "send", navigate)
    if changes == 1:
        assert visit(browser, f"{site.url}/plain").axe
    else:
        with pytest.raises(BrowserFailed, match="ERR_NETWORK_CHANGED"):
            visit(browser, f"{site.url}/plain")


def test_an_element_is_told_by_what_is_around_it_also_in_frames_and_shadow_trees(browser: WarmBrowser) -> None:
    body = (
        "<main><ul><li>One</li><li><img src=/a.png></li></ul></main><iframe title=f srcdoc='<p><img src=/b.png></p>'>"
        "</iframe><div><template shadowrootmode=open><p><img src=/c.png></p></template></div>"
    )
    page = Answer(PAGE.format(head="", body=body), headers={"Content-Type": "text/html"})
    with Site({"/": page}) as site:
        seen = visit(browser, f"{site.url}/")
    assert seen.axe
    assert {node.ancestry for node in seen.axe.violations["image-alt"].nodes} == {
        "html > body > main > img",
        "html > body > main > ul > li > img",
        "html > body > iframe >>> html > body > p > img",
        "html > body > div >>> p > img",
    }


def test_where_axe_core_itself_is_led_into_a_loop_the_rest_is_still_judged(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.AXE_CPU_S", 2.0)
    seen = visit(browser, f"{site.url}/leading-axe-astray")
    assert seen.axe is None
    assert seen.problems["axe"].endswith("judge the page in the browser within 2 seconds of processor time.")
    assert seen.first.fcp_s
    assert seen.layout
    assert seen.first_screen


def test_a_page_that_never_ends_loading_is_judged_as_far_as_it_came(browser: WarmBrowser, site: Site) -> None:
    seen = visit(browser, f"{site.url}/never", time_limit_s=6.0)
    assert seen.first.load_s is None
    assert seen.first.fcp_s
    assert seen.axe or SERVER_BUSY in seen.problems["axe"]


def test_a_page_that_does_not_come_is_no_zero(browser: WarmBrowser) -> None:
    with Site({}) as closed:
        url = closed.url
    with pytest.raises(BrowserFailed, match="net::ERR"):
        visit(browser, f"{url}/")


def test_the_browser_stays_until_it_has_loaded_enough(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.warm.MAX_LOADS", 3)
    browser.close()
    seen = []
    for _ in range(4):
        visit(browser, f"{site.url}/plain")
        seen.append(browsers())
    assert seen[0] == seen[1]
    assert seen[2] == []
    assert len(seen[3]) == 1
    assert seen[3] != seen[0]


def test_a_browser_that_nobody_needs_leaves(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.browser.warm.IDLE_S", 0.1)
    visit(browser, f"{site.url}/plain")
    deadline = time.monotonic() + PATIENCE_S
    while children("--remote-debugging-pipe") or folders():
        assert time.monotonic() < deadline, "the browser is still there"
        threading.Event().wait(0.05)
    monkeypatch.undo()
    assert visit(browser, f"{site.url}/plain").axe


def test_loads_share_no_cache_and_give_a_spread(browser: WarmBrowser, site: Site) -> None:
    seen = visit(browser, f"{site.url}/plain", again=2)
    assert len(seen.loads) == 3
    assert all(
        [request.url for request in load.requests] == [f"{site.url}/plain", f"{site.url}/image.png"]
        for load in seen.loads
    )
    assert all(load.main_thread.tasks and load.progress for load in seen.loads)


def test_the_browser_gets_none_of_our_environment(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.close()
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    visit(browser, f"{site.url}/plain")
    running = children("--type=") + children("--remote-debugging-pipe")
    assert len(running) > 3
    assert not any("SECRET_KEY" in process.environ() or "DATABASE_URL" in process.environ() for process in running)


def test_a_program_that_is_no_browser_is_told_of() -> None:
    before = folders()
    with (
        WarmBrowser(Path("/bin/true")) as browser,
        Network(POLICY, time_limit_s=5) as network,
        BrowserProxy(network) as proxy,
        pytest.raises(BrowserFailed, match="could not be started"),
    ):
        browser.load(Visit("http://127.0.0.1/", proxy, POLICY.user_agent, 5.0))
    assert folders() == before


def test_a_root_that_is_alone_is_told_of_like_a_missing_sandbox_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In a rootless container no other user exists that could own the browser's folder."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.chown", refuse)
    monkeypatch.setattr(
        "website_scan.browser.warm.sandbox_problem", lambda program: "this root cannot become another user"
    )
    before = folders(), threading.active_count()
    with WarmBrowser(Path("/bin/true")) as browser, pytest.raises(BrowserFailed, match="could not be started"):
        visit(browser, "http://127.0.0.1/")
    assert "Chromium gets no sandbox: this root cannot become another user" in caplog.text
    assert (folders(), threading.active_count()) == before


def test_a_browser_that_starts_too_late_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("website_scan.browser.warm.Chromium.start", never)
    before = folders()
    with (
        WarmBrowser(Path("/bin/true"), sandbox=False) as browser,
        pytest.raises(BrowserFailed, match="did not start within"),
    ):
        browser.start(0.1)
    assert folders() == before


def test_a_visit_finds_the_browser_started(browser: WarmBrowser, site: Site) -> None:
    browser.close()
    starts = browser.history.starts
    browser.start(PATIENCE_S)
    assert browsers()
    assert visit(browser, f"{site.url}/plain").axe
    assert browser.history.starts == starts + 1


def test_chromium_runs_in_its_sandbox_and_never_as_root(site: Site) -> None:
    program = find_browser("auto")
    assert program is not None
    if problem := sandbox_problem(program):
        pytest.skip(problem)
    with WarmBrowser(program) as sandboxed:
        assert visit(sandboxed, f"{site.url}/plain").axe
        running = children("--type=") + browsers()
        assert running
        assert not any("--no-sandbox" in process.cmdline() for process in running)
        owner = BROWSER_UID if os.geteuid() == 0 else os.geteuid()
        assert {process.uids().effective for process in running} == {owner}


def test_without_a_sandbox_chromium_does_not_start_unless_the_operator_wants_it(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    program = find_browser("auto")
    assert program is not None
    # Imitates Chromium where user namespaces are forbidden: its own message, and it starts with --no-sandbox.
    picky = tmp_path / "chromium"
    picky.write_text(
        f'#!/bin/sh\ncase " $* " in *" --no-sandbox "*) exec "{program}" "$@";; esac\n'
        'echo "No usable sandbox!" >&2; exit 1\n'
    )
    picky.chmod(0o755)
    monkeypatch.setattr("website_scan.browser.warm.sandbox_problem", lambda program: "namespaces are forbidden")
    with WarmBrowser(picky) as closed, pytest.raises(BrowserFailed, match="could not be started"):
        visit(closed, f"{site.url}/plain")
    assert "gets no sandbox: namespaces are forbidden" in caplog.text
    with WarmBrowser(picky, sandbox=False) as opened:
        assert visit(opened, f"{site.url}/plain").axe


def test_a_program_that_the_browser_s_user_cannot_run_is_named(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("others start the browser as themselves")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert f"{program} cannot be run by user {BROWSER_UID}" in sandbox_problem(program)


# Scripts that allocate memory of every kind that a page can: pictures, JavaScript heap, and memory outside of it.
GREEDY = {
    "canvas": "setInterval(() => { const canvas = document.createElement('canvas');"
    " canvas.width = canvas.height = 4096; const context = canvas.getContext('2d'); context.fillRect(0, 0, 4096, 4096);"
    " context.getImageData(0, 0, 1, 1); kept.push(canvas); }, 10)",
    "wasm": "setInterval(() => { const memory = new WebAssembly.Memory({initial: 1000});"
    " new Uint8Array(memory.buffer).fill(1); kept.push(memory); }, 10)",
    "array": "setInterval(() => { for (let count = 0; count < 100; count += 1)"
    " kept.push(new Array(20000).fill(Math.random())); }, 10)",
    "workers": "for (let count = 0; count < 4; count += 1) new Worker(URL.createObjectURL(new Blob(["
    "'const kept = []; setInterval(() => kept.push(new Uint8Array(3e7).fill(7)), 10)'])))",
}


@pytest.mark.parametrize("name", GREEDY)
def test_a_page_that_wants_all_memory_ends_near_the_bound_and_is_told_of(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen: list[int] = []
    look = ProcessMeter.measure

    def noting(meter: ProcessMeter) -> Usage:
        usage = look(meter)
        seen.append(usage.memory_bytes)
        return usage

    monkeypatch.setattr(ProcessMeter, "measure", noting)
    body = f"<script>const kept = []; {GREEDY[name]}</script>"
    page = Answer(PAGE.format(head="", body=body), headers={"Content-Type": "text/html"})
    with Site({"/": page}) as greedy, pytest.raises(BrowserFailed, match="too much memory"):
        visit(browser, f"{greedy.url}/")
    assert len(seen) > 1  # the first measurement is before the page
    assert max(seen[:-1]) <= MEMORY_MIB * MIB
    assert not browsers()


ASKING_ON = "(async () => { for (let count = 0; count < 5000; count += 1) await fetch('/plain?' + count); })()"


@pytest.mark.parametrize("where", ["page", "worker"])
def test_a_page_that_asks_for_more_than_a_scan_may_is_left_and_told_of(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr("website_scan.browser.load.Limits", lambda: Limits(requests_per_host=30))
    script = ASKING_ON if where == "page" else "new Worker('/worker.js')"
    routes = {
        "/": Answer(PAGE.format(head="", body=f"<script>{script}</script>"), headers={"Content-Type": "text/html"}),
        "/worker.js": Answer(ASKING_ON, headers={"Content-Type": "text/javascript"}),
        "/plain": Answer("x"),
    }
    with Site(routes) as asking:
        with pytest.raises(BrowserFailed, match="more than 30 requests"):
            visit(browser, f"{asking.url}/")
        assert len(asking.paths()) < 1000


class FewElsewhere:
    """Budget shared with other scans that lets 40 requests to one port through."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.counted = 0

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        if port == self._port:
            self.counted += 1
            if self.counted > 40:
                raise BudgetExceeded("Nobody asked for a scan of that site.")


def test_requests_in_a_tunnel_to_another_site_count_in_the_budget_of_all_scans(browser: WarmBrowser) -> None:
    with Site({"*": Answer("x")}, certificate=Certificate.SELF_SIGNED) as other:
        ask = f"for (let count = 0; count < 500; count += 1) fetch('{other.url}/?' + count, {{mode: 'no-cors'}})"
        page = PAGE.format(head="", body=f"<script>{ask}</script>")
        budget = FewElsewhere(other.port)
        with (
            Site({"/": Answer(page, headers={"Content-Type": "text/html"})}) as asking,
            Network(POLICY, time_limit_s=PATIENCE_S, shared=budget) as network,
            BrowserProxy(network) as proxy,
            pytest.raises(BrowserFailed, match=r"stopped loading the page\. Nobody asked for a scan of that site\."),
        ):
            browser.load(Visit(f"{asking.url}/", proxy, POLICY.user_agent, PATIENCE_S, ignores_certificate_errors=True))
    assert budget.counted > 40
    assert len(other.paths()) < 250


def test_further_loads_end_where_the_requests_do_and_the_first_still_counts(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.Limits", lambda: Limits(requests_per_host=5))
    seen = visit(browser, f"{site.url}/plain", again=2)
    assert len(seen.loads) <= 2
    assert seen.axe or SERVER_BUSY in seen.problems["axe"]


def test_a_page_is_blamed_only_for_what_it_did_with_the_processor() -> None:
    began = Usage(0, cpu_s=5.0, waited_s=1.0)
    assert explain_timeout(began, Usage(0, cpu_s=24.0, waited_s=9.0), 20.0) == BUSY
    # With more CPU time it might have ended in time, or not: that can't be known.
    assert explain_timeout(began, Usage(0, cpu_s=8.0, waited_s=12.0), 20.0) == SERVER_BUSY
    # It neither worked nor waited for the CPU; or the whole machine got no CPU.
    assert explain_timeout(began, Usage(0, cpu_s=6.0, waited_s=1.5), 20.0) == OUT_OF_TIME


def test_the_meter_counts_what_the_processes_really_hold(browser: WarmBrowser, site: Site) -> None:
    visit(browser, f"{site.url}/plain")
    roots = browsers()

    def exact() -> tuple[int, int]:
        """Return the bytes that they hold alone, and all that they have mapped, each process for itself."""
        alone = mapped = 0
        for process in [*roots, *(below for root in roots for below in root.children(recursive=True))]:
            with contextlib.suppress(psutil.NoSuchProcess):
                held = process.memory_full_info()
                alone, mapped = alone + held.uss, mapped + held.rss
        return alone, mapped

    # The page's own processes end about now: before that, the two may not count the same ones.
    deadline = time.monotonic() + 30
    while True:
        before, usage, after = exact(), ProcessMeter(roots).measure(), exact()
        if before == pytest.approx(after, rel=0.05) or time.monotonic() > deadline:
            break
    # Not their proportional share: it depends on the other browsers of this machine.
    assert 0.9 * after[0] < usage.memory_bytes < 0.9 * after[1]
    assert usage.cpu_s > 0.1


def test_folders_of_processes_that_were_killed_are_removed(browser: WarmBrowser, site: Site) -> None:
    gone = Path(tempfile.gettempdir()) / f"{FOLDER}4194305-abc"  # beyond the largest process ID
    gone.mkdir(exist_ok=True)
    browser.close()
    visit(browser, f"{site.url}/plain")
    assert not gone.exists()
