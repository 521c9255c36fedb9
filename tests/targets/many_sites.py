"""Thousands of sites on hundreds of loopback addresses, with their own name server. For benchmarks, on Linux.

One process serves them all. Most are ordinary; some are dead, slow, hostile, or have moved to another host.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from multiprocessing.connection import Connection
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

# No public DNS has this top-level domain.
SUFFIX = "wss-bench"
NAME_SERVER = "127.53.0.1"
PORT = 80
SLOW_S, DRIP_S = 0.4, 1.0
ENDLESS = b"x" * 65_536
ASSETS = {"/style.css": ("text/css", b"body { margin: 2em; color: #222 } h1 { color: #335 }\n" * 20)}
ASSETS["/app.js"] = ("text/javascript", b"document.title += '';\n" * 40)


def host_of(number: int) -> str:
    """Return the host of a site."""
    return f"site-{number:05}.{SUFFIX}"


def kind_of(number: int) -> str:
    """Return what a site is, the same for a number in every run."""
    kinds = {11: "dead", 23: "unknown", 37: "slow", 41: "moved", 59: "hostile", 73: "bare"}
    return kinds.get(number % 100, "usual")


def address_of(number: int, addresses: int) -> str | None:
    """Return the address of a site; None if its name is unknown. Nothing listens at the addresses of dead sites."""
    if kind_of(number) == "unknown":
        return None
    place = number % addresses
    return f"127.{9 if kind_of(number) == 'dead' else 1}.{place // 250}.{place % 250 + 1}"


def serve(pipe: Connection, addresses: int) -> None:
    """Serve all sites and their names until the process is killed; tells through the pipe when it is ready."""
    asyncio.run(_serve(pipe, addresses))


async def _serve(pipe: Connection, addresses: int) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: _Names(addresses), local_addr=(NAME_SERVER, 53))
    for place in range(addresses):
        address = f"127.1.{place // 250}.{place % 250 + 1}"
        await asyncio.start_server(_converse, address, PORT, family=socket.AF_INET, backlog=256)
    pipe.send("ready")
    await asyncio.Event().wait()


class _Names(asyncio.DatagramProtocol):
    """Name server of the sites: A records only."""

    def __init__(self, addresses: int) -> None:
        self._addresses = addresses
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        (question,) = query.question
        label, _, rest = question.name.to_text(omit_final_dot=True).partition(".")
        number = label.removeprefix("site-")
        address = address_of(int(number), self._addresses) if number.isdecimal() and rest == SUFFIX else None
        if address is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.A:
            answer.answer.append(dns.rrset.from_text(question.name, 60, "IN", "A", address))
        self._transport.sendto(answer.to_wire(), addr)


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            method, path, _ = first.split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            number = int(headers.get("host", "0").partition(".")[0].removeprefix("site-") or 0)
            if not await _answer(writer, number, method, path.partition("?")[0]):
                break
    with contextlib.suppress(OSError):
        writer.close()


async def _answer(writer: asyncio.StreamWriter, number: int, method: str, path: str) -> bool:
    """Answer a request; return False if the connection is over."""
    kind = kind_of(number)
    if kind == "slow":
        await asyncio.sleep(SLOW_S)
    if kind == "hostile" and path == "/":
        return await _misbehave(writer, number)
    if kind == "moved" and path == "/":
        location = f"http://{host_of(number + 1)}/"
        return await _send(writer, method, 301, {"Location": location}, b"")
    if path == "/":
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if number % 3:
            headers |= {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
        if number % 5 == 0:
            headers["Content-Security-Policy"] = "default-src 'self'"
        return await _send(writer, method, 200, headers, _page(number).encode())
    if path in ASSETS:
        media_type, body = ASSETS[path]
        return await _send(writer, method, 200, {"Content-Type": media_type}, body)
    if path == "/.well-known/security.txt" and number % 7 == 0:
        text = b"Contact: mailto:security@example.com\nExpires: 2030-01-01T00:00:00Z\n"
        return await _send(writer, method, 200, {"Content-Type": "text/plain"}, text)
    return await _send(writer, method, 404, {"Content-Type": "text/html"}, b"<!doctype html><title>Not found</title>")


def _page(number: int) -> str:
    if kind_of(number) == "bare":
        return "<p>Hello"
    language = ' lang="en"' if number % 4 else ""
    description = '<meta name="description" content="A site of a public body, one of many.">' if number % 2 else ""
    alt = ' alt="The town hall"' if number % 3 else ""
    text = " ".join(f"Paragraph {each} of site {number} tells what the office does." for each in range(20))
    return (
        f"<!doctype html><html{language}><head><meta charset=utf-8><title>Office {number}</title>{description}"
        '<meta name=viewport content="width=device-width"><meta name=generator content="Press 4.2">'
        "<link rel=stylesheet href=/style.css><script src=/app.js defer></script></head>"
        f"<body><main><h1>Office {number}</h1><p>{text}</p><img src=/hall.png{alt} width=10 height=10>"
        "<a href=/contact>Contact</a></main></body></html>"
    )


async def _send(writer: asyncio.StreamWriter, method: str, status: int, headers: dict[str, str], body: bytes) -> bool:
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body))
    await writer.drain()
    return True


async def _misbehave(writer: asyncio.StreamWriter, number: int) -> bool:
    """Send no HTTP, endless bytes, or a byte a second."""
    way = number // 100 % 3
    if way == 0:
        writer.write(b"\x00\xff no http\r\n\r\n")
        await writer.drain()
        return False
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(ENDLESS if way == 1 else b"x")
        await writer.drain()
        if way == 2:
            await asyncio.sleep(DRIP_S)
