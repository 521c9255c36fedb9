from tests.targets.server import Answer

PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Rafts for hire at the lock</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">{head}<body><main><h1>Rafts for hire</h1>'
    "<p>Rafts and canoes for a day on the river.</p>{body}</main>"
)
PAGES = {
    "style": {"head": '<link rel="stylesheet" href="/never?1">'},
    "script": {"head": '<script src="/never?2"></script>'},
    "picture": {"body": '<img src="/never?3" width="20" height="20" alt="The lock">'},
    "deferred-script": {"head": '<script src="/never?4" defer></script>'},
    "script-below-text": {"body": '<script src="/never?5"></script>'},
    "long-poll": {"body": "<script>addEventListener('load', () => fetch('/never?6'))</script>"},
}


def routes(site):
    pages = {f"/{name}": Answer(PAGE.format(**{"head": "", "body": ""} | parts)) for name, parts in PAGES.items()}
    return pages | {f"/never?{number}": Answer(delay_s=300) for number in range(1, 7)}
