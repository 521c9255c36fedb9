"""Internet of a registry's domains under `.se`: name servers and sites at public addresses, in a network namespace.

This module imports no models, because Django
is not set up in the process that serves.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import ssl
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import dns.message
import dns.name
from msgspec import Struct
from msgspec.structs import replace

from benchmarks.namespace import UNREACHABLE_NETWORK
from benchmarks.sites import run_in_process
from tests.targets.domains.servers import MAX_DATAGRAM_BYTES, Dns, truncated, zone_file
from tests.targets.domains.table import GOOD, PROVIDERS, WEB
from tests.targets.domains.zones import Nsec3Chain, Signing, make_zone
from tests.targets.server import END_OF_HEADERS, Answer, Request
from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.net.tls_servers import Identity
from website_scan.net.domain_queries import IPV6_REFERENCES

RESOLVER = "127.0.0.53"
SUFFIX, MAIL_PROVIDER = "se.", "mail.example.net"
FIRST_SITE, FIRST_SITE6 = ipaddress.IPv4Address("23.0.0.0"), ipaddress.IPv6Address("2600:1400::")
# Of all domains, one in 33 does not exist, and the site of one in 50 cannot be reached.
MISSING_EVERY, UNREACHABLE_EVERY = 33, 50
SIGNED = Signing()
SIGNED_SUFFIX = Signing(chain=Nsec3Chain(opts_out=True))
MAX_CACHED_DOMAINS = 4_000


class Domain(Struct, frozen=True):
    """Domain with its site. `number` counts from 0."""

    number: int

    @classmethod
    def named(cls, name: str) -> Domain | None:
        """Return the domain of a host such as `d7.se` or `www.d7.se`, or None for other names."""
        labels = name.lower().rstrip(".").split(".")
        is_domain = len(labels) >= 2 and labels[-1] == "se" and labels[-2][:1] == "d" and labels[-2][1:].isdecimal()
        return cls(int(labels[-2][1:])) if is_domain else None

    @property
    def name(self) -> str:
        return f"d{self.number}.se"

    @property
    def site(self) -> TypicalSite:
        return replace(SITES[self.number % len(SITES)], host=self.name)

    @property
    def url(self) -> str:
        return f"{'https' if self.site.is_https else 'http'}://{self.name}/"

    @property
    def exists(self) -> bool:
        return self.number % MISSING_EVERY != MISSING_EVERY - 1

    @property
    def is_signed(self) -> bool:
        return "DS" in self.site.dns

    @property
    def records(self) -> str:
        """Return the records of the domain, in the syntax of zone files. Signed domains have IPv6."""
        is_reachable = self.number % UNREACHABLE_EVERY != UNREACHABLE_EVERY - 1
        address = (FIRST_SITE if is_reachable else UNREACHABLE_NETWORK[0]) + self.number
        lines = [f"{name} A {address}" for name in (f"{self.name}.", f"www.{self.name}.")]
        lines += [f"{self.name}. AAAA {FIRST_SITE6 + self.number}"] if self.is_signed else []
        for kind in ("MX", "CAA"):
            lines += [f"{self.name}. {kind} {value}" for value in self.site.dns.get(kind, ())]
        for text in self.site.dns.get("TXT", ()):
            lines.append(f'{"_dmarc." if text.startswith("v=DMARC") else ""}{self.name}. TXT "{text}"')
        return "".join(f"{line}\n" for line in lines)


class Zones:
    """DNS zones of the root, the registry, providers and domains. The zone of a domain is made at its first query."""

    def __init__(self) -> None:
        names = [f"{server}." for server in GOOD]
        delegations = {SUFFIX: [], "net.": ["provider.net.", "example.net."], "org.": ["provider.org."]}
        mail = f'{MAIL_PROVIDER}. A {WEB}\n{MAIL_PROVIDER}. TXT "v=spf1 ip4:192.0.2.0/24 -all"\n'
        zones = [make_zone("example.net.", zone_file("example.net.", mail, names), None)]
        for server in GOOD:
            origin, (ipv4, ipv6) = f"{server.partition('.')[2]}.", PROVIDERS[server]
            text = f"{server}. A {ipv4}\n{server}. AAAA {ipv6}\n"
            zones.append(make_zone(origin, zone_file(origin, text, names), None))
        for suffix, children in delegations.items():
            text = "".join(f"{child} NS {names[0]}\n" for child in children)
            zones.append(make_zone(suffix, zone_file(suffix, text, names), SIGNED_SUFFIX))
        text = "".join(f"{suffix} NS {names[0]}\n" for suffix in delegations)
        root = make_zone(".", zone_file(".", text, names), SIGNED)
        self._names, self._root_text = names, text
        self._registry, self._root = zones[-len(delegations)], root
        self._shared = Dns([*zones, root])
        self.trust_anchors = self._shared.trust_anchors
        self.with_domain = lru_cache(MAX_CACHED_DOMAINS)(self._with_domain)

    def _with_domain(self, domain: Domain | None) -> Dns:
        """Return all zones, with those of a domain if it exists."""
        if domain is None or not domain.exists:
            return self._shared
        origin = f"{domain.name}."
        zone = make_zone(origin, zone_file(origin, domain.records, self._names), SIGNED if domain.is_signed else None)
        delegation = "".join(f"{origin} NS {name}\n" for name in self._names)
        registry = make_zone(SUFFIX, zone_file(SUFFIX, delegation, self._names), SIGNED_SUFFIX)
        root = make_zone(".", zone_file(".", self._root_text, self._names), SIGNED)
        registry.key, root.key = self._registry.key, self._root.key
        own = Dns([zone, registry, root])
        own.zones = self._shared.zones | own.zones
        return own

    def answer(self, wire: bytes, *, is_resolver: bool) -> bytes:
        query = dns.message.from_wire(wire)
        zones = self.with_domain(Domain.named(query.question[0].name.to_text()))
        if is_resolver:
            return zones.resolve(query).to_wire(max_size=65535)
        behaviour = zones.authoritative(*(origin.to_text() for origin in zones.zones))
        return b"".join(behaviour(query, False))


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = self._answer(data)
        if len(answer) > MAX_DATAGRAM_BYTES:
            answer = truncated(answer, data)
        self._transport.sendto(answer, addr)


class Sites:
    """Web servers of all domains."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = Identity.root()
        self._authority = self._root.issue_authority()
        self.ca_file = folder / "root.pem"
        self.ca_file.write_bytes(self._root.pem)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.sni_callback = self._choose_certificate
        self._load_certificate(self.tls, "d0.se")
        self._context_of = lru_cache(MAX_CACHED_DOMAINS)(self._make_context)

    def _choose_certificate(self, connection: ssl.SSLObject, name: str, _: ssl.SSLContext) -> int | None:
        domain = Domain.named(name or "")
        if domain is None or not domain.site.is_https:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = self._context_of(domain)
        return None

    def _make_context(self, domain: Domain) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._load_certificate(context, domain.name, f"www.{domain.name}")
        if domain.site.tune is not None:
            domain.site.tune(context)
        return context

    def _load_certificate(self, context: ssl.SSLContext, *names: str) -> None:
        leaf = self._authority.issue(*names)
        file = self._folder / "leaf.pem"
        file.write_bytes(leaf.pem + self._authority.pem + leaf.key_pem)
        context.load_cert_chain(file)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_secure: bool) -> None:
        """Answer the requests of a connection."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                head = (await reader.readuntil(END_OF_HEADERS)).decode("latin-1")
                answer = _answer(head, is_secure=is_secure)
                writer.write(answer.encoded(head_only=head.startswith("HEAD ")))
                await writer.drain()
        writer.close()


def _answer(head: str, *, is_secure: bool) -> Answer:
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
    if (domain := Domain.named(headers.get("host", "").partition(":")[0])) is None:
        return Answer("No such site", status=421)
    site = domain.site
    routes = site.routes() if is_secure else site.plain_routes()
    route = routes.get(path.partition("?")[0], routes.get("*", Answer("Not found", status=404)))
    if isinstance(route, Answer):
        return route
    return route(Request(method, path, (), b"", 1, None)) or Answer("Not found", status=404)  # type: ignore[arg-type]


@contextmanager
def run_registry() -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Run all servers in another process. Yields the root certificate, and the trust anchors of the root zone."""
    with tempfile.TemporaryDirectory(prefix="wss-registry-") as name:
        Path(name).chmod(0o755)
        with run_in_process(_serve_all, Path(name)) as pipe:
            yield pipe.recv()


def _serve_all(pipe: Connection, folder: Path) -> None:
    asyncio.run(_serve(pipe, Zones(), Sites(folder)))


async def _serve(pipe: Connection, zones: Zones, sites: Sites) -> None:
    loop = asyncio.get_running_loop()
    for address in (RESOLVER, *IPV6_REFERENCES, *(address for server in GOOD for address in PROVIDERS[server])):
        answer = partial(zones.answer, is_resolver=address == RESOLVER)
        await loop.create_datagram_endpoint(partial(_Datagrams, answer), (address, 53))
        await asyncio.start_server(_framed(answer), address, 53)
    for port, tls in ((80, None), (443, sites.tls)):
        serve = partial(sites.serve, is_secure=tls is not None)
        await asyncio.start_server(serve, "0.0.0.0", port, ssl=tls, backlog=512)
        await asyncio.start_server(serve, "::", port, ssl=tls, backlog=512)
    pipe.send((sites.ca_file, zones.trust_anchors))
    await asyncio.to_thread(pipe.recv)


def _framed(
    answer: Callable[[bytes], bytes],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                length = int.from_bytes(await reader.readexactly(2))
                response = answer(await reader.readexactly(length))
                writer.write(len(response).to_bytes(2) + response)
                await writer.drain()
        writer.close()

    return serve
