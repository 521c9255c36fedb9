"""Sensitive files: the usual paths, grouped by the check that judges them, and the content signature of each file.

Only the content proves a file. Many servers answer any path with status 200 or a wrong media type.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from website_scan.net.http.response import Response
from website_scan.page.registrable_domain import site_of
from website_scan.page.soft_404 import media_type
from website_scan.security import file_signatures as signatures

# Signatures match the beginning of a file, except those of JSON, which can only be parsed as a whole.
START_BYTES = 64 * 1024
JSON_BYTES = 512 * 1024
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
INTROSPECTION = "?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D"
DOMAIN = "{domain}"  # placeholder in a path for the registrable domain

FileSignature = Callable[[bytes], str | None]


@dataclass(frozen=True, slots=True)
class SensitiveFile:
    """Path of a sensitive file, and a function that returns the proof that a body is that file, or None."""

    path: str
    signature: FileSignature
    max_bytes: int = START_BYTES
    is_page: bool = False  # the sensitive file is an HTML page


def _files(
    signature: FileSignature, *paths: str, max_bytes: int = START_BYTES, is_page: bool = False
) -> tuple[SensitiveFile, ...]:
    return tuple(SensitiveFile(path, signature, max_bytes, is_page) for path in paths)


# Files by check ID. Only paths that the lists of several public scanners contain.
FAMILIES: Mapping[str, tuple[SensitiveFile, ...]] = {
    "exposed-git": (
        *_files(signatures.git_config, "/.git/config"),
        *_files(signatures.git_head, "/.git/HEAD"),
    ),
    "exposed-svn-hg": (
        *_files(signatures.svn_entries, "/.svn/entries"),
        *_files(signatures.sqlite, "/.svn/wc.db"),
        *_files(signatures.hg_requires, "/.hg/requires"),
    ),
    "exposed-env": _files(signatures.env_file, "/.env", "/.env.local", "/.env.production", "/.env.bak"),
    "exposed-credentials": (
        *_files(signatures.aws_credentials, "/.aws/credentials"),
        *_files(signatures.npmrc, "/.npmrc"),
        *_files(signatures.htpasswd, "/.htpasswd"),
        *_files(signatures.private_key, "/id_rsa", "/.ssh/id_rsa", "/.ssh/id_ed25519"),
        *_files(signatures.git_credentials, "/.git-credentials"),
    ),
    "exposed-backup": _files(
        signatures.archive, "/backup.zip", f"/{DOMAIN}.zip", "/www.zip", "/backup.tar.gz", f"/{DOMAIN}.tar.gz"
    ),
    "exposed-sql-dump": _files(signatures.sql_dump, "/dump.sql", "/backup.sql", "/database.sql", "/db.sql"),
    "exposed-sqlite": _files(signatures.sqlite, "/db.sqlite3", "/database.sqlite", "/database.db"),
    "exposed-source-backup": _files(
        signatures.php_source,
        "/wp-config.php.bak",
        "/wp-config.php~",
        "/wp-config.php.swp",
        "/.wp-config.php.swp",
        "/config.php.bak",
    ),
    "exposed-phpinfo": _files(signatures.phpinfo, "/phpinfo.php", "/info.php", is_page=True),
    "exposed-server-status": _files(signatures.server_status, "/server-status", "/server-info", is_page=True),
    "exposed-actuator": _files(signatures.actuator, "/actuator/env", "/actuator", max_bytes=JSON_BYTES),
    "exposed-compose": _files(signatures.compose_file, "/docker-compose.yml", "/compose.yaml", "/compose.yml"),
    "exposed-ds-store": _files(signatures.ds_store, "/.DS_Store"),
    "exposed-logs": _files(
        signatures.log_file,
        "/debug.log",
        "/error.log",
        "/error_log",
        "/storage/logs/laravel.log",
        "/wp-content/debug.log",
    ),
    "exposed-api-docs": (
        *_files(
            signatures.api_description,
            "/swagger.json",
            "/openapi.json",
            "/v2/api-docs",
            "/v3/api-docs",
            max_bytes=JSON_BYTES,
        ),
        *_files(signatures.graphql_schema, f"/graphql{INTROSPECTION}", max_bytes=JSON_BYTES),
    ),
}


def files_of(host: str) -> dict[str, tuple[SensitiveFile, ...]]:
    """Return the sensitive files by check ID, with the host's domain in their paths. IP addresses have no domain."""
    domain = site_of(host)
    try:
        ipaddress.ip_address(domain)
    except ValueError:
        pass
    else:
        domain = ""
    return {
        family: tuple(
            replace(file, path=file.path.replace(DOMAIN, domain)) for file in files if domain or DOMAIN not in file.path
        )
        for family, files in FAMILIES.items()
    }


def identify(file: SensitiveFile, response: Response) -> str | None:
    """Return the proof that the response contains the sensitive file, or None.

    The status must be 200, and the body HTML only if the file is a page. The media type text/html alone does not make
    a body HTML: servers send text/html by default for unknown types.
    """
    if response.status != 200 or not response.body:
        return None
    if not file.is_page:
        is_typed = media_type(response) in HTML_TYPES
        if signatures.is_html(response.body) or (is_typed and signatures.has_markup(response.body)):
            return None
    return file.signature(response.body)
