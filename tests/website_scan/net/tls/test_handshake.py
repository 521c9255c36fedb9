from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import certifi
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.net.loopback import loopback_network
from tests.website_scan.net.tls_servers import (
    LOOPBACK,
    Identity,
    alert,
    self_signed,
    serve,
    server_hello,
    tls_server,
)
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut, TlsFailed
from website_scan.net.tls.certificate_reader import read_certificate, read_issuers
from website_scan.net.tls.certificates import BadCertificate
from website_scan.net.tls.ciphers import (
    FORWARD_SECRET_SUITES,
    NAMES,
    STATIC,
    SUITES_FOR_OLD_VERSIONS,
    TLS13,
    WEAK,
    TlsVersion,
    Weakness,
    is_forward_secret,
    weakness,
)
from website_scan.net.tls.handshake import handshake
from website_scan.net.tls.hello import (
    HELLO_RETRY_RANDOM,
    MAX_FLIGHT_BYTES,
    Alert,
    NotTls,
    ServerHello,
    client_hello,
    read_answer,
)
from website_scan.net.tls.offers import offer
from website_scan.net.tls.trust import Distrust

HOST = "localhost"


@pytest.fixture(scope="module")
def root() -> Identity:
    return Identity.root()


@pytest.fixture(scope="module")
def intermediate(root: Identity) -> Identity:
    return root.issue_authority()


@pytest.fixture(scope="module")
def network(root: Identity, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Return a network that trusts the test's root certificate.

    It may connect to loopback.
    """
    bundle = tmp_path_factory.mktemp("trust") / "roots.pem"
    bundle.write_bytes(root.pem)
    with loopback_network(bundle) as network:
        yield network


# Tests of the handshake.


def test_handshake_returns_both_chains(
    network: Network, root: Identity, intermediate: Identity, tmp_path: Path
) -> None:
    with tls_server(tmp_path, intermediate.issue(HOST), intermediate) as port:
        peer = handshake(network, HOST, port)
    assert peer.version is TlsVersion.TLS1_3
    assert peer.trust.distrust is None
    assert [certificate.common_name for certificate in peer.chain] == [HOST, "A Test Intermediate"]
    assert [certificate.common_name for certificate in peer.path] == [HOST, "A Test Intermediate", "A Test Root"]
    assert peer.leaf.dns_names == (HOST,)
    assert peer.leaf.matches(HOST)


def test_weak_signature_is_detected(tmp_path: Path) -> None:
    root = Identity.root(rsa_bits=2048)
    bundle = tmp_path / "root.pem"
    bundle.write_bytes(root.pem)
    leaf = root.issue_with_sha1(HOST)
    with (
        tls_server(tmp_path, leaf, ciphers="DEFAULT:@SECLEVEL=0") as port,
        loopback_network(bundle) as network,
    ):
        peer = handshake(network, HOST, port)
    assert peer.trust.distrust is None
    assert [certificate.weakness_reason for certificate in peer.signed] == ["a signature with SHA-1"]


@pytest.mark.parametrize("is_public", [True, False])
def test_root_in_certifi_is_public(
    network: Network, root: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_public: bool
) -> None:
    bundle = tmp_path / "public.pem"
    bundle.write_bytes((root if is_public else Identity.root()).pem)
    with tls_server(tmp_path, root.issue(HOST)) as port, monkeypatch.context() as patched:
        patched.setattr(certifi, "where", lambda: str(bundle))
        seen = handshake(network, HOST, port)
    assert seen.trust.is_public is is_public


def test_certificate_matches_an_IP_address(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(LOOPBACK)) as port:
        assert handshake(network, LOOPBACK, port).leaf.matches(LOOPBACK)


def test_self_signed_certificate_is_distrusted(network: Network, tmp_path: Path) -> None:
    with tls_server(tmp_path, self_signed(HOST)) as port:
        assert handshake(network, HOST, port).trust.distrust is Distrust.SELF_SIGNED


def test_missing_intermediate_makes_the_chain_incomplete(
    network: Network, intermediate: Identity, tmp_path: Path
) -> None:
    with tls_server(tmp_path, intermediate.issue(HOST)) as port:
        trust = handshake(network, HOST, port).trust
    assert trust.distrust is Distrust.INCOMPLETE_CHAIN
    assert not trust.proven


def _http_ok(body: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)

    return answer


@pytest.mark.parametrize("form", ["der", "pem", "pkcs7"])
def test_fetched_issuer_proves_a_missing_intermediate(
    network: Network, intermediate: Identity, tmp_path: Path, form: str
) -> None:
    body = {
        "der": intermediate.der,
        "pem": intermediate.pem,
        "pkcs7": pkcs7.serialize_certificates([intermediate.certificate], Encoding.DER),
    }[form]
    with serve(_http_ok(body)) as http_port:
        leaf = intermediate.issue(HOST, ca_issuers=f"http://{LOOPBACK}:{http_port}/issuer")
        with tls_server(tmp_path, leaf) as port:
            trust = handshake(network, HOST, port).trust
    assert trust.distrust is Distrust.INCOMPLETE_CHAIN
    assert trust.proven


def test_fetched_issuer_needs_a_trusted_root(network: Network, tmp_path: Path) -> None:
    stranger = Identity.root("A Stranger").issue_authority("A Stranger's Intermediate")
    with serve(_http_ok(stranger.der)) as http_port:
        leaf = stranger.issue(HOST, ca_issuers=f"http://{LOOPBACK}:{http_port}/issuer")
        with tls_server(tmp_path, leaf) as port:
            assert handshake(network, HOST, port).trust.distrust is Distrust.UNKNOWN_ISSUER


@pytest.mark.parametrize("send_root", [True, False])
def test_unknown_root_is_distrusted(network: Network, tmp_path: Path, send_root: bool) -> None:
    stranger = Identity.root("A Stranger")
    intermediate = stranger.issue_authority("A Stranger's Intermediate")
    issuers = (intermediate, stranger) if send_root else (intermediate,)
    with tls_server(tmp_path, intermediate.issue(HOST), *issuers) as port:
        assert handshake(network, HOST, port).trust.distrust is Distrust.UNKNOWN_ISSUER


Chain = Callable[[Identity, Identity], tuple[Identity, ...]]
OTHER_NAME = "The Intermediate Of Last Year"


@pytest.mark.parametrize(
    ("issuers", "stranger"),
    [
        pytest.param(lambda root, new: (root.issue_authority(OTHER_NAME),), OTHER_NAME, id="intermediate of before"),
        pytest.param(lambda root, new: (root.issue_authority(OTHER_NAME), root), OTHER_NAME, id="and its root"),
        pytest.param(lambda root, new: (root.issue_authority(new.certificate.subject.rfc4514_string()[3:]),), None,
                     id="intermediate of the same name with another key"),
        pytest.param(lambda root, new: (root,), "A Test Root", id="root only"),
        pytest.param(lambda root, new: (Identity.root("A Stranger"),), "A Stranger", id="unrelated root"),
        pytest.param(lambda root, new: (root.issue("other.example"),), "other.example", id="unrelated leaf"),
    ],
)  # fmt: skip
def test_wrong_intermediate_makes_the_chain_incomplete(
    network: Network, root: Identity, tmp_path: Path, issuers: Chain, stranger: str | None
) -> None:
    """RFC 8446, section 4.4.2: each certificate certifies the one before it, and clients ignore others."""
    new = root.issue_authority("The Intermediate Of This Year")
    with tls_server(tmp_path, new.issue(HOST), *issuers(root, new)) as port:
        peer = handshake(network, HOST, port)
    assert peer.trust.distrust is Distrust.INCOMPLETE_CHAIN
    assert peer.last_linked == peer.leaf
    assert peer.last_linked.issuer == "CN=The Intermediate Of This Year"
    assert peer.strangers[0].subject == f"CN={stranger or 'The Intermediate Of This Year'}"


def test_chain_is_incomplete_after_its_last_link(network: Network, root: Identity, tmp_path: Path) -> None:
    upper = root.issue_authority("The Upper Intermediate")
    lower = upper.issue_authority("The Lower Intermediate")
    with tls_server(tmp_path, lower.issue(HOST), lower, root) as port:
        peer = handshake(network, HOST, port)
    assert peer.trust.distrust is Distrust.INCOMPLETE_CHAIN
    assert peer.last_linked.issuer == "CN=The Upper Intermediate"


def test_fetched_issuer_proves_a_wrong_intermediate(network: Network, root: Identity, tmp_path: Path) -> None:
    new = root.issue_authority("The Intermediate Of This Year")
    with serve(_http_ok(new.der)) as http_port:
        leaf = new.issue(HOST, ca_issuers=f"http://{LOOPBACK}:{http_port}/issuer")
        with tls_server(tmp_path, leaf, root.issue_authority(OTHER_NAME), root) as port:
            trust = handshake(network, HOST, port).trust
    assert (trust.distrust, trust.proven) == (Distrust.INCOMPLETE_CHAIN, True)


@pytest.mark.parametrize(
    "issuers",
    [
        pytest.param(lambda root, new: (new, root), id="with the root"),
        pytest.param(lambda root, new: (root, new), id="in the wrong order"),
        pytest.param(lambda root, new: (new, new), id="twice"),
        pytest.param(lambda root, new: (root.issue_authority(OTHER_NAME), new), id="beside another intermediate"),
    ],
)
def test_chain_with_its_intermediate_is_trusted(
    network: Network, root: Identity, tmp_path: Path, issuers: Chain
) -> None:
    new = root.issue_authority("The Intermediate Of This Year")
    with tls_server(tmp_path, new.issue(HOST), *issuers(root, new)) as port:
        assert handshake(network, HOST, port).trust.distrust is None


def test_required_client_certificate_is_distrusted(network: Network, root: Identity, tmp_path: Path) -> None:
    with tls_server(tmp_path, root.issue(HOST, client_only=True)) as port:
        trust = handshake(network, HOST, port).trust
    assert trust.distrust is Distrust.OTHER
    assert "web server" in trust.text


def test_plain_HTTP_response_raises_NotTls(network: Network) -> None:
    with (
        serve(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port,
        pytest.raises(NotTls),
    ):
        handshake(network, HOST, port)


def test_closed_connection_raises_TlsFailed(network: Network) -> None:
    with serve(lambda connection: None) as port, pytest.raises(TlsFailed):
        handshake(network, HOST, port)


def test_TLS_alert_raises_TlsFailed(network: Network) -> None:
    with serve(lambda connection: connection.sendall(alert(112))) as port, pytest.raises(TlsFailed):
        handshake(network, HOST, port)


def _read_until_closed(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def test_stalled_handshake_raises_TimedOut(network: Network) -> None:
    with serve(_read_until_closed) as port:
        start = time.monotonic()
        with pytest.raises(TimedOut):
            handshake(network, HOST, port, timeout_s=0.3)
        with pytest.raises(TimedOut):
            offer(network, HOST, port, TlsVersion.TLS1_3, tuple(TLS13), timeout_s=0.3)
    assert time.monotonic() - start < 3


def test_dripping_handshake_raises_TimedOut(network: Network) -> None:
    def drip(connection: socket.socket) -> None:
        connection.settimeout(0.05)
        for byte in server_hello(TlsVersion.TLS1_2, 0xC02F):
            connection.sendall(bytes([byte]))
            try:
                while connection.recv(65536):
                    pass
            except TimeoutError:
                continue
            return

    with serve(drip) as port, pytest.raises(TimedOut):
        offer(network, HOST, port, TlsVersion.TLS1_2, SUITES_FOR_OLD_VERSIONS, timeout_s=0.3)


def test_closed_port_raises_NotReachable(network: Network) -> None:
    with socket.create_server((LOOPBACK, 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotReachable):
        handshake(network, LOOPBACK, port)


# Tests of cipher suite offers.


def test_offer_without_an_answer_returns_None(network: Network) -> None:
    def close_after_greeting(connection: socket.socket) -> None:
        connection.recv(65536)

    with serve(close_after_greeting) as port:
        assert offer(network, HOST, port, TlsVersion.TLS1_0, SUITES_FOR_OLD_VERSIONS) is None


# Tests of the parser of server hellos.


def test_server_hello_is_parsed_from_pieces() -> None:
    flight = alert(112, level=1) + server_hello(TlsVersion.TLS1_3, 0x1301)
    for end in range(len(flight)):
        assert read_answer(flight[:end]) is None
    assert read_answer(flight) == ServerHello(TlsVersion.TLS1_3, 0x1301)


def test_server_hello_may_be_split_over_records() -> None:
    whole = server_hello(TlsVersion.TLS1_2, 0xC02F)[5:]
    halves = (whole[:7], whole[7:])
    flight = b"".join(b"\x16\x03\x03" + len(half).to_bytes(2, "big") + half for half in halves)
    assert read_answer(flight) == ServerHello(TlsVersion.TLS1_2, 0xC02F)


def test_HelloRetryRequest_accepts_the_offer() -> None:
    answer = read_answer(server_hello(TlsVersion.TLS1_3, 0x1302, random=HELLO_RETRY_RANDOM))
    assert answer == ServerHello(TlsVersion.TLS1_3, 0x1302, retry=True)


def test_TLS_alert_has_its_registered_name() -> None:
    answer = read_answer(alert(70))
    assert isinstance(answer, Alert)
    assert answer.name == "protocol_version"


@pytest.mark.parametrize(
    "flight",
    [
        b"HTTP/1.1 400 Bad Request\r\n",
        b"SSH-2.0-OpenSSH",
        b"\x16\x02\x00\x00\x05hello",
        b"\x16\x03\x03\x00\x00",
        b"\x16\x03\x03\xff\xff",
        b"\x15\x03\x03\x00\x03\x02\x28\x00",
        b"\x16\x03\x03\x00\x04\x0b\x00\x00\x00",  # The server sends a Certificate message before the ServerHello.
        b"\x16\x03\x03\x00\x06\x02\x00\x00\x02\x03\x03",  # The ServerHello declares a length of two bytes.
        b"\x16\x03\x03\x00\x04\x02\xff\xff\xff",  # The ServerHello declares a length of 16 MiB.
        alert(0, level=1) * (MAX_FLIGHT_BYTES // 7 + 1),
        server_hello(TlsVersion.TLS1_2, 0xC02F, extensions=b"\0\x2b\0")[:-3] + b"\0\x2b\0",
    ],
)
def test_flight_that_is_not_TLS_raises_NotTls(flight: bytes) -> None:
    with pytest.raises(NotTls):
        read_answer(flight)


@given(st.binary(max_size=300))
def test_arbitrary_server_flight_is_parsed_or_refused(flight: bytes) -> None:
    try:
        read_answer(flight)
    except NotTls:
        pass


@given(st.binary(max_size=120), st.integers(0, 2**24 - 1))
def test_arbitrary_server_hello_is_parsed_or_refused(body: bytes, length: int) -> None:
    for stated in (len(body), length):
        message = b"\x02" + stated.to_bytes(3, "big") + body
        try:
            read_answer(b"\x16\x03\x01" + len(message).to_bytes(2, "big") + message)
        except NotTls:
            pass


@given(
    st.sampled_from(TlsVersion),
    st.lists(st.integers(0, 0xFFFF), max_size=60),
    st.none() | st.from_regex(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){0,2}", fullmatch=True),
)
def test_client_hello_contains_its_host_name(version: TlsVersion, ciphers: list[int], name: str | None) -> None:
    hello = client_hello(version, ciphers, name)
    assert int.from_bytes(hello[3:5], "big") == len(hello) - 5
    assert int.from_bytes(hello[6:9], "big") == len(hello) - 9
    # RFC 7685: some servers do not respond to a ClientHello of 256 to 511 bytes.
    assert not 256 <= len(hello) - 5 < 512 or version is TlsVersion.SSL3_0
    if name is not None and version is not TlsVersion.SSL3_0:
        assert name.encode() in hello


# Tests of cipher suites and certificates.


def test_cipher_suite_groups_match_their_suites() -> None:
    groups = (TLS13, FORWARD_SECRET_SUITES, STATIC, WEAK)
    assert sum(len(group) for group in groups) == len(NAMES)
    assert len(set(NAMES.values())) == len(NAMES)
    assert all(weakness(name) is None for group in (TLS13, FORWARD_SECRET_SUITES, STATIC) for name in group.values())
    assert {weakness(name) for name in WEAK.values()} == set(Weakness)
    assert all(is_forward_secret(name) for group in (TLS13, FORWARD_SECRET_SUITES) for name in group.values())
    assert not any(is_forward_secret(name) for name in STATIC.values())
    assert len(SUITES_FOR_OLD_VERSIONS) < 64
    assert {weakness(NAMES[code]) for code in SUITES_FOR_OLD_VERSIONS} == {None, Weakness.RC4, Weakness.TRIPLE_DES}


def test_cipher_suite_numbers_equal_OpenSSL() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers("ALL:COMPLEMENTOFALL:@SECLEVEL=0")
    local = {cipher["id"] & 0xFFFF: cipher["name"] for cipher in context.get_ciphers()}
    both = local.keys() & NAMES.keys()
    assert len(both) > 40
    telling = {"ECDHE", "DHE", "ECDSA", "DSS", "GCM", "CHACHA20", "CCM", "NULL", "SEED"}
    for code in both:
        theirs = set(local[code].replace("_", "-").split("-"))
        assert theirs & telling == set(NAMES[code].split("_")) & telling, local[code]


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_BadCertificate(der: bytes) -> None:
    with pytest.raises(BadCertificate):
        read_certificate(der)
    assert read_issuers(der) == []


@pytest.mark.parametrize("version", [1, 5, 100])
def test_unknown_version_raises_BadCertificate(version: int) -> None:
    der = self_signed("site.example.com").certificate.public_bytes(Encoding.DER)
    third = b"\xa0\x03\x02\x01\x02"
    assert third in der
    changed = der.replace(third, third[:-1] + bytes([version]), 1)
    with pytest.raises(BadCertificate):
        read_certificate(changed)
    assert read_issuers(changed) == []
