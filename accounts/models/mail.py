"""Models for the e-mail outbox and for unsubscriptions."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from accounts.models.organizations import Organization, User
from infrastructure.leases import Leased
from website_scan.ids import new_id


def new_mail_id() -> str:
    return new_id("mail")


class Mail(Leased):
    """An e-mail to one user in the outbox.

    It is waiting until it is sent or given up.

    `accounts.mailing.outbox` writes the row in the transaction of the event that the e-mail is about.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_mail_id, editable=False)
    # The outbox stores no e-mail address. The e-mail goes to the user's address at the time of sending.
    user = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="mails")
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, null=True, blank=True)
    topic = models.CharField(max_length=100, help_text="What the person can unsubscribe from, as “digest:17”.")
    subject = models.CharField(max_length=250)
    text = models.TextField()
    html = models.TextField()
    key = models.CharField(
        max_length=250,
        unique=True,
        null=True,
        blank=True,
        help_text="What the e-mail is about, so that it is sent once.",
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True, blank=True)
    given_up_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, default="", help_text="Why the last attempt failed.")

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at", "id"],
                condition=models.Q(sent_at=None, given_up_at=None),
                name="mail_waiting",
            ),
            models.Index(fields=["user", "topic", "-created_at"], name="mail_newest_of_topic"),
            models.Index(fields=["sent_at"], condition=models.Q(sent_at__isnull=False), name="mail_sent"),
        ]

    def __str__(self) -> str:
        return f"{self.id} ({self.topic})"


class Unsubscription(models.Model):
    """Records that a user has unsubscribed from a topic's e-mails."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="unsubscriptions")
    topic = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "topic"], name="unsubscription_unique")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.topic}"
