"""Network policy for scans and deliveries: the settings and the operator's blocklist."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from website_scan.environment import Exemption
from website_scan.net.policy import Policy, user_agent_at

# Path of the page for site owners, here because workers do not load the URL configuration.
ABOUT_OUR_SCANS = "/about-our-scans"


def settings_policy(*also_allowed: Exemption) -> Policy:
    """Return the policy of the settings alone, for commands without a database."""
    return Policy(
        allowed_networks=(*settings.SCAN_ALLOWED_NETWORKS, *also_allowed),
        denied_networks=settings.SCAN_DENIED_NETWORKS,
        name_servers=settings.SCAN_NAME_SERVERS,
        allowed_ports=settings.SCAN_ALLOWED_PORTS,
        ca_bundle=settings.SCAN_CA_BUNDLE,
        user_agent=user_agent_at(f"{settings.BASE_URL}{ABOUT_OUR_SCANS}"),
    )


def scan_policy() -> Policy:
    """Return the current policy; it reads the blocklist each time, so that a new entry applies at once."""
    from infrastructure.postgresql.statements import fetch  # not for commands without a database

    blocked = tuple(domain for (domain,) in fetch("SELECT domain FROM scans_blockeddomain ORDER BY domain", {}))
    return replace(settings_policy(), blocked_domains=blocked)
