"""Detection of texts that replace a page's content: placeholders, error pages, consent dialogs, bot challenges.

A page is one of the last three only if it has few other words, because some articles are about such pages.
"""

from __future__ import annotations

import re

FEW_WORDS = 80
CONSENT_WORDS = 200
ERROR_LENGTH = 120  # maximum length of the quoted line

# Texts that an app displays until its content has loaded. Such a page contains nothing else but a spinner.
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
# Beginnings and titles of error pages of servers, proxies and hosting services.
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
# Whole text of an error boundary, a component that replaces a failed part of an app.
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


def _plain(text: str) -> str:
    """Return a text with straight apostrophes, like the patterns."""
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip()


def is_placeholder(text: str) -> bool:
    """Return True if the whole text is a message that the content is loading."""
    return PLACEHOLDER.fullmatch(text.strip()) is not None


def error_line(title: str, text: str) -> str:
    """Return the error message of a page with few words; empty if there is none."""
    title, text = _plain(title), _plain(text)
    if len(text.split()) > FEW_WORDS:
        return ""
    if _ERROR_START.match(text) or _ERROR_TEXT.fullmatch(text):
        return text[:ERROR_LENGTH]
    if sentence := _ERROR_SENTENCE.search(text):
        return text[sentence.start() : sentence.start() + ERROR_LENGTH]
    return title[:ERROR_LENGTH] if _ERROR_START.match(title) else ""


def challenge_line(title: str, text: str) -> str:
    """Return the text with which a page of few words verifies that its visitor is human; empty if there is none."""
    title, text = _plain(title), _plain(text)
    if len(text.split()) > FEW_WORDS:
        return ""
    return next((line[:ERROR_LENGTH] for line in (title, text) if _CHALLENGE.search(line)), "")


def is_consent_dialog(text: str) -> bool:
    """Return True if a short text requests consent to cookies or the like."""
    return len(text.split()) <= CONSENT_WORDS and bool(_CONSENT.search(text)) and bool(_AGREE.search(text))
