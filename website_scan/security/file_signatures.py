"""Functions that recognize sensitive files by their content.

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
from website_scan.security.dotenv import Assignment, parse_environment_file

MAX_LINES = 400
MAX_LINE_CHARACTERS = 2000
TAR_MAGIC_OFFSET = 257

SECRET_NAME = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL"
    r"|(?:^|[_.-])(?:PASS|PWD|TOKEN|API[_.-]?KEY|ACCESS[_.-]?KEY|PRIVATE[_.-]?KEY|SALT|DSN"
    r"|(?:DATABASE|DB|REDIS)[_.-]URL|MONGO\w{0,60}_UR[IL])(?:[_.-]|$)"
    r"|(?<!PUBLIC)[_.-]KEY$",
    re.IGNORECASE,
)
# Empty value, placeholder such as ${NAME}, text encrypted by dotenvx, or reference to a vault.
PLACEHOLDER = re.compile(
    r"|null|none|<.*>|\$\{.*\}|\$\(.*\)|(?-i:\$[A-Z][A-Z0-9_]*)|\{\{.*\}\}|(?:your|insert)[-_ ].*"
    r"|encrypted:.*|(?:op|vault|ref\+\w+)://.*",
    re.IGNORECASE,
)
# A colon followed by this many words is a sentence rather than a secret.
MIN_WORDS_OF_SENTENCE = 3
MIN_SECRET_CHARACTERS = 8

GIT_SECTION = re.compile(r'\[([a-z][a-z0-9.-]*)(?: "[^"]*")?\]', re.IGNORECASE)
# A variable or comment may follow a section on its line (git-config, "Syntax").
GIT_SECTION_LINE = re.compile(rf"{GIT_SECTION.pattern}[ \t]{{0,40}}(?:[#;].*|[a-z][a-z0-9-]*[ \t]{{0,40}}=.*)?", re.I)
INI_LINE = re.compile(r"[#;\[]|[\w.-]+\s*=|[\w-]+$")
MERCURIAL_REQUIREMENTS = frozenset(
    {"revlogv1", "revlogv2", "store", "fncache", "generaldelta", "share-safe", "dotencode"}
)
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
VIM_SWAP_MAGIC = b"b0VIM "

PHPINFO_MARKUP = re.compile(
    r"<title>\s*(?:PHP [\d.]{1,30}\S{0,60} - )?phpinfo\(\)\s*</title>|<h1 class=\"p\">PHP Version|<td class=\"e\">",
    re.IGNORECASE,
)
PHP_VERSION = re.compile(r"PHP Version(?:</td><td class=\"v\">|\s|</?\w+>)*(\d+\.\d+[\w.+~-]{0,30})")
SERVER_STATUS_TITLE = re.compile(
    r"<title>\s*(Apache Status|(?:Apache )?Server (?:Status|Information))\b[^<]{0,80}</title>", re.I
)
# Status pages of game servers have the same title and a version.
SERVER_STATUS_BODY = re.compile(
    r"<h1[^>]{0,100}>\s*Apache Server (?:Status|Information)\b|Server Version:\s*(?:<[^>]{1,100}>\s*){0,4}Apache\b"
)

COMPOSE_TOP_LEVEL_LINE = re.compile(
    r"(?:version|name|services|volumes|networks|configs|secrets|include|x-[\w.-]+)\s*:.*|---.*|\.\.\."
)
COMPOSE_SERVICE = re.compile(
    r"^services\s*:[^\S\n]*(?:#[^\n]*)?\n(?:[ \t]*(?:#[^\n]*)?\n)*+[ \t]+([\w.-]{1,60})\s*:", re.MULTILINE
)

LOG_LINE_STARTS = (
    r"\[\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d",
    r"\[\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d",
    r"\[\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d",
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d",
    r"\w{3} [ \d]\d \d\d:\d\d:\d\d \S",
    r"\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d",
    r"PHP (?:Fatal error|Parse error|Warning|Notice|Deprecated): ",
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)(?::\w|\s*\[|\s+\d{4}-)",
    r"Traceback \(most recent call last\):",
    r"(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b",
    r"[A-Z], \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
)
LOG_LINE = re.compile("|".join(LOG_LINE_STARTS))
# Continuation lines of a log entry, such as stack frames and dumped values.
LOG_CONTINUATION = re.compile(r"\s|#\d+ |\[|[\]})\"']|Stack trace:|Caused by:|--")

API_SPEC_START = re.compile(rb'\s*\{\s*"(?:swagger|openapi)"\s*:\s*"[23]\.\d')
SOURCE_MAP_START = re.compile(rb'\s*\{(?:[^{}]{0,400},)?\s*"version"\s*:\s*3\b')
SOURCE_MAP_BODY = re.compile(rb'"sources"\s*:\s*\[\s*"|"mappings"\s*:\s*"[A-Za-z0-9+/,;]{20}')
# Actuator endpoints that Spring Boot exposes by default, and that disclose little.
HARMLESS_ACTUATOR_ENDPOINTS = re.compile(r"health(?:-.*)?|info")
HEALTH_ONLY_PROOF = "an index of nothing but health and info"


def git_config(body: bytes) -> str | None:
    lines = _first_lines(body)
    sections = [match[1].lower() for line in lines if (match := GIT_SECTION_LINE.fullmatch(line.strip()))]
    if "core" not in sections or not _is_ini_file(lines):
        return None
    return f"a Git configuration with {_summarize_names([f'[{section}]' for section in sections])}"


def svn_entries(body: bytes) -> str | None:
    if re.match(rb"(?:[89]|1\d)\r?\n(?:\r?\ndir\r?\n|\Z)", body):
        return "the entries of a Subversion working copy"
    is_xml = re.match(rb"\s*<\?xml[^>]{0,100}>\s*<wc-entries\b", body)
    return "the entries of a Subversion working copy" if is_xml else None


def hg_requires(body: bytes) -> str | None:
    lines = _first_lines(body)
    is_requirement_list = 0 < len(lines) <= 30 and all(re.fullmatch(r"[a-z0-9.=-]{3,60}", line) for line in lines)
    return (
        f"Mercurial's requirements {_summarize_names(lines)}"
        if is_requirement_list and MERCURIAL_REQUIREMENTS & set(lines)
        else None
    )


def env_file(body: bytes) -> str | None:
    """Match a .env file with a secret.

    Pages that print such lines have markup in most of them. A single assignment must have the usual form.
    """
    text = _decode(body)
    if "\0" in text:
        return None
    file = parse_environment_file(text)
    pairs = file.assignments
    secret = [pair.name for pair in pairs if SECRET_NAME.search(pair.name) and _holds_secret(pair)]
    has_few_others = len(pairs) >= 0.8 * (len(pairs) + file.others)
    if not secret or not has_few_others or not file.begins_with_assignment:
        return None
    if len(pairs) == 1 and not _is_usual_assignment(pairs[0]):
        return None
    if sum(1 for pair in pairs if has_markup(pair.value.encode())) > len(pairs) / 2:
        return None
    if len(pairs) == 1:
        return f"an assignment of {secret[0]}"
    return f"{len(pairs)} assignments, among them {_summarize_names(secret)}"


def _is_usual_assignment(assignment: Assignment) -> bool:
    """Return True for an assignment such as `API_KEY=value`.

    The name has capitals, the sign is not a colon, and the value is long enough, and one word or in quotes.
    """
    is_one_value = assignment.is_quoted or len(assignment.value.split()) == 1
    is_long = len(assignment.value) >= MIN_SECRET_CHARACTERS
    return assignment.name.isupper() and not assignment.has_colon and is_one_value and is_long


def _holds_secret(assignment: Assignment) -> bool:
    is_sentence = (
        assignment.has_colon
        and not assignment.is_quoted
        and len(assignment.value.split()) >= MIN_WORDS_OF_SENTENCE
        and not assignment.value.startswith("-----BEGIN ")
    )
    return not is_sentence and not _is_placeholder_value(assignment.value)


def aws_credentials(body: bytes) -> str | None:
    lines = _first_lines(body)
    return "aws_secret_access_key" if _is_ini_file(lines) and any(AWS_SECRET.match(line) for line in lines) else None


def npmrc(body: bytes) -> str | None:
    lines = [line.strip() for line in _first_lines(body) if not line.lstrip().startswith(("#", ";"))]
    if not lines or not all(NPM_LINE.fullmatch(line) for line in lines):
        return None
    secrets = [
        match[1]
        for line in lines
        if (match := NPM_SECRET.match(line)) and not _is_placeholder_value(line.partition("=")[2])
    ]
    return f"npm's {_summarize_names(secrets)}" if secrets else None


def htpasswd(body: bytes) -> str | None:
    lines = [line.strip() for line in _first_lines(body) if not line.lstrip().startswith("#")]
    if not lines or not all(HTPASSWD_LINE.fullmatch(line) for line in lines):
        return None
    return f"{counted(len(lines), 'user')} with password hashes"


def private_key(body: bytes) -> str | None:
    match = PRIVATE_KEY.match(_decode(body)[:MAX_LINE_CHARACTERS])
    return f"the beginning of a file with {match[1].lower()}" if match else None


def git_credentials(body: bytes) -> str | None:
    lines = _first_lines(body)
    is_credential_list = bool(lines) and all(GIT_CREDENTIALS.fullmatch(line.strip()) for line in lines)
    return "addresses with user names and passwords" if is_credential_list else None


def archive(body: bytes) -> str | None:
    """Match a ZIP or tar archive, or a gzip file of other data."""
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
    if not SQL_START.match(text[:MAX_LINE_CHARACTERS]):
        return None
    tables = SQL_STATEMENT.findall(text)
    return (
        f"SQL: {_summarize_names([f'{statement.upper()} {table}' for statement, table in tables])}" if tables else None
    )


def sqlite(body: bytes) -> str | None:
    return "the magic number of an SQLite database" if body.startswith(b"SQLite format 3\0") else None


def php_source(body: bytes) -> str | None:
    """Match a secret in PHP source or its Vim swap file."""
    is_swap_file = body.startswith(VIM_SWAP_MAGIC)
    if not is_swap_file and not _decode(body[:200]).lstrip().startswith("<?php"):
        return None
    names = [first or second for first, second in PHP_SECRET.findall(body.decode("utf-8", "replace"))]
    if not names:
        return None
    return f"{'a swap file of ' if is_swap_file else ''}PHP source that sets {_summarize_names(names)}"


def phpinfo(body: bytes) -> str | None:
    text = _decode(body)
    version = PHP_VERSION.search(text)
    has_phpinfo_table = PHPINFO_MARKUP.search(text) and "PHP Extension" in text
    return f"phpinfo() of PHP {version[1]}" if version and has_phpinfo_table else None


def server_status(body: bytes) -> str | None:
    text = _decode(body)
    title = SERVER_STATUS_TITLE.search(text)
    return (
        f"a page titled “{title[1]}”"
        if title and "Server Version" in text and SERVER_STATUS_BODY.search(text)
        else None
    )


def actuator(body: bytes) -> str | None:
    content = _parse_json(body)
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("activeProfiles"), list):
        return "activeProfiles and the application's environment"
    links = content.get("_links")
    if not isinstance(links, dict) or not isinstance(links.get("self"), dict):
        return None
    # Other APIs also have _links, but only the actuator's own URL ends with /actuator.
    if not str(links["self"].get("href")).rstrip("/").endswith("/actuator"):
        return None
    names = [str(name) for name in links if name != "self"]
    if names and all(HARMLESS_ACTUATOR_ENDPOINTS.fullmatch(name) for name in names):
        return HEALTH_ONLY_PROOF
    return f"links to {_summarize_names(names)}" if names else "an index of endpoints"


def compose_file(body: bytes) -> str | None:
    text = _decode(body)
    top_level = [line for line in text.splitlines()[:MAX_LINES] if line.strip() and line[0] not in " \t#"]
    match = COMPOSE_SERVICE.search(text.replace("\r\n", "\n"))
    if match is None or not all(COMPOSE_TOP_LEVEL_LINE.fullmatch(line.rstrip()) for line in top_level):
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
        return None  # The file is a text that quotes a log.
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
    """Match a JavaScript source map (ECMA-426), even if the body is truncated."""
    body = body[body.find(b"\n") + 1 :] if body.startswith(b")]}'") else body
    content = _parse_json(body)
    if content is None:
        is_source_map_start = SOURCE_MAP_START.match(body[:4096]) and SOURCE_MAP_BODY.search(body)
        return "the beginning of a source map" if is_source_map_start else None
    if not isinstance(content, dict) or "version" not in content:
        return None
    sections = content.get("sections")
    if isinstance(sections, list) and sections and isinstance(sections[0], dict):
        content = sections[0].get("map")
    sources = content.get("sources") if isinstance(content, dict) else None
    return f"a source map of {len(sources)} files" if isinstance(sources, list) and sources else None


def is_html(body: bytes) -> bool:
    """Return True if the body begins like an HTML page."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    while start.startswith(b"<!--") and b"-->" in start:
        start = start.partition(b"-->")[2].lstrip()
    return bool(re.match(rb"<(?:!doctype\s+html|html|head|body|title|meta|div|p|h1|script|svg|table)\b", start, re.I))


def has_markup(body: bytes) -> bool:
    """Return True if the body contains an HTML or XML tag anywhere."""
    return re.search(rb"</?[a-z][a-z0-9-]*[\s/>]|<!doctype", body, re.IGNORECASE) is not None


def _decode(body: bytes) -> str:
    """Decode the body as UTF-8 or UTF-16."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    return body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def _first_lines(body: bytes) -> list[str]:
    """Return the first lines that are not blank, truncated."""
    text = _decode(body)
    if "\0" in text:
        return []
    return [line[:MAX_LINE_CHARACTERS] for line in text.splitlines()[:MAX_LINES] if line.strip()]


def _parse_json(body: bytes) -> object:
    """Return the parsed JSON of a complete body, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_ini_file(lines: Sequence[str]) -> bool:
    """Return True if the lines are an INI file."""
    valid = sum(1 for line in lines if INI_LINE.match(line.strip()))
    first = next((line.strip() for line in lines if not line.lstrip().startswith(("#", ";"))), "")
    return GIT_SECTION.match(first) is not None and valid >= 0.8 * len(lines)


def _is_placeholder_value(value: str) -> bool:
    return PLACEHOLDER.fullmatch(value.partition(" #")[0].strip().strip("\"'").strip()) is not None


def _summarize_names(names: Sequence[str]) -> str:
    return some(list(dict.fromkeys(names)))
