// Filters and keys of the report page. The server answers the same addresses without scripts (website_scan/report/filters.py):
// there as here, findings that do not fit are `hidden`, and so is what only holds such.

const [EXPAND, COLLAPSE] = ["Expand all", "Collapse all"];
const STATUS_OF = { failed: "fail", warnings: "warn", passed: "pass" };
const form = document.getElementById("findings");
const checks = [...document.querySelectorAll(".report .check")];
const folds = [...document.querySelectorAll(".report .check:not(.is-pass) > details")];
const texts = new Map();

// What is searched: what was found, the fix and the evidence, as the server does; not labels, buttons and sources.
function textOf(check) {
  if (!texts.has(check)) {
    const copy = check.cloneNode(true);
    for (const each of copy.querySelectorAll("button")) each.remove();
    const parts = [...copy.querySelectorAll("h4, .message, .fix span, td, dd, .references code")];
    texts.set(check, parts.map((each) => each.textContent).join("\n").toLowerCase());
  }
  return texts.get(check);
}

function chosen() {
  const values = new FormData(form);
  return Object.fromEntries(["show", "severity", "metric", "q"].map((name) => [name, (values.get(name) ?? "").trim()]));
}

function fits(check, { show, severity, metric, q }) {
  if (show && !check.classList.contains(`is-${STATUS_OF[show]}`)) return false;
  if (severity && check.dataset.severity !== severity) return false;
  if (metric && !(check.dataset.metrics ?? "").split(" ").includes(metric)) return false;
  return q.toLowerCase().split(/\s+/).every((word) => textOf(check).includes(word));
}

function filter() {
  const wanted = chosen();
  const asked = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  let shown = 0;
  for (const check of checks) {
    check.hidden = !fits(check, wanted);
    if (!check.hidden) shown += 1;
  }
  // What fits is open; without a filter, what to fix first.
  for (const fold of folds) fold.open = asked.size ? !fold.parentElement.hidden : "first" in fold.parentElement.dataset;
  for (const group of document.querySelectorAll(".report .group")) {
    const isEmpty = !group.querySelector(".check:not([hidden])");
    group.hidden = isEmpty;
    if (group.localName === "details") group.open = asked.size > 0 && !isEmpty;
  }
  for (const category of document.querySelectorAll(".report .category")) {
    category.hidden = !category.querySelector(".check:not([hidden])");
  }
  form.querySelector("[data-expand]").textContent = EXPAND;
  form.querySelector("[data-shown]").textContent = shown;
  form.querySelector("[data-nothing]").hidden = shown > 0;
  form.querySelector(".clear-filters").hidden = asked.size === 0;
  history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
}

function choose(values) {
  for (const field of form.elements) {
    if (field.type === "radio") field.checked = field.value === (values.get("show") ?? "");
    else if (field.name) field.value = values.get(field.name) ?? "";
  }
  filter();
}

if (form) {
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    filter();
  });
  for (const link of document.querySelectorAll("a[data-filter], .clear-filters")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(new URL(link.href).searchParams);
      form.scrollIntoView();
      form.elements.q.focus({ preventScroll: true });
    });
  }
}

// All findings with all their places, and back.
const expand = form?.querySelector("[data-expand]");
if (expand && folds.length) {
  expand.hidden = false;
  expand.addEventListener("click", () => {
    const open = expand.textContent === EXPAND;
    for (const fold of folds) {
      fold.open = open;
      for (const inner of fold.querySelectorAll("details:not(.thumbnail)")) inner.open = open;
    }
    expand.textContent = open ? COLLAPSE : EXPAND;
  });
}

// A link leads to its finding whether it is folded away or left out.
function reveal() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id && document.getElementById(id);
  if (!target || !target.closest(".report")) return;
  if (form && target.closest("[hidden]")) {
    const hash = location.hash;
    choose(new URLSearchParams());
    history.replaceState(null, "", hash);
  }
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  for (const fold of target.querySelectorAll(":scope > details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
// The address is the same when a link is followed once more.
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link?.hash && link.href === location.href) reveal();
});
if (location.hash) reveal();

// Where one is: the last category that begins above the middle of the window.
const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
const button = document.querySelector(".contents .button");
let waiting = false;
function mark() {
  waiting = false;
  const above = places.filter((each) => each.checkVisibility() && each.getBoundingClientRect().top < innerHeight / 2);
  const here = links.get(above.at(-1)?.id);
  for (const link of links.values()) link.toggleAttribute("aria-current", false);
  here?.setAttribute("aria-current", "true");
  if (button) {
    button.querySelector("span").textContent = (here?.querySelector("span") ?? here)?.textContent.trim() ?? "Categories";
    button.querySelector("strong").textContent = here?.querySelector("strong")?.textContent ?? "";
  }
}
addEventListener("scroll", () => {
  if (!waiting) requestAnimationFrame(mark);
  waiting = true;
}, { passive: true });
// Once the page is there: asking where things are lays it out at once.
addEventListener("load", mark);
for (const link of links.values()) {
  link.addEventListener("click", () => document.querySelector(".contents [popover]:popover-open")?.hidePopover());
}

// What the open contents lie over on a narrow screen cannot be hit by half.
document.querySelector(".contents [popover]")?.addEventListener("toggle", ({ newState }) => {
  for (const each of document.querySelectorAll(".summary, .details")) each.inert = newState === "open";
});

// Keys, which can be switched off (WCAG 2.1.4): who speaks to a computer would press them unawares.
const OFF = "report-keys-off";
const dialog = document.getElementById("keys");
const keys = dialog?.querySelector("#keys-on");

function step(by) {
  const open = checks.filter((check) => check.checkVisibility() && !check.classList.contains("is-pass"));
  const among = open.length ? open : checks.filter((check) => check.checkVisibility());
  const at = document.activeElement.closest(".check") ?? document.querySelector(".check:target");
  let next = among.indexOf(at) + by;
  // From anywhere else to the next one from here on.
  if (!among.includes(at)) {
    const below = among.findIndex((check) => check.getBoundingClientRect().top >= 0);
    next = below < 0 ? among.length - 1 : by > 0 ? below : below - 1;
  }
  stand(among[Math.max(0, Math.min(next, among.length - 1))]);
}

function stand(check) {
  if (!check) return;
  check.querySelector("summary").focus({ preventScroll: true });
  check.scrollIntoView();
}

// As a click does, so that one can go back.
function goTo(link) {
  if (!link) return;
  link.click();
  stand(document.getElementById(link.hash.slice(1)));
}

const ACTIONS = {
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [number, () => goTo(document.querySelectorAll(".first a")[number - 1])])),
  c: () => document.activeElement.closest(".check")?.querySelector(".fix .copy")?.click(),
  j: () => step(1),
  k: () => step(-1),
  "/": () => form.elements.q.focus(),
  "?": () => dialog.showModal(),
};

if (form && dialog) {
  keys.checked = !localStorage.getItem(OFF);
  keys.addEventListener("change", () => (keys.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  const opener = form.querySelector("[data-keys]");
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !keys.checked || dialog.open) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const act = ACTIONS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
