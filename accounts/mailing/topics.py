"""E-mail topics, and signed links to unsubscribe from a topic without a login."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.core import signing
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from msgspec import Struct

from accounts.models import Mail, Membership, Organization, Unsubscription, User

SALT = "accounts.unsubscribe"
# Maps each kind of topic to a phrase for the unsubscribe page and the last line of an e-mail. `{}` is the
# organization's name.
WORDS = {
    "monitor": "about a monitor of {}",
    "alerts": "with alerts of all monitors of {}",
    "list": "about a list of sites of {}",
    "digest": "with the weekly summary of {}",
    "keys": "about API keys of {}",
    "webhooks": "about webhooks of {}",
    "mutes": "about muted findings of {}",
    "exports": "about data exports of {}",
    "security": "about the security of your account",
}
# Nobody can unsubscribe from these topics, because an intruder in an account would switch these e-mails off first.
ALWAYS = frozenset({"security"})


class Subscription(Struct, frozen=True):
    """A user's subscription to a topic. An unsubscribe link refers to it.

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
        """The topic in words, such as "about webhooks of Acme"."""
        return words(self.topic, self.organization)

    @property
    def is_stopped(self) -> bool:
        return Unsubscription.objects.filter(user=self.user, topic=self.topic).exists()

    def stop(self) -> None:
        """Unsubscribe the user from the topic and from its waiting e-mails.

        Idempotent.
        """
        Unsubscription.objects.bulk_create([Unsubscription(user=self.user, topic=self.topic)], ignore_conflicts=True)

    def resume(self) -> None:
        """Subscribe the user to the topic again. Idempotent."""
        Unsubscription.objects.filter(user=self.user, topic=self.topic).delete()


def words(topic: str, organization: object) -> str:
    """Return the topic in words that follow "E-mails", such as "about webhooks of Acme"."""
    return WORDS[topic.partition(":")[0]].format(organization or "your organization")


def token(user: User, topic: str) -> str:
    """Return the signed token for a user's unsubscribe link for a topic.

    The token never expires.
    """
    return signing.Signer(salt=SALT).sign_object([user.pk, topic])


def unsubscribe_url(user: User, topic: str) -> str:
    """Return the unsubscribe URL, which also accepts the one-click POST of RFC 8058."""
    return f"{settings.BASE_URL}{reverse('unsubscribe', args=[token(user, topic)])}"


def find_subscription(token: str) -> Subscription | None:
    """Return the subscription for an unsubscribe token, or None if the token is invalid or the account is closed."""
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
    """Return the topics that the user has unsubscribed from, latest first."""
    mails = Mail.objects.filter(user=user, topic=OuterRef("topic")).order_by("-created_at")
    rows = Unsubscription.objects.filter(user=user).annotate(
        organization=Subquery(mails.values("organization__name")[:1]), newest=Subquery(mails.values("subject")[:1])
    )
    stopped = rows.order_by("-created_at").values_list("topic", "organization", "newest")
    return [Subscription(user, topic, organization, newest) for topic, organization, newest in stopped]


def subscribed(
    people: Iterable[User], topic: str, organization: Organization | None, *, includes_limited: bool = False
) -> QuerySet[User]:
    """Return the users who can log in, and have not unsubscribed.

    With an organization, they are members who see all of its sites, because its e-mails can be about any site. With
    `includes_limited`, they may be limited to some sites: the caller knows that these people may see its subject.
    """
    recipients = User.objects.filter(pk__in=[person.pk for person in people], is_active=True, closed_at=None)
    if organization is not None:
        memberships = Membership.objects.filter(organization=organization, organization__closed_at=None)
        if not includes_limited:
            memberships = memberships.filter(limited_to=[])
        recipients = recipients.filter(membership__in=memberships)
    return recipients.exclude(unsubscriptions__topic=topic).order_by("pk")


def obsolete_mails(mails: QuerySet[Mail]) -> QuerySet[Mail]:
    """Return the e-mails whose recipients have left the organization, may not see the subject, or unsubscribed.

    Members who are limited to some sites get e-mails about monitors only, which `outbox.withdraw_all` deletes when
    their limits change.
    """
    membership = Membership.objects.filter(organization=OuterRef("organization"), user=OuterRef("user"))
    is_about_monitors = Q(topic__startswith="monitor:") | Q(topic__startswith="alerts:")
    stopped = Unsubscription.objects.filter(user=OuterRef("user"), topic=OuterRef("topic"))
    cannot_log_in = (
        Q(user__is_active=False) | Q(user__closed_at__isnull=False) | Q(organization__closed_at__isnull=False)
    )
    sees_all_sites = Exists(membership.filter(limited_to=[]))
    may_see = sees_all_sites | (is_about_monitors & Exists(membership))
    may_not_see = Q(organization__isnull=False) & ~may_see
    return mails.filter(cannot_log_in | may_not_see | Exists(stopped))


def digest_of(membership: Membership) -> Subscription:
    """Return the member's subscription to the weekly e-mail about monitors."""
    return Subscription(membership.user, f"digest:{membership.organization_id}", membership.organization.name)


def receives_digest(membership: Membership) -> bool:
    """Return True if the member has switched the weekly e-mail on, and has not unsubscribed since."""
    return membership.weekly_digest and not digest_of(membership).is_stopped


def set_weekly_digest(membership: Membership, *, on: bool) -> None:
    """Switch the weekly e-mail on or off.

    Switching it on also undoes an unsubscription.
    """
    membership.weekly_digest = on
    membership.save(update_fields=["weekly_digest"])
    if on:
        digest_of(membership).resume()
