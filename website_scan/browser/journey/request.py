"""Parameters of executing a journey."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from website_scan.browser.devices import DESKTOP, Device
from website_scan.browser.visit import Part, Visit
from website_scan.journeys.journey import MAX_DURATION_S, MAX_STATES, Journey, JourneyRefused, Navigate, SetViewport
from website_scan.net.budget import Limits
from website_scan.net.credentials import OriginCredentials
from website_scan.page.registrable_domain import site_of
from website_scan.records import repr_without
from website_scan.urls import Url

if TYPE_CHECKING:
    from website_scan.net.proxy import BrowserProxy

MAX_STATE_S = 30.0
# A journey loads many pages, and must not be stopped by the limits of one page.
LIMITS = Limits(requests=3_000, requests_per_host=2_000)


def site_addresses(journey: Journey) -> Callable[[str], bool]:
    """Return a function that decides whether the journey may act on an address.

    Allowed are the registrable domain of the first address and the journey's identity providers. If the first address
    is encrypted, all have to be.
    """
    start = Url.of(journey.start_url)
    site, providers = site_of(start.host), frozenset(host.lower() for host in journey.identity_providers)

    def is_allowed(address: str) -> bool:
        url = Url.parse(address)
        if url is None or not url.is_http or (start.scheme == "https" and url.scheme != "https"):
            return False
        return site_of(url.host) == site or url.host in providers

    return is_allowed


class WalkRequest(Struct, frozen=True):
    """Parameters of executing a journey once.

    `allowed` decides on which addresses the journey may act: only these are opened in the page itself, only frames with
    such a document receive input, and only requests to them may contain secrets. Further states than `max_states` are
    not judged; 0 only executes the steps. `axe_devices` are the screens for axe-core; empty for the journey's own
    screen only, because a menu may close when the page becomes narrower. `report_progress` is called with the number of
    executed steps, in the browser's thread.
    """

    journey: Journey
    proxy: BrowserProxy
    user_agent: str
    allowed: Callable[[str], bool]
    secrets: Mapping[str, str] = field(default_factory=dict)
    time_limit_s: float = MAX_DURATION_S
    max_states: int = MAX_STATES
    state_time_limit_s: float = MAX_STATE_S  # Time for the evidence of one state.
    parts: frozenset[Part] = frozenset(Part)
    device: Device = DESKTOP
    axe_devices: tuple[Device, ...] = ()
    color_scheme: str = "light"
    credentials: OriginCredentials | None = None
    ignores_certificate_errors: bool = False
    tests_log_out: bool = False  # True to request a private page again after a log-out (see log_out.py).
    has_pictures: bool = True  # True for a picture of each step. Failures always have one.
    limits: Limits = LIMITS
    report_progress: Callable[[int], None] = lambda _: None

    def __repr__(self) -> str:
        return repr_without(self, "secrets")

    def __post_init__(self) -> None:
        """Refuse a journey whose secrets are missing, or whose first address is not allowed."""
        if missing := [name for name in self.journey.secret_names if name not in self.secrets]:
            raise JourneyRefused(f"The journey needs the secret “{missing[0]}”, which is not set.")
        if not self.allowed(self.journey.start_url):
            raise JourneyRefused(f"The journey may not act on {self.journey.start_url}.")

    @property
    def first_device(self) -> Device:
        """Return the screen on which the journey opens its first page."""
        device = self.device
        for step in self.journey.steps:
            if isinstance(step, Navigate):
                break
            if isinstance(step, SetViewport):
                device = device_of(step)
        return device

    def visit(self, device: Device) -> Visit:
        """Return the parameters of a page load on a screen."""
        return Visit(
            url=self.journey.start_url,
            proxy=self.proxy,
            user_agent=self.user_agent,
            time_limit_s=self.time_limit_s,
            ignores_certificate_errors=self.ignores_certificate_errors,
            parts=self.parts,
            device=device,
            axe_devices=self.axe_devices or (device,),
            color_scheme=self.color_scheme,
            credentials=self.credentials,
        )


def device_of(step: SetViewport) -> Device:
    """Return the screen that a step describes."""
    return Device(step.width, step.height, step.scale, is_mobile=step.is_mobile)
