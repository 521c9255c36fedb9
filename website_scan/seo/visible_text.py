"""Visible text of a page: the number of words in any script, and phrases that say that the page does not exist."""

from __future__ import annotations

import re
from dataclasses import dataclass

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name, shown_text
from website_scan.page.markup import live
from website_scan.seo.metadata import titles

# Enough for any check: the exact word count of a book does not matter. Includes the spaces between elements.
ENOUGH_CHARACTERS = 40_000
# Scripts without spaces between words; about two characters make a word.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

# Separator between a page's own title and the site's name.
SEPARATOR = re.compile(r" [|\u2013\u2014·•»/-]{1,3} | ?[|»:] ?|\. ")
# Words that error pages add to the message, and that mean nothing by themselves.
BESIDE = re.compile(
    r"\b(?:404|410|error|http|status|code|fehler|erreur|errore|erro|fout|błąd|ошибка|o+ps|whoops|sorry|uh oh)\b"
)
CODE = re.compile(r"\b(?:404|410)\b")
NOT_FOUND = re.compile(
    r"(?:not found|nicht gefunden|non trouvée?|non trovat[ao]|n[oã]o? encontrad[ao]|niet gevonden|hittades inte)"
)
NOUNS = "page|file|content|product|article|post|resource|url|document|item|listing|site"
# “There is no such page”, in the words of servers, frameworks and shops. Compared in the form that `_plain` returns.
NO_PAGE = re.compile(
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
# An error page has few words besides the menus. An article about error pages has many.
FEW_WORDS = 200


@dataclass(frozen=True, slots=True)
class VisibleText:
    """The number of visible words. If the text `is_long`, only those of its beginning are counted."""

    words: int = 0
    is_long: bool = False


def read_visible_text(document: AccessibleDocument) -> VisibleText:
    body = document.document.tree.body
    text = shown_text(document, body, ENOUGH_CHARACTERS) if body is not None else ""
    return VisibleText(_count_words(text), len(text) > ENOUGH_CHARACTERS // 2)


def _count_words(text: str) -> int:
    unspaced = len(UNSPACED.findall(text))
    spaced = sum(1 for each in UNSPACED.sub(" ", text).split() if any(letter.isalnum() for letter in each))
    return spaced + unspaced // 2


@dataclass(frozen=True, slots=True)
class MissingPageWords:
    """Parts of a page that say that it does not exist: its title, its main heading, its text.

    `heading` is None if there is none. `in_text`: the text is short and names the page as missing.
    """

    title: bool
    heading: bool | None
    in_text: bool

    @property
    def any(self) -> bool:
        return self.title or bool(self.heading)

    @property
    def agree(self) -> bool:
        """True if the page as a whole says so. The heading counts before the title, which may be the site's name."""
        return self.in_text and (self.title if self.heading is None else self.heading)


def read_missing_page_words(document: AccessibleDocument) -> MissingPageWords:
    title = next(titles(document.document), "")
    headings = [
        accessible_name(document, node)
        for node in live(document.document, "h1")
        if not document.visibility.is_hidden(node)
    ]
    names = [name for name in headings if name]
    in_title = any(map(_says_missing, SEPARATOR.split(title)))
    in_heading = any(all(map(_says_missing, filter(None, SEPARATOR.split(name)))) for name in names) if names else None
    if not (in_title or in_heading):
        return MissingPageWords(False, in_heading, False)
    body = document.document.tree.body
    text = shown_text(document, body, ENOUGH_CHARACTERS) if body is not None else ""
    return MissingPageWords(
        in_title, in_heading, _count_words(text) < FEW_WORDS and NO_PAGE.search(_plain(text)) is not None
    )


def _says_missing(text: str) -> bool:
    """Return True if a part of a title or heading says only that: "404", "Error 404", "Page not found"."""
    plain = _plain(text)
    rest = " ".join(BESIDE.sub(" ", plain).split())
    if not rest:
        return CODE.search(plain) is not None
    return NO_PAGE.fullmatch(rest) is not None or NOT_FOUND.fullmatch(rest) is not None


def _plain(text: str) -> str:
    """Return the text in lower case, without punctuation. Apostrophes are dropped without a space."""
    return " ".join(re.sub(r"[^\w\s]", " ", re.sub(r"['\u2019]", "", text.casefold())).split())
