"""E-mail outbox.

Workers send its rows later, so that no page waits for the mail server.

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
from accounts.mailing.topics import subscribed
from accounts.models import Mail, Organization, User
from infrastructure import queue


def post(  # noqa: PLR0913 -- The arguments are the parts of an e-mail, by keyword.
    *,
    to: User | Iterable[User],
    template: str,
    subject: str,
    topic: str,
    organization: Organization | None,
    key: str = "",
    context: Mapping[str, Any],
    includes_limited: bool = False,
) -> int:
    """Write an e-mail to every recipient, in the caller's transaction.

    Returns how many were written.

    The templates `emails/<template>.txt` and `.html` get `context` and the variables of `rendering.render`. People can
    unsubscribe from the `topic`: a kind of `topics.WORDS`, a colon and an ID. No e-mail is written to people who have
    unsubscribed, can no longer log in, are not members of `organization` (unless None), or already have a mail with
    this `key`. Members who are limited to some sites get it only with `includes_limited`, which says that the caller
    has asked what they may see.
    """
    people = subscribed(
        [to] if isinstance(to, User) else list(to), topic, organization, includes_limited=includes_limited
    )
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
    # Because of the unique index, this insert waits for concurrent transactions that insert the same key.
    Mail.objects.bulk_create(mails, ignore_conflicts=True)
    enqueue_sender(mails[0].id)
    return Mail.objects.filter(id__in=[mail.id for mail in mails]).count() if key else len(mails)


def withdraw(key: str) -> int:
    """Delete the unsent e-mails with this key, because their content is outdated.

    Returns how many were deleted.
    """
    deleted, _ = _unsent_mails().filter(key__startswith=f"{key}:").delete()
    return deleted


def withdraw_all(user: User, organization: Organization) -> int:
    """Delete the person's unsent e-mails of the organization, because they may be about sites that are now hidden.

    Returns how many were deleted.
    """
    deleted, _ = _unsent_mails().filter(user=user, organization=organization).delete()
    return deleted


def enqueue_sender(row_id: str) -> None:
    """Enqueue the Celery task that sends e-mails, on commit.

    If the message is lost, the sweeper finds the e-mails.
    """
    transaction.on_commit(lambda: queue.enqueue("accounts.tasks.send_mails", row_id))


def _unsent_mails() -> QuerySet[Mail]:
    return Mail.objects.filter(sent_at=None, given_up_at=None)
