"""Signatures of sensitive files: functions that return the proof that a body is a file of a format, or None.

A signature matches the form of the whole file, because articles about such files quote single lines of them.
The proof names keys, sections and formats, and never a value.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Sequence

from website_scan.messages import counted, some

MAX_LINES = 400
MAX_LINE = 2000
TAR_MAGIC_OFFSET = 257

ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]{0,100})\s{0,4}=\s*(.*)")
SECRET_NAME = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL"
    r"|(?:^|_)(?:PASS|PWD|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SALT|DSN|DATABASE_URL|DB_URL|REDIS_URL"
    r"|MONGO\w{0,60}_UR[IL])(?:_|$)"
    r"|(?<!PUBLIC)_KEY$",
    re.IGNORECASE,
)
# Empty value, or a placeholder such as ${NAME} or <password>.
PLACEHOLDER = re.compile(r"|null|none|<.*>|\$\{.*\}|\{\{.*\}\}|(?:your|insert)[-_ ].*", re.IGNORECASE)

GIT_SECTION = re.compile(r'\[([a-z][a-z0-9.-]*)(?: "[^"]*")?\]', re.IGNORECASE)
INI_LINE = re.compile(r"[#;\[]|[\w.-]+\s*=|[\w-]+$")
HG_REQUIREMENTS = frozenset({"revlogv1", "revlogv2", "store", "fncache", "generaldelta", "share-safe", "dotencode"})
AWS_SECRET = re.compile(r"\s*aws_secret_access_key\s*=\s*\S{20,}", re.IGNORECASE)
NPM_SECRET = re.compile(r"(?:\S*:)?(_authToken|_auth|_password)\s*=\s*\S+")
NPM_LINE = re.compile(r"[\w@/:.\[\]-]+\s*=.*")
HTPASSWD_LINE = re.compile(
    r"[^:\s]{1,100}:(?:\$(?:apr1|1|2[abxy]?|5|6|y|argon2\w*)\$\S{20,}|\{(?:SHA|SSHA)\}\S{20,}|[./0-9A-Za-z]{13})"
)
PRIVATE_KEY = re.compile(r"\s*-----BEGIN ((?:[A-Z0-9]+ ){0,3}PRIVATE KEY)-----\r?\n[A-Za-z0-9+/=:,\s-]{40}")
GIT_CREDENTIALS = re.compile(r"https?://[^/@\s:]*:[^/@\s]+@[\w.:-]+\S*")

SQL_START = re.compile(
    r"\s*(?:--(?!-\s*\n)|/\*|CREATE (?:TABLE|DATABASE|SCHEMA|TYPE|EXTENSION)\b|INSERT INTO\b"
    r"|(?:DROP|ALTER|LOCK) TABLES?\b|SET \S+ ?=|SET NAMES\b|USE (?:\S+;[ \t]*[\r\n]|\[\w)|BEGIN(?: TRANSACTION)?;"
    r"|START TRANSACTION|PRAGMA \w)",
    re.IGNORECASE,
)
SQL_STATEMENT = re.compile(
    r"^[ \t]{0,20}(CREATE TABLE|INSERT INTO)(?: IF NOT EXISTS)? ([^\s(;]{1,100})\s{0,9}(?:\(|VALUES\b|SELECT\b)",
    re.IGNORECASE | re.MULTILINE,
)
PHP_SECRET = re.compile(
    r"\bdefine\s*\(\s*['\"](\w{1,60})['\"]\s*,|\$(?:\w+\[['\"])?(\w*pass(?:word|wd)?)['\"]?\]?\s*=[^=>]", re.IGNORECASE
)
SWAP_MAGIC = b"b0VIM "

PHPINFO_MARK = re.compile(
    r"<title>\s*(?:PHP [\d.]{1,30}\S{0,60} - )?phpinfo\(\)\s*</title>|<h1 class=\"p\">PHP Version|<td class=\"e\">",
    re.IGNORECASE,
)
PHP_VERSION = re.compile(r"PHP Version(?:</td><td class=\"v\">|\s|</?\w+>)*(\d+\.\d+[\w.+~-]{0,30})")
STATUS_TITLE = re.compile(
    r"<title>\s*(Apache Status|(?:Apache )?Server (?:Status|Information))\b[^<]{0,80}</title>", re.I
)
# The title alone proves nothing: game servers have status pages with the same title and a version.
STATUS_BODY = re.compile(
    r"<h1[^>]{0,100}>\s*Apache Server (?:Status|Information)\b|Server Version:\s*(?:<[^>]{1,100}>\s*){0,4}Apache\b"
)

COMPOSE_TOP = re.compile(
    r"(?:version|name|services|volumes|networks|configs|secrets|include|x-[\w.-]+)\s*:.*|---.*|\.\.\."
)
COMPOSE_SERVICE = re.compile(
    r"^services\s*:[^\S\n]*(?:#[^\n]*)?\n(?:[ \t]*(?:#[^\n]*)?\n)*+[ \t]+([\w.-]{1,60})\s*:", re.MULTILINE
)

LOG_STARTS = (
    r"\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d",  # Laravel, Monolog
    r"\[\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d",  # PHP
    r"\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d",  # Apache's error log
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d",  # nginx, log4j, Python
    r"\w{3} [ \d]\d \d\d:\d\d:\d\d \S",  # syslog
    r"\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d",  # access logs
    r"PHP (?:Fatal error|Parse error|Warning|Notice|Deprecated): ",
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)(?::\w|\s*\[|\s+\d{4}-)",
    r"Traceback \(most recent call last\):",
    r"(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b",
    r"[A-Z], \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",  # Ruby
)
LOG_LINE = re.compile("|".join(LOG_STARTS))
# Lines that continue a log entry: stack frames, dumped values.
LOG_CONTINUATION = re.compile(r"\s|#\d+ |\[|[\]})\"']|Stack trace:|Caused by:|--")

API_SPEC_START = re.compile(rb'\s*\{\s*"(?:swagger|openapi)"\s*:\s*"[23]\.\d')
SOURCE_MAP_START = re.compile(rb'\s*\{(?:[^{}]{0,400},)?\s*"version"\s*:\s*3\b')
SOURCE_MAP_BODY = re.compile(rb'"sources"\s*:\s*\[\s*"|"mappings"\s*:\s*"[A-Za-z0-9+/,;]{20}')
# Actuator endpoints that Spring Boot exposes by default.
HARMLESS_ENDPOINTS = re.compile(r"health(?:-.*)?|info")
HEALTH_ONLY = "an index of nothing but health and info"


def git_config(body: bytes) -> str | None:
    lines = _first_lines(body)
    sections = [match[1] for line in lines if (match := GIT_SECTION.fullmatch(line.strip()))]
    if "core" not in sections or not _is_ini(lines):
        return None
    return f"a Git configuration with {_summary([f'[{section}]' for section in sections])}"


def git_head(body: bytes) -> str | None:
    text = body.strip()
    if re.fullmatch(rb"ref: refs/[\w./-]{1,200}", text):
        return "a reference to a branch (ref: refs/…)"
    return "the number of a commit" if re.fullmatch(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?", text) else None


def svn_entries(body: bytes) -> str | None:
    if re.match(rb"(?:[89]|1\d)\r?\n(?:\r?\ndir\r?\n|\Z)", body):
        return "the entries of a Subversion working copy"
    is_xml = re.match(rb"\s*<\?xml[^>]{0,100}>\s*<wc-entries\b", body)
    return "the entries of a Subversion working copy" if is_xml else None


def hg_requires(body: bytes) -> str | None:
    lines = _first_lines(body)
    is_list = 0 < len(lines) <= 30 and all(re.fullmatch(r"[a-z0-9.=-]{3,60}", line) for line in lines)
    return f"Mercurial's requirements {_summary(lines)}" if is_list and HG_REQUIREMENTS & set(lines) else None


def env_file(body: bytes) -> str | None:
    """Match a .env file: at least two assignments, one of a secret, on four fifths of the lines."""
    lines = [line for line in _first_lines(body) if not line.lstrip().startswith("#")]
    pairs = [match.groups() for line in lines if (match := ASSIGNMENT.fullmatch(line.strip()))]
    secret = [name for name, value in pairs if SECRET_NAME.search(name) and not _is_placeholder(value)]
    if len(pairs) < 2 or not secret or len(pairs) < 0.8 * len(lines) or not ASSIGNMENT.fullmatch(lines[0].strip()):
        return None
    return f"{len(pairs)} assignments, among them {_summary(secret)}"


def aws_credentials(body: bytes) -> str | None:
    lines = _first_lines(body)
    return "aws_secret_access_key" if _is_ini(lines) and any(AWS_SECRET.match(line) for line in lines) else None


def npmrc(body: bytes) -> str | None:
    lines = [line.strip() for line in _first_lines(body) if not line.lstrip().startswith(("#", ";"))]
    if not lines or not all(NPM_LINE.fullmatch(line) for line in lines):
        return None
    secrets = [
        match[1] for line in lines if (match := NPM_SECRET.match(line)) and not _is_placeholder(line.partition("=")[2])
    ]
    return f"npm's {_summary(secrets)}" if secrets else None


def htpasswd(body: bytes) -> str | None:
    lines = [line.strip() for line in _first_lines(body) if not line.lstrip().startswith("#")]
    if not lines or not all(HTPASSWD_LINE.fullmatch(line) for line in lines):
        return None
    return f"{counted(len(lines), 'user')} with password hashes"


def private_key(body: bytes) -> str | None:
    match = PRIVATE_KEY.match(_decode(body)[:MAX_LINE])
    return f"the beginning of a file with {match[1].lower()}" if match else None


def git_credentials(body: bytes) -> str | None:
    lines = _first_lines(body)
    is_list = bool(lines) and all(GIT_CREDENTIALS.fullmatch(line.strip()) for line in lines)
    return "addresses with user names and passwords" if is_list else None


def archive(body: bytes) -> str | None:
    """Match a ZIP or tar archive, or a gzip file whose content is neither HTML nor JSON."""
    if body.startswith(b"PK\x03\x04"):
        return "the magic number of a ZIP archive"
    if body[TAR_MAGIC_OFFSET : TAR_MAGIC_OFFSET + 5] == b"ustar":
        return "the magic number of a tar archive"
    if not body.startswith(b"\x1f\x8b\x08"):
        return None
    try:
        content = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, 1024)
    except zlib.error:
        content = b""
    return None if is_html(content) or content.lstrip()[:1] in (b"{", b"[") else "the magic number of a gzip file"


def sql_dump(body: bytes) -> str | None:
    text = _decode(body)
    if not SQL_START.match(text[:MAX_LINE]):
        return None
    tables = SQL_STATEMENT.findall(text)
    return f"SQL: {_summary([f'{statement.upper()} {table}' for statement, table in tables])}" if tables else None


def sqlite(body: bytes) -> str | None:
    return "the magic number of an SQLite database" if body.startswith(b"SQLite format 3\0") else None


def php_source(body: bytes) -> str | None:
    """Match PHP source that sets a password or constant, or a Vim swap file with such source."""
    is_swap = body.startswith(SWAP_MAGIC)
    if not is_swap and not _decode(body[:200]).lstrip().startswith("<?php"):
        return None
    names = [first or second for first, second in PHP_SECRET.findall(body.decode("utf-8", "replace"))]
    if not names:
        return None
    return f"{'a swap file of ' if is_swap else ''}PHP source that sets {_summary(names)}"


def phpinfo(body: bytes) -> str | None:
    text = _decode(body)
    version = PHP_VERSION.search(text)
    is_table = PHPINFO_MARK.search(text) and "PHP Extension" in text
    return f"phpinfo() of PHP {version[1]}" if version and is_table else None


def server_status(body: bytes) -> str | None:
    text = _decode(body)
    title = STATUS_TITLE.search(text)
    return f"a page titled “{title[1]}”" if title and "Server Version" in text and STATUS_BODY.search(text) else None


def actuator(body: bytes) -> str | None:
    content = _parse_json(body)
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("activeProfiles"), list):
        return "activeProfiles and the application's environment"
    links = content.get("_links")
    if not isinstance(links, dict) or not isinstance(links.get("self"), dict):
        return None
    # Other APIs have _links, too, but only the actuator's own URL ends with /actuator.
    if not str(links["self"].get("href")).rstrip("/").endswith("/actuator"):
        return None
    names = [str(name) for name in links if name != "self"]
    if names and all(HARMLESS_ENDPOINTS.fullmatch(name) for name in names):
        return HEALTH_ONLY
    return f"links to {_summary(names)}" if names else "an index of endpoints"


def compose_file(body: bytes) -> str | None:
    text = _decode(body)
    top_level = [line for line in text.splitlines()[:MAX_LINES] if line.strip() and line[0] not in " \t#"]
    match = COMPOSE_SERVICE.search(text.replace("\r\n", "\n"))
    if match is None or not all(COMPOSE_TOP.fullmatch(line.rstrip()) for line in top_level):
        return None
    return f"services: {match[1]}"


def ds_store(body: bytes) -> str | None:
    return "the magic number of a .DS_Store" if body.startswith(b"\0\0\0\1Bud1") else None


def log_file(body: bytes) -> str | None:
    lines = _first_lines(body)
    if not lines or not LOG_LINE.match(lines[0]):
        return None
    entries = sum(1 for line in lines if LOG_LINE.match(line))
    if entries + sum(1 for line in lines if LOG_CONTINUATION.match(line)) < 0.6 * len(lines):
        return None  # a text that quotes a log
    return f"{counted(entries, 'log entry', 'log entries')} at the beginning"


def api_description(body: bytes) -> str | None:
    content = _parse_json(body)
    if content is None:
        return "the beginning of an API description" if API_SPEC_START.match(body) and b'"paths"' in body else None
    if not isinstance(content, dict) or not isinstance(content.get("paths"), dict):
        return None
    for kind in ("openapi", "swagger"):
        version = content.get(kind)
        if isinstance(version, str) and re.fullmatch(r"[123]\.[\w.-]{1,20}", version):
            return f"{kind} {version} with {len(content['paths'])} paths"
    return None


def graphql_schema(body: bytes) -> str | None:
    content = _parse_json(body)
    data = content.get("data") if isinstance(content, dict) else None
    return "data.__schema" if isinstance(data, dict) and isinstance(data.get("__schema"), dict) else None


def source_map(body: bytes) -> str | None:
    """Match a source map (ECMA-426), even if the body is truncated."""
    body = body[body.find(b"\n") + 1 :] if body.startswith(b")]}'") else body
    content = _parse_json(body)
    if content is None:
        is_start = SOURCE_MAP_START.match(body[:4096]) and SOURCE_MAP_BODY.search(body)
        return "the beginning of a source map" if is_start else None
    if not isinstance(content, dict) or "version" not in content:
        return None
    sections = content.get("sections")
    if isinstance(sections, list) and sections and isinstance(sections[0], dict):
        content = sections[0].get("map")
    sources = content.get("sources") if isinstance(content, dict) else None
    return f"a source map of {len(sources)} files" if isinstance(sources, list) and sources else None


def is_html(body: bytes) -> bool:
    """Return True if the body begins like an HTML page, whatever its media type."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    while start.startswith(b"<!--") and b"-->" in start:
        start = start.partition(b"-->")[2].lstrip()
    return bool(re.match(rb"<(?:!doctype\s+html|html|head|body|title|meta|div|p|h1|script|svg|table)\b", start, re.I))


def has_markup(body: bytes) -> bool:
    """Return True if the body contains an HTML or XML tag anywhere."""
    return re.search(rb"</?[a-z][a-z0-9-]*[\s/>]|<!doctype", body, re.IGNORECASE) is not None


def _decode(body: bytes) -> str:
    """Decode the body as UTF-8, or as UTF-16 with a byte order mark, which SQL Server and Windows editors write."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    return body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _first_lines(body: bytes) -> list[str]:
    """Return the first 400 lines without blank ones, each cut to 2,000 characters. Empty if the body is binary."""
    text = _decode(body)
    if "\0" in text:
        return []
    return [line[:MAX_LINE] for line in text.splitlines()[:MAX_LINES] if line.strip()]


def _parse_json(body: bytes) -> object:
    """Return the parsed JSON. None if the body is not JSON, or truncated."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_ini(lines: Sequence[str]) -> bool:
    """Return True if the first line is a section and four fifths of all lines are valid in an INI file."""
    valid = sum(1 for line in lines if INI_LINE.match(line.strip()))
    first = next((line.strip() for line in lines if not line.lstrip().startswith(("#", ";"))), "")
    return GIT_SECTION.match(first) is not None and valid >= 0.8 * len(lines)


def _is_placeholder(value: str) -> bool:
    return PLACEHOLDER.fullmatch(value.partition(" #")[0].strip().strip("\"'").strip()) is not None


def _summary(names: Sequence[str]) -> str:
    return some(list(dict.fromkeys(names)))
