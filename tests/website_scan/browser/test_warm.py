"""Tests for the warm Chromium, which runs between visits."""

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
from website_scan.browser.reasons import BUSY, SERVER_BUSY, VISIT_OUT_OF_TIME, explain_timeout
from website_scan.browser.visit import BrowserFailed, Visit
from website_scan.browser.warm import FOLDER, MAX_MEMORY_MIB, WarmBrowser
from website_scan.net.browser import BROWSER_UID, find_browser, sandbox_problem
from website_scan.net.budget import MIB, Limits
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy

LOOPBACK = ip_network("127.0.0.1/32")
POLICY = Policy(allowed_networks=(LOOPBACK,))
MAX_WAIT_S = 20.0

# A page whose only fault is an image without alternative text.
PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width">{head}</head>
<body><main><h1>Hello</h1><p>Some text to look at.</p><img src="/image.png" width="40" height="30"></main>{body}
</body></html>"""

# Hostile scripts break built-in objects or open dialogs, but do not prevent a load.
BROKEN_BUILT_IN_SCRIPTS = """<script nonce="n">
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
PROMPTING = """<script>
onbeforeunload = () => 'Stay?';
for (let count = 0; count < 20; count += 1) { alert(count); confirm(count); prompt(count); window.open('/plain'); }
for (let count = 0; count < 20; count += 1) {
  const link = document.createElement('a');
  link.href = 'data:application/octet-stream,x'; link.download = 'f' + count; link.click();
}
setInterval(() => window.open('/plain'), 5);
navigator.geolocation.getCurrentPosition(() => 0); Notification.requestPermission(); print();
</script>"""
STRICT_CSP = {
    "Content-Type": "text/html",
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; script-src 'nonce-n';"
    " require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts",
}

LOADABLE = {
    "plain": Answer(PAGE.format(head="", body=""), headers={"Content-Type": "text/html"}),
    "blinding": Answer(PAGE.format(head=BROKEN_BUILT_IN_SCRIPTS, body=""), headers=STRICT_CSP),
    "clobbering": Answer(PAGE.format(head="", body=CLOBBERING), headers={"Content-Type": "text/html"}),
    "asking": Answer(PAGE.format(head="", body=PROMPTING), headers={"Content-Type": "text/html"}),
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
# Scripts that prevent a load, and the expected reason in the report.
TIMEOUT_REASON = "busy|ran out"  # Either the page or other programs of the machine kept the browser busy.
UNLOADABLE = {
    "loop-at-once": ("<script>while (true);</script>", TIMEOUT_REASON),
    "loop-later": ("<script>onload = () => setTimeout(() => { while (true); }, 20)</script>", TIMEOUT_REASON),
    "many-frames": (
        "<script>for (let count = 0; count < 10_000; count += 1) {"
        " const frame = document.createElement('iframe'); frame.srcdoc = '<p>' + count; document.body.append(frame) }"
        "</script>",
        TIMEOUT_REASON,
    ),
    "elsewhere": ("<script>setTimeout(() => { location.href = '/plain' }, 50)</script>", "leads to another page"),
    "again-and-again": ("<script>setTimeout(() => location.reload(), 50)</script>", "navigates away"),
    "never-at-rest": ("<script>location.reload()</script>", "navigates away"),
}
KILLS = {
    "renderer": "--type=renderer",
    "gpu": "--type=gpu-process",
    "browser": "--remote-debugging-pipe",
}


# These processes existed before the tests, such as another module's browser.
OTHER_CHILDREN: set[psutil.Process] = set()


@pytest.fixture(scope="module", autouse=True)
def exclude_other_children() -> Iterator[None]:
    OTHER_CHILDREN.update(psutil.Process().children())
    yield
    OTHER_CHILDREN.clear()


def find_descendants(argument: str) -> list[psutil.Process]:
    """Return descendant processes that have this argument.

    They are descendants of this module's process.
    """
    processes = []
    for child in set(psutil.Process().children()) - OTHER_CHILDREN:
        try:
            family = [child, *child.children(recursive=True)]
        except psutil.Error:
            continue
        for process in family:
            with contextlib.suppress(psutil.Error):
                if argument in " ".join(process.cmdline()):
                    processes.append(process)
    return processes


def find_browsers() -> list[psutil.Process]:
    """Return the browser processes that the test process started.

    Chromium's own forks briefly have the same command line.
    """
    return [process for process in find_descendants(KILLS["browser"]) if process.ppid() == os.getpid()]


def kill_processes(request: Request) -> Answer:
    """Kill the processes that the path of the request names."""
    for process in find_descendants(KILLS[request.path.rpartition("/")[2]]):
        with contextlib.suppress(psutil.NoSuchProcess):  # Some processes end together with their parent.
            process.kill()
    return Answer(b"")


ROUTES = {
    **{f"/{name}": answer for name, answer in LOADABLE.items()},
    **{
        f"/{name}": Answer(PAGE.format(head="", body=script), headers={"Content-Type": "text/html"})
        for name, (script, _) in UNLOADABLE.items()
    },
    **{f"/kill/{name}": kill_processes for name in KILLS},
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
    "/slow": Answer(b"", delay_s=MAX_WAIT_S),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site(ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    # Tests of the sandbox start their own browser.
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running
    assert not find_descendants("chrom")
    assert not find_folders()


def find_folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{FOLDER}{os.getpid()}-*"))


def visit(browser: WarmBrowser, url: str, time_limit_s: float = MAX_WAIT_S, again: int = 0) -> BrowserLoad:
    with Network(POLICY, time_limit_s=MAX_WAIT_S) as network, BrowserProxy(network) as proxy:
        return browser.load(Visit(url, proxy, POLICY.user_agent, time_limit_s, again=again))


@pytest.mark.parametrize("name", LOADABLE)
def test_hostile_page_is_loaded_and_judged(browser: WarmBrowser, site: Site, name: str) -> None:
    load = visit(browser, f"{site.url}/{name}")
    assert not load.problems
    assert load.first.fcp_s
    assert load.first.lcp
    assert load.first.load_s
    assert load.layout
    assert load.layout.markup
    assert "Some text to look at." in load.layout.markup
    assert load.first_screen
    assert load.first_screen.data.startswith(b"RIFF")
    assert load.axe
    assert load.axe.violations["image-alt"].nodes[0].snippet.startswith("<img")
    assert "html-has-lang" in load.axe.passes


@pytest.mark.parametrize("name", UNLOADABLE)
def test_next_visit_succeeds_after_an_unloadable_page(browser: WarmBrowser, site: Site, name: str) -> None:
    reason = UNLOADABLE[name][1]
    with pytest.raises(BrowserFailed, match=reason):
        visit(browser, f"{site.url}/{name}", time_limit_s=3.0 if reason == TIMEOUT_REASON else MAX_WAIT_S)
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("name", KILLS)
def test_process_killed_during_a_load_is_replaced(browser: WarmBrowser, site: Site, name: str) -> None:
    if name == "gpu":
        assert visit(browser, f"{site.url}/killing-{name}")  # After the crash, Chromium starts another GPU process.
    else:
        with pytest.raises(BrowserFailed):
            visit(browser, f"{site.url}/killing-{name}")
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("changes", [1, 2])
def test_page_is_loaded_again_after_a_network_change(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    """Starting a container changes the network of the machine. A visit survives one change, but not two."""
    send, remaining = Session.send, changes

    async def navigate(session: Session, method: str, params: dict[str, Any] | None = None) -> Any:
        nonlocal remaining
        if method == "Page.navigate" and remaining:
            remaining -= 1
            return {"errorText": "net::ERR_NETWORK_CHANGED"}
        return await send(session, method, params)

    monkeypatch.setattr(Session, "send", navigate)
    if changes == 1:
        assert visit(browser, f"{site.url}/plain").axe
    else:
        with pytest.raises(BrowserFailed, match="ERR_NETWORK_CHANGED"):
            visit(browser, f"{site.url}/plain")


def test_axe_nodes_have_their_ancestry(browser: WarmBrowser) -> None:
    body = (
        "<main><ul><li>One</li><li><img src=/a.png></li></ul></main><iframe title=f srcdoc='<p><img src=/b.png></p>'>"
        "</iframe><div><template shadowrootmode=open><p><img src=/c.png></p></template></div>"
    )
    page = Answer(PAGE.format(head="", body=body), headers={"Content-Type": "text/html"})
    with Site({"/": page}) as site:
        load = visit(browser, f"{site.url}/")
    assert load.axe
    assert {node.ancestry for node in load.axe.violations["image-alt"].nodes} == {
        "html > body > main > img",
        "html > body > main > ul > li > img",
        "html > body > iframe >>> html > body > p > img",
        "html > body > div >>> p > img",
    }


def test_endless_loop_in_axe_loses_only_its_evidence(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.MAX_AXE_CPU_S", 2.0)
    load = visit(browser, f"{site.url}/leading-axe-astray")
    assert load.axe is None
    assert load.problems["axe"].endswith("judge the page in the browser within 2 seconds of processor time.")
    assert load.first.fcp_s
    assert load.layout
    assert load.first_screen


def test_page_that_never_finishes_loading_is_judged(browser: WarmBrowser, site: Site) -> None:
    load = visit(browser, f"{site.url}/never", time_limit_s=6.0)
    assert load.first.load_s is None
    assert load.first.fcp_s
    assert load.axe or SERVER_BUSY in load.problems["axe"]


def test_unreachable_page_has_a_network_error(browser: WarmBrowser) -> None:
    with Site({}) as closed:
        url = closed.url
    with pytest.raises(BrowserFailed, match="net::ERR"):
        visit(browser, f"{url}/")


def test_browser_is_replaced_after_max_loads(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.browser.warm.MAX_LOADS_PER_BROWSER", 3)
    browser.close()
    browsers_after_loads = []
    for _ in range(4):
        visit(browser, f"{site.url}/plain")
        browsers_after_loads.append(find_browsers())
    assert browsers_after_loads[0] == browsers_after_loads[1]
    assert browsers_after_loads[2] == []
    assert len(browsers_after_loads[3]) == 1
    assert browsers_after_loads[3] != browsers_after_loads[0]


def test_idle_browser_is_ended(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.browser.warm.IDLE_TIMEOUT_S", 0.1)
    visit(browser, f"{site.url}/plain")
    deadline = time.monotonic() + MAX_WAIT_S
    while find_descendants("--remote-debugging-pipe") or find_folders():
        assert time.monotonic() < deadline, "the browser is still there"
        threading.Event().wait(0.05)
    monkeypatch.undo()
    assert visit(browser, f"{site.url}/plain").axe


def test_repeated_loads_have_an_empty_cache(browser: WarmBrowser, site: Site) -> None:
    loads = visit(browser, f"{site.url}/plain", again=2).loads
    assert len(loads) == 3
    assert all(
        [request.url for request in further_load.requests] == [f"{site.url}/plain", f"{site.url}/image.png"]
        for further_load in loads
    )
    assert all(further_load.main_thread.tasks and further_load.progress for further_load in loads)


@pytest.mark.parametrize("is_enough", [True, False])
def test_page_is_loaded_once_if_one_load_is_enough(browser: WarmBrowser, site: Site, *, is_enough: bool) -> None:
    with Network(POLICY, time_limit_s=MAX_WAIT_S) as network, BrowserProxy(network) as proxy:
        url = f"{site.url}/plain"
        loaded = browser.load(
            Visit(
                url,
                proxy,
                POLICY.user_agent,
                MAX_WAIT_S,
                again=1,
                is_one_load_enough=lambda load: is_enough and bool(load.main_thread.tasks),
            )
        )
    assert len(loaded.loads) == (1 if is_enough else 2)


def test_browser_gets_no_secrets_from_the_environment(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.close()
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    visit(browser, f"{site.url}/plain")
    processes = find_descendants("--type=") + find_descendants("--remote-debugging-pipe")
    assert len(processes) > 3
    assert not any("SECRET_KEY" in process.environ() or "DATABASE_URL" in process.environ() for process in processes)


def test_program_that_is_no_browser_fails_to_start() -> None:
    before = find_folders()
    with (
        WarmBrowser(Path("/bin/true")) as browser,
        Network(POLICY, time_limit_s=5) as network,
        BrowserProxy(network) as proxy,
        pytest.raises(BrowserFailed, match="could not be started"),
    ):
        browser.load(Visit("http://127.0.0.1/", proxy, POLICY.user_agent, 5.0))
    assert find_folders() == before


def test_missing_browser_user_is_a_sandbox_problem(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A rootless container has no other user who could own the browser's folder."""

    def raise_key_error(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.chown", raise_key_error)
    monkeypatch.setattr(
        "website_scan.browser.warm.sandbox_problem", lambda program: "this root cannot become another user"
    )
    before = find_folders(), threading.active_count()
    with WarmBrowser(Path("/bin/true")) as browser, pytest.raises(BrowserFailed, match="could not be started"):
        visit(browser, "http://127.0.0.1/")
    assert "Chromium gets no sandbox: this root cannot become another user" in caplog.text
    assert (find_folders(), threading.active_count()) == before


def test_slow_browser_start_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never_start(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("website_scan.browser.warm.Chromium.start", never_start)
    before = find_folders()
    with (
        WarmBrowser(Path("/bin/true"), sandbox=False) as browser,
        pytest.raises(BrowserFailed, match="did not start within"),
    ):
        browser.start(0.1)
    assert find_folders() == before


def test_visit_uses_the_started_browser(browser: WarmBrowser, site: Site) -> None:
    browser.close()
    starts = browser.history.starts
    browser.start(MAX_WAIT_S)
    assert find_browsers()
    assert visit(browser, f"{site.url}/plain").axe
    assert browser.history.starts == starts + 1


def test_chromium_never_runs_as_root(site: Site) -> None:
    program = find_browser("auto")
    assert program is not None
    if problem := sandbox_problem(program):
        pytest.skip(problem)
    with WarmBrowser(program) as sandboxed:
        assert visit(sandboxed, f"{site.url}/plain").axe
        processes = find_descendants("--type=") + find_browsers()
        assert processes
        assert not any("--no-sandbox" in process.cmdline() for process in processes)
        owner = BROWSER_UID if os.geteuid() == 0 else os.geteuid()
        assert {process.uids().effective for process in processes} == {owner}


def test_only_the_setting_disables_the_sandbox(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    program = find_browser("auto")
    assert program is not None
    # This program fails like Chromium without user namespaces, unless --no-sandbox is set.
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


def test_sandbox_problem_names_the_program(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("others start the browser as themselves")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert f"{program} cannot be run by user {BROWSER_UID}" in sandbox_problem(program)


# These scripts allocate pictures, JavaScript objects, and memory outside of the heap.
MEMORY_HOGS = {
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


@pytest.mark.parametrize("name", MEMORY_HOGS)
def test_page_is_ended_near_the_memory_limit(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    memory_bytes: list[int] = []
    measure = ProcessMeter.measure

    def record_usage(meter: ProcessMeter) -> Usage:
        usage = measure(meter)
        memory_bytes.append(usage.memory_bytes)
        return usage

    monkeypatch.setattr(ProcessMeter, "measure", record_usage)
    body = f"<script>const kept = []; {MEMORY_HOGS[name]}</script>"
    page = Answer(PAGE.format(head="", body=body), headers={"Content-Type": "text/html"})
    with Site({"/": page}) as greedy, pytest.raises(BrowserFailed, match="too much memory"):
        visit(browser, f"{greedy.url}/")
    assert len(memory_bytes) > 1  # The first measurement takes place before the load.
    assert max(memory_bytes[:-1]) <= MAX_MEMORY_MIB * MIB
    assert not find_browsers()


def test_evidence_survives_a_huge_picture(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: because of its picture, a page with thousands of rows lost its accessibility evidence."""

    async def need_much_memory(*_: object) -> None:
        monkeypatch.setattr(browser, "_memory_bytes", 0)
        await asyncio.sleep(MAX_WAIT_S)

    monkeypatch.setattr("website_scan.browser.load.take_page_picture", need_much_memory)
    load = visit(browser, f"{site.url}/plain")
    assert load.axe is not None
    assert "image-alt" in load.axe.violations
    assert "too much memory" in load.problems["page_picture"]
    assert not find_browsers()


ENDLESS_REQUESTS = "(async () => { for (let count = 0; count < 5000; count += 1) await fetch('/plain?' + count); })()"


@pytest.mark.parametrize("where", ["page", "worker"])
def test_visit_with_too_many_requests_fails(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr("website_scan.browser.load.Limits", lambda: Limits(requests_per_host=30))
    script = ENDLESS_REQUESTS if where == "page" else "new Worker('/worker.js')"
    routes = {
        "/": Answer(PAGE.format(head="", body=f"<script>{script}</script>"), headers={"Content-Type": "text/html"}),
        "/worker.js": Answer(ENDLESS_REQUESTS, headers={"Content-Type": "text/javascript"}),
        "/plain": Answer("x"),
    }
    with Site(routes) as asking:
        with pytest.raises(BrowserFailed, match="more than 30 requests"):
            visit(browser, f"{asking.url}/")
        assert len(asking.paths()) < 1000


class LimitPerPort:
    """Fake shared budget that allows 40 requests to one port."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.counted = 0

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        if port == self._port:
            self.counted += 1
            if self.counted > 40:
                raise BudgetExceeded("Nobody asked for a scan of that site.")


def test_tunnel_requests_count_toward_the_budget(browser: WarmBrowser) -> None:
    with Site({"*": Answer("x")}, certificate=Certificate.SELF_SIGNED) as other:
        ask = f"for (let count = 0; count < 500; count += 1) fetch('{other.url}/?' + count, {{mode: 'no-cors'}})"
        page = PAGE.format(head="", body=f"<script>{ask}</script>")
        budget = LimitPerPort(other.port)
        with (
            Site({"/": Answer(page, headers={"Content-Type": "text/html"})}) as asking,
            Network(POLICY, time_limit_s=MAX_WAIT_S, shared=budget) as network,
            BrowserProxy(network) as proxy,
            pytest.raises(BrowserFailed, match=r"stopped loading the page\. Nobody asked for a scan of that site\."),
        ):
            browser.load(Visit(f"{asking.url}/", proxy, POLICY.user_agent, MAX_WAIT_S, ignores_certificate_errors=True))
    assert budget.counted > 40
    assert len(other.paths()) < 250


def test_repeated_loads_stop_at_the_request_limit(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.Limits", lambda: Limits(requests_per_host=5))
    load = visit(browser, f"{site.url}/plain", again=2)
    assert len(load.loads) <= 2
    assert load.axe or SERVER_BUSY in load.problems["axe"]


def test_timeout_blames_the_page_only_for_its_cpu_time() -> None:
    before = Usage(0, cpu_s=5.0, waited_s=1.0)
    assert explain_timeout(before, Usage(0, cpu_s=24.0, waited_s=9.0), 20.0) == BUSY
    # With more CPU time, the visit might have finished in time.
    assert explain_timeout(before, Usage(0, cpu_s=8.0, waited_s=12.0), 20.0) == SERVER_BUSY
    # The browser was mostly idle, or the whole machine got no CPU time.
    assert explain_timeout(before, Usage(0, cpu_s=6.0, waited_s=1.5), 20.0) == VISIT_OUT_OF_TIME


def test_memory_meter_matches_psutil(browser: WarmBrowser, site: Site) -> None:
    visit(browser, f"{site.url}/plain")
    roots = find_browsers()

    def measure_exactly() -> tuple[int, int]:
        """Return the unshared and the resident bytes of the processes."""
        private = mapped = 0
        for process in [
            *roots,
            *(descendant for root in roots for descendant in root.children(recursive=True)),
        ]:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory = process.memory_full_info()
                private, mapped = private + memory.uss, mapped + memory.rss
        return private, mapped

    # The two measurements may include different processes until the page's own have ended.
    deadline = time.monotonic() + 30
    while True:
        before, usage, after = measure_exactly(), ProcessMeter(roots).measure(), measure_exactly()
        if before == pytest.approx(after, rel=0.05) or time.monotonic() > deadline:
            break
    # The proportional set size depends on other browsers of this machine.
    assert 0.9 * after[0] < usage.memory_bytes < 0.9 * after[1]
    assert usage.cpu_s > 0.1


def test_folders_of_dead_processes_are_deleted(browser: WarmBrowser, site: Site) -> None:
    stale = Path(tempfile.gettempdir()) / f"{FOLDER}4194305-abc"  # The folder's process ID is above Linux's maximum.
    stale.mkdir(exist_ok=True)
    browser.close()
    visit(browser, f"{site.url}/plain")
    assert not stale.exists()
