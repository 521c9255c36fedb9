"""Services that create and change organizations and people."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.core import signing
from django.db import transaction
from django.utils.text import slugify

from accounts import access, activity, sessions, usage
from accounts.identity import notices
from accounts.identity.factors import delete_factors, has_second_factor
from accounts.models import Membership, Organization, Tier, User
from website_scan.ids import random_base62

SLUG_LENGTH = Organization._meta.get_field("slug").max_length or 60
SLUG_SUFFIX = 8
# The number is limited, because every organization gets the free tier's quota.
MAX_OWNED_ORGANIZATIONS = 10
SIGN_UP_SALT = "accounts.sign-up"
SIGN_UP_LIFETIME_S = 24 * 3600


class AccountRefused(Exception):
    """Refusal of a request about accounts. The message is displayed to the user."""


@dataclass(frozen=True, slots=True)
class SignUp:
    """Data of a sign-up link: the e-mail address, and the page of this host to continue with, or an empty string."""

    email: str
    next_page: str


def sign_up_token(email: str, next_page: str = "") -> str:
    """Return the token for the link in the sign-up e-mail. Whoever has the token can read this address's mail.

    The token contains the next page, because people often read mail on another device. The token is compressed, so that
    no plain text is in the mail: strangers can request mails to others, with any page's address.
    """
    return signing.dumps((email, next_page), salt=SIGN_UP_SALT, compress=True)


def parse_sign_up_token(token: str) -> SignUp | None:
    """Return the data of a sign-up token; None if the signature is wrong or the token has expired."""
    try:
        email, next_page = signing.loads(token, salt=SIGN_UP_SALT, max_age=SIGN_UP_LIFETIME_S)
    except (signing.BadSignature, ValueError):
        return None
    return SignUp(email, next_page)


def create_person(*, email: str, password: str | None) -> User:
    """Create a person whose address is proven; raises AccountRefused if an account with the address exists.

    Without a password, the person logs in with an identity provider, or sets a password by a reset.
    """
    user = User(email=User.objects.normalize_email(email))
    user.set_password(password)
    # PostgreSQL logs a failing INSERT with the password's hash, so this INSERT does nothing on a conflict.
    User.objects.bulk_create([user], ignore_conflicts=True)
    person = access.find_person(email)
    if person is None or person.password != user.password:
        raise AccountRefused("An account with this e-mail address already exists. Log in with it.")
    return person


def count_owned_organizations(person: User) -> int:
    """Return the number of organizations that the person owns."""
    return access.memberships_of(person).filter(role=Membership.Role.OWNER).count()


def create_organization(*, name: str, owner: User) -> Organization:
    """Create an organization with its owner; the name need not be unique. Raises AccountRefused."""
    # The random suffix keeps slugs without suffix free for operators, who name them on the command line.
    slug = f"{slugify(name)[: SLUG_LENGTH - SLUG_SUFFIX - 1]}-{random_base62(SLUG_SUFFIX).lower()}".strip("-")
    with transaction.atomic():
        # This lock makes concurrent requests of the same person wait, so that the count is correct.
        User.objects.select_for_update(no_key=True).get(id=owner.id)
        owned = count_owned_organizations(owner)
        if owned >= MAX_OWNED_ORGANIZATIONS:
            raise AccountRefused(f"You own {owned} organizations, which is the maximum.")
        organization = Organization.objects.create(name=name, slug=slug)
        Membership.objects.create(organization=organization, user=owner, role=Membership.Role.OWNER)
        activity.record(organization, owner, "organization.created", name)
    return organization


def sign_up(*, email: str, password: str, organization: str) -> tuple[User, Organization]:
    """Create a person and an organization that they own; raises AccountRefused."""
    with transaction.atomic():
        user = create_person(email=email, password=password)
        return user, create_organization(name=organization, owner=user)


def change_organization(*, actor: Membership, name: str, shares_reports: bool) -> None:
    """Change an organization's settings, and record the old and new values in the activity log."""
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
        activity.record_by(actor, "organization.changed", name, **changes)


def change_login(*, actor: Membership, second_factor: bool, provider: str, domain: str) -> None:
    """Set the login requirements. `provider` is empty, or the ID of the identity provider for addresses of `domain`.

    Raises AccountRefused if the owner does not fulfil the new requirements. `actor.user` must be `request.user`, which
    has the identity providers of the session in `session_providers`.
    """
    domain = domain.strip().lower() if provider else ""
    if second_factor and not has_second_factor(actor.user):
        raise AccountRefused("Add an authenticator app or a passkey to your own account first.")
    values = {"second_factor_required": second_factor, "login_provider": provider, "login_domain": domain}
    with transaction.atomic():
        organization = lock(actor.organization_id)
        before = {field: getattr(organization, field) for field in values}
        if values == before:
            return
        is_new = provider and (provider, domain) != (before["login_provider"], before["login_domain"])
        is_own_domain = actor.user.email.rpartition("@")[2].lower() == domain
        if is_new and (provider not in actor.user.session_providers or not is_own_domain):
            raise AccountRefused(
                "Log in with this identity provider, and an address of this domain, yourself before you require it."
            )
        Organization.objects.filter(id=organization.id).update(**values)
        changes = {field: {"from": before[field], "to": value} for field, value in values.items()}
        changes = {field: change for field, change in changes.items() if change["from"] != change["to"]}
        activity.record_by(actor, "organization.changed", organization.name, **changes)


def remove_second_factors(user: User) -> int:
    """Remove all second factors of a person who has lost them, for an operator; returns the number of deleted rows.

    The person's sessions end, and the person gets an e-mail.
    """
    with transaction.atomic():
        count = delete_factors(user)
        if count:
            sessions.end_others(user)
            notices.record(user, "person.second_factors_reset")
            notices.post(user, "factors_reset", None)
    return count


def ensure_organization(*, name: str, tier: str | None = None) -> Organization:
    """Return the organization with the slug of `name`, created if missing. Sets `tier` unless it is None.

    Raises Tier.DoesNotExist for an unknown tier, and ValueError for a name without a letter or digit.
    """
    slug = slugify(name)
    if not slug:
        raise ValueError("The name of an organization must contain a letter or a digit.")
    if len(slug) > SLUG_LENGTH:
        # The digest distinguishes two long names with the same beginning.
        digest = hashlib.sha256(slug.encode()).hexdigest()[:SLUG_SUFFIX]
        slug = f"{slug[: SLUG_LENGTH - SLUG_SUFFIX - 1]}-{digest}"
    new_tier = Tier.objects.get(name=tier) if tier else None
    with transaction.atomic():
        organization, _ = Organization.objects.get_or_create(slug=slug, defaults={"name": name})
        if new_tier is not None and organization.tier_id != new_tier.name:
            organization.tier = new_tier
            organization.save(update_fields=["tier"])
    return organization


def lock(organization_id: int) -> Organization:
    """Lock the organization's row until the transaction ends; raises AccountRefused if the organization is closed."""
    try:
        return usage.lock(organization_id)
    except usage.OrganizationClosed as error:
        raise AccountRefused(str(error)) from None
