"""Example journeys with their sites, for tests of `--journey`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from tests.command_line import run_here
from tests.project import ROOT
from tests.targets.journeys.account import PASSWORD, USER, account_site
from tests.targets.journeys.app import app_site
from tests.targets.journeys.shop import CARD, shop_site
from tests.targets.server import Route, Site

FOLDER = ROOT / "examples/journeys"


class Example(NamedTuple):
    """Example journey, its site, and the outcomes of the planted faults by state."""

    make: Callable[..., dict[str, Route]]
    secrets: Mapping[str, str]
    faults: Mapping[str, set[str]]

    @property
    def options(self) -> list[str]:
        """Options with the secrets."""
        return [f"--secret={name}={value}" for name, value in self.secrets.items()]


EXAMPLES = {
    "account": Example(
        account_site,
        {"user": USER, "password": PASSWORD},
        {
            "Account": {"session-fixation.same", "secret-in-address.sent", "private-cache.shared"},
            "Loans": {"session-fixation.same", "keyboard-reach.unreachable"},
            "Signed out": {"password-paste.blocked", "log-out.valid"},
        },
    ),
    "checkout": Example(
        shop_site,
        {"card": CARD},
        {
            "Filtered": {"next-paint.slow", "interaction-shift.shifted", "cls.high"},
            "In the cart": {"color-contrast.low", "status-message.silent"},
            "Payment": {"label.missing"},
            "Paid": {"label.missing", "token-in-storage.secret"},
        },
    ),
    "booking": Example(
        app_site,
        {},
        {
            "Removed": {"focus-lost.lost"},
            "Dialog": {"dialog-focus.outside", "image-alt.missing"},
            "Refused": {"image-alt.missing", "error-message.missing"},
        },
    ),
}
PLANTED = frozenset(
    outcome for example in EXAMPLES.values() for faults in example.faults.values() for outcome in faults
)


@contextmanager
def example_site(name: str, *, is_faulty: bool) -> Iterator[Site]:
    """Run the site of an example journey."""
    with Site(EXAMPLES[name].make(is_faulty=is_faulty)) as site:
        yield site


def run_example(name: str, site: Site, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Execute an example journey with its secrets."""
    path = FOLDER / f"{name}.txt"
    return run_here("scan", site.url, "--journey", str(path), *EXAMPLES[name].options, *arguments)
