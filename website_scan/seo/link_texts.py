"""Generic link texts by language, such as "click here".

They do not describe the linked page.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from website_scan.page.markup import MAX_DEPTH, attribute

MAX_PHRASE_CHARACTERS = 40
ENGLISH = "en"


def _split_phrases(text: str) -> frozenset[str]:
    return frozenset(" ".join(text.split()).split(" | "))


# Generic phrases by primary language subtag (BCP 47), as `_normalize` returns them.
PHRASES: dict[str, frozenset[str]] = {
    "en": _split_phrases("""
        click here | click this | click this link | click | here | right here | this | this link | this page |
        link | more | more info | more information | more details | read more | read this | learn more | see more
        | show more | view more | find out more | continue | continue reading | details | view details | see
        details | tap here | go here | this article | this post | discover more | tell me more
    """),
    "de": _split_phrases("""
        hier | hier klicken | klicken sie hier | klick hier | klicke hier | bitte hier klicken | klick mich |
        mehr | mehr erfahren | mehr lesen | mehr infos | mehr info | mehr informationen | mehr anzeigen | weitere
        informationen | weitere infos | weiterlesen | weiter lesen | weiter | details anzeigen | zum artikel |
        lesen sie mehr | jetzt lesen | dieser link | zu den details
    """),
    "fr": _split_phrases("""
        ici | cliquez ici | cliquer ici | clique ici | lire la suite | lire plus | en lire plus | en
        savoir plus | plus | plus d'infos | plus d'info | plus d'informations | plus de détails | voir
        plus | savoir plus | voir le détail | ce lien | lien | découvrir plus
    """),
    "es": _split_phrases("""
        aquí | aqui | haga clic aquí | haz clic aquí | haz click aquí | clic aquí | click aquí | pulse aquí |
        pincha aquí | leer más | leer mas | lee más | más | más información | más info | ver más | saber más |
        seguir leyendo | ver detalles | este enlace | enlace | conoce más | más detalles
    """),
    "it": _split_phrases("""
        qui | clicca qui | cliccare qui | clicca | leggi tutto | leggi di più | leggi | continua a leggere |
        scopri di più | per saperne di più | maggiori informazioni | più informazioni | altro | continua |
        ulteriori informazioni | vedi di più | mostra di più | dettagli | questo link
    """),
    "pt": _split_phrases("""
        aqui | clique aqui | clica aqui | leia mais | ler mais | saiba mais | saber mais | mais | mais
        informações | mais informação | ver mais | veja mais | continue lendo | continuar a ler | mais detalhes |
        ver detalhes | este link | continuar lendo
    """),
    "nl": _split_phrases("""
        hier | klik hier | klik | lees meer | lees verder | meer | meer lezen | meer informatie | meer info |
        meer weten | bekijk meer | toon meer | verder lezen | deze link | meer details
    """),
    "pl": _split_phrases("""
        tutaj | kliknij tutaj | kliknij | kliknij tu | tu | czytaj więcej | czytaj dalej | więcej | więcej
        informacji | dowiedz się więcej | zobacz więcej | pokaż więcej | szczegóły | ten link
    """),
    "sv": _split_phrases("""
        här | klicka här | läs mer | läs vidare | mer | mer information | mer info | visa mer | se mer | läs hela
        artikeln | fortsätt läsa | denna länk | länk
    """),
    "da": _split_phrases("""
        her | klik her | læs mere | læs videre | mere | mere information | mere info | se mere | vis mere | dette
        link | fortsæt med at læse
    """),
    "no": _split_phrases("""
        her | klikk her | les mer | les videre | mer | mer informasjon | mer info | se mer | vis mer | denne
        lenken | fortsett å lese
    """),
    "fi": _split_phrases("""
        tästä | klikkaa tästä | klikkaa | täällä | lue lisää | lisää | lisätietoja | lisätietoa | näytä lisää |
        katso lisää | jatka lukemista
    """),
    "cs": _split_phrases("""
        zde | klikněte zde | klikni zde | více | číst více | číst dál | více informací | zjistit více | zobrazit
        více | čtěte více | pokračovat ve čtení
    """),
    "tr": _split_phrases("""
        burada | buraya | tıklayın | buraya tıklayın | devamı | devamını oku | daha fazla | daha fazla bilgi
    """),  # noqa: RUF001
    "ru": _split_phrases("""
        здесь | тут | нажмите здесь | нажмите сюда | кликните здесь | подробнее | далее | читать далее | читать
        дальше | узнать больше | ещё | еще | больше | по ссылке | ссылка | показать ещё
    """),
    "uk": _split_phrases("""
        тут | натисніть тут | детальніше | далі | читати далі | дізнатися більше | більше | докладніше
    """),
    "ja": _split_phrases("""
        こちら | ここ | ここをクリック | こちらをクリック | 詳細 | 詳しくはこちら | 詳細はこちら | もっと見る |
        続きを読む | もっと読む | 詳しく見る | 詳しく | 詳細を見る | クリック
    """),
    "zh": _split_phrases("""
        点击这里 | 点击此处 | 这里 | 此处 | 更多 | 了解更多 | 阅读更多 | 查看更多 | 详情 | 更多信息 |
        查看详情 | 點擊這裡 | 點擊此處 | 這裡 | 閱讀更多 | 更多資訊 | 繼續閱讀 | 继续阅读
    """),
    "ko": _split_phrases("""
        여기 | 여기를 클릭 | 여기를 클릭하세요 | 클릭 | 더 보기 |
        더보기 | 자세히 | 자세히 보기 | 더 알아보기 | 계속 읽기
    """),
}
ALIASES = {"nb": "no", "nn": "no"}
EDGE_PUNCTUATION = re.compile(r"^[\W_]+|[\W_]+$")


def _is_unambiguous_phrase(phrase: str) -> bool:
    """Return True if a phrase means the same in all languages.

    It has several words, or is in a script that few languages use. The single word “mer” is ambiguous: “more” in
    Swedish, “sea” in French.
    """
    return " " in phrase or "'" in phrase or phrase[0] >= "\u2e80"


UNAMBIGUOUS = frozenset(phrase for phrases in PHRASES.values() for phrase in phrases if _is_unambiguous_phrase(phrase))
AMBIGUOUS = {language: frozenset(phrases) - UNAMBIGUOUS for language, phrases in PHRASES.items()}
ALL_AMBIGUOUS_PHRASES = frozenset[str]().union(*AMBIGUOUS.values())


def is_generic_link_text(name: str, node: LexborNode) -> bool:
    """Return True if the accessible name of a link is generic.

    The phrases are those of the link's language.

    Unambiguous phrases count in any language, because pages often declare a wrong language. Text without a declared
    language counts as English.
    """
    if len(name) > 2 * MAX_PHRASE_CHARACTERS:
        return False
    text = _normalize(name)
    if text in UNAMBIGUOUS:
        return True
    return text in ALL_AMBIGUOUS_PHRASES and text in AMBIGUOUS.get(find_language(node), ())


def find_language(node: LexborNode) -> str:
    """Return the language of the nearest lang attribute.

    This is the primary subtag. Without a lang attribute, it is "en".
    """
    current: LexborNode | None = node
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            break
        declared = attribute(current, "lang")
        if declared is not None:
            primary = re.split(r"[-_]", declared.strip().lower(), maxsplit=1)[0]
            return ALIASES.get(primary, primary) or ENGLISH
        current = current.parent
    return ENGLISH


def _normalize(name: str) -> str:
    return EDGE_PUNCTUATION.sub("", " ".join(name.casefold().replace("\u2019", "'").split()))
