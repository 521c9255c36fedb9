from __future__ import annotations

import ssl
from pathlib import Path
from types import SimpleNamespace

import certifi
import pytest

from tests.website_scan.net.tls_servers import Identity
from website_scan.net.http.connections import Trust, tls_context
from website_scan.net.tls.roots import additional_roots, public_roots


def loaded(*files: str) -> set[bytes]:
    """Return the roots that Python's ssl reads from these files (DER)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for each in files:
        context.load_verify_locations(each)
    return set(context.get_ca_certs(binary_form=True))


def use(system: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = SimpleNamespace(cafile=system and str(system), capath=None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)


def test_a_context_trusts_the_roots_of_system_and_certifi_and_no_others() -> None:
    system = ssl.get_default_verify_paths().cafile
    trusted = set(tls_context(None, Trust.STRICT).get_ca_certs(binary_form=True))
    assert trusted == loaded(certifi.where(), *([system] if system else []))


def test_public_roots_are_those_of_certifi() -> None:
    assert public_roots() == loaded(certifi.where())


def test_the_roots_that_the_system_has_are_not_loaded_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(iter(public_roots()))
    own = Identity.root()
    (tmp_path / "system.pem").write_text(ssl.DER_cert_to_PEM_cert(one) + "A comment\n" + own.pem.decode())
    use(tmp_path / "system.pem", monkeypatch)
    assert additional_roots() == public_roots() - {one}


@pytest.mark.parametrize("content", [None, "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n", ""])
def test_a_system_without_readable_roots_gets_all_of_certifi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "system.pem"
    if content is not None:
        file.write_text(content)
    use(file, monkeypatch)
    assert additional_roots() == public_roots()
    use(None, monkeypatch)
    assert additional_roots() == public_roots()
