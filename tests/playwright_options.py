"""Options with which Playwright starts Chromium for tests and benchmarks, as restricted as the service's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from website_scan.net.browser import ARGUMENTS, NOWHERE, command_line
from website_scan.net.proxy import BrowserProxy

# Default options of Playwright that are meant for tests of trusted sites: software WebGL outside of the GPU process,
# and no limit on messages with which a page can flood the browser.
UNWANTED_DEFAULTS = ("--enable-unsafe-swiftshader", "--disable-ipc-flooding-protection")


def launch_options(program: Path, folder: Path) -> dict[str, Any]:
    """Return options for `chromium.launch`, without a sandbox: no network access, all files in `folder`."""
    command = command_line(program, folder, sandbox=False)
    return {
        "executable_path": str(command.program),
        "args": [each for each in ARGUMENTS if not each.startswith("--proxy-")],
        "ignore_default_args": list(UNWANTED_DEFAULTS),
        "proxy": {"server": NOWHERE},
        "env": dict(command.environment),
        "chromium_sandbox": False,
    }


def context_options(proxy: BrowserProxy) -> Mapping[str, Any]:
    """Return options for `new_context`: the proxy of one scan."""
    return {
        "proxy": {"server": proxy.url, "username": proxy.username, "password": proxy.password},
        "accept_downloads": False,
    }
