"""Paths and signatures of sensitive files, by check.

Only the content proves a file. Many servers answer any path with status 200 or a wrong media type.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from website_scan.net.http.response import Response
from website_scan.page.registrable_domain import site_of
from website_scan.page.soft_404 import media_type
from website_scan.security import file_signatures as signatures
from website_scan.security import git_signatures

# Only JSON must be parsed as a whole, other signatures match the beginning of a file.
MAX_SIGNATURE_BYTES = 64 * 1024
MAX_JSON_BYTES = 512 * 1024
HTML_MEDIA_TYPES = frozenset({"text/html", "application/xhtml+xml"})
INTROSPECTION = "?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D"
DOMAIN = "{domain}"  # Placeholder for the registrable domain in a path.

FileSignature = Callable[[bytes], str | None]


class SensitiveFile(Struct, frozen=True):
    """Path and signature of a sensitive file.

    `signature(body)` returns the proof that a body is the file, or None.
    """

    path: str
    signature: FileSignature
    max_bytes: int = MAX_SIGNATURE_BYTES
    is_html_page: bool = False  # The sensitive file is an HTML page.
    has_markup_in_values: bool = False  # Tags in the file do not prove that the response is a page.


def _make_files(
    signature: FileSignature,
    *paths: str,
    max_bytes: int = MAX_SIGNATURE_BYTES,
    is_html_page: bool = False,
    has_markup_in_values: bool = False,
) -> tuple[SensitiveFile, ...]:
    return tuple(SensitiveFile(path, signature, max_bytes, is_html_page, has_markup_in_values) for path in paths)


# All paths are in the lists of several public scanners.
FILES_BY_CHECK_ID: Mapping[str, tuple[SensitiveFile, ...]] = {
    "exposed-git": (
        *_make_files(signatures.git_config, "/.git/config"),
        *_make_files(git_signatures.git_head, "/.git/HEAD"),
        *_make_files(git_signatures.git_index, "/.git/index"),
        *_make_files(git_signatures.git_reflog, "/.git/logs/HEAD"),
        *_make_files(git_signatures.git_packed_refs, "/.git/packed-refs"),
        *_make_files(git_signatures.git_fetch_head, "/.git/FETCH_HEAD"),
        *_make_files(git_signatures.git_exclude, "/.git/info/exclude"),
    ),
    "exposed-svn-hg": (
        *_make_files(signatures.svn_entries, "/.svn/entries"),
        *_make_files(signatures.sqlite, "/.svn/wc.db"),
        *_make_files(signatures.hg_requires, "/.hg/requires"),
    ),
    "exposed-env": _make_files(
        signatures.env_file, "/.env", "/.env.local", "/.env.production", "/.env.bak", has_markup_in_values=True
    ),
    "exposed-credentials": (
        *_make_files(signatures.aws_credentials, "/.aws/credentials"),
        *_make_files(signatures.npmrc, "/.npmrc"),
        *_make_files(signatures.htpasswd, "/.htpasswd"),
        *_make_files(signatures.private_key, "/id_rsa", "/.ssh/id_rsa", "/.ssh/id_ed25519"),
        *_make_files(signatures.git_credentials, "/.git-credentials"),
    ),
    "exposed-backup": _make_files(
        signatures.archive, "/backup.zip", f"/{DOMAIN}.zip", "/www.zip", "/backup.tar.gz", f"/{DOMAIN}.tar.gz"
    ),
    "exposed-sql-dump": _make_files(signatures.sql_dump, "/dump.sql", "/backup.sql", "/database.sql", "/db.sql"),
    "exposed-sqlite": _make_files(signatures.sqlite, "/db.sqlite3", "/database.sqlite", "/database.db"),
    "exposed-source-backup": _make_files(
        signatures.php_source,
        "/wp-config.php.bak",
        "/wp-config.php~",
        "/wp-config.php.swp",
        "/.wp-config.php.swp",
        "/config.php.bak",
    ),
    "exposed-phpinfo": _make_files(signatures.phpinfo, "/phpinfo.php", "/info.php", is_html_page=True),
    "exposed-server-status": _make_files(signatures.server_status, "/server-status", "/server-info", is_html_page=True),
    "exposed-actuator": _make_files(signatures.actuator, "/actuator/env", "/actuator", max_bytes=MAX_JSON_BYTES),
    "exposed-compose": _make_files(signatures.compose_file, "/docker-compose.yml", "/compose.yaml", "/compose.yml"),
    "exposed-ds-store": _make_files(signatures.ds_store, "/.DS_Store"),
    "exposed-logs": _make_files(
        signatures.log_file,
        "/debug.log",
        "/error.log",
        "/error_log",
        "/storage/logs/laravel.log",
        "/wp-content/debug.log",
    ),
    "exposed-api-docs": (
        *_make_files(
            signatures.api_description,
            "/swagger.json",
            "/openapi.json",
            "/v2/api-docs",
            "/v3/api-docs",
            max_bytes=MAX_JSON_BYTES,
        ),
        *_make_files(signatures.graphql_schema, f"/graphql{INTROSPECTION}", max_bytes=MAX_JSON_BYTES),
    ),
}

# Sensitive files that are also requested in the folder of each page below the root. Further pages of a folder reuse the
# responses.
PATHS_BESIDE_PAGES = frozenset({"/.git/config", "/.git/HEAD", "/.git/index", "/.env"})


def files_of(host: str) -> dict[str, tuple[SensitiveFile, ...]]:
    """Return the sensitive files by check ID.

    Their paths contain the host's domain.
    """
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
        for family, files in FILES_BY_CHECK_ID.items()
    }


def files_beside(path: str) -> dict[str, tuple[SensitiveFile, ...]]:
    """Return sensitive files of two folders by check ID.

    These are the page's folder and the top folder of its path.

    Applications are often deployed in a folder with their repository. A page in the root has none.
    """
    _, *folders, _ = path.partition("?")[0].split("/")
    bases = dict.fromkeys(f"/{'/'.join(folders[:depth])}" for depth in (1, len(folders))) if any(folders) else {}
    return {
        family: tuple(
            replace(file, path=f"{base}{file.path}")
            for base in bases
            for file in files
            if file.path in PATHS_BESIDE_PAGES
        )
        for family, files in FILES_BY_CHECK_ID.items()
        if any(file.path in PATHS_BESIDE_PAGES for file in files)
    }


def identify_file(file: SensitiveFile, response: Response) -> str | None:
    """Return the proof that the response contains the sensitive file.

    None if there is no proof.

    The status must be 200, and the body HTML only if the file is a page. The media type text/html alone does not make
    a body HTML: servers send text/html by default for unknown types.
    """
    if response.status != 200 or not response.body:
        return None
    if not file.is_html_page:
        has_html_media_type = media_type(response) in HTML_MEDIA_TYPES and not file.has_markup_in_values
        if signatures.is_html(response.body) or (has_html_media_type and signatures.has_markup(response.body)):
            return None
    return file.signature(response.body)
