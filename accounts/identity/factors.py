"""Authentication factors of a person, from django-allauth's tables."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount

from accounts.models import User

SECOND_FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def factors_of(user: User) -> list[Authenticator]:
    """Return the person's authenticator app, passkeys and recovery codes, oldest first."""
    return list(Authenticator.objects.filter(user=user).order_by("created_at", "id"))


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists()


def providers_of(user: User) -> set[str]:
    """Return the IDs of the identity providers that the account is connected to."""
    return set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))


def sync_verified_address(user: User) -> None:
    """Make django-allauth's row of the verified address match the account's address, which was proven at sign-up.

    Rows of other verified addresses are deleted, because the Django admin changes only the account's address.
    """
    EmailAddress.objects.filter(user=user, verified=True).exclude(email=user.email).delete()
    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})


def delete_factors(user: User) -> int:
    """Delete all second factors and recovery codes of the account; returns the number of deleted rows."""
    count, _ = Authenticator.objects.filter(user=user).delete()
    return count


def delete_login_data(user: User) -> None:
    """Delete django-allauth's rows of the account: e-mail addresses, second factors and identity providers."""
    for model in (EmailAddress, Authenticator, SocialAccount):
        model._default_manager.filter(user=user).delete()
