"""What grades and categories mean, for people who run a site and are no experts. Text for the page only."""

from __future__ import annotations

GRADES = {
    "security": {
        "A+": "Excellent: nothing of weight is open. Visitors are well protected.",
        "A": "Very good: the protections that count are in place, only details are missing.",
        "B": "Good: visitors are protected in the main, with some gaps worth closing.",
        "C": "Fair: protections that browsers offer for free are not used, or only half.",
        "D": "Weak: several gaps that attackers commonly look for are open.",
        "F": "At risk: something serious is open. Take the first items below before anything else.",
    },
    "performance": {
        "A+": "Excellent: the page is there at once, on a phone too.",
        "A": "Very good: most visitors never wait.",
        "B": "Good: it feels quick to most, and can still be quicker on phones.",
        "C": "Fair: visitors on phones notice that they wait.",
        "D": "Slow: many visitors on phones will leave before they see the page.",
        "F": "Very slow: on a phone the page takes so long that most will not wait for it.",
    },
    "accessibility": {
        "A+": "Excellent: nothing of weight was found that shuts anybody out.",
        "A": "Very good: people with disabilities get along; details are left.",
        "B": "Good: most people get along, some meet obstacles.",
        "C": "Fair: people who use a keyboard or a screen reader meet obstacles that cost them time.",
        "D": "Poor: parts of the page cannot be used without a mouse or good sight.",
        "F": "Shut out: people with disabilities cannot use important parts of the page.",
    },
    "seo": {
        "A+": "Excellent: search engines find, understand and show the page well.",
        "A": "Very good: search engines have all they need, only details are missing.",
        "B": "Good: the page can be found; some improvements would make it stand out.",
        "C": "Fair: search engines find the page, but have to guess at parts of it.",
        "D": "Poor: what search engines need is missing or contradictory.",
        "F": "Hardly to be found: something keeps search engines from showing this page.",
    },
}

# A good grade is no proof of conformance.
ACCESSIBILITY_NOTE = "Automatic checks find some obstacles only: try the page with a keyboard and a screen reader, too."

# What to do about a scan that failed, by its error code.
ADVICE = {
    "URL_NOT_REACHABLE": "Open the address in a browser. If it works there, a firewall may keep this scanner out: "
    "let it through, then scan again.",
    "TIMEOUT": "The time ran out before the page had come. Scan again; if it happens every time, look at what makes "
    "the site's answers slow.",
    "TLS_FAILED": "The encrypted connection could not be set up. Check the certificate, its whole chain and the TLS "
    "versions that the server offers.",
    "BAD_RESPONSE": "What the server sent is not valid HTTP. Check the server, or the proxy in front of it.",
    "TOO_MANY_REDIRECTS": "The address redirects without end. Follow the redirects and break the circle.",
    "DOMAIN_BLOCKED": "The address, or one that it redirects to, is not public or may not be scanned here. Scan the "
    "public address of the site.",
    "TARGET_STATUS": "The site did not hand out its page. Scan an address that everybody can open; if a bot protection "
    "stands before it, let this scanner through.",
    "INVALID_URL": "The address cannot be scanned. Check how it is written.",
    "BUDGET_EXCEEDED": "The page is larger than what a scan downloads. Scan a smaller page of the site.",
    "NO_CHECK_RAN": "Nothing at this address could be judged. Check that it leads to a web page.",
    "INTERNAL_ERROR": "This was our fault, not the site's. Scan again.",
    "SCAN_CANCELLED": "Scan again when you want the report.",
    "SCAN_NOT_STARTED": "This was our fault, not the site's. Scan again.",
    "SCAN_INTERRUPTED": "This was our fault, not the site's. Scan again.",
}

CATEGORIES = {
    "security": {
        "Transport security": "Whether the connection is encrypted well, so that nobody can listen in.",
        "Content Security Policy": "A list of what the page may load: it stops injected scripts from running.",
        "HTTP headers": "Instructions to browsers that switch on protections they have built in.",
        "Sensitive file exposure": "Files that should never be public: backups, settings, repositories, logs.",
        "Cookies": "Whether cookies that keep people logged in can be stolen or misused.",
        "Page content": "What the page itself loads and links to, and whether others could tamper with it.",
        "DNS and mail": "Whether the domain is protected against forged mail and forged certificates.",
        "Information leakage": "What the site tells strangers about its software and its inside.",
    },
    "performance": {
        "Loading": "How soon visitors see the page and can use it. This counts most.",
        "Page weight": "How much has to be downloaded, which costs time and people's data volume.",
        "Render blocking": "Files that the browser must wait for before it shows anything.",
        "Compression and minification": "Whether text files are sent as small as they can be.",
        "Images": "Whether images have the right format and size; they are most of a page's weight.",
        "Server and document": "How soon the server answers, and how large the page's own HTML is.",
        "Caching": "Whether browsers may keep files, so that the next page comes faster.",
        "Network": "How many connections, hosts and redirects a visit needs.",
        "Fonts": "Whether text can be read while fonts are still loading.",
    },
    "accessibility": {
        "Names and labels of controls": "Whether buttons, links and frames say what they are to screen readers.",
        "ARIA": "Whether the hints for screen readers are right; wrong ones are worse than none.",
        "Forms": "Whether everybody can tell what a field asks for.",
        "Text alternatives": "Whether images, sound and video have words for those who cannot see or hear them.",
        "Colour and layout": "Whether text stands out enough and the page can be enlarged.",
        "Keyboard and navigation": "Whether everything can be reached without a mouse.",
        "Structure and tables": "Headings, lists and tables that let people find their way around.",
        "Language and document": "What screen readers need to know about the page as a whole.",
    },
    "seo": {
        "Indexability": "Whether search engines are allowed to show the page at all.",
        "Content and metadata": "Title, description and text: what people see in search results.",
        "Crawlability": "Whether search engines find their way to the page and around the site.",
        "Links": "Whether links work and say where they lead.",
        "International": "Whether each language finds its own visitors.",
        "Mobile": "Whether the page suits phones, by which search engines judge it.",
        "Rendering": "Whether the content is there for those who run no scripts, or few.",
        "Structured data": "Facts in a form that search engines can show as rich results.",
        "Social cards": "What is shown when somebody shares the page.",
        "URL hygiene": "Whether addresses are short, stable and there only once.",
    },
}


def grade_meaning(scan_type: str, grade: str) -> str:
    """What the letter says about such a scan, in a sentence."""
    return GRADES.get(scan_type, {}).get(grade, "")


def category_meaning(scan_type: str, name: str) -> str:
    """What a category is about; empty for one that is not known here, such as a former one."""
    return CATEGORIES.get(scan_type, {}).get(name, "")


def advice(error_code: str) -> str:
    return ADVICE.get(error_code, "Scan again. If it fails every time, tell the operator of this service the scan ID.")
