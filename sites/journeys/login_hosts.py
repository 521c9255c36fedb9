"""Hosts of log-in services that many organizations use.

A journey may name them without proof of control, because nothing but log-ins happens there. Other hosts of log-in, such
as an organization's own, need the same proof as the site.
"""

from __future__ import annotations

# Sources: the providers' documentation of their sign-in endpoints for OpenID Connect and SAML.
LOGIN_HOSTS = frozenset(
    {
        "accounts.google.com",
        "appleid.apple.com",
        "login.live.com",
        "login.microsoft.com",
        "login.microsoftonline.com",
        "login.microsoftonline.us",
        "login.salesforce.com",
    }
)
# Services with a host for each customer.
LOGIN_DOMAINS = (
    "amazoncognito.com",
    "auth0.com",
    "b2clogin.com",
    "ciamlogin.com",
    "okta.com",
    "okta-emea.com",
    "oktapreview.com",
    "onelogin.com",
    "pingone.com",
    "pingone.eu",
)


def is_login_host(host: str) -> bool:
    """Return True if the host only serves log-ins of organizations."""
    return host in LOGIN_HOSTS or host.endswith(tuple(f".{domain}" for domain in LOGIN_DOMAINS))
