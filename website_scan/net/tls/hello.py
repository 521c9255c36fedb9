"""Encoder of a ClientHello, and parser of the server's response.

The handshake is never completed, so a ClientHello can offer versions and suites that no TLS library supports. Formats:
RFC 8446, sections 4.1 and 5.1; RFC 5246, sections 6.2 and 7.4; RFC 6101 for SSL 3.0.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Sequence

from msgspec import Struct

from website_scan.net.errors import TlsFailed
from website_scan.net.tls.ciphers import TlsVersion

MAX_FLIGHT_BYTES = 16 * 1024  # A ServerHello has a few hundred bytes.
MAX_RECORD_BYTES = 2**14 + 2048
ALERT_WARNING_LEVEL = 1

ALERT, HANDSHAKE = 21, 22
CLIENT_HELLO, SERVER_HELLO = 1, 2
SUPPORTED_VERSIONS_EXTENSION = 43
HELLO_RETRY_RANDOM = hashlib.sha256(
    b"HelloRetryRequest"
).digest()  # Random value of a HelloRetryRequest (RFC 8446, section 4.1.3).

# Offered groups: x25519, secp256r1, secp384r1, secp521r1, x448, ffdhe2048, ffdhe3072, ffdhe4096.
GROUPS = (0x001D, 0x0017, 0x0018, 0x0019, 0x001E, 0x0100, 0x0101, 0x0102)
# Offered signature algorithms: ECDSA, RSA-PSS, Ed25519 and PKCS #1 with SHA-256 or longer hashes. SHA-1 and DSA are for
# old servers.
SIGNATURES = (
    0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0807, 0x0808,
    0x0809, 0x080A, 0x080B, 0x0401, 0x0501, 0x0601, 0x0203, 0x0201, 0x0202,
)  # fmt: skip
EMPTY_RENEGOTIATION_INFO_SCSV = 0x00FF  # Signaling cipher suite value of RFC 5746, section 3.3.

ALERT_NAMES = {
    0: "close_notify",
    10: "unexpected_message",
    20: "bad_record_mac",
    22: "record_overflow",
    40: "handshake_failure",
    42: "bad_certificate",
    47: "illegal_parameter",
    49: "access_denied",
    50: "decode_error",
    51: "decrypt_error",
    70: "protocol_version",
    71: "insufficient_security",
    80: "internal_error",
    86: "inappropriate_fallback",
    90: "user_canceled",
    109: "missing_extension",
    110: "unsupported_extension",
    112: "unrecognized_name",
    116: "certificate_required",
    120: "no_application_protocol",
}


class NotTls(TlsFailed):
    """Raised when a response is not a valid TLS record."""


class ServerHello(Struct, frozen=True):
    """ServerHello, which accepts an offer.

    `version` and `cipher` are numbers, possibly unknown ones.
    """

    version: int
    cipher: int
    retry: bool = False  # True for a HelloRetryRequest, which accepts the offer with another key share.


class Alert(Struct, frozen=True):
    """TLS alert that refuses an offer."""

    description: int

    @property
    def name(self) -> str:
        """Return the alert's name in the IANA registry "TLS Alerts"."""
        return ALERT_NAMES.get(self.description, f"alert {self.description}")


def client_hello(version: TlsVersion, ciphers: Sequence[int], server_name: str | None) -> bytes:
    """Return a TLS record with a ClientHello.

    It offers `version` and older versions, or only TLS 1.3.

    `server_name` is an A-label host name, or None for an address (RFC 6066, section 3).
    """
    legacy = min(version, TlsVersion.TLS1_2)
    body = struct.pack("!H", legacy) + secrets.token_bytes(32)
    body += _encode_vector(1, secrets.token_bytes(32) if version is TlsVersion.TLS1_3 else b"")
    suites = list(ciphers)
    if version is TlsVersion.SSL3_0:
        suites.append(EMPTY_RENEGOTIATION_INFO_SCSV)
    body += _encode_vector(2, _encode_numbers(suites)) + _encode_vector(1, b"\0")
    if version is not TlsVersion.SSL3_0:
        body += _encode_vector(2, _encode_extensions(version, server_name, len(body)))
    message = bytes([CLIENT_HELLO]) + len(body).to_bytes(3, "big") + body
    record_version = min(version, TlsVersion.TLS1_0)
    return struct.pack("!BH", HANDSHAKE, record_version) + _encode_vector(2, message)


def _encode_extensions(version: TlsVersion, server_name: str | None, length_before: int) -> bytes:
    extensions: list[tuple[int, bytes]] = []
    if server_name is not None:
        name = b"\0" + _encode_vector(2, server_name.encode("ascii"))
        extensions.append((0, _encode_vector(2, name)))
    extensions += [
        (0xFF01, b"\0"),  # Extension renegotiation_info (RFC 5746).
        (23, b""),  # Extension extended_master_secret (RFC 7627).
        (10, _encode_vector(2, _encode_numbers(GROUPS))),
        (11, _encode_vector(1, b"\0")),  # Extension ec_point_formats: only uncompressed points.
        (16, _encode_vector(2, _encode_vector(1, b"h2") + _encode_vector(1, b"http/1.1"))),
    ]
    if version >= TlsVersion.TLS1_2:
        extensions.append((13, _encode_vector(2, _encode_numbers(SIGNATURES))))
    if version is TlsVersion.TLS1_3:
        # Any 32 bytes are a valid public key, and the handshake ends before the private key is needed.
        share = struct.pack("!H", GROUPS[0]) + _encode_vector(2, secrets.token_bytes(32))
        extensions += [
            (SUPPORTED_VERSIONS_EXTENSION, _encode_vector(1, _encode_numbers([TlsVersion.TLS1_3]))),
            (45, _encode_vector(1, b"\x01")),  # Extension psk_key_exchange_modes: psk_dhe_ke.
            (51, _encode_vector(2, share)),
        ]
    encoded = b"".join(struct.pack("!H", number) + _encode_vector(2, data) for number, data in extensions)
    # Padding is added, because some servers hang on a ClientHello of 256 to 511 bytes (RFC 7685).
    hello = length_before + 6 + len(encoded)
    if 256 <= hello < 512:
        encoded += struct.pack("!H", 21) + _encode_vector(2, bytes(max(512 - hello - 4, 1)))
    return encoded


def _encode_vector(length_bytes: int, content: bytes) -> bytes:
    return len(content).to_bytes(length_bytes, "big") + content


def _encode_numbers(values: Sequence[int]) -> bytes:
    return b"".join(struct.pack("!H", value) for value in values)


def read_answer(flight: bytes) -> ServerHello | Alert | None:
    """Parse the server's response from the received bytes.

    None if more bytes are needed.

    Raises `NotTls` for invalid TLS. Skips warning alerts before the ServerHello, as clients do.
    """
    handshake = b""
    position = 0
    while position < len(flight):
        kind, major = flight[position], flight[position + 1 : position + 2]
        if kind not in (ALERT, HANDSHAKE) or major not in (b"", b"\x03"):
            raise NotTls("The port answers, but not with TLS.")
        if position + 5 > len(flight):
            break
        length = int.from_bytes(flight[position + 3 : position + 5], "big")
        if not 0 < length <= MAX_RECORD_BYTES:
            raise NotTls(f"The server sent a TLS record of {length} bytes.")
        content = flight[position + 5 : position + 5 + length]
        if kind == ALERT:
            if len(content) < length:
                break
            if length != 2:
                raise NotTls("The server sent an alert that is not two bytes long.")
            if content[0] != ALERT_WARNING_LEVEL:
                return Alert(content[1])
        else:
            handshake += content
            answer = _read_handshake(handshake)
            if answer is not None:
                return answer
        position += 5 + length
    if len(flight) >= MAX_FLIGHT_BYTES:
        raise NotTls("The server's first answer is too long.")
    return None


def _read_handshake(handshake: bytes) -> ServerHello | None:
    if handshake[:1] not in (b"", bytes([SERVER_HELLO])):
        raise NotTls("The server answered with another message than a ServerHello.")
    length = int.from_bytes(handshake[1:4], "big")
    if len(handshake) >= 4 and length > MAX_FLIGHT_BYTES:
        raise NotTls(f"The server sent a ServerHello of {length} bytes.")
    if len(handshake) < 4 or len(handshake) < 4 + length:
        return None
    try:
        return _parse_server_hello(handshake[4 : 4 + length])
    except (struct.error, IndexError) as error:
        raise NotTls("The server sent a ServerHello that breaks the format.") from error


def _parse_server_hello(body: bytes) -> ServerHello:
    (version,) = struct.unpack_from("!H", body)
    random = body[2:34]
    position = 35 + body[34]
    cipher, _compression = struct.unpack_from("!HB", body, position)
    position += 3
    if position < len(body):
        (total,) = struct.unpack_from("!H", body, position)
        end = position + 2 + total
        if end > len(body):
            raise struct.error("extensions longer than the message")
        position += 2
        while position < end:
            number, length = struct.unpack_from("!HH", body, position)
            if number == SUPPORTED_VERSIONS_EXTENSION and length == 2:
                (version,) = struct.unpack_from("!H", body, position + 4)
            position += 4 + length
    return ServerHello(version, cipher, random == HELLO_RETRY_RANDOM)
