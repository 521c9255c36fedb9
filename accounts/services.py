"""Services that create and change organizations and people."""

from __future__ import annotations

import hashlib

from django.core import signing
from django.db import transaction
from django.utils.text import slugify
from msgspec import Struct

from accounts import access, activity, sessions, usage
from accounts.identity import notices
from accounts.identity.factors import delete_factors, has_second_factor
from accounts.models import Membership, Organization, Tier, User
from infrastructure.mail_addresses import domain_of, normal_domain
from website_scan.ids import random_base62

MAX_SLUG_LENGTH = Organization._meta.get_field("slug").max_length or 60
SLUG_SUFFIX_LENGTH = 8
# The number is limited, because every new organization gets the free tier's quota.
MAX_OWNED_ORGANIZATIONS = 10
SIGN_UP_SALT = "accounts.sign-up"
SIGN_UP_LIFETIME_S = 24 * 3600


class AccountRefused(Exception):
    """Raised when an action on accounts is refused.

    The message is displayed to the user.
    """


class SignUp(Struct, frozen=True):
    """Content of a sign-up link.

    `next_page` is the local page to continue with, or "".
    """

    email: str
    next_page: str


def sign_up_token(email: str, next_page: str = "") -> str:
    """Return the token for the link in the sign-up e-mail.

    The token proves access to the mailbox.

    The token contains the next page, because people often read mail on another device. The token is compressed, so that
    no plain text is in the mail: strangers can request mails to others, with any page's address.
    """
    return signing.dumps((email, next_page), salt=SIGN_UP_SALT, compress=True)


def parse_sign_up_token(token: str) -> SignUp | None:
    """Return the data in a sign-up token, or None if the signature is wrong or the token has expired."""
    try:
        email, next_page = signing.loads(token, salt=SIGN_UP_SALT, max_age=SIGN_UP_LIFETIME_S)
    except (signing.BadSignature, ValueError):
        return None
    return SignUp(email, next_page)


def create_person(*, email: str, password: str | None) -> User:
    """Create a user with a verified e-mail address.

    Raises AccountRefused if an account with the address exists.

    Without a password, the person logs in with an identity provider, or sets a password by a reset.
    """
    user = User(email=User.objects.normalize_email(email))
    user.set_password(password)
    # ON CONFLICT DO NOTHING avoids a failing INSERT, which PostgreSQL would log together with the password's hash.
    User.objects.bulk_create([user], ignore_conflicts=True)
    person = access.find_person(email)
    if person is None or person.password != user.password:
        raise AccountRefused("An account with this e-mail address already exists. Log in with it.")
    return person


def count_owned_organizations(person: User) -> int:
    """Return how many organizations the user owns."""
    return access.memberships_of_user(person).filter(role=Membership.Role.OWNER).count()


def create_organization(*, name: str, owner: User) -> Organization:
    """Create an organization with its owner.

    The name need not be unique. Raises AccountRefused.
    """
    # The random suffix reserves slugs without suffix for operators, who use them on the command line.
    beginning = slugify(name)[: MAX_SLUG_LENGTH - SLUG_SUFFIX_LENGTH - 1]
    slug = f"{beginning}-{random_base62(SLUG_SUFFIX_LENGTH).lower()}".strip("-")
    with transaction.atomic():
        # The lock serializes concurrent requests of the same user, so that the count is correct.
        User.objects.select_for_update(no_key=True).get(id=owner.id)
        owned = count_owned_organizations(owner)
        if owned >= MAX_OWNED_ORGANIZATIONS:
            raise AccountRefused(f"You own {owned} organizations, which is the maximum.")
        organization = Organization.objects.create(name=name, slug=slug)
        Membership.objects.create(organization=organization, user=owner, role=Membership.Role.OWNER)
        activity.record(organization, owner, "organization.created", name)
    return organization


def sign_up(*, email: str, password: str, organization: str) -> tuple[User, Organization]:
    """Create a user and an organization that the user owns.

    Raises AccountRefused.
    """
    with transaction.atomic():
        user = create_person(email=email, password=password)
        return user, create_organization(name=organization, owner=user)


def change_time_zone(*, user: User, name: str) -> None:
    """Set the time zone of a person's pages and e-mails. Empty means the browser's on pages, and UTC in e-mails."""
    User.objects.filter(id=user.id).update(time_zone=name)


def change_organization(*, actor: Membership, name: str, shares_reports: bool) -> None:
    """Change an organization's settings, and log the old and new values."""
    with transaction.atomic():
        organization = lock(actor.organization_id)
        values = {"name": name, "shares_reports": shares_reports}
        changes = {
            field: {"from": getattr(organization, field), "to": value}
            for field, value in values.items()
            if getattr(organization, field) != value
        }
        if not changes:
            return
        Organization.objects.filter(id=organization.id).update(**values)
        activity.record_by_member(actor, "organization.changed", name, **changes)


def change_login(*, actor: Membership, second_factor: bool, provider: str, domain: str) -> None:
    """Set an organization's login requirements.

    `provider` is "" or the ID of the identity provider for `domain`.

    Raises AccountRefused if the owner does not fulfil the new requirements. `actor.user` must be `request.user`, which
    has the identity providers of the session in `session_providers`.
    """
    domain = normal_domain(domain.strip()) if provider else ""
    if second_factor and not has_second_factor(actor.user):
        raise AccountRefused("Add an authenticator app or a passkey to your own account first.")
    values = {"second_factor_required": second_factor, "login_provider": provider, "login_domain": domain}
    with transaction.atomic():
        organization = lock(actor.organization_id)
        before = {field: getattr(organization, field) for field in values}
        if values == before:
            return
        is_new_provider = provider and (provider, domain) != (before["login_provider"], before["login_domain"])
        is_own_domain = domain_of(actor.user.email) == domain
        if is_new_provider and (provider not in actor.user.session_providers or not is_own_domain):
            raise AccountRefused(
                "Log in with this identity provider, and an address of this domain, yourself before you require it."
            )
        Organization.objects.filter(id=organization.id).update(**values)
        changes = {field: {"from": before[field], "to": value} for field, value in values.items()}
        changes = {field: change for field, change in changes.items() if change["from"] != change["to"]}
        activity.record_by_member(actor, "organization.changed", organization.name, **changes)


def remove_second_factors(user: User) -> int:
    """Remove all second factors of a user who has lost them.

    Returns the number of deleted rows.

    Only operators call this. The person's sessions end, and the person gets an e-mail.
    """
    with transaction.atomic():
        count = delete_factors(user)
        if count:
            sessions.end_other_sessions(user)
            notices.record(user, "person.second_factors_reset")
            notices.post(user, "factors_reset", None)
    return count


def ensure_organization(*, name: str, tier: str | None = None) -> Organization:
    """Return the organization with the slug for `name`, and create it if missing.

    Sets the tier if `tier` is given.

    Raises Tier.DoesNotExist for an unknown tier, and ValueError for a name without a letter or digit.
    """
    slug = slugify(name)
    if not slug:
        raise ValueError("The name of an organization must contain a letter or a digit.")
    if len(slug) > MAX_SLUG_LENGTH:
        # The digest distinguishes long names with the same beginning.
        digest = hashlib.sha256(slug.encode()).hexdigest()[:SLUG_SUFFIX_LENGTH]
        slug = f"{slug[: MAX_SLUG_LENGTH - SLUG_SUFFIX_LENGTH - 1]}-{digest}"
    new_tier = Tier.objects.get(name=tier) if tier else None
    with transaction.atomic():
        organization, _ = Organization.objects.get_or_create(slug=slug, defaults={"name": name})
        if new_tier is not None and organization.tier_id != new_tier.name:
            organization.tier = new_tier
            organization.save(update_fields=["tier"])
    return organization


def lock(organization_id: int) -> Organization:
    """Lock the organization's row until the transaction ends.

    Raises AccountRefused for a closed organization.
    """
    try:
        return usage.lock(organization_id)
    except usage.OrganizationClosed as error:
        raise AccountRefused(str(error)) from None
