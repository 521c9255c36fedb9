"""Test that only `website_scan/net` opens network connections."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project import PACKAGES, ROOT

DOOR = ROOT / "website_scan" / "net"

# Modules that can open a connection to another host.
CONNECTING = (
    "_socket", "aiohttp", "asyncio", "curl_cffi", "dns", "ftplib", "http.client", "httpcore", "httplib2",
    "httpx", "imaplib", "OpenSSL", "paramiko", "poplib", "pycurl", "requests", "smtplib", "socket",
    "socketserver", "ssl", "telnetlib", "trio", "urllib.request", "urllib3", "websocket", "websockets",
    "xmlrpc.client",
)  # fmt: skip
# The embedded stack checks whether local ports are free or respond.
LOCAL_MODULES = {"socket", "http.client"}
LOCAL_PORTS = {
    "operations/stack/embedded.py",
    "operations/stack/postgres.py",
    "operations/stack/redis.py",
    # These modules only use connections that clients opened.
    "config/connections.py",
    "config/gunicorn.py",
    "infrastructure/postgresql/hang_detection.py",  # This module checks whether the database still responds.
    "operations/stack/launcher.py",
    "operations/stack/management/commands/up.py",
    "operations/stack/processes.py",
    "operations/stack/supervisor.py",
}
# These imports open no connections: Django's mail errors, asyncio's event loop for Chromium's pipe, and an ssl constant
# for the queue's own client.
HARMLESS = {
    "config/celery.py": {"ssl"},
    "accounts/mail.py": {"smtplib", "smtplib.SMTPException"},
    "accounts/mailing/sending.py": {
        "smtplib",
        "smtplib.SMTPDataError",
        "smtplib.SMTPException",
        "smtplib.SMTPRecipientsRefused",
        "smtplib.SMTPResponseException",
        "smtplib.SMTPServerDisconnected",
    },
    # This module sends requests to identity providers that operators configure.
    "accounts/adapters/providers.py": {"requests"},
    "accounts/pages/providers.py": {"requests"},
    # This module requests BASE_URL, which the operator has set.
    "operations/health/diagnosis.py": {
        "http.client",
        "http.client.HTTPConnection",
        "http.client.HTTPException",
        "http.client.HTTPSConnection",
        "smtplib",
        "ssl",
    },
    "website_scan/browser/axe_time.py": {"asyncio"},
    "website_scan/browser/chromium.py": {"asyncio"},
    "website_scan/browser/closed_trees.py": {"asyncio"},
    "website_scan/browser/credentials.py": {"asyncio"},
    "website_scan/browser/devtools.py": {"asyncio"},
    "website_scan/browser/journey/activity.py": {"asyncio"},
    "website_scan/browser/journey/facts.py": {"asyncio"},
    "website_scan/browser/journey/failures.py": {"asyncio"},
    "website_scan/browser/journey/finder.py": {"asyncio"},
    "website_scan/browser/journey/inputs.py": {"asyncio"},
    "website_scan/browser/journey/log_out.py": {"asyncio"},
    "website_scan/browser/journey/state_evidence.py": {"asyncio"},
    "website_scan/browser/journey/step_pictures.py": {"asyncio"},
    "website_scan/browser/journey/walker.py": {"asyncio"},
    "website_scan/browser/load.py": {"asyncio"},
    "website_scan/browser/main_thread.py": {"asyncio"},
    "website_scan/browser/pictures.py": {"asyncio"},
    "website_scan/browser/warm.py": {"asyncio"},
    # This module sends requests to the service that the user specifies.
    "website_scan/command/remote.py": {"requests"},
}


def modules() -> Iterator[Path]:
    for app in PACKAGES:
        yield from (path for path in (ROOT / app).rglob("*.py") if DOOR not in path.parents)


def imported_modules(source: str) -> set[str]:
    """Return the names of all modules that the source imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and _is_import(node.func):
            argument = node.args[0]
            names.add(str(argument.value) if isinstance(argument, ast.Constant) else "(computed)")
    return names


def _is_import(function: ast.expr) -> bool:
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return called in ("import_module", "__import__")


def connecting_imports(names: set[str]) -> set[str]:
    """Return the imported names that can open connections."""
    return {name for name in names if any(name == module or name.startswith(f"{module}.") for module in CONNECTING)}


def test_only_the_network_guard_opens_connections() -> None:
    imports_by_path = {
        str(path.relative_to(ROOT)): names
        for path in modules()
        if (names := connecting_imports(imported_modules(path.read_text(encoding="utf-8"))))
    }
    assert {path: imports_by_path.pop(path) for path in HARMLESS} == HARMLESS
    assert {path: names for path, names in imports_by_path.items() if path not in LOCAL_PORTS} == {}
    for path in LOCAL_PORTS & set(imports_by_path):
        assert all(
            any(f"{name}.".startswith(f"{module}.") for module in LOCAL_MODULES) for name in imports_by_path[path]
        )


def test_only_dial_connects_in_the_network_guard() -> None:
    callers = {
        f"{path.name}:{function.name}"
        for path in DOOR.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func) in ("connection.connect", "socket.create_connection", "sock.connect")
    }
    # The dialers for TCP and UDP call `_connect`. `_begin_exchange` lets a pooled connection connect through `dial`.
    assert callers == {"deadline.py:_connect", "connections.py:_begin_exchange"}


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "import urllib.request as request",
        "from urllib import request",
        "from http import client",
        "import http.client",
        "from requests import get",
        "def late():\n    import httpx",
        "__import__('socket')",
        "importlib.import_module('urllib3.util')",
        "import dns.resolver",
    ],
)
def test_import_search_detects_every_form_of_import(source: str) -> None:
    assert connecting_imports(imported_modules(source))


@pytest.mark.parametrize(
    "source", ["import http", "from urllib.parse import urlsplit", "from website_scan.net import client"]
)
def test_import_search_ignores_harmless_imports(source: str) -> None:
    assert not connecting_imports(imported_modules(source))
