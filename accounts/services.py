"""Organizations and people: created, changed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.core import signing
from django.db import transaction
from django.utils.text import slugify

from accounts import access, activity, sessions, usage
from accounts.identity import notices
from accounts.identity.factors import forget_factors, has_second_factor
from accounts.models import Membership, Organization, Tier, User
from scanner.ids import random_base62

SLUG_LENGTH = Organization._meta.get_field("slug").max_length or 60
SLUG_SUFFIX = 8
# More would only multiply a free plan.
MAX_OWNED_ORGANIZATIONS = 10
SIGN_UP_SALT = "accounts.sign-up"
SIGN_UP_LIFETIME_S = 24 * 3600


class AccountRefused(Exception):
    """What somebody asked for is not possible; the text tells them why."""


@dataclass(frozen=True, slots=True)
class SignUp:
    """What somebody began: their e-mail address, and the page of ours that they were on their way to, if any."""

    email: str
    next_page: str


def sign_up_token(email: str, next_page: str = "") -> str:
    """What the link in the e-mail carries: it proves that its holder reads this address's mail.

    It has the way on, too, as mail is often read on another device. Signed and compressed, not in plain text: whoever
    asks for the mail chooses that text, and somebody else may read it.
    """
    return signing.dumps((email, next_page), salt=SIGN_UP_SALT, compress=True)


def sign_up_of(token: str) -> SignUp | None:
    """What a token was made of that is genuine and not too old."""
    try:
        email, next_page = signing.loads(token, salt=SIGN_UP_SALT, max_age=SIGN_UP_LIFETIME_S)
    except (signing.BadSignature, ValueError):
        return None
    return SignUp(email, next_page)


def create_person(*, email: str, password: str | None) -> User:
    """Somebody whose address is proven; raises AccountRefused when there is an account with it.

    Without a password they log in with an identity provider, or get one by a reset.
    """
    user = User(email=User.objects.normalize_email(email))
    user.set_password(password)
    # A statement that fails stands in the database's log, with the password's hash. This one does nothing instead.
    User.objects.bulk_create([user], ignore_conflicts=True)
    found = access.person_with(email)
    if found is None or found.password != user.password:
        raise AccountRefused("An account with this e-mail address already exists. Log in with it.")
    return found


def create_organization(*, name: str, owner: User) -> Organization:
    """A new organization with its owner; its name need not be unique. Raises AccountRefused."""
    # A suffix always: no stranger's organization gets a slug that an operator would name at the command line.
    slug = f"{slugify(name)[: SLUG_LENGTH - SLUG_SUFFIX - 1]}-{random_base62(SLUG_SUFFIX).lower()}".strip("-")
    with transaction.atomic():
        # Who does two things at once waits here, so that the count holds.
        User.objects.select_for_update(no_key=True).get(id=owner.id)
        owned = access.memberships_of(owner).filter(role=Membership.Role.OWNER).count()
        if owned >= MAX_OWNED_ORGANIZATIONS:
            raise AccountRefused(f"You own {owned} organizations, which is the maximum.")
        organization = Organization.objects.create(name=name, slug=slug)
        Membership.objects.create(organization=organization, user=owner, role=Membership.Role.OWNER)
        activity.record(organization, owner, "organization.created", name)
    return organization


def sign_up(*, email: str, password: str, organization: str) -> tuple[User, Organization]:
    """A new person with an organization of their own; raises AccountRefused."""
    with transaction.atomic():
        user = create_person(email=email, password=password)
        return user, create_organization(name=organization, owner=user)


def change_organization(*, actor: Membership, name: str, shares_reports: bool) -> None:
    """Other settings, noted with what they were."""
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
    """How members log in from now on; `provider` is empty, or the ID of one that speaks for `domain`.

    An owner fulfils first what all others are to: raises AccountRefused otherwise. `actor.user` is the person of the
    request, who knows what they have logged in with.
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
    """An operator takes away what a person has lost; returns how many rows. Their sessions end, and they are told."""
    with transaction.atomic():
        count = forget_factors(user)
        if count:
            sessions.end_others(user)
            notices.note(user, "person.second_factors_reset")
            notices.tell(user, "factors_reset", None)
    return count


def ensure_organization(*, name: str, tier: str | None = None) -> Organization:
    """The organization with that name, made when missing; `tier` is set when given.

    Raises Tier.DoesNotExist for an unknown tier, and ValueError for a name without a letter or digit.
    """
    slug = slugify(name)
    if not slug:
        raise ValueError("The name of an organization must contain a letter or a digit.")
    if len(slug) > SLUG_LENGTH:
        # Cut off, two long names that begin alike would be one organization.
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
    """Hold the organization's row until the transaction ends; raises AccountRefused when it is closed."""
    try:
        return usage.lock(organization_id)
    except usage.OrganizationClosed as error:
        raise AccountRefused(str(error)) from None
