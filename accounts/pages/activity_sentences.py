"""Sentences of the activity log: turns each event into text for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from accounts.activity import ACTIONS
from accounts.models import ActivityEvent

PLACE = re.compile(r"\{([^{}]+)\}")
# Details with the ID of a target that has a page: the target's name becomes a link instead.
PAGES = {"scan": "report-page", "audit": "audit-page"}
UNTOLD = frozenset({*PAGES, "monitor", "webhook", "badge", "api_key"})
WORDS = {True: "on", False: "off", None: "none", "": "none"}


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


def line(event: ActivityEvent) -> Line:
    """Return the line of an event. For an unknown action, the sentence is the action's name and the target."""
    values = {"target": event.target, **dict(_flat(event.details))}
    parts: list[Part] = []
    told: set[str] = set()
    for clause in ACTIONS.get(event.action, (f"{event.action} {{target}}",)):
        names = PLACE.findall(clause)
        if not all(values.get(name) for name in names):
            continue
        told.update(name.partition(".")[0] for name in names)
        for number, text in enumerate(PLACE.split(clause)):
            if text and number % 2:
                parts.append(Part(values[text], is_name=True, url=_url(event) if text == "target" else ""))
            elif text:
                parts.append(Part(text))
    key = event.details.get("api_key")
    actor = event.actor_email or (f"The API key {key}" if key else "The service")
    return Line(event, actor, tuple(parts), tuple(_rest(event.details, told)))


def label(action: str) -> str:
    """Return an action's label for the filter, such as "Created the API key"."""
    said = PLACE.sub("", ACTIONS[action][0]).strip()
    return f"{said[0].upper()}{' '.join(said[1:].split())}"


def _flat(details: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in details.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{each}", _shown(value.get(each))) for each in ("from", "to"))
        else:
            yield name, _shown(value)


def _rest(details: Mapping[str, object], told: set[str]) -> Iterator[str]:
    for name, value in details.items():
        if name in told or name in UNTOLD:
            continue
        words = name.replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{words}: {_shown(value.get('to'))}, before: {_shown(value.get('from'))}"
        else:
            yield f"{words}: {_shown(value)}"


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if value is None or isinstance(value, (bool, str)):
        return WORDS.get(value, str(value))
    return str(value)


def _url(event: ActivityEvent) -> str:
    found = ((name, event.details.get(key)) for key, name in PAGES.items())
    return next((reverse(name, args=[id]) for name, id in found if isinstance(id, str)), "")
