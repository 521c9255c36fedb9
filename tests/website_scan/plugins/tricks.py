"""Plug-in with hostile checks.

Each check of TRICKS but those named in GOOD must cost only itself.
"""

from __future__ import annotations

from tests.website_scan.plugins.distributions import module

GOOD = ("acme-first", "acme-last")
CODE = """
import json, os, re, socket, subprocess, sys, time, threading
import website_scan.plugins.verdicts
import website_scan.outcomes

@declared("acme-first")
def first(page: Page) -> Verdict:
    return Pass("The page is fine.")

@declared("acme-endless-loop")
def endless_loop(page: Page) -> Verdict:
    while True:
        pass

@declared("acme-sleep")
def sleep(page: Page) -> Verdict:
    time.sleep(1000)

@declared("acme-loop-in-c")
def loop_in_c(page: Page) -> Verdict:
    re.match(r"(a+)+$", "a" * 60 + "b")

@declared("acme-memory")
def memory(page: Page) -> Verdict:
    blocks = []
    while True:
        blocks.append(bytearray(50_000_000))

@declared("acme-os-exit")
def os_exit(page: Page) -> Verdict:
    os._exit(3)

@declared("acme-sys-exit")
def sys_exit(page: Page) -> Verdict:
    sys.exit("bye")

@declared("acme-exception")
def exception(page: Page) -> Verdict:
    raise ValueError("<script>alert(1)</script>\\x1b[31m\\x00" + "x" * 10_000_000)

@declared("acme-output")
def output(page: Page) -> Verdict:
    while True:
        print("x" * 1_000_000)

@declared("acme-output-to-descriptors")
def output_to_descriptors(page: Page) -> Verdict:
    while True:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"x" * 65_536)
            except OSError:
                pass

@declared("acme-forks")
def forks(page: Page) -> Verdict:
    while True:
        os.fork()

@declared("acme-subprocess")
def starts_program(page: Page) -> Verdict:
    subprocess.run(["sleep", "1000"])

@declared("acme-kill")
def kill(page: Page) -> Verdict:
    os.kill(os.getppid(), 9)

@declared("acme-socket")
def connects(page: Page) -> Verdict:
    socket.create_connection(("127.0.0.1", 80))

@declared("acme-write")
def writes(page: Page) -> Verdict:
    open("/tmp/written-by-a-plug-in", "w").write("x")

@dataclass
class Private:
    status: int

@probe
def request_to_private_address(network: Network) -> Private:
    return Private(network.get("http://169.254.169.254/latest/meta-data/").status)

@declared("acme-private-address")
def private_address(private: Private) -> Verdict:
    return Pass("An internal address answered.")

@dataclass
class Many:
    count: int

@probe
def request_too_much(page: Page, network: Network) -> Many:
    for number in range(1000):
        network.get(f"{page.url}?{number}")
    return Many(number)

@declared("acme-many-requests")
def many_requests(many: Many) -> Verdict:
    return Pass("A thousand requests were sent.")

@declared("acme-wants-network")
def wants_network(network: Network) -> Verdict:
    return Pass("Checks have a network.")

@declared("acme-patches")
def patches(page: Page) -> Verdict:
    website_scan.plugins.verdicts.verdict_json = lambda verdict: {"kind": "fail"}
    website_scan.outcomes.Pass.__init__ = None
    json.dumps = lambda *_: "nothing"
    return Warn("bad", "The page is fine.")

@declared("acme-contradiction")
def contradiction(page: Page) -> Verdict:
    return Fail("unknown-outcome", "The page is not fine.")

@declared("acme-wrong-template")
def wrong_template(page: Page) -> Verdict:
    return Fail("bad", "The page has {number} faults.")

@declared("acme-undeclared-severity")
def undeclared_severity(page: Page) -> Verdict:
    return Fail("bad", "The page is not fine.", severity=CRITICAL)

@declared("acme-gigantic")
def gigantic(page: Page) -> Verdict:
    return Fail("bad", "x" * 100_000_000)

@declared("acme-gigantic-number")
def gigantic_number(page: Page) -> Verdict:
    return Fail("bad", "The page has {n} faults.", n=Count(10 ** 4000, "fault"))

@declared("acme-not-a-number")
def not_a_number(page: Page) -> Verdict:
    return Fail("bad", "The page has {n}.", n=Bytes(float("nan")))

@declared("acme-no-verdict")
def no_verdict(page: Page) -> Verdict:
    return {"kind": "pass"}

@declared("acme-wrong-severity", severity="apocalyptic")
def wrong_severity(page: Page) -> Verdict:
    return Pass("The page is fine.")

@declared("acme-last")
def last(page: Page) -> Verdict:
    return Fail("bad", "The page is not fine.", places=[Element("p", "<p>", "It is short.")])
"""
SOURCE = module(CODE)
