"""Login settings for django-allauth (docs/adr/0014-people-keys-and-addresses.md) and OpenID Connect providers.

An account is created only after its e-mail address is verified, so django-allauth's verification is disabled. Its rate
limits are disabled, too, because `accounts.limits` limits attempts and, unlike them, refuses all without Redis.
"""

from __future__ import annotations

from infrastructure.environment import IdentityProvider, identity_providers
from website_scan.environment import read

ACCOUNT_ADAPTER = "accounts.adapters.account.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
ACCOUNT_FORMS = {
    "login": "accounts.adapters.forms.LoginForm",
    "reauthenticate": "accounts.adapters.forms.ReauthenticateForm",
    "add_email": "accounts.adapters.forms.AddEmailForm",
}
MFA_ADAPTER = "accounts.adapters.mfa.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1
MFA_ALLOW_UNVERIFIED_EMAIL = True  # An unconfirmed new address must not block second factors.
MFA_RATE_LIMITS = False
MFA_FORMS = {
    "authenticate": "accounts.adapters.forms.AuthenticateForm",
    "reauthenticate": "accounts.adapters.forms.ReauthenticateCodeForm",
    "activate_totp": "accounts.adapters.forms.ActivateTOTPForm",
    "add_webauthn": "accounts.adapters.forms.AddPasskeyForm",
    "edit_webauthn": "accounts.adapters.forms.EditPasskeyForm",
}
SOCIALACCOUNT_ADAPTER = "accounts.adapters.providers.ProviderAdapter"
OIDC_PROVIDERS: list[IdentityProvider] = read(
    "OIDC_PROVIDERS",
    identity_providers,
    [],
    'JSON such as [{"id": "acme", "name": "Acme", "issuer": "https://id.example.com", "client_id": "…", '
    '"client_secret": "…", "domains": ["example.com"]}].',
)
