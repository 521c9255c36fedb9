"""Options that start Chromium with the service's restrictions.

Tests and benchmarks use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from website_scan.net.browser import ARGUMENTS, NOWHERE, command_line
from website_scan.net.proxy import BrowserProxy

# Playwright's default options are safe only for trusted sites.
UNWANTED_DEFAULTS = ("--enable-unsafe-swiftshader", "--disable-ipc-flooding-protection")


def launch_options(program: Path, folder: Path) -> dict[str, Any]:
    """Return `chromium.launch` options without sandbox and network access.

    All files are in `folder`.
    """
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
    """Return `new_context` options with the proxy of one scan."""
    return {
        "proxy": {"server": proxy.url, "username": proxy.username, "password": proxy.password},
        "accept_downloads": False,
    }
