"""Sentences of the activity log, which describe its events for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from accounts.activity import ACTIONS
from accounts.models import ActivityEvent

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
# Maps a detail, which is the ID of an object, to the URL name of the object's page. The object's name becomes a link.
PAGES = {"scan": "report-page", "audit": "audit-page"}
# Details that the log does not display, because they are IDs.
HIDDEN_DETAILS = frozenset({*PAGES, "monitor", "webhook", "badge", "api_key"})
VALUE_TEXTS = {True: "on", False: "off", None: "none", "": "none"}


@dataclass(frozen=True, slots=True)
class Part:
    """Piece of a sentence. `is_name` marks values of the event; `url` is the page that the value links to, or empty."""

    text: str
    is_name: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Line of the log: the actor, the sentence, and the remaining details, such as "name: Bakery, before: Bäckerei"."""

    event: ActivityEvent
    actor: str
    parts: tuple[Part, ...]
    rest: tuple[str, ...]

    @property
    def who(self) -> str:
        """URL query for all events of the same person or API key; empty for the service."""
        if self.event.actor_email:
            return urlencode({"person": self.event.actor_email})
        return urlencode({"key": self.event.actor_key}) if self.event.actor_key else ""


def line_of(event: ActivityEvent) -> Line:
    """Return the line of an event. For an unknown action, the sentence is the names of action and object."""
    values = {"target": event.object_name, **dict(_flatten(event.details))}
    parts: list[Part] = []
    used: set[str] = set()
    for clause in ACTIONS.get(event.action, (f"{event.action} {{target}}",)):
        names = PLACEHOLDER.findall(clause)
        if not all(values.get(name) for name in names):
            continue
        used.update(name.partition(".")[0] for name in names)
        for number, text in enumerate(PLACEHOLDER.split(clause)):
            if text and number % 2:
                parts.append(Part(values[text], is_name=True, url=_url(event) if text == "target" else ""))
            elif text:
                parts.append(Part(text))
    key = event.details.get("api_key")
    actor = event.actor_email or (f"The API key {key}" if key else "The service")
    return Line(event, actor, tuple(parts), tuple(_format_remaining(event.details, used)))


def label_of(action: str) -> str:
    """Return an action's label for the filter, such as "Created the API key"."""
    text = PLACEHOLDER.sub("", ACTIONS[action][0]).strip()
    return f"{text[0].upper()}{' '.join(text[1:].split())}"


def _flatten(details: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in details.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", _format(value.get(key))) for key in ("from", "to"))
        else:
            yield name, _format(value)


def _format_remaining(details: Mapping[str, object], used: set[str]) -> Iterator[str]:
    for name, value in details.items():
        if name in used or name in HIDDEN_DETAILS:
            continue
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{words}: {_format(value.get('to'))}, before: {_format(value.get('from'))}"
        else:
            yield f"{words}: {_format(value)}"


def _format(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if value is None or isinstance(value, (bool, str)):
        return VALUE_TEXTS.get(value, str(value))
    return str(value)


def _url(event: ActivityEvent) -> str:
    pages = ((name, event.details.get(key)) for key, name in PAGES.items())
    return next((reverse(name, args=[id]) for name, id in pages if isinstance(id, str)), "")
