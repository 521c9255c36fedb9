"""Warm Chromium: it runs between visits, survives hostile pages, and leaves no processes or folders behind."""

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

# Hostile scripts that break built-in objects or open dialogs, but do not prevent a load.
BROKEN_BUILT_INS = """<script nonce="n">
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
    "blinding": Answer(PAGE.format(head=BROKEN_BUILT_INS, body=""), headers=STRICT_CSP),
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
TIME_IS_UP = "busy|ran out"  # the page kept the browser busy, or the machine was too busy for the browser
UNLOADABLE = {
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


# Children that this process had before these tests, such as the browser of another test module.
OTHER_CHILDREN: set[psutil.Process] = set()


@pytest.fixture(scope="module", autouse=True)
def exclude_other_children() -> Iterator[None]:
    OTHER_CHILDREN.update(psutil.Process().children())
    yield
    OTHER_CHILDREN.clear()


def find_descendants(argument: str) -> list[psutil.Process]:
    """Return the descendant processes whose command line contains an argument, without `OTHER_CHILDREN`."""
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
    """Return the started browsers, without Chromium's own forks, which briefly have the same command line."""
    return [process for process in find_descendants(KILLS["browser"]) if process.ppid() == os.getpid()]


def kill_processes(request: Request) -> Answer:
    """Kill the processes that the path names, in the middle of a load."""
    for process in find_descendants(KILLS[request.path.rpartition("/")[2]]):
        with contextlib.suppress(psutil.NoSuchProcess):  # some processes end with the first
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
    # Tests of the sandbox start their own browser.
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running
    assert not find_descendants("chrom")
    assert not find_folders()


def find_folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{FOLDER}{os.getpid()}-*"))


def visit(browser: WarmBrowser, url: str, time_limit_s: float = PATIENCE_S, again: int = 0) -> BrowserLoad:
    with Network(POLICY, time_limit_s=PATIENCE_S) as network, BrowserProxy(network) as proxy:
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
def test_unloadable_page_fails_and_the_next_visit_succeeds(browser: WarmBrowser, site: Site, name: str) -> None:
    reason = UNLOADABLE[name][1]
    with pytest.raises(BrowserFailed, match=reason):
        visit(browser, f"{site.url}/{name}", time_limit_s=3.0 if reason == TIME_IS_UP else PATIENCE_S)
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("name", KILLS)
def test_process_killed_during_a_load_is_replaced(browser: WarmBrowser, site: Site, name: str) -> None:
    if name == "gpu":
        assert visit(browser, f"{site.url}/killing-{name}")  # Chromium starts another GPU process
    else:
        with pytest.raises(BrowserFailed):
            visit(browser, f"{site.url}/killing-{name}")
    assert visit(browser, f"{site.url}/plain").axe


@pytest.mark.parametrize("changes", [1, 2])
def test_page_is_loaded_again_after_a_network_change(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    """A container that starts on this machine changes the network. A second change ends the visit."""
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


def test_axe_nodes_have_ancestry_in_frames_and_shadow_trees(browser: WarmBrowser) -> None:
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


def test_endless_loop_in_axe_core_loses_only_its_own_evidence(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.AXE_CPU_S", 2.0)
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


def test_unreachable_page_fails_with_the_network_error(browser: WarmBrowser) -> None:
    with Site({}) as closed:
        url = closed.url
    with pytest.raises(BrowserFailed, match="net::ERR"):
        visit(browser, f"{url}/")


def test_browser_is_replaced_after_max_loads(browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.browser.warm.MAX_LOADS", 3)
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
    monkeypatch.setattr("website_scan.browser.warm.IDLE_S", 0.1)
    visit(browser, f"{site.url}/plain")
    deadline = time.monotonic() + PATIENCE_S
    while find_descendants("--remote-debugging-pipe") or find_folders():
        assert time.monotonic() < deadline, "the browser is still there"
        threading.Event().wait(0.05)
    monkeypatch.undo()
    assert visit(browser, f"{site.url}/plain").axe


def test_further_loads_have_an_empty_cache(browser: WarmBrowser, site: Site) -> None:
    loads = visit(browser, f"{site.url}/plain", again=2).loads
    assert len(loads) == 3
    assert all(
        [request.url for request in further_load.requests] == [f"{site.url}/plain", f"{site.url}/image.png"]
        for further_load in loads
    )
    assert all(further_load.main_thread.tasks and further_load.progress for further_load in loads)


def test_browser_gets_no_secrets_of_the_environment(
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


def test_root_without_other_users_is_reported_as_a_sandbox_problem(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In a rootless container, no other user exists that could own the browser's folder."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.chown", refuse)
    monkeypatch.setattr(
        "website_scan.browser.warm.sandbox_problem", lambda program: "this root cannot become another user"
    )
    before = find_folders(), threading.active_count()
    with WarmBrowser(Path("/bin/true")) as browser, pytest.raises(BrowserFailed, match="could not be started"):
        visit(browser, "http://127.0.0.1/")
    assert "Chromium gets no sandbox: this root cannot become another user" in caplog.text
    assert (find_folders(), threading.active_count()) == before


def test_slow_browser_start_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("website_scan.browser.warm.Chromium.start", never)
    before = find_folders()
    with (
        WarmBrowser(Path("/bin/true"), sandbox=False) as browser,
        pytest.raises(BrowserFailed, match="did not start within"),
    ):
        browser.start(0.1)
    assert find_folders() == before


def test_visit_uses_the_browser_that_start_has_started(browser: WarmBrowser, site: Site) -> None:
    browser.close()
    starts = browser.history.starts
    browser.start(PATIENCE_S)
    assert find_browsers()
    assert visit(browser, f"{site.url}/plain").axe
    assert browser.history.starts == starts + 1


def test_chromium_runs_in_its_sandbox_and_never_as_root(site: Site) -> None:
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


def test_chromium_starts_without_a_sandbox_only_if_the_setting_allows(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    program = find_browser("auto")
    assert program is not None
    # Imitates Chromium on a system without user namespaces: fails with Chromium's message unless --no-sandbox is set.
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


def test_sandbox_problem_names_a_program_that_its_user_cannot_run(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("others start the browser as themselves")
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    assert f"{program} cannot be run by user {BROWSER_UID}" in sandbox_problem(program)


# Scripts that allocate memory of all kinds: pictures, JavaScript heap, and memory outside of the heap.
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
def test_page_that_allocates_too_much_memory_is_ended_near_the_limit(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
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
    assert len(memory_bytes) > 1  # the first measurement is before the load
    assert max(memory_bytes[:-1]) <= MEMORY_MIB * MIB
    assert not find_browsers()


ENDLESS_REQUESTS = "(async () => { for (let count = 0; count < 5000; count += 1) await fetch('/plain?' + count); })()"


@pytest.mark.parametrize("where", ["page", "worker"])
def test_page_with_too_many_requests_is_ended(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
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


def test_requests_in_a_proxy_tunnel_count_in_the_shared_budget(browser: WarmBrowser) -> None:
    with Site({"*": Answer("x")}, certificate=Certificate.SELF_SIGNED) as other:
        ask = f"for (let count = 0; count < 500; count += 1) fetch('{other.url}/?' + count, {{mode: 'no-cors'}})"
        page = PAGE.format(head="", body=f"<script>{ask}</script>")
        budget = LimitPerPort(other.port)
        with (
            Site({"/": Answer(page, headers={"Content-Type": "text/html"})}) as asking,
            Network(POLICY, time_limit_s=PATIENCE_S, shared=budget) as network,
            BrowserProxy(network) as proxy,
            pytest.raises(BrowserFailed, match=r"stopped loading the page\. Nobody asked for a scan of that site\."),
        ):
            browser.load(Visit(f"{asking.url}/", proxy, POLICY.user_agent, PATIENCE_S, ignores_certificate_errors=True))
    assert budget.counted > 40
    assert len(other.paths()) < 250


def test_further_loads_stop_at_the_request_limit(
    browser: WarmBrowser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("website_scan.browser.load.Limits", lambda: Limits(requests_per_host=5))
    load = visit(browser, f"{site.url}/plain", again=2)
    assert len(load.loads) <= 2
    assert load.axe or SERVER_BUSY in load.problems["axe"]


def test_timeout_blames_the_page_only_for_its_processor_time() -> None:
    before = Usage(0, cpu_s=5.0, waited_s=1.0)
    assert explain_timeout(before, Usage(0, cpu_s=24.0, waited_s=9.0), 20.0) == BUSY
    # With more CPU time, the visit might have ended in time.
    assert explain_timeout(before, Usage(0, cpu_s=8.0, waited_s=12.0), 20.0) == SERVER_BUSY
    # The browser neither used nor waited for the CPU, or the whole machine got no CPU.
    assert explain_timeout(before, Usage(0, cpu_s=6.0, waited_s=1.5), 20.0) == OUT_OF_TIME


def test_meter_matches_the_memory_of_the_processes(browser: WarmBrowser, site: Site) -> None:
    visit(browser, f"{site.url}/plain")
    roots = find_browsers()

    def measure_exactly() -> tuple[int, int]:
        """Return the sums of the processes' unshared bytes (USS) and resident bytes (RSS)."""
        private = mapped = 0
        for process in [
            *roots,
            *(descendant for root in roots for descendant in root.children(recursive=True)),
        ]:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory = process.memory_full_info()
                private, mapped = private + memory.uss, mapped + memory.rss
        return private, mapped

    # The page's own processes are ending: until then, the two measurements may include different processes.
    deadline = time.monotonic() + 30
    while True:
        before, usage, after = measure_exactly(), ProcessMeter(roots).measure(), measure_exactly()
        if before == pytest.approx(after, rel=0.05) or time.monotonic() > deadline:
            break
    # The proportional set size is not compared, because it depends on other browsers of this machine.
    assert 0.9 * after[0] < usage.memory_bytes < 0.9 * after[1]
    assert usage.cpu_s > 0.1


def test_folders_of_dead_processes_are_deleted(browser: WarmBrowser, site: Site) -> None:
    stale = Path(tempfile.gettempdir()) / f"{FOLDER}4194305-abc"  # beyond the largest process ID
    stale.mkdir(exist_ok=True)
    browser.close()
    visit(browser, f"{site.url}/plain")
    assert not stale.exists()
