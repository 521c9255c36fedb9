"""The way for every e-mail that nobody is waiting for in front of a page: written as a row, sent by workers.

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
    """Write an e-mail to each of these people in the caller's transaction; returns how many were written.

    `emails/<template>.txt` and `.html` see `context` and what `rendering.render` adds. `topic` is what they can
    unsubscribe from: a kind that `topics.WORDS` knows, a colon and an ID. Left out is who has unsubscribed from it,
    who cannot log in any more, and who is no member of `organization`, and who has got a mail with this `key` already.
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
    # Who writes the same key at this moment is waited for.
    Mail.objects.bulk_create(mails, ignore_conflicts=True)
    wake_sender(mails[0].id)
    return Mail.objects.filter(id__in=[mail.id for mail in mails]).count() if key else len(mails)


def withdraw(key: str) -> int:
    """Delete the mails with this key that have not been sent, as what they say holds no longer; returns how many."""
    deleted, _ = _unsent().filter(key__startswith=f"{key}:").delete()
    return deleted


def wake_sender(row_id: str) -> None:
    """Tell the workers, on commit, that mails are due. Where the message is lost, the sweeper finds them."""
    transaction.on_commit(lambda: queue.enqueue("accounts.tasks.send_mails", row_id))


def _unsent() -> QuerySet[Mail]:
    return Mail.objects.filter(sent_at=None, given_up_at=None)
