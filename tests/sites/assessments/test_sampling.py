"""Tests for the choice of a sample of an audit's pages."""

from __future__ import annotations

from sites.assessments.sampling import Candidate, choose_sample

SITE = "https://museum.example.com"


def chosen(candidates: list[Candidate], size: int, seed: str = "a") -> dict[str, str]:
    return {page.url.removeprefix(SITE): page.reason for page in choose_sample(candidates, size, seed)}


def pages(*paths: str, score: int = 90) -> list[Candidate]:
    return [Candidate(f"{SITE}{path}", score) for path in paths]


def test_small_audit_is_the_sample() -> None:
    assert chosen(pages("/", "/a", "/b"), 3) == {"/": "start", "/a": "structure", "/b": "structure"}


def test_sample_has_one_page_of_each_kind_and_common_pages_first() -> None:
    objects = pages(*(f"/objects/{number}" for number in range(200)))
    worst = Candidate(f"{SITE}/objects/77", 12)
    objects[77] = worst
    rest = pages("/contact", "/news/2026/opening", "/search?q=monet&page=2")
    sample = chosen([*pages("/"), *objects, *rest], 10)
    assert sample["/"] == "start"
    assert [path for path, reason in sample.items() if reason == "structure"] == [
        "/objects/77",
        "/contact",
        "/news/2026/opening",
        "/search?q=monet&page=2",
    ]
    assert sum(reason == "random" for reason in sample.values()) == 10 - 5
    assert len(sample) == 10


def test_tenth_of_a_large_sample_is_random_and_repeatable() -> None:
    candidates = pages("/", *(f"/{number}/{letter}" for number in range(1, 60) for letter in "abcdefgh"[: number % 8]))
    kinds = pages(*(f"/kind{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))
    sample = chosen([*candidates, *kinds], 20)
    assert sum(reason == "random" for reason in sample.values()) == 2
    assert chosen([*candidates, *kinds], 20) == sample
    assert chosen([*candidates, *kinds], 20, "b") != sample
