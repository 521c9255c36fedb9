from tests.targets.server import Answer

PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Rafts for hire at the lock</title>{head}'
    "<body><main><h1>Rafts for hire</h1><p>Rafts and canoes for a day on the river.</p></main>{body}"
)
CSS = {"Content-Type": "text/css"}
JS = {"Content-Type": "text/javascript"}
UPGRADE = {"Content-Security-Policy": "upgrade-insecure-requests", "Content-Type": "text/html"}
LINK = '<link rel="stylesheet" href="/{}.css">'


def routes(site):
    return {
        "/import": Answer(PAGE.format(head=LINK.format("import"), body="")),
        "/import.css": Answer('@import "http://files.example.com/a.css"; h1 { color: #123 }', headers=CSS),
        "/font": Answer(PAGE.format(head=LINK.format("font"), body="")),
        "/font.css": Answer(
            "@font-face { font-family: a; src: url(http://files.example.com/a.woff2) } p { font-family: a }",
            headers=CSS,
        ),
        "/background": Answer(PAGE.format(head=LINK.format("background"), body="")),
        "/background.css": Answer("body { background: url(http://files.example.com/a.png) }", headers=CSS),
        "/added-script": Answer(PAGE.format(head="", body='<script src="/add.js"></script>')),
        "/add.js": Answer(
            "const added = document.createElement('script'); added.src = 'http://files.example.com/a.js'; "
            "document.head.append(added)",
            headers=JS,
        ),
        "/upgraded": Answer(PAGE.format(head=LINK.format("import"), body=""), headers=UPGRADE),
        "/none": Answer(PAGE.format(head=LINK.format("none"), body="")),
        "/none.css": Answer("h1 { color: #123 }", headers=CSS),
    }
