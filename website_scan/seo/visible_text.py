"""Words of a page's visible text.

The module also detects "page not found" messages.
"""

from __future__ import annotations

import re

from msgspec import Struct

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name, shown_text
from website_scan.page.markup import live
from website_scan.seo.metadata import titles

# No check needs the exact length of longer text.
MAX_READ_CHARACTERS = 40_000
# A word has about two characters in writing systems without spaces.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

# Separator between the page's title and the site's name.
SEPARATOR = re.compile(r" [|\u2013\u2014·•»/-]{1,3} | ?[|»:] ?|\. ")
# Words such as "error" do not identify an error page by themselves.
ERROR_WORDS = re.compile(
    r"\b(?:404|410|error|http|status|code|fehler|erreur|errore|erro|fout|błąd|ошибка|o+ps|whoops|sorry|uh oh)\b"
)
STATUS_CODE = re.compile(r"\b(?:404|410)\b")
NOT_FOUND_PHRASE = re.compile(
    r"(?:not found|nicht gefunden|non trouvée?|non trovat[ao]|n[oã]o? encontrad[ao]|niet gevonden|hittades inte)"
)
NOUNS = "page|file|content|product|article|post|resource|url|document|item|listing|site"
# “Page not found” in the words of servers, frameworks and shops, for texts normalized by `_normalize`.
NO_PAGE_MESSAGE = re.compile(
    rf"(?:the |this |that )?(?:requested )?(?:{NOUNS})(?: you (?:requested|(?:are |were |re )?look(?:ing|ed) for))?"
    r" (?:(?:was |is |could |can )?(?:not|cannot|cant|couldnt|wasnt|isnt)(?: be)? found"
    r"|(?:does not|doesnt|no longer) exists?|(?:is )?(?:no longer|not) available|is gone|is missing)"
    rf"|(?:could not|couldnt|cannot|cant) find (?:the|that|this|your) (?:{NOUNS})"
    r"|seite (?:wurde )?(?:leider )?nicht (?:gefunden|verfügbar)|seite existiert nicht"
    r"|page (?:introuvable|non trouvée|inexistante)|page (?:na pas été trouvée|nexiste (?:pas|plus))"
    r"|página (?:no|não) (?:encontrada|existe)|no se (?:ha )?(?:encontró|encontrado) la página"
    r"|pagina (?:non trovata|inesistente|niet gevonden|bestaat niet)"
    r"|sidan (?:hittades inte|kunde inte hittas|finns inte)"
    r"|siden (?:blev ikke fundet|ble ikke funnet|findes ikke|finnes ikke)|sivua ei (?:löytynyt|löydy)"
    r"|strona nie (?:istnieje|została znaleziona)|nie znaleziono strony"
    r"|stránka (?:nenalezena|nebyla nalezena|neexistuje)"
    r"|страница не (?:найдена|существует)|сторінку не знайдено|sayfa bulunamad\u0131|az oldal nem található"
    r"|ページ(?:が見つかりません|は見つかりません|が存在しません|は存在しません)|页面(?:不存在|未找到|找不到)|找不到(?:该页面|页面|頁面)|頁面不存在"
    r"|페이지를 찾을 수 없습니다"
)
# Articles about error pages have more words than error pages and log-in pages.
MAX_ERROR_PAGE_WORDS = 200


class VisibleText(Struct, frozen=True):
    """Number of visible words on a page.

    If `is_truncated`, only words at the beginning of the text were counted.
    """

    words: int = 0
    is_truncated: bool = False


def read_visible_text(document: AccessibleDocument) -> VisibleText:
    body = document.document.tree.body
    text = shown_text(document, body, MAX_READ_CHARACTERS) if body is not None else ""
    return VisibleText(_count_words(text), len(text) > MAX_READ_CHARACTERS // 2)


def _count_words(text: str) -> int:
    unspaced = len(UNSPACED.findall(text))
    spaced = sum(1 for word in UNSPACED.sub(" ", text).split() if any(letter.isalnum() for letter in word))
    return spaced + unspaced // 2


class MissingPageWords(Struct, frozen=True):
    """Parts of a page that contain a "page not found" message.

    Parts are the title, the main heading and the text.

    `heading` is None without a main heading. `is_in_text`: the text is short and contains such a message.
    """

    title: bool
    heading: bool | None
    is_in_text: bool

    @property
    def is_in_title_or_heading(self) -> bool:
        return self.title or bool(self.heading)

    @property
    def is_in_all_parts(self) -> bool:
        """Return True if the text and the main heading contain the message.

        Without a heading, the title counts instead.
        """
        return self.is_in_text and (self.title if self.heading is None else self.heading)


def read_missing_page_words(document: AccessibleDocument) -> MissingPageWords:
    title = next(titles(document.document), "")
    headings = [
        accessible_name(document, node)
        for node in live(document.document, "h1")
        if not document.visibility.is_hidden(node)
    ]
    names = [name for name in headings if name]
    is_in_title = any(map(_is_not_found_message, SEPARATOR.split(title)))
    is_in_heading = (
        any(all(map(_is_not_found_message, filter(None, SEPARATOR.split(name)))) for name in names) if names else None
    )
    if not (is_in_title or is_in_heading):
        return MissingPageWords(False, is_in_heading, False)
    body = document.document.tree.body
    text = shown_text(document, body, MAX_READ_CHARACTERS) if body is not None else ""
    return MissingPageWords(
        is_in_title,
        is_in_heading,
        _count_words(text) < MAX_ERROR_PAGE_WORDS and NO_PAGE_MESSAGE.search(_normalize(text)) is not None,
    )


def _is_not_found_message(text: str) -> bool:
    """Return True if a part of a title says only "Page not found".

    "404" and the like count, too. The title may also be a heading.
    """
    plain = _normalize(text)
    rest = " ".join(ERROR_WORDS.sub(" ", plain).split())
    if not rest:
        return STATUS_CODE.search(plain) is not None
    return NO_PAGE_MESSAGE.fullmatch(rest) is not None or NOT_FOUND_PHRASE.fullmatch(rest) is not None


def _normalize(text: str) -> str:
    """Normalize a text for comparison.

    It is in lower case, with spaces instead of punctuation and without apostrophes.
    """
    return " ".join(re.sub(r"[^\w\s]", " ", re.sub(r"['\u2019]", "", text.casefold())).split())
