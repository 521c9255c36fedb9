"""What this installation lets scans and deliveries reach: the settings and the operator's blocklist."""

from __future__ import annotations

from django.conf import settings

from scans.models import BlockedDomain
from scans.net.policy import Policy


def scan_policy() -> Policy:
    """The policy of this moment, so that a domain that was just blocked is."""
    return Policy(
        allowed_networks=settings.SCAN_ALLOWED_NETWORKS,
        allowed_ports=settings.SCAN_ALLOWED_PORTS,
        blocked_domains=tuple(BlockedDomain.objects.values_list("domain", flat=True)),
        ca_bundle=settings.SCAN_CA_BUNDLE,
    )
