"""Test that a request in any URL spelling reaches the checked target.

The resolver and the dialer record the names and addresses that they get, and the connection what is sent. `requests`
and urllib3 are in between; they must not find another host, port or path in anything.
"""

from __future__ import annotations

import contextlib
import socket
from ipaddress import ip_address, ip_network

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.website_scan.net.seams import PUBLIC, Elsewhere
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.errors import Blocked, TlsFailed
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, Target, parse_target

OPEN = Policy()
EXEMPTING = Policy(allowed_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128")))
NO_CONTENT = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

SCHEMES = (
    "http://",
    "https://",
    "HTTP://",
    "hTtPs://",
    "http:\\\\",
    "http:/",
    "http:",
    "//",
    "\\\\",
    "/\\",
    "ftp://",
    "",
)
USERS = (
    "",
    "@",
    "user@",
    "user:secret@",
    ":@",
    "example.com%40",
    "example.com\\@",
    "example.com#@",
    "example.com?@",
    "a;@",
)
HOSTS = (
    "example.com", "EXAMPLE.Com", "www.example.com.", "b\u00fccher.de", "xn--bcher-kva.de", "fa\u00df.de",
    "my_site.example.com", "localhost", "127.0.0.1", "127.1", "0x7f.1", "017700000001", "2130706433", "93.184.215.14",
    "0x5db8d70e", "\uff19\uff13.184.215.14", "93\u3002184\uff0e215\uff6114", "%39%33.184.215.14", "example%2ecom",
    "example%2Fcom", "ex\u00adample.com", "ex\u200bample.com", "ex\u202eample.com", "a\u200d.com", "\u05d0a.com",
    "\u2100.com", "\u2488com", "\uff45\uff58ample.com", "example.com%00.org", "example.com\\.org", "[::1]",
    "[::ffff:127.0.0.1]", "[2606:4700::1111]", "[2606:4700:0:0:0:0:0:1111]", "[::ffff:5db8:d70e]", "[fe80::1%25eth0]",
    "1.2.3.4.5", "a" * 63 + ".com", "a" * 64 + ".com", "", ".", "example..com", "127.0.0.1..", "*.example.com",
    "exa mple.com", "example.com\u2215evil.org", "example.com:80@evil.org",
)  # fmt: skip
PORTS = (
    "",
    ":",
    ":80",
    ":443",
    ":8080",
    ":08080",
    ":0",
    ":65536",
    ":-1",
    ":80:443",
    ":\uff18\uff10",
    ":8 0",
    ":80a",
    ":22",
)
TAILS = (
    "", "/", "\\", "?", "#", "/path", "//evil.org/", "/\\evil.org/", "/..//evil.org/../x", "?@evil.org/", "#@evil.org/",
    "/@evil.org:22/", "/%2e%2e/%2f", "/%zz|^`{}'\"<> ", "/\u00fc\u2603?\u00fc#\u00fc", "/a;b=c?d=e&f", "?x=http://evil.org/",
    "/\U0001f600", "/%0d%0aHost:%20evil.org", "/a b", "/:443@evil.org", "/*", "/a//b/./c",
)  # fmt: skip
FILLERS = st.text(alphabet="a1.-_%@:/\\?#[]&=;\u3002\uff0e\uff0f\uff1a\uff20\u00ad\u200b ", max_size=4)

HOSTILE = st.tuples(
    st.sampled_from(SCHEMES + SCHEMES[:4] * 3),  # Most generated URLs have an allowed scheme.
    st.sampled_from(USERS),
    st.lists(st.one_of(st.sampled_from(HOSTS), FILLERS), min_size=1, max_size=2).map("".join),
    st.sampled_from(PORTS),
    st.sampled_from(TAILS),
    FILLERS,
).map("".join)


class Record:
    """Resolver and dialer that record their calls.

    Every name has one address, and every connection gets a prepared response.
    """

    def __init__(self, address: str, answer: bytes) -> None:
        self.asked: list[str] = []
        self.dialed: list[tuple[str, int]] = []
        self._address = address
        self._answer = answer
        self._ends = contextlib.ExitStack()

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        self.asked.append(host)
        try:
            return (str(ip_address(host)),)
        except ValueError:
            return (self._address,)

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialed.append((address, port))
        ours, theirs = socket.socketpair()
        self._peer = self._ends.enter_context(theirs)
        theirs.sendall(self._answer)
        theirs.shutdown(socket.SHUT_WR)
        connection = Nowhere(fileno=ours.detach())
        connection.claimed = (address, port)
        return connection

    def sent(self) -> bytes:
        """Return the bytes that the last connection sent."""
        with self._ends:
            return b"".join(iter(lambda: self._peer.recv(65536), b""))


class Nowhere(Elsewhere):
    """Socket that reports a fixed local address."""

    def getsockname(self) -> tuple[str, int]:
        return ("192.0.2.1", 1)


def assert_request_reaches_target(target: Target, address: str) -> None:
    record = Record(address, b"" if target.is_https else NO_CONTENT)
    with Network(target.policy, resolver=record, dialer=record.dial) as network:
        try:
            network.fetch(target)
        except TlsFailed:
            assert target.is_https  # The TLS handshake fails after the ClientHello was sent.
    assert record.asked == [target.host]
    try:
        expected = str(ip_address(target.host))
    except ValueError:
        expected = address
    assert record.dialed == [(expected, target.port)]
    sent = record.sent()
    if not target.is_https:
        authority = target.url.split("/")[2]
        assert sent.decode("ascii") == (
            f"GET {target.path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {target.policy.user_agent}\r\n"
            "Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
        )
    elif expected != target.host:
        # RFC 6066, section 3: the server_name extension contains the length of the host name and the host name.
        assert len(target.host).to_bytes(2) + target.host.encode() in sent


def parse_or_none(value: str, policy: Policy) -> Target | None:
    try:
        return parse_target(value, policy)
    except (InvalidUrl, Blocked):
        return None


@settings(max_examples=300, deadline=None)  # Every example opens a connection, which is slow on a shared machine.
@given(HOSTILE)
@example("http://example.com\\@127.0.0.1/")
@example("http://127.0.0.1..:8080\\x")
@example("https://ex\u00adample.com:/?#@evil.org")
@example("http://[::ffff:5db8:d70e]//x?//y")
def test_every_parser_finds_the_checked_host(value: str) -> None:
    for policy, address in ((OPEN, PUBLIC), (EXEMPTING, "127.0.0.1")):
        target = parse_or_none(value, policy)
        if target is not None:
            assert_request_reaches_target(target, address)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["http://example.com/a/b?c", "https://93.184.215.14:8443/"]), HOSTILE)
@example("http://example.com/", "/\\evil.org")
@example("http://example.com/", "\\\\evil.org:8080\\x")
@example("http://example.com/", "http:evil.org")
def test_every_parser_finds_the_host_of_a_reference(base: str, reference: str) -> None:
    page = parse_target(base, OPEN)
    try:
        target = page.join(reference)
    except (InvalidUrl, Blocked):
        return
    assert_request_reaches_target(target, PUBLIC)


def test_many_generated_urls_are_accepted() -> None:
    # Control test: the tests above compare only accepted URLs.
    targets = [
        parse_or_none(f"{scheme}{user}{host}{port}{tail}", OPEN)
        for scheme in SCHEMES for user in USERS[:3] for host in HOSTS for port in PORTS[:4] for tail in TAILS[:3]
    ]  # fmt: skip
    accepted = [accepted_target for accepted_target in targets if accepted_target is not None]
    assert len(accepted) > len(targets) / 10
    assert len({accepted_target.host for accepted_target in accepted}) >= 10
