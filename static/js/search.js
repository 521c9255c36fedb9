// Search of the documentation in the browser. The index (documentation/search.py) is a script, because pages with a file:
// URL may not fetch data. It is loaded when somebody first uses the field. Without scripts, the field is hidden.
const LIMIT = 12;
const finder = document.querySelector("[data-index]");
const field = finder.querySelector("input");
const results = finder.querySelector("ol");
const outcome = finder.querySelector("[role=status]");
const indexed = new URL(finder.dataset.index, document.baseURI);
let loading;

function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = indexed;
    script.onload = () => resolve(globalThis.searchIndex);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

// Return sections that contain all words of the query or words with these prefixes, best first. Titles weigh most.
function matchingSections({ sections, words }, query) {
  const total = new Map();
  const wanted = query.toLowerCase().match(/[a-z0-9]+(?:[-_.][a-z0-9]+)*/g) ?? [];
  for (const [turn, start] of wanted.entries()) {
    const points = new Map();
    for (const word of Object.keys(words)) {
      if (!word.startsWith(start)) continue;
      const closeness = word === start ? 2 : 1;
      for (const [place, weight] of [[0, 8], [1, 1]]) {
        for (const section of words[word][place]) {
          points.set(section, Math.max(points.get(section) ?? 0, weight * closeness));
        }
      }
    }
    for (const section of turn ? [...total.keys()] : points.keys()) {
      if (points.has(section)) total.set(section, (total.get(section) ?? 0) + points.get(section));
      else total.delete(section);
    }
  }
  return [...total].sort((one, other) => other[1] - one[1] || one[0] - other[0]).map(([section]) => sections[section]);
}

function resultItem([title, page, address]) {
  const link = document.createElement("a");
  const place = document.createElement("small");
  link.href = new URL(address, indexed);
  link.textContent = title;
  place.textContent = page;
  if (page !== title) link.append(" ", place);
  const line = document.createElement("li");
  line.append(link);
  return line;
}

async function search() {
  const query = field.value.trim();
  if (!query) {
    results.replaceChildren();
    outcome.textContent = "";
    return;
  }
  try {
    const all = matchingSections(await load(), query);
    if (query !== field.value.trim()) return;
    results.replaceChildren(...all.slice(0, LIMIT).map(resultItem));
    const count = all.length > LIMIT ? `The first ${LIMIT} of ${all.length} results` : `${all.length} results`;
    outcome.textContent = all.length === 1 ? "1 result" : all.length ? count : "No results";
  } catch {
    loading = undefined;
    outcome.textContent = "The search index could not be loaded.";
  }
}

field.addEventListener("focus", () => load().catch(() => { loading = undefined; }), { once: true });
field.addEventListener("input", search);
// Enter opens the first result. The arrow keys move through the field and the results, and so does Tab.
finder.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target === field) results.querySelector("a")?.click();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [field, ...results.querySelectorAll("a")];
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
finder.hidden = false;
