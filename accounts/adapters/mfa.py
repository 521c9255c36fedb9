"""django-allauth's adapter for second factors, and receivers of their signals."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from accounts import sessions
from accounts.identity import notices
from accounts.models import User
from infrastructure import encryption

SERVICE = "Website Scan Service"
# Recovery codes are not listed, because they are added and removed together with the other factors.
KINDS = {"totp": "authenticator app", "webauthn": "passkey"}


class MFAAdapter(DefaultMFAAdapter):
    """Adapter that encrypts second factors' secrets with the same key ring as all other secrets in the database."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code is wrong, or has been used. Enter the next one.",
    }

    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return encryption.decrypt(encrypted_text.encode())

    def get_totp_issuer(self) -> str:
        return SERVICE

    def build_totp_svg(self, url: str) -> str:
        """Return no SVG, because django-allauth's SVG has no text alternative. The template draws the QR code."""
        return ""

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": SERVICE}


def record_added_factor(request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """Record a new second factor, and end the other sessions, which began without it (`authenticator_added`)."""
    if authenticator.type not in KINDS:
        return
    notices.record(user, "person.second_factor_added", KINDS[authenticator.type])
    sessions.end_others(user, keep=sessions.current_id(request))


def record_removed_factor(user: User, authenticator: Authenticator, **_: object) -> None:
    """Record the removal of a second factor (`authenticator_removed`)."""
    if authenticator.type in KINDS:
        notices.record(user, "person.second_factor_removed", KINDS[authenticator.type])


def record_new_recovery_codes(user: User, **_: object) -> None:
    """Record the replacement of the recovery codes (`authenticator_reset`)."""
    notices.record(user, "person.codes_replaced")


def record_failed_factor(request: HttpRequest, user: User, **_: object) -> None:
    """Record a wrong second factor, because the visitor knew the password (`authentication_failed`)."""
    notices.record(user, "person.second_factor_failed", address=notices.address(request))


def notify_of_used_recovery_code(request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """Send a notice to the person if a recovery code was used (`authenticator_used`)."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        notices.post(user, "codes_used", request)
