"""Options with which Playwright starts Chromium for tests and benchmarks, with the restrictions of the service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from website_scan.net.browser import ARGUMENTS, NOWHERE, command_line
from website_scan.net.proxy import BrowserProxy

# Default options of Playwright that are meant for tests of trusted sites. They enable software WebGL outside the GPU
# process, and remove a limit on messages with which a page could flood the browser.
UNWANTED_DEFAULTS = ("--enable-unsafe-swiftshader", "--disable-ipc-flooding-protection")


def launch_options(program: Path, folder: Path) -> dict[str, Any]:
    """Return options for `chromium.launch`: no sandbox, no network access, and all files in `folder`."""
    command = command_line(program, folder, sandbox=False)
    return {
        "executable_path": str(command.program),
        "args": [argument for argument in ARGUMENTS if not argument.startswith("--proxy-")],
        "ignore_default_args": list(UNWANTED_DEFAULTS),
        "proxy": {"server": NOWHERE},
        "env": dict(command.environment),
        "chromium_sandbox": False,
    }


def context_options(proxy: BrowserProxy) -> Mapping[str, Any]:
    """Return options for `new_context` with the proxy of one scan."""
    return {
        "proxy": {"server": proxy.url, "username": proxy.username, "password": proxy.password},
        "accept_downloads": False,
    }
