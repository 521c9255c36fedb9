"""Domains that are configured in right and wrong ways, with the outcomes of the checks that the RFCs demand.

Each domain has a zone, most have the name servers of a provider. `expected` names only outcomes that differ from those
of the first domain, which is perfect.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from dns.dnssectypes import Algorithm
from msgspec import Struct, field

from tests.targets.domains.servers import Dns, zone_file
from tests.targets.domains.zones import Nsec3Chain, Signing, make_zone

WEB = "93.184.215.14"
WEB6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
DEAD6 = "2606:2800:21f:cb07::dead"
# Addresses of name servers, by name.
PROVIDERS = {
    "ns1.provider.net": ("198.97.190.53", "2001:500:2::c"),
    "ns2.provider.org": ("199.7.83.42", "2001:500:9f::42"),
    "ns3.provider.net": ("192.33.4.12", ""),
    "ns4.provider.net": ("192.203.230.10", ""),
    "ns5.provider.net": ("192.5.5.241", "2001:500:2f::f"),
    "a.onenet.net": ("198.41.0.4", ""),
    "b.onenet.net": ("198.41.0.5", ""),
    "twin1.onenet.net": ("198.41.0.7", ""),
    "twin2.onenet.net": ("198.41.0.7", ""),
    "lame.provider.net": ("192.112.36.4", ""),
    "silent.provider.net": ("192.36.148.17", ""),
    "broken6.provider.net": ("192.58.128.30", "2001:503:c27::2:30"),
    "open.provider.net": ("193.0.14.129", "2001:7fd::1"),
    "private.provider.net": ("10.11.12.13", ""),
    "cloud.provider.net": ("169.254.169.254", ""),
    "victim.provider.net": ("170.247.170.2", ""),
}
GOOD = ("ns1.provider.net", "ns2.provider.org")
DAY = timedelta(days=1)
CAA_RECORDS = '{0} CAA 0 issue "letsencrypt.org"\n'
DEFAULT_RECORDS = (
    "{0} A " + WEB + "\n{0} AAAA " + WEB6 + "\nwww.{0} A " + WEB + "\nwww.{0} AAAA " + WEB6 + "\n" + CAA_RECORDS
)
NO_IPV6 = "{0} A " + WEB + "\nwww.{0} A " + WEB + "\n" + CAA_RECORDS
PERFECT = {
    "ipv6": "pass",
    "name-server-ipv6": "pass",
    "name-servers": "pass",
    "lame-delegation": "pass",
    "zone-transfer": "pass",
    "dnssec": "pass",
    "dnssec-algorithms": "pass",
    "dnssec-nsec3": "n/a",
    "caa": "pass",
    "https-record": "n/a",
    "dane": "n/a",
    "dangling-alias": "pass",
    "wildcard-alias": "pass",
}
UNSIGNED = {"dnssec": "off", "dnssec-algorithms": "n/a"}


class ZooDomain(Struct, frozen=True):
    """Domain of the zoo. `because` is what is special, `rule` the RFC's section, and `{0}` in records the domain."""

    name: str
    because: str
    rule: str
    expected: Mapping[str, str] = field(default_factory=dict)
    signing: Signing | None = field(default_factory=Signing)
    records: str = DEFAULT_RECORDS
    servers: tuple[str, ...] = GOOD
    host: str = "www"

    @property
    def outcomes(self) -> dict[str, str]:
        return PERFECT | dict(self.expected)


def _signed(name: str, because: str, rule: str, signing: Signing | None, **expected: str) -> ZooDomain:
    return ZooDomain(name, because, rule, _named(expected), signing)


def _served(name: str, because: str, rule: str, *servers: str, **expected: str) -> ZooDomain:
    return ZooDomain(name, because, rule, _named(expected), servers=servers)


def _has(name: str, because: str, rule: str, records: str, **expected: str) -> ZooDomain:
    return ZooDomain(name, because, rule, _named(expected), records=DEFAULT_RECORDS + records)


def _caa(name: str, because: str, rule: str, records: str, expected: str) -> ZooDomain:
    records = DEFAULT_RECORDS.replace(CAA_RECORDS, "") + records
    return ZooDomain(name, because, rule, {"caa": expected}, records=records)


def _named(expected: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): outcome for name, outcome in expected.items()}


def _https(name: str, because: str, rule: str, record: str, expected: str) -> ZooDomain:
    return _has(name, because, rule, f"www.{{0}} HTTPS {record}\n", https_record=expected)


DOMAINS = (
    _signed("perfect.com", "everything is right", "RFC 4035, 5", Signing()),
    # DNSSEC: algorithms.
    _signed("p384.com", "ECDSA P-384", "RFC 9904", Signing(Algorithm.ECDSAP384SHA384)),
    _signed("ed25519.com", "Ed25519", "RFC 8080", Signing(Algorithm.ED25519)),
    _signed("ed448.com", "Ed448", "RFC 8080", Signing(Algorithm.ED448)),
    _signed("rsa256.com", "RSA/SHA-256 with 2048 bits", "RFC 5702", Signing(Algorithm.RSASHA256)),
    _signed("rsa512.com", "RSA/SHA-512", "RFC 5702", Signing(Algorithm.RSASHA512)),
    _signed("rsa1024.com", "RSA with 1024 bits", "NIST SP 800-131A", Signing(Algorithm.RSASHA256, rsa_bits=1024),
            dnssec_algorithms="short-key"),
    _signed("rsasha1.com", "RSA/SHA-1", "RFC 9905, 3", Signing(Algorithm.RSASHA1), dnssec_algorithms="sha-1"),
    _signed("nsec3rsasha1.net", "RSA/SHA-1 with NSEC3", "RFC 9905, 3",
            Signing(Algorithm.RSASHA1NSEC3SHA1, chain=Nsec3Chain()), dnssec_algorithms="sha-1", dnssec_nsec3="pass"),
    _signed("sha1digest.org", "DS record with SHA-1", "RFC 9905, 3", Signing(ds_digest="SHA1"),
            dnssec_algorithms="sha-1-digest"),
    _signed("sha384digest.org", "DS record with SHA-384", "RFC 6605", Signing(ds_digest="SHA384")),
    _signed("unknown-algorithm.com", "algorithm that nobody knows", "RFC 4035, 5.2", Signing(declared_algorithm=200),
            dnssec="unsupported"),
    _signed("gost.com", "GOST R 34.10-2001", "RFC 9906", Signing(declared_algorithm=12), dnssec="unsupported",
            dnssec_algorithms="obsolete"),
    _signed("dsa.com", "DSA/SHA-1", "RFC 9904", Signing(declared_algorithm=3), dnssec="unsupported",
            dnssec_algorithms="obsolete"),
    _signed("unknown-digest.com", "digest type that nobody knows", "RFC 4509, 3", Signing(ds="unsupported"),
            dnssec="unsupported"),
    # DNSSEC: chain.
    _signed("unsigned.com", "not signed, parent with opt-out", "RFC 5155, 6", None, **UNSIGNED),
    _signed("unsigned.net", "not signed, parent with NSEC3", "RFC 5155, 8.6", None, **UNSIGNED),
    _signed("unsigned.org", "not signed, parent with NSEC", "RFC 4035, 5.2", None, **UNSIGNED),
    _signed("plain.info", "parent is not signed either", "RFC 4035, 5.2", None, dnssec="n/a", dnssec_algorithms="n/a"),
    _signed("island.info", "signed, parent is not", "RFC 4033, 2", Signing(ds="none"), dnssec="no-ds",
            dnssec_algorithms="n/a"),
    _signed("no-ds.com", "signed without DS record", "RFC 4035, 2.4", Signing(ds="none"), dnssec="no-ds",
            dnssec_algorithms="n/a"),
    _signed("no-ds.org", "signed without DS record, parent with NSEC", "RFC 4035, 2.4", Signing(ds="none"),
            dnssec="no-ds", dnssec_algorithms="n/a"),
    _signed("wrong-ds.com", "DS record of another key", "RFC 4035, 5.2", Signing(ds="wrong"), dnssec="broken"),
    _signed("wrong-ds.net", "DS record of another key, NSEC3", "RFC 4035, 5.2",
            Signing(ds="wrong", chain=Nsec3Chain()), dnssec="broken"),
    _signed("no-keys.com", "DS record without keys", "RFC 4035, 5.2", Signing(has_keys=False), dnssec="no-keys"),
    _signed("no-key-signature.com", "keys without signature", "RFC 4035, 5.2", Signing(unsigned=("DNSKEY",)),
            dnssec="broken"),
    _signed("forged-keys.com", "wrong signature of the keys", "RFC 4035, 5.3", Signing(forged=("DNSKEY",)),
            dnssec="broken"),
    _signed("no-signature.com", "addresses without signature", "RFC 4035, 5.3", Signing(unsigned=("A",)),
            dnssec="broken"),
    _signed("forged.com", "wrong signature of addresses", "RFC 4035, 5.3.3", Signing(forged=("A",)), dnssec="broken"),
    _signed("forged-rsa.com", "wrong RSA signature", "RFC 4035, 5.3.3",
            Signing(Algorithm.RSASHA256, forged=("A",)), dnssec="broken"),
    _signed("forged-ed.com", "wrong Ed25519 signature", "RFC 4035, 5.3.3", Signing(Algorithm.ED25519, forged=("A",)),
            dnssec="broken"),
    _signed("no-proofs.com", "no NSEC records", "RFC 4035, 5.4", Signing(has_proofs=False), dnssec="broken"),
    _signed("no-proofs.net", "no NSEC3 records", "RFC 5155, 8.4", Signing(has_proofs=False, chain=Nsec3Chain()),
            dnssec="broken"),
    _signed("forged-proofs.com", "wrong signature of NSEC records", "RFC 4035, 5.4", Signing(forged=("NSEC",)),
            dnssec="broken"),
    # DNSSEC: expiry.
    _signed("expired.com", "expired yesterday", "RFC 4035, 5.3.1", Signing(validity=(-15 * DAY, -DAY)),
            dnssec="expired"),
    _signed("future.com", "valid from tomorrow", "RFC 4035, 5.3.1", Signing(validity=(DAY, 15 * DAY)),
            dnssec="broken"),
    _signed("expires-soon.com", "half a day of 30 days remains", "RFC 6781, 4.4.2",
            Signing(validity=(-29.5 * DAY, 0.5 * DAY)), dnssec="expires-soon"),
    _signed("online-signer.com", "signatures of two days, as of Cloudflare", "RFC 9824",
            Signing(validity=(-DAY - timedelta(hours=1), timedelta(hours=1)))),
    _signed("week.com", "signatures of a week", "RFC 6781, 4.4.2", Signing(validity=(-6 * DAY, DAY))),
    # NSEC3.
    _signed("nsec3.com", "no iterations, no salt", "RFC 9276, 3.1", Signing(chain=Nsec3Chain()), dnssec_nsec3="pass"),
    _signed("nsec3-opt-out.com", "opt-out", "RFC 9276, 3.1", Signing(chain=Nsec3Chain(opts_out=True)),
            dnssec_nsec3="pass"),
    _signed("nsec3-salt.com", "salt", "RFC 9276, 3.1", Signing(chain=Nsec3Chain(0, "aabbccdd")), dnssec_nsec3="salt"),
    _signed("nsec3-1.com", "one iteration", "RFC 9276, 3.1", Signing(chain=Nsec3Chain(1)), dnssec_nsec3="iterations"),
    _signed("nsec3-10.com", "10 iterations", "RFC 9276, 3.1", Signing(chain=Nsec3Chain(10, "ab")),
            dnssec_nsec3="iterations"),
    _signed("nsec3-100.com", "100 iterations", "RFC 9276, 3.2", Signing(chain=Nsec3Chain(100)),
            dnssec_nsec3="iterations"),
    _signed("nsec3-150.com", "150 iterations", "RFC 9276, 3.2", Signing(chain=Nsec3Chain(150)),
            dnssec_nsec3="many-iterations"),
    _signed("nsec3-500.com", "500 iterations", "RFC 9276, 3.2", Signing(chain=Nsec3Chain(500)),
            dnssec_nsec3="many-iterations"),
    _signed("nsec3-2500.com", "2500 iterations", "RFC 9276, 3.2", Signing(chain=Nsec3Chain(2500)),
            dnssec_nsec3="many-iterations"),
    # Name servers.
    _served("one-server.com", "one name server", "RFC 2182, 5", "ns3.provider.net", name_servers="single",
            name_server_ipv6="missing"),
    _served("one-anycast.com", "one name, addresses in two networks", "RFC 3258", "ns1.provider.net",
            name_server_ipv6="pass", name_servers="single"),
    _served("one-network.com", "two servers in one network", "RFC 2182, 3.1", "a.onenet.net", "b.onenet.net",
            name_servers="same-network", name_server_ipv6="missing"),
    _served("twins.com", "two names of one server", "RFC 2182, 3.1", "twin1.onenet.net", "twin2.onenet.net",
            name_servers="same-network", name_server_ipv6="missing"),
    _served("four-servers.com", "four servers, three with IPv6", "RFC 3901", "ns1.provider.net", "ns2.provider.org",
            "ns3.provider.net", "ns5.provider.net"),
    _served("no-server-ipv6.com", "no name server has IPv6", "RFC 3901", "ns3.provider.net", "ns4.provider.net",
            name_server_ipv6="missing"),
    _served("one-server-ipv6.com", "one name server has IPv6", "RFC 3901", "ns1.provider.net", "ns3.provider.net",
            name_server_ipv6="one"),
    _served("dead-server-ipv6.com", "a name server is silent over IPv6", "RFC 3901", "ns1.provider.net",
            "broken6.provider.net", name_server_ipv6="unreachable"),
    _served("lame.com", "a name server refuses the zone", "RFC 1912, 2.8", *GOOD, "lame.provider.net",
            lame_delegation="lame"),
    _served("silent.com", "a name server is silent", "RFC 1912, 2.8", *GOOD, "silent.provider.net",
            lame_delegation="silent"),
    _served("nameless.com", "a name server has no address", "RFC 1912, 2.8", *GOOD, "gone.provider.net",
            lame_delegation="no-address"),
    _served("private-server.com", "a name server in a private network is not contacted", "RFC 1918, 3", *GOOD,
            "private.provider.net"),
    _served("cloud-server.com", "a name server at the metadata address is not contacted", "RFC 3927, 2.7", *GOOD,
            "cloud.provider.net"),
    _served("open-transfer.com", "anybody can transfer the zone", "RFC 5936, 5", "ns1.provider.net",
            "open.provider.net", zone_transfer="open"),
    # Addresses of the site.
    ZooDomain("no-ipv6.com", "no AAAA record", "RFC 6540", {"ipv6": "missing"}, records=NO_IPV6),
    ZooDomain("dead-ipv6.com", "no server at the IPv6 address", "RFC 8305, 1", {"ipv6": "unreachable"},
              records=DEFAULT_RECORDS.replace(WEB6, DEAD6)),
    ZooDomain("private-ipv6.com", "AAAA record of a private network", "RFC 4193, 4.4", {"ipv6": "unreachable"},
              records=DEFAULT_RECORDS.replace(WEB6, "fd00::80")),
    ZooDomain("apex.com", "the site has the domain itself as its name", "RFC 1034, 3.6", host=""),
    _has("alias.com", "www is an alias of the domain", "RFC 1034, 3.6.2", "blog.{0} CNAME www.{0}\n"),
    # CAA.
    _caa("no-caa.com", "no CAA record", "RFC 8659, 3", "", "missing"),
    _caa("caa-wild-only.com", "only issuewild", "RFC 8659, 4.3", '{0} CAA 0 issuewild ";"\n', "no-issue"),
    _caa("caa-none.com", "nobody may issue", "RFC 8659, 4.2", '{0} CAA 0 issue ";"\n', "pass"),
    _caa("caa-account.com", "bound to an account and a method", "RFC 8657, 3",
         '{0} CAA 0 issue "letsencrypt.org; accounturi=https://acme.example/acct/1; validationmethods=dns-01"\n',
         "pass"),
    _caa("caa-own-method.com", "method of one authority", "RFC 8657, 4",
         '{0} CAA 0 issue "ca.example.net; validationmethods=ca-mail"\n', "pass"),
    _caa("caa-bad-method.com", "unknown validation method", "RFC 8657, 4",
         '{0} CAA 0 issue "letsencrypt.org; validationmethods=dns01"\n', "invalid"),
    _caa("caa-two-accounts.com", "accounturi twice", "RFC 8657, 3",
         '{0} CAA 0 issue "letsencrypt.org; accounturi=https://a.example/1; accounturi=https://a.example/2"\n',
         "invalid"),
    _caa("caa-account-number.com", "accounturi is no address", "RFC 8657, 3",
         '{0} CAA 0 issue "letsencrypt.org; accounturi=12345"\n', "invalid"),
    _caa("caa-url.com", "authority written as address", "RFC 8659, 4.2", '{0} CAA 0 issue "https://letsencrypt.org"\n',
         "invalid"),
    _caa("caa-iodef.com", "iodef without mailto:", "RFC 8659, 4.4",
         '{0} CAA 0 issue "letsencrypt.org"\n{0} CAA 0 iodef "security@example.com"\n', "invalid"),
    _caa("caa-critical.com", "unknown critical property", "RFC 8659, 4.1",
         '{0} CAA 0 issue "letsencrypt.org"\n{0} CAA 128 tbs "unknown"\n', "critical"),
    _caa("caa-unknown.com", "unknown property that is not critical", "RFC 8659, 4.1",
         '{0} CAA 0 issue "letsencrypt.org"\n{0} CAA 0 tbs "unknown"\n', "pass"),
    # HTTPS records.
    _https("https.com", "right", "RFC 9460, 9", '1 . alpn="h2,h3"', "pass"),
    _https("https-hints.com", "right, with hints", "RFC 9460, 7.3", f'1 . alpn="h2" ipv4hint={WEB} ipv6hint={WEB6}',
           "pass"),
    _https("https-alias.com", "alias to a CDN", "RFC 9460, 2.4.2", "0 cdn.provider.net.", "pass"),
    _https("https-loop.com", "alias to itself", "RFC 9460, 2.4.2", "0 www.{0}", "alias-loop"),
    _https("https-none.com", "service is not available", "RFC 9460, 2.5.1", "0 .", "unavailable"),
    _https("https-port.com", "other port", "RFC 9460, 7.2", '1 . alpn="h2" port=8443', "port"),
    _https("https-own-port.com", "own port", "RFC 9460, 7.2", '1 . alpn="h2" port=443', "pass"),
    _https("https-target.com", "protocols of another server", "RFC 9460, 7.1", '1 cdn.provider.net. alpn="h2"', "pass"),
    _https("https-mixed.com", "alias and service", "RFC 9460, 2.4.1",
           '1 . alpn="h2"\nwww.{0} HTTPS 0 cdn.provider.net.', "mixed"),
    # DANE.
    _has("dane.com", "TLSA record of the key", "RFC 7671, 5.1", "_443._tcp.www.{0} TLSA 3 1 1 {key}\n", dane="pass"),
    _has("dane-certificate.com", "TLSA record of the certificate", "RFC 6698, 2.1",
         "_443._tcp.www.{0} TLSA 3 0 2 {certificate512}\n", dane="pass"),
    _has("dane-issuer.com", "TLSA record of the issuer", "RFC 7671, 5.2", "_443._tcp.www.{0} TLSA 2 1 1 {issuer}\n",
         dane="pass"),
    _has("dane-next.com", "TLSA records of this key and the next", "RFC 7671, 8.1",
         "_443._tcp.www.{0} TLSA 3 1 1 {other}\n_443._tcp.www.{0} TLSA 3 1 1 {key}\n", dane="pass"),
    _has("dane-wrong.com", "TLSA record of another key", "RFC 6698, 4.1", "_443._tcp.www.{0} TLSA 3 1 1 {other}\n",
         dane="mismatch"),
    _has("dane-issuer-as-server.com", "issuer's key as the server's", "RFC 7671, 5.1",
         "_443._tcp.www.{0} TLSA 3 1 1 {issuer}\n", dane="mismatch"),
    _has("dane-unusable.com", "matching type that nobody knows", "RFC 6698, 4.1",
         "_443._tcp.www.{0} TLSA 3 1 9 {other}\n", dane="unusable"),
    ZooDomain("dane-unsigned.com", "TLSA record without DNSSEC", "RFC 6698, 4.1", UNSIGNED, None,
              DEFAULT_RECORDS + "_443._tcp.www.{0} TLSA 3 1 1 {other}\n"),
    # Aliases and wildcards.
    _has("dangling-azure.com", "name at Azure that is free", "RFC 1034, 3.6.2",
         "shop.{0} CNAME gone.azurewebsites.net.\n", dangling_alias="free-name"),
    _has("dangling-beanstalk.com", "name at Elastic Beanstalk that is free", "RFC 1034, 3.6.2",
         "shop.{0} CNAME gone.eu-west-1.elasticbeanstalk.com.\n", dangling_alias="free-name"),
    _has("dangling-domain.com", "alias of a domain that is free", "RFC 1034, 3.6.2",
         "shop.{0} CNAME www.nobody-has-it.com.\n", dangling_alias="free-domain"),
    _has("dangling-own.com", "alias of an own name that is missing", "RFC 1034, 3.6.2", "shop.{0} CNAME gone.{0}\n",
         dangling_alias="missing"),
    _has("dangling-provider.com", "alias of a missing name at a provider", "RFC 1034, 3.6.2",
         "shop.{0} CNAME gone.provider.net.\n", dangling_alias="missing"),
    _has("living-alias.com", "alias of a name that exists", "RFC 1034, 3.6.2", "shop.{0} CNAME cdn.provider.net.\n"),
    _has("wildcard.com", "wildcard with addresses", "RFC 4592", f"*.{{0}} A {WEB}\n"),
    _has("wildcard-own.com", "wildcard alias of the site", "RFC 4592", "*.{0} CNAME www.{0}\n"),
    _has("wildcard-pages.com", "wildcard alias at GitHub Pages", "GitHub's documentation",
         "*.{0} CNAME somebody.github.io.\n", wildcard_alias="claimable"),
    _signed("wildcard-none.net", "no wildcard, NSEC3", "RFC 4592", Signing(chain=Nsec3Chain()), dnssec_nsec3="pass"),
)  # fmt: skip


def _model(name: str, provider: str, rule: str, records: str, **expected: str) -> ZooDomain:
    """Return a domain as the documentation of a provider says, with the CAA record of the other domains."""
    return ZooDomain(name, provider, rule, _named(expected) | UNSIGNED, None, records + CAA_RECORDS)


A_BOTH = "{0} A " + WEB + "\nwww.{0} A " + WEB + "\n"
APEX = "{0} A " + WEB + "\n"
NONE6 = {"ipv6": "missing"}
# Set-ups that providers document. The only findings are missing IPv6 and DNSSEC, which these providers leave out or to
# the customer.
MODELS = (
    _model("cloudflare-proxied.com", "Cloudflare with proxied records", "RFC 9460, 7.3",
           f"{A_BOTH}{{0}} A 93.184.215.15\nwww.{{0}} A 93.184.215.15\nwww.{{0}} AAAA {WEB6}\n"
           f'www.{{0}} HTTPS 1 . alpn="h3,h2" ipv4hint={WEB} ipv6hint={WEB6}\n', https_record="pass"),
    _model("route53-alias.com", "Route 53 with an alias record for CloudFront", "RFC 1034, 3.6",
           f"{A_BOTH}{{0}} AAAA {WEB6}\nwww.{{0}} AAAA {WEB6}\n"),
    _model("cloudfront.com", "CloudFront by CNAME", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME d111.cloudfront.net.\n"),
    _model("akamai.com", "Akamai by a chain of CNAMEs", "RFC 1034, 3.6.2",
           f"{APEX}www.{{0}} CNAME www.shop.edgekey.net.\n"),
    _model("fastly.com", "Fastly", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME dualstack.j.sni.global.fastly.net.\n"),
    _model("github-pages.com", "GitHub Pages", "RFC 1034, 3.6.2",
           f"{APEX}www.{{0}} CNAME somebody.github.io.\n", **NONE6),
    _model("netlify.com", "Netlify", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME shop.netlify.app.\n"),
    _model("vercel.com", "Vercel", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME cname.vercel-dns.com.\n", **NONE6),
    _model("shopify.com", "Shopify", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME shops.myshopify.com.\n"),
    _model("wix.com", "Wix", "RFC 1034, 3.6", A_BOTH, **NONE6),
    _model("squarespace-shop.com", "Squarespace", "RFC 1034, 3.6.2",
           f"{APEX}www.{{0}} CNAME ext-sq.squarespace.com.\n", **NONE6),
    _model("heroku.com", "Heroku", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME whispering.herokudns.com.\n", **NONE6),
    _model("front-door.com", "Azure Front Door", "RFC 1034, 3.6.2", f"{APEX}www.{{0}} CNAME shop.z01.azurefd.net.\n"),
    _model("app-service.com", "Azure App Service", "RFC 1034, 3.6.2",
           f"{APEX}www.{{0}} CNAME shop.azurewebsites.net.\n", **NONE6),
    _model("firebase.com", "Firebase Hosting", "RFC 1034, 3.6", A_BOTH, **NONE6),
    _model("wildcard-shared.com", "Shared hosting with a wildcard", "RFC 4592", f"{A_BOTH}*.{{0}} A {WEB}\n", **NONE6),
    _model("parked-mail.com", "Domain with mail and verification records", "RFC 1035",
           f'{A_BOTH}{{0}} MX 10 mail.{{0}}\nmail.{{0}} A {WEB}\n{{0}} TXT "v=spf1 mx -all"\n', **NONE6),
)  # fmt: skip
ADDRESS, BOTH = f"A {WEB}\n", f"A {WEB}\n{{0}} AAAA {WEB6}\n"
# Names of CDNs and hosting services, with what they resolve to.
SERVICES = {
    "d111.cloudfront.net.": BOTH,
    "www.shop.edgekey.net.": "CNAME e1.a.akamaiedge.net.\n",
    "e1.a.akamaiedge.net.": BOTH,
    "dualstack.j.sni.global.fastly.net.": BOTH,
    "shop.netlify.app.": BOTH,
    "cname.vercel-dns.com.": ADDRESS,
    "shops.myshopify.com.": BOTH,
    "ext-sq.squarespace.com.": ADDRESS,
    "whispering.herokudns.com.": ADDRESS,
    "shop.z01.azurefd.net.": BOTH,
    "shop.azurewebsites.net.": ADDRESS,
}


def all_zones(now: datetime, values: Mapping[str, str]) -> Dns:
    """Return the zoo's zones. `values` replace names in braces, such as digests of the certificate."""
    suffixes = {
        "com.": Signing(chain=Nsec3Chain(opts_out=True)),
        "net.": Signing(chain=Nsec3Chain()),
        "org.": Signing(),
        "info.": None,
        "io.": Signing(),
        "app.": Signing(),
    }
    others = {
        "provider.net.": f"cdn.provider.net. A {WEB}\n",
        "provider.org.": "",
        "onenet.net.": "",
        "azurewebsites.net.": "",
        "elasticbeanstalk.com.": "",
        "github.io.": f"somebody.github.io. A {WEB}\n",
    }
    for server, (ipv4, ipv6) in PROVIDERS.items():
        zone = f"{server.partition('.')[2]}."
        others[zone] += f"{server}. A {ipv4}\n" + (f"{server}. AAAA {ipv6}\n" if ipv6 else "")
    for name, record in SERVICES.items():
        zone = f"{'.'.join(name.rstrip('.').split('.')[-2:])}."
        text = f"{name} {record.replace('{0}', name)}"
        others[zone] = others.get(zone, "") + text
    servers = [f"{server}." for server in GOOD]
    zones = [make_zone(name, zone_file(name, records, servers), Signing(), now) for name, records in others.items()]
    for domain in (*DOMAINS, *MODELS):
        name = f"{domain.name}."
        text = domain.records.replace("{0}", name)
        for key, value in values.items():
            text = text.replace(f"{{{key}}}", value)
        own_servers = [f"{server}." for server in domain.servers]
        zones.append(make_zone(name, zone_file(name, text, own_servers), domain.signing, now))
    for suffix, signing in suffixes.items():
        delegated = [zone.origin.to_text() for zone in zones if zone.origin.to_text().endswith(f".{suffix}")]
        records = "".join(f"{name} NS {servers[0]}\n" for name in delegated)
        zones.append(make_zone(suffix, zone_file(suffix, records, servers), signing, now))
    delegations = "".join(f"{suffix} NS {servers[0]}\n" for suffix in suffixes)
    root = Signing(Algorithm.RSASHA256)
    return Dns([*zones, make_zone(".", zone_file(".", delegations, servers), root, now)])
