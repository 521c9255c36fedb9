"""The DNS with one domain: the root, its top-level domain, and a provider of name servers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.targets.domains.servers import Behaviour, Dns, zone_file
from tests.targets.domains.table import GOOD, PROVIDERS, WEB
from tests.targets.domains.zones import Nsec3Chain, Signing, make_zone


def dns_with_domain(domain: str, records: str, *, is_signed: bool, mail_provider: str = "") -> Dns:
    """Return the zones. `records` are those of the domain, in the syntax of zone files.

    `mail_provider` is a name in example.net with an address and an SPF record.
    """
    suffix = domain.partition(".")[2]
    names = [f"{server}." for server in GOOD]
    mail = f'{mail_provider}. A {WEB}\n{mail_provider}. TXT "v=spf1 ip4:192.0.2.0/24 -all"\n' if mail_provider else ""
    zones = [
        make_zone(f"{domain}.", zone_file(f"{domain}.", records, names), Signing() if is_signed else None),
        make_zone("example.net.", zone_file("example.net.", mail, names), None),
    ]
    for server in GOOD:
        zone, (ipv4, ipv6) = f"{server.partition('.')[2]}.", PROVIDERS[server]
        zones.append(make_zone(zone, zone_file(zone, f"{server}. A {ipv4}\n{server}. AAAA {ipv6}\n", names), None))
    suffixes = {suffix: [f"{domain}."], "net": ["provider.net.", "example.net."], "org": ["provider.org."]}
    for name, delegated in suffixes.items():
        text = "".join(f"{child} NS {names[0]}\n" for child in delegated)
        zones.append(
            make_zone(f"{name}.", zone_file(f"{name}.", text, names), Signing(chain=Nsec3Chain(opts_out=True)))
        )
    root = "".join(f"{name}. NS {names[0]}\n" for name in suffixes)
    return Dns([*zones, make_zone(".", zone_file(".", root, names), Signing())])


def providers_of(dns: Dns) -> Mapping[str, Behaviour]:
    """Return the name servers of the provider, by address, which answer for all zones."""
    behaviour = dns.authoritative(*(origin.to_text() for origin in dns.zones))
    return {address: behaviour for server in GOOD for address in PROVIDERS[server]}
