"""Result of executing a journey once: what happened in each step, and the evidence of each state."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct


class StepStatus(StrEnum):
    """What happened in a step."""

    DONE = "done"
    FAILED = "failed"
    NOT_REACHED = "not reached"  # A step before has failed, or the time was over.


class Interaction(Struct, frozen=True):
    """What followed the input of a step until the page was quiet.

    `next_paint_ms` is the time from the input to the next frame, as in Interaction to Next Paint, or None if the step
    has no input or no frame followed. `shift` is the sum of unexpected layout shifts. `long_tasks_ms` are durations.
    """

    next_paint_ms: float | None
    shift: float
    long_tasks_ms: tuple[float, ...]
    transferred_bytes: int
    requests: int


class Picture(Struct, frozen=True):
    """Picture of the page, with all fields masked that contain a secret."""

    data: bytes  # JPEG, or WebP if the JPEG would be large.
    width: int
    height: int


class Cookie(Struct, frozen=True):
    """Cookie of the browser in a state. The value is only a digest, which shows whether it has changed."""

    name: str
    domain: str
    path: str
    value_digest: str
    value_length: int
    is_secure: bool
    is_http_only: bool
    same_site: str  # Strict, Lax, None, or empty
    expires_in_s: float | None  # None for a session cookie
    is_host_only: bool


class Focus(Struct, frozen=True):
    """Element that has the focus.

    `selector` is empty if no element has it, which means that keyboard users start again at the top of the page.
    """

    selector: str
    role: str
    name: str
    is_in_dialog: bool
    is_lost: bool  # True if the element that had the focus has been removed or hidden by the step.


class OpenDialog(Struct, frozen=True):
    """Visible dialog, modal or not, by its selector and accessible name."""

    selector: str
    name: str
    is_modal: bool
    has_focus_inside: bool


class LiveMessage(Struct, frozen=True):
    """Text that a step has changed in a live region, which screen readers announce.

    `politeness` is "polite" or "assertive".
    """

    text: str
    politeness: str
    selector: str


class SilentMessage(Struct, frozen=True):
    """Visible message that a step has caused, and of which nothing informs screen readers.

    It is in no live region that existed before the step, has not got the focus, and does not describe a field.
    """

    text: str
    selector: str


class StorageEntry(Struct, frozen=True):
    """Entry of localStorage or sessionStorage. `kind` is "token", "secret" or "other"; the value is not stored."""

    area: str
    key: str
    kind: str
    value_length: int


class PasswordField(Struct, frozen=True):
    """Visible and empty password field, by its selector and accessible name."""

    selector: str
    name: str
    blocks_paste: bool


class NotTested(StrEnum):
    """Reason why the server was not asked, after a log-out, whether the session still exists."""

    NO_COOKIES = "no cookies"  # The session is elsewhere, for example a token in the browser's storage.
    NOT_REPEATABLE = "not repeatable"  # The page was not opened by a plain GET request, or its address has a secret.
    UNREADABLE = "unreadable"  # The browser has no markup of the page as sent.
    NOT_LOGGED_OUT = "not logged out"  # The state does not show that the step has logged out.
    NO_SIGN = "no sign"  # The markup of the page as sent does not show that somebody is logged in.
    CACHED = "cached"
    UNANSWERED = "unanswered"


class PageAnswer(Struct, frozen=True):
    """What an answer of the server for a private page shows.

    `redirects` is True for a redirect to another page. `shows_secret` is True if the answer contains a secret of the
    journey, such as the user's name, and `resembles_page` if its text is nearly that of the page before the log-out.
    """

    status: int
    redirects: bool = False
    has_log_out: bool = False
    shows_secret: bool = False
    asks_log_in: bool = False
    resembles_page: bool = False

    @property
    def signs(self) -> frozenset[str]:
        """Return what shows that the answer was made for a user who is logged in."""
        signs = {"log-out": self.has_log_out, "secret": self.shows_secret}
        return frozenset(name for name, is_shown in signs.items() if is_shown)


class LogOut(Struct, frozen=True):
    """Answers of the server for a private page, before and after the journey has logged out.

    `url` is the page's address without its query, and `page` the page before the log-out. `old` is the answer to the
    cookies from before the log-out. `new` is the answer to those that the browser has now, or to none if these are the
    same; it is None if it was not needed. If `problem` is set, there are no answers.
    """

    url: str = ""
    page: PageAnswer | None = None
    old: PageAnswer | None = None
    new: PageAnswer | None = None
    problem: NotTested | None = None


class StateSecurity(Struct, frozen=True):
    """What the browser and the server exchanged for the document of a state, and its password fields."""

    cookies: tuple[Cookie, ...]
    storage: tuple[StorageEntry, ...]
    document_headers: Mapping[str, str]
    secrets_in_addresses: tuple[str, ...] = ()  # Addresses requested since the state before, with secrets masked.
    password_fields: tuple[PasswordField, ...] = ()
    log_out: LogOut | None = None  # None if no step since the state before has logged out.


class KeyboardReach(Struct, frozen=True):
    """Whether the keyboard reaches the element of a pointer step.

    `reason` is "" if it is reached, else "not focusable", "no action" (Enter and Space do nothing) or "hidden".
    """

    step: int
    selector: str
    name: str
    is_reached: bool
    reason: str = ""


class StepResult(Struct, frozen=True):
    """What happened in a step.

    `problem` is a sentence for the person who wrote the step, and empty if the step is done. `near_matches` describe
    elements that resemble the one that was not there, for example `button “Sign in now”`. `is_unreachable` is True if
    the step failed because the server did not respond. `notes` are sentences about what the scanner prevented, such as
    a new window. `focus`, `dialogs` and the messages are those after the step.
    """

    status: StepStatus
    url: str = ""
    duration_s: float = 0.0
    navigated: bool = False
    problem: str = ""
    near_matches: tuple[str, ...] = ()
    is_unreachable: bool = False
    picture: Picture | None = None
    interaction: Interaction | None = None
    focus: Focus | None = None
    dialogs: tuple[OpenDialog, ...] = ()
    messages: tuple[LiveMessage, ...] = ()
    silent_messages: tuple[SilentMessage, ...] = ()
    keyboard: KeyboardReach | None = None
    notes: tuple[str, ...] = ()
