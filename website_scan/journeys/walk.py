"""Result of executing a journey once: what happened in each step, and the evidence of each state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class StepStatus(StrEnum):
    """What happened in a step."""

    DONE = "done"
    FAILED = "failed"
    NOT_REACHED = "not reached"  # A step before has failed, or the time was over.


@dataclass(frozen=True, slots=True)
class Interaction:
    """What followed the input of a step until the page was quiet.

    `next_paint_ms` is the time from the input to the next frame, as in Interaction to Next Paint, or None if the step
    has no input or no frame followed. `shift` is the sum of unexpected layout shifts. `long_tasks_ms` are durations.
    """

    next_paint_ms: float | None
    shift: float
    long_tasks_ms: tuple[float, ...]
    transferred_bytes: int
    requests: int


@dataclass(frozen=True, slots=True)
class Picture:
    """Picture of the page, with all fields masked that contain a secret."""

    data: bytes  # JPEG, or WebP if the JPEG would be large.
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Cookie:
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


@dataclass(frozen=True, slots=True)
class Focus:
    """Element that has the focus.

    `selector` is empty if no element has it, which means that keyboard users start again at the top of the page.
    """

    selector: str
    role: str
    name: str
    is_in_dialog: bool
    is_lost: bool  # True if the element that had the focus has been removed or hidden by the step.


@dataclass(frozen=True, slots=True)
class OpenDialog:
    """Visible dialog, modal or not, by its selector and accessible name."""

    selector: str
    name: str
    is_modal: bool
    has_focus_inside: bool


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """Text that a step has changed in a live region, which screen readers announce.

    `politeness` is "polite" or "assertive".
    """

    text: str
    politeness: str
    selector: str


@dataclass(frozen=True, slots=True)
class SilentMessage:
    """Visible message that a step has caused, and of which nothing informs screen readers.

    It is in no live region that existed before the step, has not got the focus, and does not describe a field.
    """

    text: str
    selector: str


@dataclass(frozen=True, slots=True)
class StorageEntry:
    """Entry of localStorage or sessionStorage. `kind` is "token", "secret" or "other"; the value is not stored."""

    area: str
    key: str
    kind: str
    value_length: int


@dataclass(frozen=True, slots=True)
class PasswordField:
    """Visible and empty password field, by its selector and accessible name."""

    selector: str
    name: str
    blocks_paste: bool


@dataclass(frozen=True, slots=True)
class StateSecurity:
    """What the browser and the server exchanged for the document of a state, and its password fields."""

    cookies: tuple[Cookie, ...]
    storage: tuple[StorageEntry, ...]
    document_headers: Mapping[str, str]
    secrets_in_addresses: tuple[str, ...] = ()  # Addresses requested since the state before, with secrets masked.
    password_fields: tuple[PasswordField, ...] = ()


@dataclass(frozen=True, slots=True)
class KeyboardReach:
    """Whether the keyboard reaches the element of a pointer step.

    `reason` is "" if it is reached, else "not focusable", "no action" (Enter and Space do nothing) or "hidden".
    """

    step: int
    selector: str
    name: str
    is_reached: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StepResult:
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
