"""Detection of pages without content.

These are placeholders, error pages, consent dialogs and bot challenges.

A page is one of the last three only if it has few other words, because some articles are about such pages.
"""

from __future__ import annotations

import re

MAX_ERROR_PAGE_WORDS = 80
MAX_CONSENT_WORDS = 200
MAX_ERROR_LENGTH = 120  # Maximum length of a quoted error message.

# Texts that an app displays until its content has loaded.
PLACEHOLDER = re.compile(
    r"(?:(?:(?:page|site|app|application|content) )?(?:is )?loading"
    r"|loading (?:the )?(?:page|site|app|application|content)"
    r"|initiali[sz]ing|starting|please wait|one moment(?: please)?|just a moment|hang on|redirecting"
    r"|(?:wird )?geladen|laden|lädt|bitte warten|chargement(?: en cours)?|veuillez patienter|cargando|espere por favor"
    r"|carregando|aguarde|caricamento(?: in corso)?|attendere|bezig met laden|ładowanie|wczytywanie|загрузка|зачекайте"
    r"|yükleniyor|laddar|indlæser|laster|ladataan|načítání|読み込み中(?:です)?|ロード中|加载中|載入中|로딩 중)"
    r"(?:,? (?:please wait|bitte warten))?[\s.…·!]*(?:\d{1,3} ?%)?",
    re.IGNORECASE,
)

_STATUS = r"(?:40[034]|410|50[0234]|52\d)"
# Beginnings of texts and titles on error pages of servers, proxies and hosting services.
_ERROR_START = re.compile(
    rf"(?:http )?(?:status|error)?\s?{_STATUS}\s?[-\u2013\u2014:|.]?\s?(?:error:? )?(?:http/1\.\d )?"
    r"(?:internal server error|server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out"
    r"|backend fetch failed|bad request|forbidden|not found|web server is (?:down|returning an unknown error))\b"
    r"|(?:internal server error|bad gateway|gateway time-?out|(?:http )?error 50[0234]|guru meditation)\b"
    r"|server error \(500\)|server error in ['\"]/[^'\"]{0,80}['\"] application"
    r"|(?:php )?(?:fatal|parse) error: |traceback \(most recent call last\)|cannot get /"
    r"|(?:this )?account (?:has been )?suspended|no healthy upstream|default backend - 404|404: not_found",
    re.IGNORECASE,
)
# Sentences of frameworks and hosting services that occur only in error pages.
_ERROR_SENTENCE = re.compile(
    r"application error: a (?:client|server)-side exception has occurred"
    r"|an error occurred in the application and your page could not be served"
    r"|error establishing a database connection"
    r"|there has been a critical error on (?:this|your) website"
    r"|we're sorry, but something went wrong"
    r"|whoops, looks like something went wrong"
    r"|unexpected application error!"
    r"|upstream connect error or disconnect/reset before headers"
    r"|the deployment could not be found on vercel|fastly error: unknown domain"
    r"|there isn't a github pages site here",
    re.IGNORECASE,
)
# Whole text of an error boundary, a component that an app shows instead of a failed part.
_ERROR_TEXT = re.compile(
    r"(?:(?:o+ps|uh[- ]?oh|sorry|error)[\s!.,:…]*)*(?:something|etwas) (?:went wrong|ist schiefgelaufen)[\s!.…]*"
    r"(?:(?:please )?(?:try again|reload|refresh|retry|go back|back)[\w\s,!.…]{0,200})?",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"check(?:ing)? your browser|verif(?:y|ying) (?:that )?you(?:'re| are) (?:a )?(?:human|not a (?:ro)?bot)"
    r"|(?:making|make) sure you(?:'re| are) (?:a human|not a (?:ro)?bot)|^just a moment\.\.\."
    r"|enable javascript and cookies to continue|ddos protection by|site connection is secure"
    r"|review the security of your connection|pardon our interruption|press (?:&|and) hold"
    r"|complete the (?:captcha|security check|challenge)|prove (?:that )?you(?:'re| are) (?:a )?human"
    r"|(?:i'm|i am|you(?:'re| are)) not a robot|unusual traffic from your",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"cookie|consent|gdpr|privacy|personal data|datenschutz|einwillig|vie privée|privacidad|informativa|tracking",
    re.IGNORECASE,
)
_AGREE = re.compile(
    r"\b(?:accept|agree|allow|consent|zustimmen|akzeptieren|einverstanden|accepter|aceptar|accett|akkoord|zgadzam)",
    re.IGNORECASE,
)


def _straighten_apostrophes(text: str) -> str:
    """Replace curly apostrophes with straight ones, as in the patterns."""
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()


def is_placeholder(text: str) -> bool:
    """Return True if the whole text is only a message that the page is loading."""
    return PLACEHOLDER.fullmatch(text.strip()) is not None


def error_line(title: str, text: str) -> str:
    """Return the error message of a page with few words.

    Empty if there is none.
    """
    title, text = _straighten_apostrophes(title), _straighten_apostrophes(text)
    if len(text.split()) > MAX_ERROR_PAGE_WORDS:
        return ""
    if _ERROR_START.match(text) or _ERROR_TEXT.fullmatch(text):
        return text[:MAX_ERROR_LENGTH]
    if sentence := _ERROR_SENTENCE.search(text):
        return text[sentence.start() : sentence.start() + MAX_ERROR_LENGTH]
    return title[:MAX_ERROR_LENGTH] if _ERROR_START.match(title) else ""


def challenge_line(title: str, text: str) -> str:
    """Return the text of a bot challenge, such as "Verify you are human".

    Empty if there is none.
    """
    title, text = _straighten_apostrophes(title), _straighten_apostrophes(text)
    if len(text.split()) > MAX_ERROR_PAGE_WORDS:
        return ""
    return next((line[:MAX_ERROR_LENGTH] for line in (title, text) if _CHALLENGE.search(line)), "")


def is_consent_dialog(text: str) -> bool:
    """Return True if a short text is a consent dialog, such as for cookies."""
    return len(text.split()) <= MAX_CONSENT_WORDS and bool(_CONSENT.search(text)) and bool(_AGREE.search(text))
