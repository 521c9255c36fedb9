"""Tests for the format of API keys and for responses to wrong keys."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from accounts.keys import minting
from accounts.keys.services import create_api_key, revoke_api_key
from accounts.models import ApiKey
from tests.factories import Api, Member
from tests.responses import ClientResponse


def test_minted_key_is_well_formed_with_prefix_and_digest() -> None:
    minted = minting.mint()
    assert minting.is_well_formed(minted.plaintext)
    assert minted.plaintext.startswith(minted.prefix)
    assert len(minted.digest) == 64
    assert minted.plaintext not in (minted.prefix, minted.digest)


@given(position=st.integers(4, 41), replacement=st.sampled_from("0aZ9"))
def test_key_with_one_wrong_character_fails_the_checksum(position: int, replacement: str) -> None:
    key = minting.mint().plaintext
    changed = key[:position] + replacement + key[position + 1 :]
    assert minting.is_well_formed(changed) == (changed == key)


@given(st.text(max_size=60))
def test_arbitrary_text_is_not_a_well_formed_key(text: str) -> None:
    assert not minting.is_well_formed(text)


def status_and_code(response: ClientResponse) -> tuple[int, str]:
    assert response["WWW-Authenticate"] == "Bearer"
    assert set(response.json()) == {"code", "error"}
    return response.status_code, response.json()["code"]


def test_bearer_scheme_is_case_insensitive(home: Member) -> None:
    assert Api().get("/v1/scans", Authorization=f"bearer {home.plaintext}").status_code == 200


def test_revoked_key_is_refused_with_KEY_REVOKED(home: Member) -> None:
    revoke_api_key(home.key)
    assert status_and_code(home.api.get("/v1/scans")) == (401, "KEY_REVOKED")


def test_plaintext_of_a_key_is_not_stored(home: Member) -> None:
    key, plaintext = create_api_key(organization=home.organization, name="x")
    stored = ApiKey.objects.filter(id=key.id).values().get()
    assert plaintext not in map(str, stored.values())


def test_last_used_at_is_written_at_most_once_a_minute(home: Member) -> None:
    home.api.get("/v1/scans")
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    home.api.get("/v1/scans")
    assert ApiKey.objects.get().last_used_at == first
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    home.api.get("/v1/scans")
    last_used_at = ApiKey.objects.get().last_used_at
    assert last_used_at is not None
    assert last_used_at >= first


def test_wrong_keys_are_limited_per_client_address(home: Member) -> None:
    here, elsewhere = Api("wrong", "10.1.1.1"), Api("wrong", "10.1.1.2")
    for _ in range(30):
        assert here.get("/v1/scans").status_code == 401
    limited = here.get("/v1/scans")
    assert (limited.status_code, limited.json()["code"]) == (429, "RATE_LIMITED")
    assert int(limited["Retry-After"]) >= 1
    assert limited["X-RateLimit-Limit"] == "30"
    assert elsewhere.get("/v1/scans").status_code == 401
    assert Api(home.plaintext, "10.1.1.1").get("/v1/scans").status_code == 200


def test_wrong_keys_are_limited_per_ipv6_network(home: Member) -> None:
    """IPv6 customers have a /64 network, so a limit per address would have no effect."""
    for number in range(30):
        assert Api("wrong", f"2001:db8:1:2::{number:x}").get("/v1/scans").status_code == 401
    assert Api("wrong", "2001:db8:1:2:ffff::1").get("/v1/scans").status_code == 429
    assert Api("wrong", "2001:db8:1:3::1").get("/v1/scans").status_code == 401
