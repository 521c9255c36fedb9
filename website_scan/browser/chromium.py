"""Launch Chromium, and open browser contexts that emulate a phone or another screen.

Each context has one page and its own proxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from typing import Any

import psutil
from msgspec import Struct, field

from website_scan.browser.credentials import browser_cookies
from website_scan.browser.devtools import Connection, Event, ProtocolError, Session
from website_scan.browser.processes import STOP_TIMEOUT_S
from website_scan.browser.proxy_login import ProxyLogin
from website_scan.browser.visit import Visit, chrome_user_agent
from website_scan.net.browser import CommandLine, context_options

LANGUAGE = "en-US"
AUTO_ATTACH_OPTIONS = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# Requests of service workers could not be counted.
DISABLE_SERVICE_WORKERS_SCRIPT = (
    "if (self.ServiceWorkerContainer) ServiceWorkerContainer.prototype.register ="
    " async () => { console.warn('The scanner allows no service workers.'); };"
)
MEDIA_FEATURES = {
    "prefers-reduced-motion": "no-preference",
    "forced-colors": "none",
    "prefers-contrast": "no-preference",
}
# Pipes must not use the file descriptors that Chromium expects.
MIN_FREE_DESCRIPTOR = 10
MAX_POPUPS = 20
# The phone's model is empty, as in the User-Agent header.
USER_AGENT_METADATA = {
    "mobile": True,
    "model": "",
    "platform": "Android",
    "platformVersion": "10",
    "architecture": "arm",
}
DESKTOP_METADATA = {
    "mobile": False,
    "model": "",
    "platform": "Linux",
    "platformVersion": "",
    "architecture": "x86",
}
COMMANDS_FD, RESPONSES_FD = 3, 4  # Chromium expects its DevTools pipes at these file descriptors.


class Chromium(Struct):
    """Running Chromium process with its DevTools connection."""

    process: psutil.Process
    connection: Connection
    version: str = ""
    contexts: dict[str, Context] = field(default_factory=dict)

    @classmethod
    async def start(cls, command: CommandLine, started: Callable[[psutil.Process], None]) -> Chromium:
        """Start Chromium and wait for its first response.

        Calls `started` with the process. Raises OSError, `ProtocolError`.
        """
        process, reading, writing = _spawn(command)
        started(process)
        running = cls(process, await Connection.connect(reading, writing))
        root = running.connection.root
        root.on("Target.attachedToTarget", running._on_target_attached)
        try:
            version, _ = await asyncio.gather(
                root.send("Browser.getVersion"), root.send("Target.setAutoAttach", AUTO_ATTACH_OPTIONS)
            )
        except BaseException:
            running.connection.close()
            raise
        running.version = str(version["product"]).rpartition("/")[2]
        return running

    async def close(self) -> None:
        """Send `Browser.close`.

        Chromium keeps running if it does not respond in time.
        """
        with contextlib.suppress(ProtocolError, TimeoutError):
            await asyncio.wait_for(self.connection.root.send("Browser.close"), STOP_TIMEOUT_S)

    def _on_target_attached(self, event: Event) -> None:
        target = event["targetInfo"]
        context = self.contexts.get(str(target.get("browserContextId")))
        if context is not None:
            context.on_target_attached(str(target["type"]), str(target["targetId"]), str(event["sessionId"]))


def _spawn(command: CommandLine) -> tuple[psutil.Process, int, int]:
    """Start Chromium as the leader of a process group, with two pipes.

    Returns the process, and the file descriptors of the parent's ends: to read responses and to write commands.
    """
    ends = [_move_descriptor(descriptor) for pair in (os.pipe(), os.pipe()) for descriptor in pair]
    commands, writing, reading, responses = ends
    null = os.devnull
    try:
        pid = os.posix_spawn(
            command.program,
            [str(command.program), *command.arguments],
            dict(command.environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, commands, COMMANDS_FD),
                (os.POSIX_SPAWN_DUP2, responses, RESPONSES_FD),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(commands)
        os.close(responses)
    return psutil.Process(pid), reading, writing


def _move_descriptor(descriptor: int) -> int:
    new_descriptor = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, MIN_FREE_DESCRIPTOR)
    os.close(descriptor)
    return new_descriptor


class Context:
    """Browser context with one page, `page`.

    Popups are closed immediately, and service workers never run. `requested` is called with `Network.requestWillBeSent`
    events of the page, its frames and its workers.
    """

    def __init__(self, browser: Chromium, id: str, requested: Callable[[Event], None]) -> None:
        self._browser = browser
        self._root = browser.connection.root
        self._id = id
        self._requested = requested
        self._target = ""
        self._popups = 0
        self.page = self._root  # `open` replaces this placeholder by the session of the page.
        # Answer to a dialog of the page, such as a confirmation.
        self.accepts_dialog: Callable[[Event], bool] = lambda _: False
        # Called with the session of each new worker before its script runs.
        self.on_worker: Callable[[Session], None] = lambda _: None
        browser.contexts[id] = self

    @classmethod
    async def open(cls, browser: Chromium, visit: Visit, requested: Callable[[Event], None]) -> Context:
        """Open a browser context with an empty page.

        Raises `ProtocolError`.
        """
        root = browser.connection.root
        created = await root.send(
            "Target.createBrowserContext", {"disposeOnDetach": True, **context_options(visit.proxy)}
        )
        context = cls(browser, str(created["browserContextId"]), requested)
        cookies = browser_cookies(visit.credentials, visit.url)
        await asyncio.gather(
            root.send("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": context._id}),
            root.send("Storage.setCookies", {"browserContextId": context._id, "cookies": cookies}),
            root.send(
                "Target.createTarget",
                {
                    "url": "about:blank",
                    "browserContextId": context._id,
                    "width": visit.device.width,
                    "height": visit.device.height,
                },
            ),
        )
        await context._configure_page(visit)
        return context

    async def open_session(self) -> Session:
        """Open another session with the page.

        A session can have only one handler of paused requests.
        """
        attached = await self._root.send("Target.attachToTarget", {"targetId": self._target, "flatten": True})
        return self._browser.connection.session(str(attached["sessionId"]))

    async def cookies(self) -> list[dict[str, Any]]:
        """Return all cookies of the context (CDP, `Network.Cookie`). Raises `ProtocolError`."""
        response = await self._root.send("Storage.getCookies", {"browserContextId": self._id})
        return list(response["cookies"])

    async def close(self) -> None:
        """Close the page and delete the context's cookies, cache and storage.

        Raises `ProtocolError`.
        """
        self._browser.contexts.pop(self._id, None)
        await self._root.send("Target.disposeBrowserContext", {"browserContextId": self._id})

    def on_target_attached(self, kind: str, target: str, session: str) -> None:
        """Handle a new DevTools target.

        Adopts the first page, closes popups, and counts requests of shared workers.
        """
        if kind == "page" and not self._target:
            self._target = target
            self.page = self._browser.connection.session(session)
        elif kind == "page" and target != self._target:
            self._popups += 1
            if self._popups > MAX_POPUPS:
                self._root.post("Target.disposeBrowserContext", {"browserContextId": self._id})
            else:
                self._root.post("Target.closeTarget", {"targetId": target})
        elif kind == "shared_worker":
            self._start_counting_requests(session)

    def _answer_dialog(self, event: Event) -> None:
        self.page.post("Page.handleJavaScriptDialog", {"accept": self.accepts_dialog(event)})

    async def _configure_page(self, visit: Visit) -> None:
        page = self.page
        page.on("Network.requestWillBeSent", self._requested)
        page.on("Page.javascriptDialogOpening", self._answer_dialog)
        page.on("Target.attachedToTarget", lambda event: self._start_counting_requests(str(event["sessionId"])))
        is_mobile = visit.device.is_mobile
        media_features = MEDIA_FEATURES | {"prefers-color-scheme": visit.color_scheme}
        emulation: dict[str, Any] = {
            **visit.device.commands(),
            "Emulation.setFocusEmulationEnabled": {"enabled": True},
            "Emulation.setEmulatedMedia": {
                "features": [{"name": name, "value": value} for name, value in media_features.items()]
            },
            "Emulation.setLocaleOverride": {"locale": LANGUAGE},
            "Emulation.setUserAgentOverride": {
                "userAgent": chrome_user_agent(self._browser.version, visit.user_agent, is_mobile=is_mobile),
                "acceptLanguage": LANGUAGE,
                "userAgentMetadata": USER_AGENT_METADATA if is_mobile else DESKTOP_METADATA,
            },
        }
        await asyncio.gather(
            page.send("Inspector.enable"),
            page.send("Page.enable"),
            page.send("Network.enable"),
            page.send("Network.setCacheDisabled", {"cacheDisabled": True}),
            page.send("Security.setIgnoreCertificateErrors", {"ignore": visit.ignores_certificate_errors}),
            page.send("Page.addScriptToEvaluateOnNewDocument", {"source": DISABLE_SERVICE_WORKERS_SCRIPT}),
            page.send("Target.setAutoAttach", AUTO_ATTACH_OPTIONS),
            *(page.send(method, params) for method, params in emulation.items()),
            ProxyLogin(page, visit.proxy).start(is_measured=visit.again > 0),
            page.send("Runtime.runIfWaitingForDebugger"),
        )

    def _start_counting_requests(self, id: str) -> None:
        """Count the requests of a paused target and resume it.

        The target is a worker, or a frame with its own process.
        """
        session = self._browser.connection.session(id)
        session.on("Network.requestWillBeSent", self._requested)
        session.on("Target.attachedToTarget", lambda event: self._start_counting_requests(str(event["sessionId"])))
        self.on_worker(session)
        session.post("Network.enable")
        session.post("Network.setCacheDisabled", {"cacheDisabled": True})
        session.post("Target.setAutoAttach", AUTO_ATTACH_OPTIONS)
        session.post("Runtime.runIfWaitingForDebugger")
