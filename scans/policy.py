"""Network policy for scans and deliveries, from the settings and the operator's blocklist."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from website_scan.environment import Exemption
from website_scan.net.policy import Policy, user_agent_at

# Path of the page that explains scans to site owners. It is a constant here, because workers do not load URLs.
ABOUT_OUR_SCANS = "/about-our-scans"


def settings_policy(*also_allowed: Exemption) -> Policy:
    """Return the policy of the settings without the blocklist, for commands that run without a database."""
    return Policy(
        allowed_networks=(*settings.SCAN_ALLOWED_NETWORKS, *also_allowed),
        denied_networks=settings.SCAN_DENIED_NETWORKS,
        name_servers=settings.SCAN_NAME_SERVERS,
        allowed_ports=settings.SCAN_ALLOWED_PORTS,
        ca_bundle=settings.SCAN_CA_BUNDLE,
        user_agent=user_agent_at(f"{settings.BASE_URL}{ABOUT_OUR_SCANS}"),
    )


def scan_policy() -> Policy:
    """Return the current policy. The blocklist is read on each call, so that a new entry applies at once."""
    from infrastructure.postgresql.statements import fetch  # Commands without a database cannot import this module.

    blocked = tuple(domain for (domain,) in fetch("SELECT domain FROM scans_blockeddomain ORDER BY domain", {}))
    return replace(settings_policy(), blocked_domains=blocked)
