"""What people can unsubscribe from, and the links with which they do, without logging in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from accounts.models import Mail, Membership, Organization, Unsubscription, User

SALT = "accounts.unsubscribe"
# The kinds of topics, as the page and the mails' last lines name them; `{}` is the organization.
WORDS = {
    "monitor": "about one of the monitors of {}",
    "digest": "with the weekly summary of {}",
    "keys": "about API keys of {}",
    "webhooks": "about webhooks of {}",
    "mutes": "about muted findings of {}",
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """A person and a topic: what a link to unsubscribe is about."""

    user: User
    topic: str

    @property
    def token(self) -> str:
        return token(self.user, self.topic)

    @property
    def is_stopped(self) -> bool:
        return Unsubscription.objects.filter(user=self.user, topic=self.topic).exists()

    @property
    def newest(self) -> Mail | None:
        """The last mail of this topic, by which the person recognizes it."""
        mails = Mail.objects.filter(user=self.user, topic=self.topic).select_related("organization")
        return mails.defer("text", "html").order_by("-created_at").first()

    @property
    def words(self) -> str:
        """As in "E-mails about webhooks of Acme"."""
        _, _, id = self.topic.partition(":")
        if id.isdecimal():
            return words(self.topic, Organization.objects.filter(pk=int(id)).first())
        newest = self.newest
        return words(self.topic, newest.organization if newest else None)

    def stop(self) -> None:
        """Send nothing about it any more, also not what waits. Any number of times."""
        Unsubscription.objects.bulk_create([Unsubscription(user=self.user, topic=self.topic)], ignore_conflicts=True)

    def resume(self) -> None:
        """Undo `stop`. Any number of times."""
        Unsubscription.objects.filter(user=self.user, topic=self.topic).delete()


def words(topic: str, organization: Organization | None) -> str:
    """What such mails are about, as in "E-mails about webhooks of Acme"."""
    return WORDS[topic.partition(":")[0]].format(organization or "your organization")


def token(user: User, topic: str) -> str:
    """What the link to unsubscribe carries: IDs and a signature, good for ever."""
    return signing.dumps([user.pk, topic], salt=SALT)


def address(user: User, topic: str) -> str:
    """The link to unsubscribe, which also takes the one click of RFC 8058."""
    return f"{settings.BASE_URL}{reverse('unsubscribe', args=[token(user, topic)])}"


def subscription_of(token: str) -> Subscription | None:
    """What this link is about; None for one that we did not make, or whose person is gone."""
    try:
        user_id, topic = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=user_id, closed_at=None).first()
    return None if user is None else Subscription(user, topic)


def stopped_by(user: User) -> list[Subscription]:
    """What the person has unsubscribed from, the latest first."""
    rows = Unsubscription.objects.filter(user=user).order_by("-created_at")
    return [Subscription(user, row.topic) for row in rows]


def wanted(people: Iterable[User], topic: str, organization: Organization | None) -> QuerySet[User]:
    """Those of the people who may be written to, and want to be."""
    found = User.objects.filter(pk__in=[each.pk for each in people], is_active=True, closed_at=None)
    if organization is not None:
        found = found.filter(membership__organization=organization, membership__organization__closed_at=None)
    return found.exclude(unsubscriptions__topic=topic).order_by("pk")


def unwanted_mails(mails: QuerySet[Mail]) -> QuerySet[Mail]:
    """Those of the mails whose people have left, or unsubscribed, since they were written."""
    membership = Membership.objects.filter(organization=OuterRef("organization"), user=OuterRef("user"))
    stopped = Unsubscription.objects.filter(user=OuterRef("user"), topic=OuterRef("topic"))
    is_gone = Q(user__is_active=False) | Q(user__closed_at__isnull=False) | Q(organization__closed_at__isnull=False)
    has_left = Q(organization__isnull=False) & ~Exists(membership)
    return mails.filter(is_gone | has_left | Exists(stopped))
