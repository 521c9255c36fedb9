"""Topics of e-mails, and the signed links to unsubscribe from them without logging in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from accounts.models import Mail, Membership, Organization, Unsubscription, User

SALT = "accounts.unsubscribe"
# Phrase of each kind of topic, for the page and for the last line of a mail. `{}` is the organization's name.
WORDS = {
    "monitor": "about a monitor of {}",
    "list": "about a list of sites of {}",
    "digest": "with the weekly summary of {}",
    "keys": "about API keys of {}",
    "webhooks": "about webhooks of {}",
    "mutes": "about muted findings of {}",
    "exports": "about data exports of {}",
    "security": "about the security of your account",
}
# Topics that nobody can unsubscribe from, because an intruder in an account would switch these off first.
ALWAYS = frozenset({"security"})


@dataclass(frozen=True, slots=True)
class Subscription:
    """Subscription of a person to a topic, which an unsubscribe link refers to.

    `newest` is the subject of the topic's last mail, by which the person recognizes the topic; None without a mail.
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
        """Topic in words, such as "about webhooks of Acme"."""
        return words(self.topic, self.organization)

    @property
    def is_stopped(self) -> bool:
        return Unsubscription.objects.filter(user=self.user, topic=self.topic).exists()

    def stop(self) -> None:
        """Unsubscribe the person; waiting mails of the topic are not sent either. Idempotent."""
        Unsubscription.objects.bulk_create([Unsubscription(user=self.user, topic=self.topic)], ignore_conflicts=True)

    def resume(self) -> None:
        """Undo `stop`. Idempotent."""
        Unsubscription.objects.filter(user=self.user, topic=self.topic).delete()


def words(topic: str, organization: object) -> str:
    """Return the topic in words that continue "E-mails …", such as "about webhooks of Acme"."""
    return WORDS[topic.partition(":")[0]].format(organization or "your organization")


def token(user: User, topic: str) -> str:
    """Return the token of the unsubscribe link: IDs and a signature. It does not expire."""
    return signing.Signer(salt=SALT).sign_object([user.pk, topic])


def unsubscribe_url(user: User, topic: str) -> str:
    """Return the unsubscribe link, which also accepts the one-click POST of RFC 8058."""
    return f"{settings.BASE_URL}{reverse('unsubscribe', args=[token(user, topic)])}"


def subscription_of(token: str) -> Subscription | None:
    """Return the subscription of an unsubscribe link; None if the token is invalid or the account is closed."""
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


def unsubscribed_topics(user: User) -> list[Subscription]:
    """Return the topics that the person has unsubscribed from, latest first."""
    mails = Mail.objects.filter(user=user, topic=OuterRef("topic")).order_by("-created_at")
    rows = Unsubscription.objects.filter(user=user).annotate(
        organization=Subquery(mails.values("organization__name")[:1]), newest=Subquery(mails.values("subject")[:1])
    )
    stopped = rows.order_by("-created_at").values_list("topic", "organization", "newest")
    return [Subscription(user, topic, organization, newest) for topic, organization, newest in stopped]


def subscribed(people: Iterable[User], topic: str, organization: Organization | None) -> QuerySet[User]:
    """Return those who can log in, are members of the organization (unless None) and have not unsubscribed."""
    recipients = User.objects.filter(pk__in=[person.pk for person in people], is_active=True, closed_at=None)
    if organization is not None:
        recipients = recipients.filter(membership__organization=organization, membership__organization__closed_at=None)
    return recipients.exclude(unsubscriptions__topic=topic).order_by("pk")


def obsolete_mails(mails: QuerySet[Mail]) -> QuerySet[Mail]:
    """Return the mails whose recipients have left or unsubscribed since the mails were written."""
    membership = Membership.objects.filter(organization=OuterRef("organization"), user=OuterRef("user"))
    stopped = Unsubscription.objects.filter(user=OuterRef("user"), topic=OuterRef("topic"))
    cannot_log_in = (
        Q(user__is_active=False) | Q(user__closed_at__isnull=False) | Q(organization__closed_at__isnull=False)
    )
    has_left = Q(organization__isnull=False) & ~Exists(membership)
    return mails.filter(cannot_log_in | has_left | Exists(stopped))


def digest_of(membership: Membership) -> Subscription:
    """Return the member's subscription to the weekly e-mail about the organization's monitors."""
    return Subscription(membership.user, f"digest:{membership.organization_id}", membership.organization.name)


def gets_digest(membership: Membership) -> bool:
    """Return True if the member has switched the weekly e-mail on and has not unsubscribed since."""
    return membership.weekly_digest and not digest_of(membership).is_stopped


def switch_digest(membership: Membership, *, on: bool) -> None:
    """Switch the weekly e-mail on or off. Switching it on also undoes an unsubscription."""
    membership.weekly_digest = on
    membership.save(update_fields=["weekly_digest"])
    if on:
        digest_of(membership).resume()
