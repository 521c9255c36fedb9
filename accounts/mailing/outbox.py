"""Outbox for e-mails that no user waits for in front of a page: stored as rows, sent by workers.

outbox.post(
    to=owners, template="webhook_disabled", subject="A webhook of Acme was disabled",
    topic=f"webhooks:{organization.id}", organization=organization, key=f"webhook-disabled:{webhook.id}",
    context={"webhook": webhook},
)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts.mailing import rendering
from accounts.mailing.topics import wanted
from accounts.models import Mail, Organization, User
from infrastructure import queue


def post(
    *,
    to: User | Iterable[User],
    template: str,
    subject: str,
    topic: str,
    organization: Organization | None,
    key: str = "",
    context: Mapping[str, Any],
) -> int:
    """Write an e-mail to each of these people in the caller's transaction; returns the number of e-mails written.

    The templates `emails/<template>.txt` and `.html` get `context` and what `rendering.render` adds. `topic` is what
    people can unsubscribe from: a kind of `topics.WORDS`, a colon and an ID. Nothing is written to people who have
    unsubscribed from it, cannot log in any more, are not members of `organization` (if given), or already have a mail
    with this `key`.
    """
    people = wanted([to] if isinstance(to, User) else list(to), topic, organization)
    mails = [
        Mail(
            user=person,
            organization=organization,
            topic=topic,
            subject=rendering.one_line(subject),
            text=rendered.text,
            html=rendered.html,
            key=f"{key}:{person.pk}" if key else None,
        )
        for person in people
        for rendered in [rendering.render(template, subject, person, topic, organization, context)]
    ]
    if not mails:
        return 0
    # The unique index waits for concurrent transactions that write the same key.
    Mail.objects.bulk_create(mails, ignore_conflicts=True)
    wake_sender(mails[0].id)
    return Mail.objects.filter(id__in=[mail.id for mail in mails]).count() if key else len(mails)


def withdraw(key: str) -> int:
    """Delete the unsent mails with this key, because their content is outdated; returns the number of deleted mails."""
    deleted, _ = _unsent().filter(key__startswith=f"{key}:").delete()
    return deleted


def wake_sender(row_id: str) -> None:
    """Enqueue the task that sends mails, on commit. If the message is lost, the sweeper finds the mails."""
    transaction.on_commit(lambda: queue.enqueue("accounts.tasks.send_mails", row_id))


def _unsent() -> QuerySet[Mail]:
    return Mail.objects.filter(sent_at=None, given_up_at=None)
