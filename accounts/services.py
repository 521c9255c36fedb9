"""Create and change organizations and people."""

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
# A limit, because every organization gets a free plan of its own.
MAX_OWNED_ORGANIZATIONS = 10
SIGN_UP_SALT = "accounts.sign-up"
SIGN_UP_LIFETIME_S = 24 * 3600


class AccountRefused(Exception):
    """Refusal of a request about accounts; the message tells the user why."""


@dataclass(frozen=True, slots=True)
class SignUp:
    """Sign-up that waits for its link: the e-mail address, and our page to continue with, or an empty string."""

    email: str
    next_page: str


def sign_up_token(email: str, next_page: str = "") -> str:
    """Return the token for the link in the sign-up e-mail. It proves that its holder reads this address's mail.

    It contains the next page as well, because mail is often read on another device. It is signed and compressed, not in
    plain text: whoever asks for the mail chooses the page's address, and somebody else may read the mail.
    """
    return signing.dumps((email, next_page), salt=SIGN_UP_SALT, compress=True)


def sign_up_of(token: str) -> SignUp | None:
    """Return the sign-up that the token holds; None if the signature is wrong or the token has expired."""
    try:
        email, next_page = signing.loads(token, salt=SIGN_UP_SALT, max_age=SIGN_UP_LIFETIME_S)
    except (signing.BadSignature, ValueError):
        return None
    return SignUp(email, next_page)


def create_person(*, email: str, password: str | None) -> User:
    """Create a person whose address is proven; raises AccountRefused if an account with the address exists.

    Without a password they log in with an identity provider, or set a password with a reset.
    """
    user = User(email=User.objects.normalize_email(email))
    user.set_password(password)
    # A failing INSERT would appear in the database's log with the password's hash. On a conflict this one does nothing.
    User.objects.bulk_create([user], ignore_conflicts=True)
    found = access.find_person(email)
    if found is None or found.password != user.password:
        raise AccountRefused("An account with this e-mail address already exists. Log in with it.")
    return found


def owned_by(person: User) -> int:
    """Return the number of organizations that the person owns."""
    return access.memberships_of(person).filter(role=Membership.Role.OWNER).count()


def create_organization(*, name: str, owner: User) -> Organization:
    """Create an organization with its owner; the name need not be unique. Raises AccountRefused."""
    # Always a suffix, so that no user's organization gets a slug that an operator would name on the command line.
    slug = f"{slugify(name)[: SLUG_LENGTH - SLUG_SUFFIX - 1]}-{random_base62(SLUG_SUFFIX).lower()}".strip("-")
    with transaction.atomic():
        # Concurrent requests of the same person wait here, so that the count is right.
        User.objects.select_for_update(no_key=True).get(id=owner.id)
        owned = owned_by(owner)
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
        wanted = {"name": name, "shares_reports": shares_reports}
        changes = {
            field: {"from": getattr(organization, field), "to": value}
            for field, value in wanted.items()
            if getattr(organization, field) != value
        }
        if not changes:
            return
        Organization.objects.filter(id=organization.id).update(**wanted)
        activity.record_by(actor, "organization.changed", name, **changes)


def change_login(*, actor: Membership, second_factor: bool, provider: str, domain: str) -> None:
    """Set how members must log in. `provider` is empty, or the ID of an identity provider for addresses of `domain`.

    Raises AccountRefused if the owner does not fulfil the requirement themselves. `actor.user` must be `request.user`,
    whose `session_providers` tells the identity providers of the session.
    """
    domain = domain.strip().lower() if provider else ""
    if second_factor and not has_second_factor(actor.user):
        raise AccountRefused("Add an authenticator app or a passkey to your own account first.")
    wanted = {"second_factor_required": second_factor, "login_provider": provider, "login_domain": domain}
    with transaction.atomic():
        organization = lock(actor.organization_id)
        before = {field: getattr(organization, field) for field in wanted}
        if wanted == before:
            return
        is_new = provider and (provider, domain) != (before["login_provider"], before["login_domain"])
        is_theirs = actor.user.email.rpartition("@")[2].lower() == domain
        if is_new and (provider not in actor.user.session_providers or not is_theirs):
            raise AccountRefused(
                "Log in with this identity provider, and an address of this domain, yourself before you require it."
            )
        Organization.objects.filter(id=organization.id).update(**wanted)
        changes = {field: {"from": before[field], "to": value} for field, value in wanted.items()}
        changes = {field: each for field, each in changes.items() if each["from"] != each["to"]}
        activity.record_by(actor, "organization.changed", organization.name, **changes)


def remove_second_factors(user: User) -> int:
    """Remove all second factors of a person who has lost them, for an operator; returns the number of deleted rows.

    The person's sessions end, and an e-mail tells them.
    """
    with transaction.atomic():
        count = delete_factors(user)
        if count:
            sessions.end_others(user)
            notices.record(user, "person.second_factors_reset")
            notices.post(user, "factors_reset", None)
    return count


def ensure_organization(*, name: str, tier: str | None = None) -> Organization:
    """Return the organization whose slug is made from the name; create it if missing. Sets `tier` if given.

    Raises Tier.DoesNotExist for an unknown tier, and ValueError for a name without a letter or digit.
    """
    slug = slugify(name)
    if not slug:
        raise ValueError("The name of an organization must contain a letter or a digit.")
    if len(slug) > SLUG_LENGTH:
        # If slugs were only cut, two long names with the same beginning would share one organization.
        digest = hashlib.sha256(slug.encode()).hexdigest()[:SLUG_SUFFIX]
        slug = f"{slug[: SLUG_LENGTH - SLUG_SUFFIX - 1]}-{digest}"
    plan = Tier.objects.get(name=tier) if tier else None
    with transaction.atomic():
        organization, _ = Organization.objects.get_or_create(slug=slug, defaults={"name": name})
        if plan is not None and organization.tier_id != plan.name:
            organization.tier = plan
            organization.save(update_fields=["tier"])
    return organization


def lock(organization_id: int) -> Organization:
    """Lock the organization's row until the transaction ends; raises AccountRefused if the organization is closed."""
    try:
        return usage.lock(organization_id)
    except usage.OrganizationClosed as error:
        raise AccountRefused(str(error)) from None
