"""Start Chromium with a proxy as its only network access.

The proxy is `website_scan.net.proxy`.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from website_scan.net.browser_trust import trust
from website_scan.net.budget import MIB

if TYPE_CHECKING:
    from website_scan.net.proxy import BrowserProxy

logger = logging.getLogger(__name__)

# The headless shell needs only half the processor time.
PROGRAMS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable")

# No server can listen on port 0, so traffic outside of contexts is blocked.
NOWHERE = "http://127.0.0.1:0"

# No other program has this user ID, because Debian and systemd do not assign it.
BROWSER_UID = 60_700
# Downloaded browsers are in these folders. `make browser` uses the absolute path for root.
DOWNLOADS = (Path(".cache/ms-playwright"), Path("Library/Caches/ms-playwright"), Path("/usr/local/share/ms-playwright"))

ARGUMENTS = (
    f"--proxy-server={NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    # The proxy resolves names, so Chromium must not.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    # UDP is disabled, because it would bypass the proxy.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Chromium may send no requests of its own, only those of the page.
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
    # Frames of other sites need no separate process, because contexts have no private data.
    "--disable-site-isolation-trials",
    # WebGL and WebGPU use memory and expose drivers, and no finding needs them.
    "--disable-3d-apis",
    # Only the headless shell can block new windows. Scans close those of other browsers.
    "--block-new-web-contents",
)

# With these options, Chromium behaves alike on all machines.
HEADLESS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-color-profile=srgb",
    # Emulate a touch screen without a mouse (ui::PointerType, ui::HoverType).
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--allow-pre-commit-input",
    "--disable-field-trial-config",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    "--disable-dev-shm-usage",  # Containers have little shared memory.
    "--disable-extensions",
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,PaintHolding,"
    "PreconnectToSearch,NetworkTimeServiceQuerying,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose",
    # The network service has no sandbox on Linux, so a process of its own would only cost time and memory. If it
    # crashes, the browser ends and is replaced. The load would have failed in any case.
    "--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
)

START_AS_USER = Path(__file__).with_name("start-as-user")


# Python packages of the optional extra `browser`.
PACKAGES = ("axe_playwright_python",)


def missing_packages() -> tuple[str, ...]:
    """Return the missing Python packages of the extra `browser`."""
    return tuple(package for package in PACKAGES if importlib.util.find_spec(package) is None)


def find_supported_browser(choice: str) -> Path | None:
    """Return the browser program, or None if packages are missing.

    See `find_browser`. The packages are those of the extra `browser`.
    """
    return None if choice == "off" or missing_packages() else find_browser(choice)


def find_browser(choice: str) -> Path | None:
    """Return the path of the browser program.

    `auto` searches for a browser, `off` means no browser. Raises FileNotFoundError if the program at the path does not
    exist.
    """
    if choice == "off":
        return None
    if choice == "auto":
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        return Path(program) if program else _find_downloaded_browser()
    program = shutil.which(choice)
    if program is None:
        raise FileNotFoundError(choice)
    return Path(program)


def _find_downloaded_browser() -> Path | None:
    """Return the newest browser that `playwright install` downloaded.

    Preferably the headless shell.
    """
    for folder in (Path.home() / path for path in DOWNLOADS):
        for pattern in ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome"):
            if programs := sorted(path for path in folder.glob(pattern) if os.access(path, os.X_OK)):
                return programs[-1]
    return None


# Tests the first steps of Chromium's sandbox: changing the user and creating namespaces (clone(2)).
_SANDBOX_TEST_PROGRAM = """
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
    """Return why Chromium cannot start with its sandbox.

    The end of a sentence. Empty if the sandbox works.
    """
    user = BROWSER_UID if os.geteuid() == 0 else 0
    if user and shutil.which("setpriv") is None:
        return "setpriv (package util-linux) is missing, with which root starts it as another user"
    command = [sys.executable, "-I", "-S", "-c", _SANDBOX_TEST_PROGRAM, str(user), str(program)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    return tried.stderr.strip().rpartition("\n")[2] if tried.returncode else ""


class CommandLine(Struct, frozen=True):
    """Command line of a program.

    It has a path, arguments and a complete environment.
    """

    program: Path
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def command_line(
    program: Path, folder: Path, *, sandbox: bool, memory_bytes: int = 0, ca_bundle: Path | None = None
) -> CommandLine:
    """Return Chromium's command line without network access.

    Only the direct access is missing. All its files are in `folder`. The browser gets only PATH, LANG and TZ of this
    process's environment, because the rest contains the service's secrets. With the sandbox, and if the worker is root,
    the browser runs as `BROWSER_UID`. `memory_bytes` is the limit for the whole browser; scripts get most of it.
    `ca_bundle` is a PEM file of certificates to trust besides Chromium's own. Raises OSError if root cannot change the
    owner of the browser's folder.
    """
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    arguments = [*HEADLESS, *ARGUMENTS]
    if not sandbox:
        arguments.append("--no-sandbox")
    if memory_bytes:
        arguments.append(f"--js-flags=--max-old-space-size={memory_bytes * 3 // 4 // MIB}")
    runs_as_other_user = sandbox and os.geteuid() == 0
    if runs_as_other_user:
        # Only root can change the parent folder, which the browser can only traverse.
        folder.chmod(0o711)
        folder = Path(tempfile.mkdtemp(prefix="home-", dir=folder))
        environment |= {"BROWSER_PROGRAM": str(program), "BROWSER_USER": str(BROWSER_UID)}
        program = START_AS_USER
    if ca_bundle and (problem := trust(folder, ca_bundle)):
        logger.error("Chromium does not trust the certificates of %s: %s", ca_bundle, problem)
    if runs_as_other_user:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, BROWSER_UID, BROWSER_UID)
    environment |= {name: str(folder) for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    arguments.append(f"--user-data-dir={folder / 'profile'}")
    return CommandLine(program, tuple(arguments), environment)


def context_options(proxy: BrowserProxy) -> dict[str, str]:
    """Return options that make a browser context use the proxy.

    The options are for `Target.createBrowserContext`. They include loopback addresses.
    """
    return {"proxyServer": proxy.url, "proxyBypassList": "<-loopback>"}
