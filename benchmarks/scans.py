"""Duration of scans, compared with a lower bound: the chain of requests that no scanner can shorten."""

from __future__ import annotations

import concurrent.futures
import resource
import socket
import ssl
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from scanner.findings import ScanType
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.targets import parse_target
from scanner.result import Budget
from scanner.run import scan
from tests.scanner.net.loopback import NETWORKS
from tests.targets.sample import PAGE
from tests.targets.server import Answer, Certificate, Request, Site

LATENCY_S = 0.1
ROUNDS = 5
LINKS = 25
GOALS_S = {ScanType.SECURITY: 2.5, ScanType.SEO: 2.0}
ENGINE_GOAL_S = 0.25
MEMORY_GOAL_MIB = 200
MIB = 1024 * 1024


def main() -> int:
    """Print the table; return 1 if a goal was missed."""
    missed = False
    print(f"{'each answer after 100 ms':28}{'seconds':>9}{'floor':>9}{'ratio':>8}{'requests':>10}")
    with _slow_site() as site:
        for scan_type, goal_s in GOALS_S.items():
            times, requests = _scans(site, scan_type, ROUNDS)
            floor_s = statistics.median(_floor(site) for _ in range(ROUNDS))
            seconds = statistics.median(times)
            missed |= seconds > goal_s
            verdict = "met" if seconds <= goal_s else "MISSED"
            print(
                f"{scan_type:28}{seconds:9.2f}{floor_s:9.2f}{seconds / floor_s:8.1f}{requests:10}"
                f"  goal {goal_s}: {verdict}"
            )
    for scan_type in GOALS_S:
        # Measure the cost of the page's size: the requests are the same, and responses have no delay.
        small_s, large_s = (statistics.median(_scans(site, scan_type, ROUNDS)[0]) for site in _by_size())
        seconds = large_s - small_s
        missed |= seconds > ENGINE_GOAL_S
        verdict = "met" if seconds <= ENGINE_GOAL_S else "MISSED"
        print(f"{scan_type + ', for 1 MB of page':28}{seconds:9.2f}{'':27}  goal {ENGINE_GOAL_S}: {verdict}")
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    missed |= memory_mib > MEMORY_GOAL_MIB
    verdict = "met" if memory_mib <= MEMORY_GOAL_MIB else "MISSED"
    print(f"{'memory, the sites in it':28}{memory_mib:6.0f} MiB{'':27}  goal {MEMORY_GOAL_MIB}: {verdict}")
    return int(missed)


def _by_size() -> Iterator[Site]:
    """Yield the same site with a small page, then with a large one; each runs until the next is requested."""
    for page in (PAGE, _large_page()):
        with _site(page, lambda request: None) as site:
            yield site


def _large_page() -> str:
    """Return a page with a megabyte of paragraphs and a link in every fifth: far more than usual pages have."""
    plain = "<p class=text id=a{0}>Some text of a page that goes on for a while, as texts on pages do.</p>\n"
    linked = "<p class=text id=a{0}><a href=/link/{1}>Some text of a page</a> that goes on for a while.</p>\n"
    count = 1024 * 1024 // len(plain)
    body = "".join((plain if number % 5 else linked).format(number, number % LINKS) for number in range(count))
    return PAGE.replace("</body>", f"{body}</body>")


def _slow_site() -> Site:
    links = "".join(f"<p><a href=/link/{number}>The page with number {number}</a>" for number in range(LINKS))
    return _site(PAGE.replace("</body>", f"{links}</body>"), lambda request: time.sleep(LATENCY_S))


def _site(page: str, wait: Callable[[Request], None]) -> Site:
    def answer(request: Request) -> Answer:
        wait(request)
        if request.path == "/" or request.path.startswith("/link/"):
            return Answer(page if request.path == "/" else "<!doctype html><title>A link</title>")
        return Answer("Not found", status=404)

    return Site({"*": answer}, certificate=Certificate.VALID)


def _scans(site: Site, scan_type: ScanType, rounds: int) -> tuple[list[float], int]:
    """Return the seconds of each scan, and the number of requests of the last one."""
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)
    times = []
    before = 0
    for _ in range(rounds + 1):  # the first warms up
        before = len(site.requests)
        begin = time.perf_counter()
        with Network(policy) as network:
            (result,) = scan(parse_target(f"{site.url}/", policy), [scan_type], network, Budget())
        times.append(time.perf_counter() - begin)
        assert result.status in ("completed", "partial"), result.error
    return times[1:], len(site.requests) - before


def _floor(site: Site) -> float:
    """Measure the lower bound in seconds: connection, TLS and page; then eight parallel probes on new connections."""
    assert site.ca_file is not None
    begin = time.perf_counter()
    first = _connection(site, site.ca_file)
    _ask(first)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: _ask(_connection(site, site.ca_file)), range(8)))
    first.close()
    return time.perf_counter() - begin


def _connection(site: Site, ca_file: Path | None) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=ca_file)
    return context.wrap_socket(socket.create_connection((site.address, site.port)), server_hostname=site.address)


def _ask(connection: ssl.SSLSocket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
