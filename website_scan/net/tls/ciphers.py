"""Cipher suites and their weaknesses.

The code points are those of IANA's "TLS Cipher Suites".
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class TlsVersion(IntEnum):
    """TLS version by its protocol number.

    RFC 8446, section 4.2.1; SSL 3.0: RFC 6101.
    """

    SSL3_0 = 0x0300
    TLS1_0 = 0x0301
    TLS1_1 = 0x0302
    TLS1_2 = 0x0303
    TLS1_3 = 0x0304

    @property
    def label(self) -> str:
        """Return the display name of the version, such as "TLS 1.2"."""
        return self.name.replace("_", ".").replace("TLS", "TLS ").replace("SSL", "SSL ")


class Weakness(StrEnum):
    """Reason why a cipher suite is weak.

    The value is the name in the report.
    """

    NULL = "NULL (no encryption)"
    ANONYMOUS = "anonymous (no authentication)"
    EXPORT = "EXPORT (40 or 56 bits)"
    RC4 = "RC4"
    DES = "single DES"
    TRIPLE_DES = "3DES"


TLS13 = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
    0x1304: "TLS_AES_128_CCM_SHA256",
    0x1305: "TLS_AES_128_CCM_8_SHA256",
}

# Strong cipher suites with forward secrecy, in the order in which browsers offer them.
FORWARD_SECRET_SUITES = {
    0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    0xCCA9: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    0xCCA8: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    0xC009: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    0xC013: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    0xC00A: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    0xC014: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    0xC023: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    0xC027: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    0xC024: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384",
    0xC028: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
    0x009E: "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
    0x009F: "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
    0xCCAA: "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    0x0067: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
    0x006B: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256",
    0x0033: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA",
    0x0039: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA",
    0x0032: "TLS_DHE_DSS_WITH_AES_128_CBC_SHA",
    0x0038: "TLS_DHE_DSS_WITH_AES_256_CBC_SHA",
    0x0045: "TLS_DHE_RSA_WITH_CAMELLIA_128_CBC_SHA",
    0x0088: "TLS_DHE_RSA_WITH_CAMELLIA_256_CBC_SHA",
    0xC0AC: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
    0xC0AD: "TLS_ECDHE_ECDSA_WITH_AES_256_CCM",
}

STATIC = {
    0x009C: "TLS_RSA_WITH_AES_128_GCM_SHA256",
    0x009D: "TLS_RSA_WITH_AES_256_GCM_SHA384",
    0x002F: "TLS_RSA_WITH_AES_128_CBC_SHA",
    0x0035: "TLS_RSA_WITH_AES_256_CBC_SHA",
    0x003C: "TLS_RSA_WITH_AES_128_CBC_SHA256",
    0x003D: "TLS_RSA_WITH_AES_256_CBC_SHA256",
    0x0041: "TLS_RSA_WITH_CAMELLIA_128_CBC_SHA",
    0x0084: "TLS_RSA_WITH_CAMELLIA_256_CBC_SHA",
    0xC09C: "TLS_RSA_WITH_AES_128_CCM",
    0xC09D: "TLS_RSA_WITH_AES_256_CCM",
    0x0096: "TLS_RSA_WITH_SEED_CBC_SHA",
    0x0007: "TLS_RSA_WITH_IDEA_CBC_SHA",
    0xC004: "TLS_ECDH_ECDSA_WITH_AES_128_CBC_SHA",
    0xC005: "TLS_ECDH_ECDSA_WITH_AES_256_CBC_SHA",
    0xC00E: "TLS_ECDH_RSA_WITH_AES_128_CBC_SHA",
    0xC00F: "TLS_ECDH_RSA_WITH_AES_256_CBC_SHA",
}

WEAK = {
    0x000A: "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    0xC012: "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    0xC008: "TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA",
    0x0016: "TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA",
    0x0013: "TLS_DHE_DSS_WITH_3DES_EDE_CBC_SHA",
    0xC003: "TLS_ECDH_ECDSA_WITH_3DES_EDE_CBC_SHA",
    0xC00D: "TLS_ECDH_RSA_WITH_3DES_EDE_CBC_SHA",
    0x0005: "TLS_RSA_WITH_RC4_128_SHA",
    0x0004: "TLS_RSA_WITH_RC4_128_MD5",
    0xC011: "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    0xC007: "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    0xC002: "TLS_ECDH_ECDSA_WITH_RC4_128_SHA",
    0xC00C: "TLS_ECDH_RSA_WITH_RC4_128_SHA",
    0x0003: "TLS_RSA_EXPORT_WITH_RC4_40_MD5",
    0x0006: "TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5",
    0x0008: "TLS_RSA_EXPORT_WITH_DES40_CBC_SHA",
    0x0011: "TLS_DHE_DSS_EXPORT_WITH_DES40_CBC_SHA",
    0x0014: "TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA",
    0x0062: "TLS_RSA_EXPORT1024_WITH_DES_CBC_SHA",
    0x0064: "TLS_RSA_EXPORT1024_WITH_RC4_56_SHA",
    0x0009: "TLS_RSA_WITH_DES_CBC_SHA",
    0x0015: "TLS_DHE_RSA_WITH_DES_CBC_SHA",
    0x0012: "TLS_DHE_DSS_WITH_DES_CBC_SHA",
    0x0001: "TLS_RSA_WITH_NULL_MD5",
    0x0002: "TLS_RSA_WITH_NULL_SHA",
    0x003B: "TLS_RSA_WITH_NULL_SHA256",
    0xC010: "TLS_ECDHE_RSA_WITH_NULL_SHA",
    0xC006: "TLS_ECDHE_ECDSA_WITH_NULL_SHA",
    0xC001: "TLS_ECDH_ECDSA_WITH_NULL_SHA",
    0xC00B: "TLS_ECDH_RSA_WITH_NULL_SHA",
    0x0034: "TLS_DH_anon_WITH_AES_128_CBC_SHA",
    0x003A: "TLS_DH_anon_WITH_AES_256_CBC_SHA",
    0x00A6: "TLS_DH_anon_WITH_AES_128_GCM_SHA256",
    0x00A7: "TLS_DH_anon_WITH_AES_256_GCM_SHA384",
    0x006C: "TLS_DH_anon_WITH_AES_128_CBC_SHA256",
    0x006D: "TLS_DH_anon_WITH_AES_256_CBC_SHA256",
    0x0018: "TLS_DH_anon_WITH_RC4_128_MD5",
    0x001A: "TLS_DH_anon_WITH_DES_CBC_SHA",
    0x001B: "TLS_DH_anon_WITH_3DES_EDE_CBC_SHA",
    0x0017: "TLS_DH_anon_EXPORT_WITH_RC4_40_MD5",
    0x0019: "TLS_DH_anon_EXPORT_WITH_DES40_CBC_SHA",
    0xC018: "TLS_ECDH_anon_WITH_AES_128_CBC_SHA",
    0xC019: "TLS_ECDH_anon_WITH_AES_256_CBC_SHA",
    0xC016: "TLS_ECDH_anon_WITH_RC4_128_SHA",
    0xC017: "TLS_ECDH_anon_WITH_3DES_EDE_CBC_SHA",
    0xC015: "TLS_ECDH_anon_WITH_NULL_SHA",
}

NAMES = TLS13 | FORWARD_SECRET_SUITES | STATIC | WEAK

# Cipher suites that are offered with old versions, without EXPORT, NULL and anonymous suites. There are fewer than 64,
# because some old servers read no more.
SUITES_FOR_OLD_VERSIONS = (*FORWARD_SECRET_SUITES, *STATIC, *list(WEAK)[:13])


def weakness(name: str) -> Weakness | None:
    """Return the worst weakness of the cipher suite with this IANA name.

    None if the suite is strong.
    """
    signs = (
        ("_NULL_", Weakness.NULL),
        ("_anon_", Weakness.ANONYMOUS),
        ("_EXPORT", Weakness.EXPORT),
        ("_RC4_", Weakness.RC4),
        ("_DES_", Weakness.DES),
        ("_3DES_", Weakness.TRIPLE_DES),
    )
    return next((reason for sign, reason in signs if sign in name), None)


def is_forward_secret(name: str) -> bool:
    """Return True if a cipher suite has forward secrecy.

    Then a leaked key does not decrypt recorded traffic.

    `name` is IANA's or OpenSSL's. Forward secrecy requires an ephemeral key exchange.
    """
    return name in TLS13.values() or name.startswith(("TLS_ECDHE_", "TLS_DHE_", "ECDHE-", "DHE-"))
