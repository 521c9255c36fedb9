"""Recipients of a list's messages: members by e-mail, and webhooks."""

from __future__ import annotations

from collections.abc import Sequence

from sites.models import SiteList
from sites.monitors import recipients
from webhooks.models import EventKind

EVENTS = [kind for kind in EventKind if kind.startswith("list.")]
NOBODY = "Nobody is notified: no recipient gets e-mails, and no webhook receives the events of this list."


def topic_of(list_id: str) -> str:
    """Return the topic of a list's e-mails. Each has its own, so that people can unsubscribe from a single one."""
    return f"list:{list_id}"


def recipients_of(lists: Sequence[SiteList]) -> dict[str, recipients.Recipients]:
    """Return the recipients of lists of one organization, by the list's ID; two queries at most."""
    return recipients.recipients_of(lists, topic_of=topic_of, events=EVENTS, nobody=NOBODY)
