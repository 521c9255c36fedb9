"""Fixtures for the accounts tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from django.db import OperationalError, connection, transaction

from infrastructure.environment import IdentityProvider
from tests.e2e.service import free_port, get_status
from tests.operations.stack.processes import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.e2e.pages import Window

Visit = Callable[..., Any]
Elsewhere = Callable[[str, int | str], bool]


@pytest.fixture
def visit(browser: Window) -> Visit:
    """Return a function that runs an action with a page in a new browser context."""

    def run(action: Callable[[BrowserContext, Page], Any], **options: Any) -> Any:
        def act(chromium: Browser) -> Any:
            with chromium.new_context(**options) as context:
                return action(context, context.new_page())

        return browser.do(act)

    return run


@pytest.fixture
def is_lockable_elsewhere() -> Iterator[Elsewhere]:
    """Return a function that tries to lock a row in another connection, and returns False if the row is locked."""

    def run(sql: str, id: int | str) -> bool:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"{sql} NOWAIT", [id])
        except OperationalError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(1) as pool:
        yield lambda sql, id: pool.submit(run, sql, id).result()


# OpenID Connect claims of the identity provider's test users, by `sub`.
CLAIMS: dict[str, dict[str, object]] = {
    "ada": {"email": "Ada@people.test", "email_verified": True},
    "bob": {"email": "bob@people.test", "email_verified": True},
    "unverified": {"email": "ada@people.test"},
    "text": {"email": "ada@people.test", "email_verified": "false"},
    "elsewhere": {"email": "eve@elsewhere.test", "email_verified": True},
    "nameless": {},
    "lines": {"email": "ada@people.test\nBcc: eve@elsewhere.test", "email_verified": True},
    "two": {"email": "eve@elsewhere.test@people.test", "email_verified": True},
    "both": {"email": "eve@elsewhere.test, ada@people.test", "email_verified": True},
    "list": {"email": ["ada@people.test"], "email_verified": True},
    "long": {"email": f"{'a' * 300}@people.test", "email_verified": True},
}


@pytest.fixture(scope="module")
def identity_provider() -> Iterator[IdentityProvider]:
    """Start an identity provider on loopback in a separate process.

    The service trusts its e-mail addresses at people.test.
    """
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
