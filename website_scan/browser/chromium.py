"""Start of Chromium, and contexts in it: each looks like a phone, has one page and a proxy of its own."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil

from website_scan.browser.credentials import cookies_of
from website_scan.browser.devtools import Connection, Event, ProtocolError, Session
from website_scan.browser.processes import STOP_S
from website_scan.browser.proxy_login import ProxyLogin
from website_scan.browser.visit import Visit, user_agent_of
from website_scan.net.browser import CommandLine, context_options

# Lighthouse's phone: a small screen, with several device pixels per CSS pixel.
SCREEN = {"width": 412, "height": 823}
PIXEL_RATIO = 2
LANGUAGE = "en-US"
ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# Requests of service workers could not be counted, and one could answer those of the page.
NO_SERVICE_WORKERS = (
    "if (self.ServiceWorkerContainer) ServiceWorkerContainer.prototype.register ="
    " async () => { console.warn('The scanner allows no service workers.'); };"
)
MEDIA = {
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "forced-colors": "none",
    "prefers-contrast": "no-preference",
}
FREE_DESCRIPTOR = 10  # the lowest that Chromium's own two cannot take the place of
MAX_POPUPS = 20
# The page may know more about the phone than its user agent tells, which names no model either.
PHONE = {"mobile": True, "model": "", "platform": "Android", "platformVersion": "10", "architecture": "arm"}
READING, WRITING = 3, 4  # the descriptors where Chromium expects its pipes


@dataclass(slots=True)
class Chromium:
    """A running Chromium and the connection to it."""

    process: psutil.Process
    connection: Connection
    version: str = ""
    contexts: dict[str, Context] = field(default_factory=dict)

    @classmethod
    async def start(cls, command: CommandLine, started: Callable[[psutil.Process], None]) -> Chromium:
        """Start the program and wait until it answers. `started` gets its process. Raises OSError, `ProtocolError`."""
        process, reading, writing = _spawn(command)
        started(process)
        running = cls(process, await Connection.over(reading, writing))
        root = running.connection.root
        root.on("Target.attachedToTarget", running._attached)
        try:
            version, _ = await asyncio.gather(
                root.send("Browser.getVersion"), root.send("Target.setAutoAttach", ATTACH)
            )
        except BaseException:
            running.connection.close()
            raise
        running.version = str(version["product"]).rpartition("/")[2]
        return running

    async def close(self) -> None:
        """End the browser, or leave it running if it does not answer in time."""
        with contextlib.suppress(ProtocolError, TimeoutError):
            await asyncio.wait_for(self.connection.root.send("Browser.close"), STOP_S)

    def _attached(self, event: Event) -> None:
        target = event["targetInfo"]
        context = self.contexts.get(str(target.get("browserContextId")))
        if context is not None:
            context.attached(str(target["type"]), str(target["targetId"]), str(event["sessionId"]))


def _spawn(command: CommandLine) -> tuple[psutil.Process, int, int]:
    """Start a program that leads a process group and gets two pipes. Returns our ends: to read from and to write to."""
    ends = [_moved(each) for pair in (os.pipe(), os.pipe()) for each in pair]
    commands, writing, reading, answers = ends
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
                (os.POSIX_SPAWN_DUP2, commands, READING),
                (os.POSIX_SPAWN_DUP2, answers, WRITING),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        os.close(commands)
        os.close(answers)
    return psutil.Process(pid), reading, writing


def _moved(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FREE_DESCRIPTOR)
    os.close(descriptor)
    return moved


class Context:
    """A context with one page, `page`. Other windows are closed at once; service workers never run.

    `requested` gets `Network.requestWillBeSent` of the page, its frames and its workers.
    """

    def __init__(self, browser: Chromium, id: str, requested: Callable[[Event], None]) -> None:
        self._browser = browser
        self._root = browser.connection.root
        self._id = id
        self._requested = requested
        self._target = ""
        self._popups = 0
        self.page = self._root  # until `open` is done
        browser.contexts[id] = self

    @classmethod
    async def open(cls, browser: Chromium, visit: Visit, requested: Callable[[Event], None]) -> Context:
        """Open a context with an empty page. Raises `ProtocolError`."""
        root = browser.connection.root
        created = await root.send(
            "Target.createBrowserContext", {"disposeOnDetach": True, **context_options(visit.proxy)}
        )
        context = cls(browser, str(created["browserContextId"]), requested)
        cookies = cookies_of(visit.credentials, visit.url)
        await asyncio.gather(
            root.send("Browser.setDownloadBehavior", {"behavior": "deny", "browserContextId": context._id}),
            root.send("Storage.setCookies", {"browserContextId": context._id, "cookies": cookies}),
            root.send("Target.createTarget", {"url": "about:blank", "browserContextId": context._id, **SCREEN}),
        )
        await context._set_up(visit)
        return context

    async def another_session(self) -> Session:
        """Return a further session with the page: one can have only one handler of paused requests."""
        attached = await self._root.send("Target.attachToTarget", {"targetId": self._target, "flatten": True})
        return self._browser.connection.session(str(attached["sessionId"]))

    async def close(self) -> None:
        """Close the page and forget all that the context holds. Raises `ProtocolError`."""
        self._browser.contexts.pop(self._id, None)
        await self._root.send("Target.disposeBrowserContext", {"browserContextId": self._id})

    def attached(self, kind: str, target: str, session: str) -> None:
        """Take a target of this context, which waits for its start."""
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
            self._count_requests(session)

    async def _set_up(self, visit: Visit) -> None:
        page = self.page
        page.on("Network.requestWillBeSent", self._requested)
        page.on("Page.javascriptDialogOpening", lambda _: page.post("Page.handleJavaScriptDialog", {"accept": False}))
        page.on("Target.attachedToTarget", lambda event: self._count_requests(str(event["sessionId"])))
        phone: dict[str, Any] = {
            "Emulation.setDeviceMetricsOverride": {
                **SCREEN,
                "screenWidth": SCREEN["width"],
                "screenHeight": SCREEN["height"],
                "deviceScaleFactor": PIXEL_RATIO,
                "mobile": True,
                "screenOrientation": {"angle": 0, "type": "portraitPrimary"},
            },
            "Emulation.setTouchEmulationEnabled": {"enabled": True},
            "Emulation.setFocusEmulationEnabled": {"enabled": True},
            "Emulation.setEmulatedMedia": {
                "features": [{"name": name, "value": value} for name, value in MEDIA.items()]
            },
            "Emulation.setLocaleOverride": {"locale": LANGUAGE},
            "Emulation.setUserAgentOverride": {
                "userAgent": user_agent_of(self._browser.version, visit.user_agent),
                "acceptLanguage": LANGUAGE,
                "userAgentMetadata": PHONE,
            },
        }
        await asyncio.gather(
            page.send("Inspector.enable"),
            page.send("Page.enable"),
            page.send("Network.enable"),
            page.send("Network.setCacheDisabled", {"cacheDisabled": True}),
            page.send("Security.setIgnoreCertificateErrors", {"ignore": visit.trusts_anybody}),
            page.send("Page.addScriptToEvaluateOnNewDocument", {"source": NO_SERVICE_WORKERS}),
            page.send("Target.setAutoAttach", ATTACH),
            *(page.send(method, params) for method, params in phone.items()),
            ProxyLogin(page, visit.proxy).start(is_measured=visit.again > 0),
            page.send("Runtime.runIfWaitingForDebugger"),
        )

    def _count_requests(self, id: str) -> None:
        """Count the requests of a worker, or of a frame with a process of its own, then let it start."""
        session = self._browser.connection.session(id)
        session.on("Network.requestWillBeSent", self._requested)
        session.on("Target.attachedToTarget", lambda event: self._count_requests(str(event["sessionId"])))
        session.post("Network.enable")
        session.post("Network.setCacheDisabled", {"cacheDisabled": True})
        session.post("Target.setAutoAttach", ATTACH)
        session.post("Runtime.runIfWaitingForDebugger")
