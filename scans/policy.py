"""Network policy for scans and webhook deliveries, from the settings and the operator's blocklist."""

from __future__ import annotations

from django.conf import settings
from msgspec.structs import replace

from website_scan.environment import Exemption
from website_scan.net.policy import Policy, RouteValidator, user_agent_at
from website_scan.page.registrable_domain import is_ip_address
from website_scan.written_urls import split_url

# Path of the page that explains scans to site owners. The path is a constant, because workers do not load URLconfs.
ABOUT_SCANS_PATH = "/about-our-scans"


def mail_name_of(base_url: str) -> str:
    """Return the name by which scans introduce themselves to mail servers, empty if the service has no public one."""
    host = split_url(base_url).hostname or ""
    return "" if is_ip_address(host) or "." not in host or not host.isascii() else host


def network_policy_from_settings(*also_allowed: Exemption) -> Policy:
    """Return the network policy without the blocklist, for commands that run without a database."""
    return Policy(
        allowed_networks=(*settings.SCAN_ALLOWED_NETWORKS, *also_allowed),
        denied_networks=settings.SCAN_DENIED_NETWORKS,
        name_servers=settings.SCAN_NAME_SERVERS,
        allowed_ports=settings.SCAN_ALLOWED_PORTS,
        ca_bundle=settings.SCAN_CA_BUNDLE,
        user_agent=user_agent_at(f"{settings.BASE_URL}{ABOUT_SCANS_PATH}"),
        contacts_mail_servers=settings.SCAN_MAIL_SERVERS,
        mail_name=mail_name_of(settings.BASE_URL),
        route_validator=RouteValidator.of_settings(settings.SCAN_RPKI_URL, settings.SCAN_ORIGIN_ZONE),
    )


def scan_policy() -> Policy:
    """Return the network policy with the current blocklist, which is read on each call."""
    # The import is local, because commands without a database cannot import this module.
    from infrastructure.postgresql.statements import fetch

    blocked = tuple(domain for (domain,) in fetch("SELECT domain FROM scans_blockeddomain ORDER BY domain", {}))
    return replace(network_policy_from_settings(), blocked_domains=blocked)
