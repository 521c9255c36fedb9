"""Sentences that describe activity log events to users."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

from django.urls import reverse
from msgspec import Struct

from accounts.activity import ACTIONS
from accounts.models import ActivityEvent

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
# Maps details that contain an object's ID to the URL name of the object's page, which the log links to.
PAGES = {"scan": "report-page", "audit": "audit-page"}
# The activity log does not display these details, because they are IDs.
HIDDEN_DETAILS = frozenset({*PAGES, "assessment", "monitor", "webhook", "badge", "api_key"})
VALUE_TEXTS = {True: "on", False: "off", None: "none", "": "none"}


class SentencePart(Struct, frozen=True):
    """Part of a sentence.

    `is_event_value` marks values from the event. `url` is a page to link to, or empty.
    """

    text: str
    is_event_value: bool = False
    url: str = ""


class LogLine(Struct, frozen=True):
    """One line in the activity log: the actor, a sentence, and remaining details."""

    event: ActivityEvent
    actor: str
    parts: tuple[SentencePart, ...]
    rest: tuple[str, ...]

    @property
    def who(self) -> str:
        """URL query that filters the log by this user or API key.

        Empty for the service.
        """
        if self.event.actor_email:
            return urlencode({"person": self.event.actor_email})
        return urlencode({"key": self.event.actor_key}) if self.event.actor_key else ""


def log_line(event: ActivityEvent) -> LogLine:
    """Return the line that the activity log displays for an event.

    Unknown actions are displayed by their names.
    """
    values = {"target": event.object_name, **dict(_flatten_details(event.details))}
    parts: list[SentencePart] = []
    used: set[str] = set()
    for clause in ACTIONS.get(event.action, (f"{event.action} {{target}}",)):
        names = PLACEHOLDER.findall(clause)
        if not all(values.get(name) for name in names):
            continue
        used.update(name.partition(".")[0] for name in names)
        for number, text in enumerate(PLACEHOLDER.split(clause)):
            if text and number % 2:
                parts.append(
                    SentencePart(values[text], is_event_value=True, url=_object_url(event) if text == "target" else "")
                )
            elif text:
                parts.append(SentencePart(text))
    key = event.details.get("api_key")
    actor = event.actor_email or (f"The API key {key}" if key else "The service")
    return LogLine(event, actor, tuple(parts), tuple(_format_remaining(event.details, used)))


def action_label(action: str) -> str:
    """Return an action's label in the log filter, such as "Created the API key"."""
    text = PLACEHOLDER.sub("", ACTIONS[action][0]).strip()
    return f"{text[0].upper()}{' '.join(text[1:].split())}"


def _flatten_details(details: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in details.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", _format_value(value.get(key))) for key in ("from", "to"))
        else:
            yield name, _format_value(value)


def _format_remaining(details: Mapping[str, object], used: set[str]) -> Iterator[str]:
    for name, value in details.items():
        if name in used or name in HIDDEN_DETAILS:
            continue
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{words}: {_format_value(value.get('to'))}, before: {_format_value(value.get('from'))}"
        else:
            yield f"{words}: {_format_value(value)}"


def _format_value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if value is None or isinstance(value, (bool, str)):
        return VALUE_TEXTS.get(value, str(value))
    return str(value)


def _object_url(event: ActivityEvent) -> str:
    pages = ((name, event.details.get(key)) for key, name in PAGES.items())
    return next((reverse(name, args=[id]) for name, id in pages if isinstance(id, str)), "")
