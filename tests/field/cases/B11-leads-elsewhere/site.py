from tests.targets.server import Answer

HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Rafts for hire at the lock</title>'
BODY = "<body><main><h1>Moved</h1><p>This page has moved."
SCRIPTS = {
    "replace": "location.replace('/target.html')",
    "assign": "location = '/target.html'",
    "after-load": "addEventListener('load', () => setTimeout(() => { location.href = '/target.html' }, 300))",
    "click": "addEventListener('load', () => { const a = document.createElement('a'); a.href = '/target.html'; "
    "document.body.append(a); a.click() })",
    "form": "addEventListener('load', () => { const form = document.createElement('form'); "
    "form.action = '/target.html'; document.body.append(form); form.submit() })",
    "added-refresh": "document.write('<meta http-equiv=refresh content=\"0; url=/target.html\">')",
    "to-redirect": "location.replace('/moved')",
    "fragment": "location.hash = '#top'",
    "history": "history.replaceState(null, '', '/boats')",
}
REFRESHES = {"refresh": "0; url=/target.html", "decimal": "0.9;URL='/target.html'", "late": "1200; url=/target.html"}


def routes(site):
    return (
        {f"/{name}": Answer(f"{HEAD}<script>{script}</script>{BODY}") for name, script in SCRIPTS.items()}
        | {
            f"/{name}": Answer(f'{HEAD}<meta http-equiv="Refresh" content="{value}">{BODY}')
            for name, value in REFRESHES.items()
        }
        | {"/header": Answer(HEAD + BODY, headers={"Refresh": "0; url=/target.html", "Content-Type": "text/html"})}
        | {"/moved": Answer.redirect("/target.html")}
    )
