"""Settings of scans from environment variables.

The command and `config.settings` use them.
"""

from __future__ import annotations

import os

from website_scan import environment
from website_scan.environment import read

SCAN_ALLOWED_NETWORKS: tuple[environment.Exemption, ...] = read(
    "SCAN_ALLOWED_NETWORKS",
    environment.exemptions,
    (),
    "CIDRs such as 10.20.0.0/16, or with a port 10.0.0.5/32:8080 and [fd00::1/128]:8080, separated by commas.",
)
SCAN_DENIED_NETWORKS: tuple[environment.IPNetwork, ...] = read(
    "SCAN_DENIED_NETWORKS", environment.networks, (), "CIDRs such as 203.0.113.0/24, separated by commas."
)
SCAN_NAME_SERVERS: tuple[str, ...] = read(
    "SCAN_NAME_SERVERS", environment.ip_addresses, (), "Addresses of name servers, separated by commas."
)
SCAN_MAIL_SERVERS = read(
    "SCAN_MAIL_SERVERS", environment.boolean, False, "on; off never connects to mail servers of scanned domains."
)
SCAN_RPKI_URL: str = read(
    "SCAN_RPKI_URL", environment.web_address, "", "The address of Routinator's HTTP service: http://localhost:8323."
)
SCAN_ORIGIN_ZONE: str = read(
    "SCAN_ORIGIN_ZONE", environment.domain_name, "", "A DNS zone with origins of addresses, such as asn.cymru.com."
)
SCAN_ALLOWED_PORTS = read(
    "SCAN_ALLOWED_PORTS", environment.ports, frozenset({80, 443, 8080, 8443}), "Ports, separated by commas."
)
SCAN_TIME_LIMIT_S = read("SCAN_TIME_LIMIT", environment.positive, 60, "Seconds for one scan, such as 60.")
SCAN_CA_BUNDLE = read(
    "SCAN_CA_BUNDLE", environment.certificates, None, "A PEM file with certificates to trust as well."
)
SCAN_BROWSER = read("SCAN_BROWSER", environment.browser, "auto", "auto, off, or the path of a Chromium.")
SCAN_BROWSER_SANDBOX = read(
    "SCAN_BROWSER_SANDBOX", environment.boolean, True, "on; off lets Chromium run without its sandbox."
)
SCAN_BROWSER_MEMORY_MIB = read(
    "SCAN_BROWSER_MEMORY", environment.browser_memory, 800, "MiB for one browser with all its processes, at least 500."
)
_NO_PLUG_INS: dict[str, int] | None = {} if "SCAN_PLUGINS" in os.environ else None
# None means all installed plug-ins for the command and the library, and no plug-in for the service.
SCAN_PLUGINS: dict[str, int] | None = read(
    "SCAN_PLUGINS",
    environment.plug_ins,
    _NO_PLUG_INS,
    "Names of plug-ins, separated by commas, with the weight of their categories if they have one: acme,links=10.",
)


def invalid_settings() -> list[str]:
    """Return a sentence for each environment variable of scans that is invalid."""
    return [str(problem) for problem in environment.problems if problem.name.startswith("SCAN_")]
