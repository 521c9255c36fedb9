"""Tests for the dialer.

It checks a name's addresses and the peer of the connection.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address, ip_network

import psutil
import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.net.seams import PUBLIC, PUBLIC6, Names, Wires
from website_scan.net import addresses, targets
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dialer import Dialer
from website_scan.net.errors import Blocked, NetError, NotReachable, TimedOut
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target

HELLO = {"*": Answer("hello")}


def test_public_name_is_dialed_at_its_checked_address() -> None:
    with Site(HELLO) as site:
        wires = Wires({PUBLIC: site})
        with Network(Policy(), resolver=Names({"www.example.com": (PUBLIC,)}), dialer=wires) as network:
            response = network.fetch("http://www.example.com/page")
        assert response.body == b"hello"
        assert response.address == PUBLIC
        assert wires.dialed == [(PUBLIC, 80)]
        assert site.requests[0].header("Host") == "www.example.com"


@pytest.mark.parametrize(
    "answers",
    [
        ("10.0.0.1",),
        (PUBLIC, "127.0.0.1"),
        (PUBLIC, "::1"),
        (PUBLIC, "169.254.169.254"),
        (PUBLIC, "::ffff:192.168.0.1"),
        (PUBLIC6, "64:ff9b::7f00:1"),
        (PUBLIC6, "fe80::1%eth0"),
    ],
)
def test_name_with_a_private_address_is_refused(
    answers: tuple[str, ...],
) -> None:
    wires = Wires({})
    with Network(Policy(), resolver=Names({"mixed.example.com": answers}), dialer=wires) as network:
        for attempt in (
            lambda: network.fetch("http://mixed.example.com/"),
            lambda: network.connect("mixed.example.com", 443),
            lambda: network.addresses("mixed.example.com", 80),
            lambda: network.reach(parse_target("https://mixed.example.com/", Policy())),
        ):
            with pytest.raises(Blocked, match="not publicly accessible"):
                attempt()
    assert wires.dialed == []


@pytest.mark.parametrize("address", ["10.20.30.40", "fd00::20", "192.168.7.9"])
def test_refusal_does_not_reveal_addresses(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """The error must not reveal internal DNS zones.

    The log has the reason.
    """
    caplog.set_level(logging.INFO)
    names = Names({"jenkins.corp.example.org": (PUBLIC, address)})
    with Network(Policy(), resolver=names, dialer=Wires({})) as network, pytest.raises(Blocked) as refusal:
        network.fetch("http://jenkins.corp.example.org/")
    assert str(refusal.value) == "jenkins.corp.example.org is not publicly accessible."
    assert address in caplog.text


def test_refusal_does_not_reveal_own_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "own_addresses", lambda: frozenset({ip_address(PUBLIC)}))
    with pytest.raises(Blocked) as refusal:
        parse_target(f"http://{PUBLIC}/", Policy())
    assert str(refusal.value) == "The target is not publicly accessible."
    with pytest.raises(Blocked, match=r"10\.0\.0\.1 is private"):
        parse_target("http://10.0.0.1/", Policy())


def test_denied_network_is_refused() -> None:
    policy = Policy(denied_networks=(ip_network(f"{PUBLIC}/32"),))
    with pytest.raises(Blocked):
        parse_target(f"http://{PUBLIC}/", policy)
    wires = Wires({})
    names = Names({"www.example.com": (PUBLIC,)})
    with (
        Network(policy, resolver=names, dialer=wires) as network,
        pytest.raises(Blocked, match="not publicly accessible"),
    ):
        network.reach(parse_target("http://www.example.com/", policy))
    assert wires.dialed == []


def test_next_address_is_tried_after_a_failure() -> None:
    with Site(HELLO) as site:
        wires = Wires({PUBLIC: site})
        names = Names({"two.example.com": (PUBLIC6, PUBLIC)})
        with Network(Policy(), resolver=names, dialer=wires) as network:
            assert network.fetch("http://two.example.com/").address == PUBLIC
        assert wires.dialed == [(PUBLIC6, 80), (PUBLIC, 80)]


def test_refused_connection_raises_NotReachable() -> None:
    with Network(Policy(), resolver=Names({"down.example.com": (PUBLIC,)}), dialer=Wires({})) as network:
        with pytest.raises(NotReachable, match="refuses connections on port 443"):
            network.fetch("https://down.example.com/")
        with pytest.raises(NotReachable, match="does not resolve"):
            network.fetch("https://unknown.example.com/")


def test_slow_dial_raises_TimedOut() -> None:
    def dial_slowly(address: str, port: int, timeout_s: float) -> socket.socket:
        raise TimeoutError

    with Network(Policy(), resolver=Names({"slow.example.com": (PUBLIC,)}), dialer=dial_slowly) as network:
        with pytest.raises(TimedOut, match=r"^slow\.example\.com did not accept a connection on port 80 in time\.$"):
            network.fetch("http://slow.example.com/")
        with pytest.raises(NotReachable):
            network.reach(parse_target("http://slow.example.com/", Policy()))


def test_addresses_share_the_remaining_time_equally() -> None:
    shares: list[float] = []

    def unreachable(address: str, port: int, timeout_s: float) -> socket.socket:
        shares.append(timeout_s)
        raise OSError

    names = Names({"three.example.com": (PUBLIC6, PUBLIC, "198.41.0.4")})
    dialer = Dialer(Policy(), names, unreachable, Limits(), Deadline(60))
    with pytest.raises(NotReachable, match=r"^three\.example\.com can't be reached on port 80\.$"):
        dialer.open("three.example.com", 80, Deadline(60))
    assert shares == pytest.approx([20, 30, 60], abs=2)


def test_name_is_resolved_again_after_a_timeout() -> None:
    asked: list[str] = []

    class Slow:
        def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
            asked.append(host)
            if len(asked) > 1:
                return (PUBLIC,)
            threading.Event().wait(deadline.remaining_s() + 0.01)
            raise NotReachable("Too late.")

    dialer = Dialer(Policy(), Slow(), Wires({}), Limits(), Deadline(60))
    with pytest.raises(NotReachable, match="Too late"):
        dialer.addresses("slow.example.com", 80, Deadline(0.05))
    assert dialer.addresses("slow.example.com", 80, Deadline(60)) == (PUBLIC,)


def test_unresolvable_name_is_queried_once() -> None:
    names = Names({"empty.example.com": ()})
    dialer = Dialer(Policy(), names, Wires({}), Limits(), Deadline(60))
    for host in ("unknown.example.com", "empty.example.com"):
        for port in (80, 443, 80):
            with pytest.raises(NotReachable, match=f"^{host} does not resolve to an address"):
                dialer.addresses(host, port, Deadline(60))
    assert names.asked == ["unknown.example.com", "empty.example.com"]


def test_known_addresses_are_allowed() -> None:
    names = Names({"www.example.com": (PUBLIC,), "inside.example.com": ("10.0.0.1",)})
    dialer = Dialer(Policy(), names, Wires({}), Limits(), Deadline(60))
    assert dialer.known_addresses("www.example.com", 80) == ()
    dialer.addresses("www.example.com", 80, Deadline(60))
    assert dialer.known_addresses("www.example.com", 80) == (PUBLIC,)
    with pytest.raises(Blocked):
        dialer.addresses("inside.example.com", 80, Deadline(60))
    assert dialer.known_addresses("inside.example.com", 80) == ()


def test_exempted_network_is_allowed_on_any_port() -> None:
    with Site(HELLO) as site, Network(Policy(allowed_networks=NETWORKS)) as network:
        assert site.port not in network.policy.allowed_ports
        assert network.fetch(site.url + "/").body == b"hello"


@pytest.mark.parametrize("exempted", ["127.0.0.0/8", "::1/128"])
def test_localhost_has_the_exempted_address(exempted: str) -> None:
    policy = Policy(allowed_networks=(ip_network(exempted),))
    loopback = "::1" if ":" in exempted else "127.0.0.1"
    with Network(policy) as network:
        assert network.addresses("localhost", 80) == (loopback,)
        assert network.addresses("shop.localhost", 80) == (loopback,)


def test_localhost_is_refused_without_an_exemption() -> None:
    with Network(Policy(allowed_networks=(ip_network("10.0.0.0/8"),))) as network, pytest.raises(Blocked):
        network.addresses("localhost", 80)


def test_exemption_does_not_affect_other_networks() -> None:
    policy = Policy(allowed_networks=NETWORKS)
    wires = Wires({})
    names = Names({"public.example.com": (PUBLIC,), "half.example.com": ("127.0.0.1", PUBLIC)})
    with Network(policy, resolver=names, dialer=wires) as network:
        for host in ("public.example.com", "half.example.com"):
            target = parse_target(f"http://{host}:6379/", policy)
            with pytest.raises(InvalidUrl, match="6379"):
                network.reach(target)
            with pytest.raises(InvalidUrl, match="6379"):
                network.fetch(target)
    assert wires.dialed == []


def test_port_exemption_allows_only_that_port() -> None:
    with Site(HELLO) as site:
        policy = Policy(allowed_networks=((ip_network("127.0.0.0/8"), site.port),))
        names = Names(dict.fromkeys(("app.example.com", "127.0.0.1"), ("127.0.0.1",)))
        with Network(policy, resolver=names) as network:
            assert network.fetch(f"http://app.example.com:{site.port}/").body == b"hello"
            assert network.fetch(site.url + "/").body == b"hello"
            for port in (80, 6379):
                with pytest.raises((Blocked, InvalidUrl)):
                    network.connect("app.example.com", port)
                with pytest.raises(Blocked):
                    network.connect("127.0.0.1", port)
        assert names.asked == ["app.example.com", "127.0.0.1"]


def test_redirect_to_another_port_is_refused() -> None:
    with Site(HELLO) as other:
        answers = {"*": Answer(status=302, headers={"Location": other.url + "/"})}
        with Site(answers) as site:
            policy = Policy(allowed_networks=((ip_network("127.0.0.0/8"), site.port),))
            with Network(policy) as network, pytest.raises(Blocked):
                network.follow(site.url + "/")
        assert other.requests == []


def test_own_address_needs_the_exempted_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "own_addresses", lambda: frozenset({ip_address(PUBLIC)}))
    wires = Wires({})
    policy = Policy(allowed_networks=((ip_network(f"{PUBLIC}/32"), 8080),))
    with Network(policy, resolver=Names({"own.example.com": (PUBLIC,)}), dialer=wires) as network:
        with pytest.raises(Blocked):
            network.connect("own.example.com", 80)
        with pytest.raises(NotReachable):
            network.connect("own.example.com", 8080)
    assert wires.dialed == [(PUBLIC, 8080)]


def test_close_ends_waiting_for_a_connection() -> None:
    with contextlib.ExitStack() as cleanup:
        # The listener's backlog is full, so a new connection waits for the kernel.
        server = cleanup.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            filler = cleanup.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
        port = server.getsockname()[1]

        def count_connecting() -> int:
            connections = psutil.Process().net_connections("tcp4")
            return sum(
                connection.status == psutil.CONN_SYN_SENT and connection.raddr.port == port
                for connection in connections
            )

        before = count_connecting()
        network = Network(Policy(allowed_networks=NETWORKS), limits=Limits(connect_s=60))
        raised: list[BaseException] = []
        thread = threading.Thread(target=_collect_errors, args=(lambda: network.connect("127.0.0.1", port), raised))
        thread.start()
        _wait_until(lambda: count_connecting() > before)
        network.close()
        thread.join(5)
        assert not thread.is_alive()
        assert [(type(error), str(error)) for error in raised] == [(TimedOut, "The scan has ended.")]


def test_all_addresses_are_checked_but_few_are_tried() -> None:
    many = tuple(f"93.184.{number // 250}.{number % 250}" for number in range(1000))
    wires = Wires({})
    names = Names({"many.example.com": many, "nearly.example.com": (*many, "10.0.0.1")})
    with Network(Policy(), resolver=names, dialer=wires) as network:
        with pytest.raises(Blocked):
            network.connect("nearly.example.com", 80)
        assert wires.dialed == []
        with pytest.raises(NotReachable):
            network.connect("many.example.com", 80)
    assert [address for address, _ in wires.dialed] == list(many[:6])


def test_close_ends_a_waiting_TLS_handshake() -> None:
    waiting = threading.Event()

    def silent(connection: socket.socket) -> None:
        connection.recv(1)
        waiting.set()
        while connection.recv(65536):
            pass

    with Site(converse=silent) as site:
        network = Network(Policy(allowed_networks=NETWORKS))
        raised: list[BaseException] = []
        url = f"https://127.0.0.1:{site.port}/"
        thread = threading.Thread(target=_collect_errors, args=(lambda: network.fetch(url), raised))
        thread.start()
        assert waiting.wait(5)
        network.close()
        thread.join(3)
        assert not thread.is_alive()
        assert len(raised) == 1


def test_host_is_resolved_once_for_all_threads() -> None:
    names = Names({"a.example.com": (PUBLIC,)})
    with Network(Policy(), resolver=names, dialer=Wires({})) as network:
        threads = [threading.Thread(target=network.addresses, args=("a.example.com", 80)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
    assert names.asked == ["a.example.com"]


def test_connection_ends_at_the_deadline() -> None:
    def wait(connection: socket.socket) -> None:
        connection.recv(1)

    with Site(converse=wait) as site:
        with Network(Policy(allowed_networks=NETWORKS), time_limit_s=0.3) as network:
            with network.connect(site.address, site.port) as connection:
                connection.settimeout(30)
                with pytest.raises(TimeoutError):
                    connection.recv(1)
            assert network.remaining_s == 0
        with Network(Policy(allowed_networks=NETWORKS)) as network:
            with network.connect(site.address, site.port) as connection:
                connection.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    connection.recv(1)
            assert network.elapsed_s < 5


def _collect_errors(action: Callable[[], object], raised: list[BaseException]) -> None:
    try:
        action()
    except NetError as error:
        raised.append(error)


def _wait_until(condition: Callable[[], bool]) -> None:
    done = threading.Event()
    for _ in range(500):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("the condition never came true")
