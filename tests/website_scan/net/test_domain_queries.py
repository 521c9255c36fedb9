"""Tests for queries about domains: guard, limits, and hostile name servers on loopback."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from tests.targets.domains.servers import Behaviour, Dns, NameServers, Unframed, running_name_servers, unsigned_zone
from website_scan.net import domain_queries
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.policy import Policy

SERVER = "198.97.190.53"
SERVER6 = "2001:500:2::c"
DOMAIN = "shop.com"
NAME = "ns1.shop.com"
Run = Callable[[Behaviour], NameServers]


@pytest.fixture
def world() -> Dns:
    servers = ("ns1.shop.com.", "ns2.shop.com.")
    loop = "a.shop.com. CNAME b.shop.com.\nb.shop.com. CNAME a.shop.com.\n"
    return Dns(
        [
            unsigned_zone(".", "com. NS a.nic.com.\n", ("a.root.",)),
            unsigned_zone("com.", "shop.com. NS ns1.shop.com.\n", ("a.nic.com.",)),
            unsigned_zone("shop.com.", f"shop.com. A 93.184.215.14\nshop.com. TXT hello\n{loop}", servers),
        ]
    )


@pytest.fixture
def run(world: Dns, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Behaviour], NameServers]]:
    running = []

    def start(behaviour: Behaviour) -> NameServers:
        servers = running_name_servers(world, {SERVER: behaviour, SERVER6: behaviour}, monkeypatch)
        running.append(servers)
        return servers.__enter__()

    yield start
    for servers in running:
        servers.__exit__(None, None, None)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time limit for tests of servers that exceed it."""
    monkeypatch.setattr(domain_queries, "SERVER_TIMEOUT_S", 0.5)


def network(servers: NameServers, **options: object) -> Network:
    policy = options.pop("policy", Policy())
    assert isinstance(policy, Policy)
    return Network(policy, dialer=servers.dial, datagrams=servers.dial_datagrams, **options)  # type: ignore[arg-type]


def wire_answers(*answers: bytes) -> Behaviour:
    """Return a name server that answers with these messages after the ID of the query."""

    def answer(query: dns.message.Message, over_tcp: bool) -> Iterable[bytes]:
        return [query.id.to_bytes(2) + wire[2:] for wire in answers]

    return answer


def silent(_query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
    return []


def many_records(number: int) -> Behaviour:
    def answer(query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
        response = dns.message.make_response(query)
        response.flags |= dns.flags.AA
        names = [f"n{index}.shop.com." for index in range(number)]
        response.answer = [dns.rrset.from_text_list(query.question[0].name, 60, "IN", "NS", names)]
        return [response.to_wire(max_size=65535)]

    return answer


def test_server_query_reports_authority(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    with network(servers) as net:
        answer = net.dns.ask_server(NAME, SERVER, DOMAIN, "NS")
        assert (answer.code, answer.is_authoritative) == ("NOERROR", True)
        assert set(answer.records) == {"ns1.shop.com.", "ns2.shop.com."}
        refused = net.dns.ask_server(NAME, SERVER6, "other.com", "SOA")
        assert (refused.code, refused.is_authoritative, refused.records) == ("REFUSED", False, ())


def test_queries_are_sent_once_in_a_scan(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    with network(servers) as net:
        for _ in range(2):
            net.dns.ask_server(NAME, SERVER, DOMAIN, "SOA")
            net.dns.transfers_zone(NAME, SERVER, DOMAIN)
            assert net.records("Shop.com.", "TXT") == net.records("shop.com", "TXT")
        threads = [threading.Thread(target=net.records, args=("shop.com", "A")) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert net.dns.queries == 4
    assert servers.asked == [(SERVER, "shop.com. SOA"), (SERVER, "shop.com. AXFR")]
    assert [query.lower() for query in servers.queries] == ["shop.com. txt", "shop.com. a"]


def test_queries_have_a_limit(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    with network(servers, limits=Limits(dns_queries=3)) as net:
        net.records("shop.com", "TXT")
        net.dns.ask_server(NAME, SERVER, DOMAIN, "SOA")
        net.dns.transfers_zone(NAME, SERVER, DOMAIN)
        with pytest.raises(BudgetExceeded):
            net.records("shop.com", "A")
        with pytest.raises(BudgetExceeded):
            net.dns.ask_server(NAME, SERVER6, DOMAIN, "SOA")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "::1", "fd00::1", "64:ff9b::7f00:1", "::ffff:10.0.0.1"],
)
def test_name_server_in_private_network_is_not_contacted(address: str, world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    servers.behaviours = {**servers.behaviours, address: world.authoritative("shop.com.")}
    with network(servers) as net:
        with pytest.raises(Blocked):
            net.dns.ask_server(NAME, address, DOMAIN, "SOA")
        with pytest.raises(Blocked):
            net.dns.transfers_zone(NAME, address, DOMAIN)
        assert net.refused == ((NAME, address), (NAME, address))
    assert servers.asked == []


def test_denied_networks_and_blocklist_apply_to_name_servers(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    denied = Policy(denied_networks=(ipaddress.ip_network("198.97.190.0/24"),))
    for policy in (denied, Policy(blocked_domains=("shop.com",))):
        with network(servers, policy=policy) as net, pytest.raises(Blocked):
            net.dns.ask_server(NAME, SERVER, DOMAIN, "SOA")
    assert servers.asked == []


class Victims:
    """Budget of several scans that allows two requests to each address."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, int, tuple[str, ...]]] = []

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        self.requests.append((host, port, tuple(addresses)))
        if len(self.requests) > 2:
            raise BudgetExceeded("too many")


def test_queries_count_for_the_address_that_is_reached(world: Dns, run: Run) -> None:
    servers, victims = run(world.authoritative("shop.com.")), Victims()
    with network(servers, shared=victims) as net:
        net.dns.ask_server("ns1.attacker.com", SERVER, DOMAIN, "SOA")
        net.dns.ask_server("ns2.attacker.com", SERVER, DOMAIN, "NS")
        with pytest.raises(BudgetExceeded):
            net.dns.transfers_zone("ns3.attacker.com", SERVER, DOMAIN)
    assert [request[1:] for request in victims.requests] == [(53, (SERVER,))] * 3
    assert len(servers.asked) == 2


@pytest.mark.usefixtures("impatient")
def test_silent_server_is_asked_twice_and_times_out(run: Run) -> None:
    servers = run(silent)
    begin = time.monotonic()
    with network(servers) as net, pytest.raises(TimedOut):
        net.dns.ask_server(NAME, SERVER, DOMAIN, "SOA")
    assert time.monotonic() - begin < 2
    assert servers.asked == [(SERVER, "shop.com. SOA")] * 2


def test_server_without_port_is_not_reachable(world: Dns, run: Run) -> None:
    servers = run(silent)
    with network(servers) as net, pytest.raises(NotReachable):
        net.dns.ask_server(NAME, "199.7.83.42", DOMAIN, "SOA")


def test_large_answer_is_read_over_tcp(run: Run) -> None:
    servers = run(many_records(1000))
    with network(servers) as net:
        answer = net.dns.ask_server(NAME, SERVER, DOMAIN, "NS")
        assert net.dns.queries == 2
    assert len(answer.records) == 100


def test_answer_with_too_many_records_is_refused(run: Run) -> None:
    servers = run(many_records(2_001))
    with network(servers) as net, pytest.raises(NotReachable, match="too many records"):
        net.dns.ask_server(NAME, SERVER, DOMAIN, "NS")


def test_zone_transfer_reads_only_its_first_message(world: Dns, run: Run) -> None:
    """A transfer may have any number of messages of 64 KiB."""
    transfer = world.authoritative("shop.com.", transfers=True)

    def endless(query: dns.message.Message, over_tcp: bool) -> Iterable[bytes]:
        for _ in range(2_000):
            first = next(iter(transfer(query, over_tcp)))
            yield first + bytes(65_000 - len(first))

    servers = run(endless)
    with network(servers) as net:
        assert net.dns.transfers_zone(NAME, SERVER, DOMAIN)
        assert net.received_bytes == 65_002


def test_zone_transfer_of_nothing_does_not_count(run: Run) -> None:
    def soa_only(query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
        response = dns.message.make_response(query)
        response.answer = [dns.rrset.from_text("shop.com.", 60, "IN", "SOA", "a.com. b.com. 1 2 3 4 5")]
        return [response.to_wire()]

    servers = run(soa_only)
    with network(servers) as net:
        assert not net.dns.transfers_zone(NAME, SERVER, DOMAIN)


def _message(query: dns.message.Message, *, records: bytes = b"", counts: tuple[int, ...] = (1, 0, 0, 0)) -> bytes:
    header = query.id.to_bytes(2) + (0x8400).to_bytes(2) + b"".join(count.to_bytes(2) for count in counts)
    return (
        header + query.to_wire()[12 : 12 + sum(len(label) + 1 for label in query.question[0].name.labels) + 4] + records
    )


def compression_bomb(query: dns.message.Message, over_tcp: bool) -> Iterable[bytes]:
    """Send names that are chains of thousands of pointers."""
    if not over_tcp:
        response = dns.message.make_response(query)
        response.flags |= dns.flags.TC
        return [response.to_wire()]
    start = len(_message(query))
    # The first record has an unknown type, and its content is a chain of pointers, each to the one before.
    content = bytearray(b"\1a\0")
    base = start + 12
    for position in range(7_000):
        content += (0xC000 | (base if position == 0 else base + 3 + 2 * (position - 1))).to_bytes(2)
    first = b"\xc0\x0c" + (65_280).to_bytes(2) + b"\0\1" + bytes(4) + len(content).to_bytes(2) + bytes(content)
    target = min(base + 3 + 2 * 6_999, 0x3FFF)
    target -= (target - base - 3) % 2
    pointer = (0xC000 | target).to_bytes(2)
    bombs = (pointer + (16).to_bytes(2) + b"\0\1" + bytes(4) + (2).to_bytes(2) + b"\1a") * 1_900
    return [_message(query, records=first + bombs, counts=(1, 1_901, 0, 0))]


def forged_id(query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
    response = dns.message.make_response(query)
    response.id = query.id ^ 1
    return [response.to_wire()] * 30


def other_question(query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
    response = dns.message.make_response(dns.message.make_query("other.com", "SOA"))
    return [query.id.to_bytes(2) + response.to_wire()[2:]]


def pointer_loop(query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
    begin = len(_message(query))
    record = (0xC000 | begin).to_bytes(2) + (16).to_bytes(2) + b"\0\1" + bytes(6)
    return [_message(query, records=record, counts=(1, 1, 0, 0))]


@pytest.mark.parametrize(
    "behaviour",
    [
        wire_answers(b""),
        wire_answers(b"xx"),
        wire_answers(bytes(11)),
        wire_answers(b"\0\0" + b"\xff" * 60_000),
        compression_bomb,
        forged_id,
        other_question,
        pointer_loop,
    ],
)
@pytest.mark.usefixtures("impatient")
def test_malformed_answers_are_refused_quickly(behaviour: Behaviour, run: Run) -> None:
    servers = run(behaviour)
    begin, cpu = time.monotonic(), time.process_time()
    with network(servers) as net:
        for query in (net.dns.ask_server, lambda *_: net.dns.transfers_zone(NAME, SERVER6, DOMAIN)):
            with pytest.raises(NetError):
                query(NAME, SERVER, DOMAIN, "SOA")
    assert time.monotonic() - begin < 4
    assert time.process_time() - cpu < 1.5


@pytest.mark.usefixtures("impatient")
def test_answer_in_single_bytes_ends_at_the_deadline(run: Run) -> None:
    def drip(_query: dns.message.Message, _over_tcp: bool) -> Iterable[bytes]:
        while True:
            threading.Event().wait(0.05)
            yield Unframed(b"\xff")

    servers = run(drip)
    begin = time.monotonic()
    with network(servers) as net, pytest.raises(TimedOut):
        net.dns.transfers_zone(NAME, SERVER, DOMAIN)
    assert 0.4 < time.monotonic() - begin < 2


def test_alias_loop_ends(run: Run) -> None:
    servers = run(silent)
    with network(servers) as net, pytest.raises(NetError):
        net.records("a.shop.com", "A")
    assert len(servers.queries) <= 2


def test_closed_network_sends_no_query(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("shop.com."))
    with network(servers) as net:
        net.close()
        with pytest.raises(TimedOut):
            net.dns.ask_server(NAME, SERVER, DOMAIN, "SOA")
    assert servers.asked == []


def test_ipv6_of_the_installation_is_tested_with_the_root(world: Dns, run: Run) -> None:
    servers = run(world.authoritative("."))
    with network(servers) as net:
        assert not net.dns.has_ipv6()
    servers.behaviours = {"2001:503:ba3e::2:30": world.authoritative(".")}
    with network(servers) as net:
        assert net.dns.has_ipv6()
