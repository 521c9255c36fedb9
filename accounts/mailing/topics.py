"""What people can unsubscribe from, and the links with which they do, without logging in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from accounts.models import Mail, Membership, Organization, Unsubscription, User

SALT = "accounts.unsubscribe"
# The kinds of topics, as the page and the mails' last lines name them; `{}` is the organization.
WORDS = {
    "monitor": "about a monitor of {}",
    "digest": "with the weekly summary of {}",
    "keys": "about API keys of {}",
    "webhooks": "about webhooks of {}",
    "mutes": "about muted findings of {}",
    "exports": "about data exports of {}",
    "security": "about the security of your account",
}
# What somebody who has got into an account would switch off first.
ALWAYS = frozenset({"security"})


@dataclass(frozen=True, slots=True)
class Subscription:
    """A person and a topic: what a link to unsubscribe is about.

    `newest` is the subject of the last mail of the topic, by which the person recognizes it; None when none is kept.
    """

    user: User
    topic: str
    organization: str | None = None
    newest: str | None = None

    @property
    def token(self) -> str:
        return token(self.user, self.topic)

    @property
    def words(self) -> str:
        """As in "E-mails about webhooks of Acme"."""
        return words(self.topic, self.organization)

    @property
    def is_stopped(self) -> bool:
        return Unsubscription.objects.filter(user=self.user, topic=self.topic).exists()

    def stop(self) -> None:
        """Send nothing about it any more, also not what waits. Any number of times."""
        Unsubscription.objects.bulk_create([Unsubscription(user=self.user, topic=self.topic)], ignore_conflicts=True)

    def resume(self) -> None:
        """Undo `stop`. Any number of times."""
        Unsubscription.objects.filter(user=self.user, topic=self.topic).delete()


def words(topic: str, organization: object) -> str:
    """What such mails are about, as in "E-mails about webhooks of Acme"."""
    return WORDS[topic.partition(":")[0]].format(organization or "your organization")


def token(user: User, topic: str) -> str:
    """What the link to unsubscribe carries: IDs and a signature, good for ever."""
    return signing.Signer(salt=SALT).sign_object([user.pk, topic])


def address(user: User, topic: str) -> str:
    """The link to unsubscribe, which also takes the one click of RFC 8058."""
    return f"{settings.BASE_URL}{reverse('unsubscribe', args=[token(user, topic)])}"


def subscription_of(token: str) -> Subscription | None:
    """What this link is about; None for one that we did not make, or whose person is gone."""
    try:
        user_id, topic = signing.Signer(salt=SALT).unsign_object(token)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=user_id, closed_at=None).first()
    if user is None or topic in ALWAYS:
        return None
    mails = Mail.objects.filter(user=user, topic=topic).order_by("-created_at")
    organization, newest = mails.values_list("organization__name", "subject").first() or (None, None)
    return Subscription(user, topic, organization, newest)


def stopped_by(user: User) -> list[Subscription]:
    """What the person has unsubscribed from, the latest first."""
    mails = Mail.objects.filter(user=user, topic=OuterRef("topic")).order_by("-created_at")
    rows = Unsubscription.objects.filter(user=user).annotate(
        organization=Subquery(mails.values("organization__name")[:1]), newest=Subquery(mails.values("subject")[:1])
    )
    found = rows.order_by("-created_at").values_list("topic", "organization", "newest")
    return [Subscription(user, topic, organization, newest) for topic, organization, newest in found]


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


def digest_of(membership: Membership) -> Subscription:
    """The member's weekly e-mail about the organization's monitors."""
    return Subscription(membership.user, f"digest:{membership.organization_id}", membership.organization.name)


def gets_digest(membership: Membership) -> bool:
    """Whether the member has switched it on, and not stopped it by its link since."""
    return membership.weekly_digest and not digest_of(membership).is_stopped


def switch_digest(membership: Membership, *, on: bool) -> None:
    """Switch it on, whatever a link has stopped before, or off."""
    membership.weekly_digest = on
    membership.save(update_fields=["weekly_digest"])
    if on:
        digest_of(membership).resume()
