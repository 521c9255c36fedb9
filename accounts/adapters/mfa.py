"""django-allauth adapter for second factors, and receivers for its signals."""

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
# Recovery codes are missing here, because they are added and removed together with the other factors.
KINDS = {"totp": "authenticator app", "webauthn": "passkey"}


class MFAAdapter(DefaultMFAAdapter):
    """Adapter that encrypts second factors' secrets with the same key ring as other secrets."""

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
        """Return no SVG, because django-allauth's SVG has no text alternative.

        The template draws the QR code.
        """
        return ""

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": SERVICE}


def record_added_factor(request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """Log a new second factor, and end other sessions, which began without it.

    Receives `authenticator_added`.
    """
    if authenticator.type not in KINDS:
        return
    notices.record(user, "person.second_factor_added", KINDS[authenticator.type])
    sessions.end_other_sessions(user, keep=sessions.current_login_id(request))


def record_removed_factor(user: User, authenticator: Authenticator, **_: object) -> None:
    """Log the removal of a second factor. Receives `authenticator_removed`."""
    if authenticator.type in KINDS:
        notices.record(user, "person.second_factor_removed", KINDS[authenticator.type])


def record_new_recovery_codes(user: User, **_: object) -> None:
    """Log the replacement of the recovery codes.

    Receives `authenticator_reset`.
    """
    notices.record(user, "person.codes_replaced")


def record_failed_factor(request: HttpRequest, user: User, **_: object) -> None:
    """Log a wrong second factor. The visitor knew the password.

    Receives `authentication_failed`.
    """
    notices.record(user, "person.second_factor_failed", address=notices.address(request))


def notify_of_used_recovery_code(request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """Send a security notice when a recovery code was used to log in.

    Receives `authenticator_used`.
    """
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        notices.post(user, "codes_used", request)
