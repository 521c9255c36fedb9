"""What several tests of accounts need: a real browser, and an identity provider."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright

from infrastructure.environment import IdentityProvider
from scanner.net.browser import find_browser
from tests.e2e.service import free_port, get_status
from tests.operations.stack.processes import wait_until

Visit = Callable[..., Any]


@pytest.fixture(scope="module")
def visit() -> Iterator[Visit]:
    """Does something with a page of a fresh browser; in a thread of its own, as Playwright has an event loop."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with ThreadPoolExecutor(1, "playwright") as thread:
        playwright = thread.submit(lambda: sync_playwright().start()).result(60)
        launch = playwright.chromium.launch
        browser = thread.submit(lambda: launch(executable_path=program, args=["--no-sandbox"])).result(60)

        def in_thread(action: Callable[[BrowserContext, Page], Any], **options: Any) -> Any:
            def act() -> Any:
                with browser.new_context(**options) as context:
                    return action(context, context.new_page())

            return thread.submit(act).result(100)

        yield in_thread
        thread.submit(browser.close).result(60)
        thread.submit(playwright.stop).result(60)


# By `sub`: who is known there, and what the provider says of them.
CLAIMS: dict[str, dict[str, object]] = {
    "ada": {"email": "Ada@people.test", "email_verified": True},
    "bob": {"email": "bob@people.test", "email_verified": True},
    "unverified": {"email": "ada@people.test"},
    "text": {"email": "ada@people.test", "email_verified": "false"},
    "elsewhere": {"email": "eve@elsewhere.test", "email_verified": True},
    "nameless": {},
}


@pytest.fixture(scope="module")
def identity_provider() -> Iterator[IdentityProvider]:
    """A provider on loopback in a process of its own, which speaks for people.test."""
    port = free_port()
    users = [word for sub, claims in CLAIMS.items() for word in ("--user-claims", json.dumps({"sub": sub} | claims))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), *users]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: get_status(port, "/.well-known/openid-configuration") == 200, 60)
        yield IdentityProvider("acme", "Acme", f"http://localhost:{port}", "wss", "a secret", domains=("people.test",))
    finally:
        process.kill()
        process.wait()
