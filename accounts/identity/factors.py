"""Query a person's authentication factors in django-allauth's tables."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from accounts.models import User

SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def factors_of_user(user: User) -> list[Authenticator]:
    """Return the user's authenticator app, passkeys and recovery codes, oldest first."""
    return list(Authenticator.objects.filter(user=user).order_by("created_at", "id"))


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists()


def providers_of_user(user: User) -> set[str]:
    """Return the IDs of the identity providers that the user's account is connected to."""
    return set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))


def sync_verified_address(user: User) -> None:
    """Copy the user's e-mail address, which was verified at sign-up, to django-allauth's table of verified addresses.

    Rows of other verified addresses are deleted, because the Django admin changes only the account's address.
    """
    EmailAddress.objects.filter(user=user, verified=True).exclude(email=user.email).delete()
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})


def delete_factors(user: User) -> int:
    """Delete all the user's second factors and recovery codes.

    Returns the number of deleted rows.
    """
    count, _ = Authenticator.objects.filter(user=user).delete()
    return count


def delete_login_data(user: User) -> None:
    """Delete a user's rows in django-allauth's tables for addresses, second factors and identity providers."""
    for model in (EmailAddress, Authenticator, SocialAccount):
        model._default_manager.filter(user=user).delete()
