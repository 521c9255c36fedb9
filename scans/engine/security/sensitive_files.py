"""Where sensitive files lie when they lie in the open: families of paths, and the proof for each.

A path alone says nothing, and neither does a media type: only content proves a file.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scans.engine.page.registrable_domain import site_of
from scans.engine.security import file_signatures as proofs
from scans.engine.security.soft_404 import media_type
from scans.net.http.response import Response

# Proofs stand at the beginning of files; JSON has to be read to its end.
START_BYTES = 64 * 1024
JSON_BYTES = 512 * 1024
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
INTROSPECTION = "?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D"
DOMAIN = "{domain}"  # in a path: the registrable domain


@dataclass(frozen=True, slots=True)
class SensitiveFile:
    """A path, and the function that says what proves a body to be that file, or None."""

    path: str
    proof: Callable[[bytes], str | None]
    max_bytes: int = START_BYTES
    is_page: bool = False  # it is HTML, where others are not


def _files(proof: Callable[[bytes], str | None], *paths: str) -> tuple[SensitiveFile, ...]:
    return tuple(SensitiveFile(path, proof) for path in paths)


def _pages(proof: Callable[[bytes], str | None], *paths: str) -> tuple[SensitiveFile, ...]:
    return tuple(SensitiveFile(path, proof, is_page=True) for path in paths)


def _documents(proof: Callable[[bytes], str | None], *paths: str) -> tuple[SensitiveFile, ...]:
    return tuple(SensitiveFile(path, proof, JSON_BYTES) for path in paths)


# By check ID. Where many paths are usual, those that the lists of public scanners have in common.
FAMILIES: Mapping[str, tuple[SensitiveFile, ...]] = {
    "exposed-git": (
        *_files(proofs.git_config, "/.git/config"),
        *_files(proofs.git_head, "/.git/HEAD"),
    ),
    "exposed-svn-hg": (
        *_files(proofs.svn_entries, "/.svn/entries"),
        *_files(proofs.sqlite, "/.svn/wc.db"),
        *_files(proofs.hg_requires, "/.hg/requires"),
    ),
    "exposed-env": _files(proofs.env_file, "/.env", "/.env.local", "/.env.production", "/.env.bak"),
    "exposed-credentials": (
        *_files(proofs.aws_credentials, "/.aws/credentials"),
        *_files(proofs.npmrc, "/.npmrc"),
        *_files(proofs.htpasswd, "/.htpasswd"),
        *_files(proofs.private_key, "/id_rsa", "/.ssh/id_rsa", "/.ssh/id_ed25519"),
        *_files(proofs.git_credentials, "/.git-credentials"),
    ),
    "exposed-backup": _files(
        proofs.archive, "/backup.zip", f"/{DOMAIN}.zip", "/www.zip", "/backup.tar.gz", f"/{DOMAIN}.tar.gz"
    ),
    "exposed-sql-dump": _files(proofs.sql_dump, "/dump.sql", "/backup.sql", "/database.sql", "/db.sql"),
    "exposed-sqlite": _files(proofs.sqlite, "/db.sqlite3", "/database.sqlite", "/database.db"),
    "exposed-source-backup": _files(
        proofs.php_source,
        "/wp-config.php.bak",
        "/wp-config.php~",
        "/wp-config.php.swp",
        "/.wp-config.php.swp",
        "/config.php.bak",
    ),
    "exposed-phpinfo": _pages(proofs.phpinfo, "/phpinfo.php", "/info.php"),
    "exposed-server-status": _pages(proofs.server_status, "/server-status", "/server-info"),
    "exposed-actuator": _documents(proofs.actuator, "/actuator/env", "/actuator"),
    "exposed-compose": _files(proofs.compose_file, "/docker-compose.yml", "/compose.yaml", "/compose.yml"),
    "exposed-ds-store": _files(proofs.ds_store, "/.DS_Store"),
    "exposed-logs": _files(
        proofs.log_file, "/debug.log", "/error.log", "/error_log", "/storage/logs/laravel.log", "/wp-content/debug.log"
    ),
    "exposed-api-docs": (
        *_documents(proofs.api_description, "/swagger.json", "/openapi.json", "/v2/api-docs", "/v3/api-docs"),
        *_documents(proofs.graphql_schema, f"/graphql{INTROSPECTION}"),
    ),
}


def files_of(host: str) -> dict[str, tuple[SensitiveFile, ...]]:
    """The families for a host: its domain put in; an address has none, and no files named after one."""
    domain = site_of(host)
    try:
        ipaddress.ip_address(domain)
    except ValueError:
        pass
    else:
        domain = ""
    return {
        family: tuple(
            SensitiveFile(each.path.replace(DOMAIN, domain), each.proof, each.max_bytes, each.is_page)
            for each in files
            if domain or DOMAIN not in each.path
        )
        for family, files in FAMILIES.items()
    }


def proof_of(file: SensitiveFile, response: Response) -> str | None:
    """What proves that the answer is the file: status 200, no markup where none belongs, and its content.

    A type of HTML alone is no markup: servers send what they do not know as their default type.
    """
    if response.status != 200 or not response.body:
        return None
    if not file.is_page:
        is_typed = media_type(response) in HTML_TYPES
        if proofs.is_html(response.body) or (is_typed and proofs.has_markup(response.body)):
            return None
    return file.proof(response.body)
