from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tldextract

from website_scan.page import registrable_domain
from website_scan.page.registrable_domain import own_domain


def test_suffix_list_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    thread_count = threading.Barrier(4)

    class Suffixes(tldextract.TLDExtract):
        @property  # type: ignore[override]  # an attribute there: the test counts who sets it
        def _extractor(self) -> object:
            return self.__dict__.get("found")

        @_extractor.setter
        def _extractor(self, found: object) -> None:
            if found is not None:
                read.append(threading.current_thread().name)
            self.__dict__["found"] = found

    suffixes = Suffixes(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
    monkeypatch.setattr(registrable_domain, "_suffix_extractor", lambda: suffixes)

    def ask(host: str) -> str | None:
        thread_count.wait(10)
        return own_domain(host)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, [f"{n}.example.co.uk" for n in range(4)])) == {"example.co.uk"}
    assert len(read) == 1
