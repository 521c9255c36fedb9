"""Tests for the request budget for third-party sites.

All organizations of an owner share this budget.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings

from accounts.models import Membership, Organization, Tier, User
from accounts.usage import Account, responsible_account
from infrastructure import redis_client
from infrastructure.telemetry.counters import counters
from scans.visits import other_sites
from scans.visits.other_sites import OtherSites
from tests.factories import Member, person_of
from tests.targets.server import Answer, Site
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target

# The fixture `db` also empties Redis.
pytestmark = pytest.mark.usefixtures("db")

SHOP = parse_target("https://www.shop.com/", Policy())
FREE = Account("person-1", 2)
MINUTE_US = 60_000_000


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the Redis script's clock.

    Otherwise the budget would refill during a slow test.
    """
    script_with_fixed_time = other_sites.RESERVE_REQUESTS.replace("redis.call('TIME')", f"{{{int(time.time())}, 0}}")
    assert script_with_fixed_time != other_sites.RESERVE_REQUESTS
    monkeypatch.setattr(other_sites, "_run_reserve_script", redis_client.client.register_script(script_with_fixed_time))


def allowed_requests(
    budget: OtherSites, host: str, times: int, addresses: Collection[str] = (PUBLIC,), port: int = 443
) -> int:
    """Send up to `times` requests and count the allowed ones."""
    for number in range(times):
        try:
            budget.request(host, port, addresses)
        except BudgetExceeded:
            return number
    return times


def pass_minutes(minutes: int) -> None:
    """Shift the stored times of all budgets back by minutes."""
    for key in redis_client.client.scan_iter("other-sites:*"):
        redis_client.client.incrby(key, -minutes * MINUTE_US)


def test_account_may_send_600_requests_to_a_site() -> None:
    """The free tier allows a burst of 300 requests, then 30 requests a minute."""
    total = allowed_requests(OtherSites(SHOP, FREE), "victim.com", 1000)
    assert total == 300
    for _ in range(10):
        pass_minutes(1)
        allowed = allowed_requests(OtherSites(SHOP, FREE), "victim.com", 1000)
        assert allowed == 30
        total += allowed
    assert total == 600


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("cdn.victim.com", PUBLIC), ("www.victim.com", "93.184.215.15")),
        (("one.com", PUBLIC), ("two.com", PUBLIC)),
        (("victim.co.uk", PUBLIC), ("static.victim.co.uk", "93.184.215.16")),
    ],
    ids=["names of a domain", "names of an address", "domains below a public suffix"],
)
def test_requests_are_counted_by_address_too(first: tuple[str, str], second: tuple[str, str]) -> None:
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, first[0], 300, [first[1]]) == 300
    assert allowed_requests(budget, second[0], 1, [second[1]]) == 0


def test_every_address_of_a_host_is_counted() -> None:
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, "one.com", 300, ["192.0.2.1", PUBLIC]) == 300
    assert allowed_requests(budget, "two.com", 1, [PUBLIC]) == 0


def test_other_accounts_have_separate_budgets() -> None:
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, "one.github.io", 300, ["192.0.2.1"]) == 300
    assert allowed_requests(budget, "two.github.io", 300, ["192.0.2.2"]) == 300
    assert allowed_requests(OtherSites(SHOP, Account("person-2", 2)), "one.github.io", 300, ["192.0.2.1"]) == 300


def test_requests_to_the_own_site_do_not_count() -> None:
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, "www.shop.com", 1000, [PUBLIC]) == 1000
    assert allowed_requests(budget, "static.shop.com", 1000, [PUBLIC], port=80) == 1000
    assert not redis_client.client.keys("other-sites:*")


def test_names_at_another_address_share_one_budget() -> None:
    """A domain's owner may point its names at another server.

    The number of such names is not limited.
    """
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, "www.shop.com", 1000, [PUBLIC]) == 1000
    assert sum(allowed_requests(budget, f"n{n}.shop.com", 30, ["192.0.2.1"]) for n in range(20)) == 300
    assert allowed_requests(OtherSites(SHOP, FREE), "n99.shop.com", 1, ["192.0.2.1"]) == 0
    assert allowed_requests(OtherSites(SHOP, FREE), "elsewhere.com", 1, ["192.0.2.1"]) == 0
    assert allowed_requests(budget, "static.shop.com", 1, [PUBLIC]) == 1
    # One of the two addresses belongs to the scanned host.
    assert allowed_requests(budget, "both.shop.com", 1, [PUBLIC, "192.0.2.1"]) == 0
    with pytest.raises(
        BudgetExceeded, match=r"^n1\.shop\.com has another address than www\.shop\.com, and one account "
    ):
        budget.request("n1.shop.com", 443, ["192.0.2.1"])


def test_concurrent_visits_respect_the_budget() -> None:
    with ThreadPoolExecutor(4) as pool:
        # Visits ask for more than the budget, so unsent reserved requests would lower the sum.
        counts = pool.map(lambda _: allowed_requests(OtherSites(SHOP, FREE), "victim.com", 400), range(4))
    assert sum(counts) == 300


def test_all_accounts_share_a_limit(settings: Any) -> None:
    settings.SCAN_REQUESTS_TO_OTHER_SITES = 1000
    counts = [allowed_requests(OtherSites(SHOP, Account(f"person-{n}", 2)), "victim.com", 300) for n in range(3)]
    assert counts == [300, 200, 0]
    with pytest.raises(BudgetExceeded, match=r"this installation sends it at most 500 requests at once, then 50 a min"):
        OtherSites(SHOP, Account("person-4", 2)).request("victim.com", 443, [PUBLIC])


def test_larger_tier_has_a_larger_budget() -> None:
    assert allowed_requests(OtherSites(SHOP, Account("person-1", 10)), "cdn.com", 2000) == 1500


def test_refusal_names_site_and_limit() -> None:
    before = counters.totals()
    with OtherSites(SHOP, FREE) as budget:
        allowed_requests(budget, "victim.com", 300)
        with pytest.raises(BudgetExceeded) as refusal:
            budget.request("www.victim.com", 443, [PUBLIC])
    assert str(refusal.value) == (
        "Nobody requested a scan of victim.com, and one account sends it at most 300 requests at once, "
        "then 30 a minute."
    )
    after = counters.totals()
    sent_series = ("website_scan_requests_to_other_sites",)
    refused_series = ("website_scan_requests_to_other_sites_refused", "account")
    assert after[sent_series] - before.get(sent_series, 0) == 300
    assert after[refused_series] - before.get(refused_series, 0) == 1


def test_private_hosts_are_counted_by_port(settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    scanned = parse_target("http://127.0.0.1:8001/", Policy(allowed_networks=(ip_network("127.0.0.0/8"),)))
    budget = OtherSites(scanned, FREE)
    assert allowed_requests(budget, "127.0.0.1", 500, ["127.0.0.1"], port=8001) == 500
    assert allowed_requests(budget, "127.0.0.1", 500, ["127.0.0.1"], port=8002) == 300
    assert allowed_requests(budget, "127.0.0.1", 500, ["127.0.0.1"], port=8003) == 300


def test_a_thousand_domains_cannot_aim_scans_at_one_mail_server() -> None:
    """The budget counts by address, over all accounts, scanned domains and names of the mail server."""
    allowed = 0
    for number in range(1000):
        scanned = parse_target(f"https://www.shop{number}.com/", Policy())
        budget = OtherSites(scanned, Account(f"person-{number}", 2))
        allowed += allowed_requests(budget, f"mx.shop{number}.com", 1, [PUBLIC], port=25)
    assert allowed == 10
    pass_minutes(1)
    assert allowed_requests(OtherSites(SHOP, FREE), "mx.shop.com", 100, [PUBLIC], port=25) == 5


def test_mail_servers_have_a_budget_of_their_own() -> None:
    budget = OtherSites(SHOP, FREE)
    assert allowed_requests(budget, "mx.victim.com", 100, [PUBLIC], port=25) == 10
    assert allowed_requests(budget, "www.victim.com", 100, [PUBLIC]) == 100
    assert allowed_requests(budget, "mx2.victim.com", 1, ["93.184.215.26"], port=25) == 1
    with pytest.raises(
        BudgetExceeded, match=r"^This installation connects to one mail server at most 10 times at once"
    ):
        budget.request("mx.victim.com", 25, [PUBLIC])


def test_mail_server_at_the_address_of_the_scanned_site_is_counted() -> None:
    budget = OtherSites(SHOP, FREE)
    budget.request("www.shop.com", 443, [PUBLIC])
    assert allowed_requests(budget, "www.shop.com", 100, [PUBLIC], port=25) == 10


def test_redis_outage_allows_all_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        unreachable_redis = redis.Redis(port=unused.getsockname()[1], **django_settings.REDIS_TIMEOUTS)
        script = unreachable_redis.register_script(other_sites.RESERVE_REQUESTS)
        monkeypatch.setattr(other_sites, "_run_reserve_script", script)
        assert allowed_requests(OtherSites(SHOP, FREE), "victim.com", 400) == 400


def test_organizations_of_one_owner_share_a_budget(home: Member) -> None:
    other = Organization.objects.create(name="Second", slug="second", tier=Tier.objects.get(name="free"))
    ownerless = responsible_account(other.id)
    assert ownerless == Account(f"organization-{other.id}", 2)
    person_of(home, Membership.Role.OWNER, "ada@example.com")
    account_of_other_organization = User.objects.create_user("Ada+2@example.com")
    Membership.objects.create(organization=other, user=account_of_other_organization, role=Membership.Role.OWNER)
    assert responsible_account(other.id) == responsible_account(home.organization.id) != ownerless


def test_redirect_targets_are_counted() -> None:
    with Site({"*": Answer.redirect("http://victim.com/")}) as page, Site({"*": Answer("<p>Victim")}) as victim:
        names = Names({"attacker.com": ("93.184.215.15",), "victim.com": (PUBLIC,)})
        wires = Wires({"93.184.215.15": page, PUBLIC: victim})
        target = parse_target("http://attacker.com/", Policy())
        budget = OtherSites(target, Account("person-1", 1))
        with Network(Policy(), resolver=names, dialer=wires, shared=budget) as network:
            final_urls = [network.follow(target)[-1].url for _ in range(150)]
            with pytest.raises(BudgetExceeded, match=r"Nobody requested a scan of victim\.com"):
                network.follow(target)
    assert set(final_urls) == {"http://victim.com/"}
    assert len(victim.requests) == 150
