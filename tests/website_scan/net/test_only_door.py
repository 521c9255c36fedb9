"""Only `website_scan/net` opens connections: checked in the source, module by module."""

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
# The embedded stack and its supervisor check whether local ports are free or respond.
LOCAL_MODULES = {"socket", "http.client"}
LOCAL_PORTS = {
    "operations/stack/embedded.py",
    "operations/stack/postgres.py",
    "operations/stack/redis.py",
    "config/gunicorn.py",  # responds on connections that clients opened
    "infrastructure/postgresql/hang_detection.py",  # checks whether the database still responds
    "operations/stack/launcher.py",
    "operations/stack/management/commands/up.py",
    "operations/stack/processes.py",
    "operations/stack/supervisor.py",
}
# These imports open no connection: names of errors that Django's mail raises; asyncio, for the loop in which
# Chromium's answers arrive through a pipe; and ssl, for how the queue's own client verifies a certificate.
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
    # Sends requests to the identity providers that operators configure, perhaps in their own network; errors it raises.
    "accounts/adapters/providers.py": {"requests"},
    "accounts/pages/providers.py": {"requests"},
    # Requests BASE_URL, which the operator who runs the doctor has set; errors of mail.
    "operations/health/diagnosis.py": {
        "http.client",
        "http.client.HTTPConnection",
        "http.client.HTTPException",
        "http.client.HTTPSConnection",
        "smtplib",
        "ssl",
    },
    "website_scan/browser/chromium.py": {"asyncio"},
    "website_scan/browser/credentials.py": {"asyncio"},
    "website_scan/browser/devtools.py": {"asyncio"},
    "website_scan/browser/load.py": {"asyncio"},
    "website_scan/browser/main_thread.py": {"asyncio"},
    "website_scan/browser/pictures.py": {"asyncio"},
    "website_scan/browser/warm.py": {"asyncio"},
    "website_scan/command/remote.py": {"requests"},  # sends requests to the service that the user of the command names
}


def modules() -> Iterator[Path]:
    for app in PACKAGES:
        yield from (path for path in (ROOT / app).rglob("*.py") if DOOR not in path.parents)


def imported(source: str) -> set[str]:
    """Return the name of every module that the source imports, in any form of import."""
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


def connecting(names: set[str]) -> set[str]:
    """Return the imported names of modules that can connect, or of parts of them."""
    return {name for name in names if any(name == module or name.startswith(f"{module}.") for module in CONNECTING)}


def test_no_module_outside_the_network_guard_opens_connections() -> None:
    imports_by_path = {
        str(path.relative_to(ROOT)): names
        for path in modules()
        if (names := connecting(imported(path.read_text(encoding="utf-8"))))
    }
    assert {path: imports_by_path.pop(path) for path in HARMLESS} == HARMLESS
    assert {path: names for path, names in imports_by_path.items() if path not in LOCAL_PORTS} == {}
    for path in LOCAL_PORTS & set(imports_by_path):
        assert all(
            any(f"{name}.".startswith(f"{module}.") for module in LOCAL_MODULES) for name in imports_by_path[path]
        )


def test_only_dial_connects_within_the_network_guard() -> None:
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
    # `_begin` asks a pooled connection to connect, which does so through `dial`.
    assert callers == {"deadline.py:dial", "connections.py:_begin"}


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
    assert connecting(imported(source))


@pytest.mark.parametrize(
    "source", ["import http", "from urllib.parse import urlsplit", "from website_scan.net import client"]
)
def test_import_search_ignores_harmless_imports(source: str) -> None:
    assert not connecting(imported(source))
