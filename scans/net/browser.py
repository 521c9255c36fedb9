"""How Chromium is kept inside: found, and started so that `scans.net.proxy` is all of the network it knows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scans.net.proxy import BrowserProxy

# The shell first: without a user interface it takes half the processor time.
PROGRAMS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable")

# For what belongs to no context, such as the browser's own traffic: port 0 is reserved, nothing listens there.
NOWHERE = "http://127.0.0.1:0"

ARGUMENTS = (
    # Names are resolved by the proxy. Chromium itself knows none but the proxy's address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # UDP would go around the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Nothing is asked for that the page does not ask for.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--disable-breakpad",
    # A context belongs to one scan and holds nothing of anybody's: frames of other sites need no process of their own.
    "--disable-site-isolation-trials",
    # A page may open no windows. Only the shell knows this; in others they are closed at once.
    "--block-new-web-contents",
)


def find_browser(choice: str) -> Path | None:
    """The program to start: `auto` looks for one, `off` for none, everything else is its path.

    Raises FileNotFoundError when the named program is not there.
    """
    if choice == "off":
        return None
    if choice == "auto":
        found = next(filter(None, map(shutil.which, PROGRAMS)), None)
        return Path(found) if found else _downloaded()
    program = shutil.which(choice)
    if program is None:
        raise FileNotFoundError(choice)
    return Path(program)


def _downloaded() -> Path | None:
    """The newest of the browsers that `playwright install` has put down, its shell first."""
    folder = Path.home() / ".cache" / "ms-playwright"
    for pattern in ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome"):
        if found := sorted(each for each in folder.glob(pattern) if os.access(each, os.X_OK)):
            return found[-1]
    return None


def launch_options(program: Path, folder: Path, *, sandbox: bool = False) -> Mapping[str, Any]:
    """For Playwright's `chromium.launch`: a browser without any way out, whose files all lie in `folder`.

    It gets nothing of this process' environment, which holds the service's secrets.
    """
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    environment |= {name: str(folder) for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    return {
        "executable_path": str(program),
        "args": list(ARGUMENTS),
        "proxy": {"server": NOWHERE},
        "env": environment,
        "chromium_sandbox": sandbox,
    }


def context_options(proxy: BrowserProxy) -> Mapping[str, Any]:
    """For Playwright's `new_context`: the way out of one scan. Loopback has no exception."""
    return {
        "proxy": {"server": proxy.url, "username": proxy.username, "password": proxy.password},
        "accept_downloads": False,
    }
