"""Recognition of a log-in page in place of the requested page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.net.targets import Target
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import MAX_DEPTH, MAX_NODES, attribute, live, select
from website_scan.urls import Url

# Names of controls that log in, in lower case, without accents and spaces.
LOG_IN_WORDS = frozenset(
    (
        *("login", "logon", "signin", "signon"),
        *(
            "accedi",
            "acceder",
            "accesso",
            "anmelden",
            "anmeldung",
            "connexion",
            "einloggen",
            "entrar",
            "identification",
        ),
        *("iniciarsesion", "inloggen", "loggain", "loggind", "logginn", "prihlaseni", "seconnecter", "zaloguj"),
    )
)
# Last path segments of log-in pages, without hyphens and underscores. The paths of servers for single sign-on are those
# of OpenID Connect (Keycloak, Entra ID, Okta), SAML (Shibboleth, AD FS) and CAS.
LOG_IN_SEGMENTS = LOG_IN_WORDS | {
    *("auth", "authenticate", "authentication", "authorize", "identifier"),
    *("oauth", "oauth2", "openidconnect", "saml", "saml2", "sessionnew", "sso", "wplogin"),
}
# Path segments of addresses and names of controls that log out, in the same languages.
LOG_OUT_WORDS = frozenset(
    (
        *("logout", "logoff", "signout", "signoff"),
        *("abmelden", "abmeldung", "ausloggen", "cerrarsesion", "deconnecter", "deconnexion", "desconectar"),
        *("desconectarse", "disconnetti", "disconnettiti", "encerrarsessao", "loggaut", "loggav", "loggut", "logud"),
        *("odhlaseni", "odhlasit", "scollegati", "terminarsessao", "terminarsesion", "uitloggen"),
        *("wyloguj", "wylogowanie"),
    )
)
# Names of controls that log out, as a whole. In longer names, these words have other meanings, too.
LOG_OUT_NAMES = frozenset({"afmelden", "esci", "logaf", "sair", "salir"})
# Last path segments of pages that create an account.
REGISTRATION_SEGMENTS = frozenset(
    (
        *("createaccount", "join", "register", "registration", "signup"),
        *(
            "aanmelden",
            "cadastro",
            "inscription",
            "registrar",
            "registrati",
            "registrieren",
            "registrierung",
            "registro",
        ),
    )
)
# First labels of host names that are only used for logging in.
LOG_IN_HOSTS = frozenset(("accounts", "auth", "id", "identity", "idp", "login", "signin", "sso"))
# Fields that only log-in forms have (HTML, section 4.10.18.7.1, "Autofilling form controls").
LOG_IN_FIELDS = (
    "input[type=password i], input[autocomplete~=username i], input[autocomplete~=current-password i], "
    "input[autocomplete~=webauthn i]"
)
NEW_PASSWORD_FIELD = "input[autocomplete~=new-password i]"  # noqa: S105  # a selector
PASSWORD_FIELD = "input[type=password i]"  # noqa: S105  # a selector
LOCALE = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?(?=/|$)", re.IGNORECASE)
HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
# Articles about log-ins, and pages with a log-in form in their header, have more words than log-in pages.
MAX_WORDS = 200
MAX_TEXT_CHARACTERS = 20_000
INVISIBLE_TAGS = frozenset({"script", "style", "template", "noscript", "title", "head"})
ACCESS_REFUSED = (401, 403)


def needs_log_in(requested: Target, page: Page, document: Document | None, shown_url: str = "") -> bool:
    """Return True if the site requires a log-in for the requested page.

    It answered with a log-in page, or refused the credentials.

    A log-in page that was requested by its own address does not replace another page. `shown_url` is the address that
    the browser shows, which scripts can change without a navigation.
    """
    if _has_log_in_address(requested.address):
        return False
    if page.response.status in ACCESS_REFUSED and page.has_credentials:
        return True
    if document is None or not page.is_html:
        return False
    final = Url.parse(shown_url) or page.target.address
    if leads_elsewhere(requested.address, final):
        if _is_registration(final, document):
            return False
        signs = (_has_log_in_address(final), _has_field(document, LOG_IN_FIELDS), _is_short(document))
        return sum(signs) >= 2
    is_refusal = page.response.status in ACCESS_REFUSED or page.has_credentials
    return is_refusal and _has_field(document, PASSWORD_FIELD) and _is_short(document)


def leads_elsewhere(requested: Url, final: Url) -> bool:
    """Return True if two URLs lead to different pages.

    Differences in scheme, `www.`, language or final slash do not count.
    """
    return _page_name(requested) != _page_name(final)


def _page_name(url: Url) -> tuple[str, str]:
    path = LOCALE.sub("", url.path, count=1).rstrip("/")
    return url.host.removeprefix("www."), path.removesuffix("/index.html").removesuffix("/index.php")


def _has_log_in_address(url: Url) -> bool:
    return not LOG_IN_SEGMENTS.isdisjoint(_last_segments(url)) or url.host.partition(".")[0] in LOG_IN_HOSTS


def _is_registration(url: Url, document: Document) -> bool:
    """Return True for a page that creates an account, as behind a "Try it" link.

    Such a page is not a log-in page.
    """
    if _has_log_in_address(url):
        return False
    return not REGISTRATION_SEGMENTS.isdisjoint(_last_segments(url)) or _has_field(document, NEW_PASSWORD_FIELD)


def _last_segments(url: Url) -> list[str]:
    """Return the last path segment, and the last two segments as one word.

    Hyphens, underscores and file suffixes are removed.
    """
    segments = [re.sub(r"[-_]", "", segment).partition(".")[0].lower() for segment in url.path.split("/") if segment]
    return [*segments[-1:], "".join(segments[-2:])]


def shows_log_in_field(tree: LexborHTMLParser) -> bool:
    """Return True if the markup does not hide a field that only log-in forms have."""
    return _shows(itertools.islice(select(tree, LOG_IN_FIELDS), MAX_NODES))


def _has_field(document: Document, selector: str) -> bool:
    return _shows(live(document, selector))


def _shows(fields: Iterable[LexborNode]) -> bool:
    return any(not any(map(_is_hidden, _with_ancestors(field))) for field in fields)


def _is_hidden(node: LexborNode) -> bool:
    return (
        "hidden" in node.attributes
        or (attribute(node, "type") or "").lower() == "hidden"
        or (node.tag == "dialog" and "open" not in node.attributes)
        or HIDING_STYLE.search(attribute(node, "style") or "") is not None
    )


def _with_ancestors(node: LexborNode) -> Iterator[LexborNode]:
    current: LexborNode | None = node
    for _ in range(MAX_DEPTH):
        if current is None:
            return
        yield current
        current = current.parent


def _is_short(document: Document) -> bool:
    """Return True if the markup has few words.

    Scripts may add more words later.
    """
    body = document.tree.body
    if body is None:
        return True
    words = length = 0
    nodes = list(itertools.islice(body.traverse(include_text=True), MAX_NODES))
    if len(nodes) == MAX_NODES:
        return False
    for node in nodes:
        if not node.is_text_node or (node.parent is not None and node.parent.tag in INVISIBLE_TAGS):
            continue
        text = node.text_content or ""
        words += len(text[:MAX_TEXT_CHARACTERS].split())
        length += len(text)
        if words >= MAX_WORDS or length > MAX_TEXT_CHARACTERS:
            return False
    return True
