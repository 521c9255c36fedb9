"""How Chromium is kept inside: found, and started so that `scanner.net.proxy` is all of the network it knows."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scanner.net.budget import MIB

if TYPE_CHECKING:
    from scanner.net.proxy import BrowserProxy

# The shell first: without a user interface it takes half the processor time.
PROGRAMS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable")

# For what belongs to no context, such as the browser's own traffic: port 0 is reserved, nothing listens there.
NOWHERE = "http://127.0.0.1:0"

# Whom the browser runs as where the worker is root: nobody else, not even `nobody`, who may own other servers. In none
# of the ranges that Debian and systemd give away.
BROWSER_UID = 60_700
# Beside the home, where `make browser` puts what another user than root has to read.
DOWNLOADS = (Path(".cache/ms-playwright"), Path("Library/Caches/ms-playwright"), Path("/usr/local/share/ms-playwright"))

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
    # Neither WebGL nor WebGPU: no finding needs them, and they hold memory and drivers open to pages.
    "--disable-3d-apis",
    # A page may open no windows. Only the shell knows this; in others they are closed at once.
    "--block-new-web-contents",
)

# Of Playwright's own, which are for tests of sites that one trusts: software WebGL outside of the GPU's process, and no
# brake on messages with which a page floods the browser.
UNWANTED_DEFAULTS = ("--enable-unsafe-swiftshader", "--disable-ipc-flooding-protection")

START_AS_USER = Path(__file__).with_name("start-as-user")


# What the optional extra `browser` brings.
PACKAGES = ("playwright", "axe_playwright_python")


def missing_packages() -> tuple[str, ...]:
    """Those of the extra that are not installed."""
    return tuple(each for each in PACKAGES if importlib.util.find_spec(each) is None)


def browser_to_drive(choice: str) -> Path | None:
    """`find_browser`, but None as well where there is nothing to drive it with."""
    return None if choice == "off" or missing_packages() else find_browser(choice)


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
    for folder in (Path.home() / each for each in DOWNLOADS):
        for pattern in ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome"):
            if found := sorted(each for each in folder.glob(pattern) if os.access(each, os.X_OK)):
                return found[-1]
    return None


# What Chromium will do: become its own user, be able to run the program, and on Linux enter namespaces (clone(2)).
_TRY_SANDBOX = """
import ctypes, os, sys
user, program = int(sys.argv[1]), sys.argv[2]
if user:
    try:
        os.setgroups([]); os.setgid(user); os.setuid(user)
    except OSError:
        sys.exit("this root cannot become another user")
if not os.access(program, os.X_OK):
    sys.exit(f"{program} cannot be run by user {user}, as whom root starts it")
if sys.platform == "linux" and ctypes.CDLL(None).unshare(0x10000000 | 0x20000000 | 0x40000000):
    sys.exit("user namespaces are forbidden here")
"""


def sandbox_problem(program: Path) -> str:
    """Why Chromium would not start with its sandbox, for a sentence's end; empty when nothing speaks against it."""
    user = BROWSER_UID if os.geteuid() == 0 else 0
    if user and shutil.which("setpriv") is None:
        return "setpriv (package util-linux) is missing, with which root starts it as another user"
    command = [sys.executable, "-I", "-S", "-c", _TRY_SANDBOX, str(user), str(program)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    return tried.stderr.strip().rpartition("\n")[2] if tried.returncode else ""


def launch_options(program: Path, folder: Path, *, sandbox: bool, memory_bytes: int = 0) -> Mapping[str, Any]:
    """For Playwright's `chromium.launch`: a browser without any way out, whose files all lie in `folder`.

    It gets nothing of this process' environment, which holds the service's secrets. With the sandbox and started by
    root it runs as `BROWSER_UID`. `memory_bytes` is what the browser may hold in all; scripts get most of it.
    """
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    arguments = list(ARGUMENTS)
    if memory_bytes:
        arguments.append(f"--js-flags=--max-old-space-size={memory_bytes * 3 // 4 // MIB}")
    if sandbox and os.geteuid() == 0:
        # Its own in a folder that only root can change: the browser may enter it and no more.
        folder.chmod(0o711)
        folder = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
        os.chown(folder, BROWSER_UID, BROWSER_UID)
        environment |= {"BROWSER_PROGRAM": str(program), "BROWSER_USER": str(BROWSER_UID)}
        program = START_AS_USER
    environment |= {name: str(folder) for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    return {
        "executable_path": str(program),
        "args": arguments,
        "ignore_default_args": list(UNWANTED_DEFAULTS),
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
