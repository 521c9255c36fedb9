from tests.targets.server import Answer

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rafts for hire at the lock</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main><h1>Rafts for hire</h1>'
)


def routes(site):
    rows = "".join(f'<tr><td>Raft {n}<td>{n}.50<td><a href="/r{n}">Book raft {n}</a>' for n in range(600))
    table = f"<table><tr><th>Raft<th>Price<th>Link{rows}</table>"
    return {
        "/faint": Answer(f'{HEAD}{table}<p style="color:#bbb">The deposit is due on arrival.</p></main></body></html>')
    }
