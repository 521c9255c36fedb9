// Filters and keyboard shortcuts of the report page. Without scripts, the server applies the same filters for the same URLs
// (website_scan/report/filters.py): both hide the findings that do not match, and the categories that become empty.

const [EXPAND, COLLAPSE] = ["Expand all", "Collapse all"];
const STATUS_OF = { failed: "fail", warnings: "warn", passed: "pass" };
const form = document.getElementById("findings");
const checks = [...document.querySelectorAll(".report .check")];
const allDetails = [...document.querySelectorAll(".report .check:not(.is-pass) > details")];
const texts = new Map();

// The search covers messages, fixes and evidence, as on the server; it ignores labels, buttons and sources.
function searchTextOf(check) {
  if (!texts.has(check)) {
    const copy = check.cloneNode(true);
    for (const button of copy.querySelectorAll("button")) button.remove();
    const parts = [...copy.querySelectorAll("h4, .message, .fix span, td, dd, .references code")];
    texts.set(check, parts.map((part) => part.textContent).join("\n").toLowerCase());
  }
  return texts.get(check);
}

function selectedFilters() {
  const values = new FormData(form);
  return Object.fromEntries(["show", "severity", "metric", "q"].map((name) => [name, (values.get(name) ?? "").trim()]));
}

function matchesFilters(check, { show, severity, metric, q }) {
  if (show && !check.classList.contains(`is-${STATUS_OF[show]}`)) return false;
  if (severity && check.dataset.severity !== severity) return false;
  if (metric && !(check.dataset.metrics ?? "").split(" ").includes(metric)) return false;
  return q.toLowerCase().split(/\s+/).every((word) => searchTextOf(check).includes(word));
}

function applyFilters() {
  const wanted = selectedFilters();
  const asked = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  let shown = 0;
  for (const check of checks) {
    check.hidden = !matchesFilters(check, wanted);
    if (!check.hidden) shown += 1;
  }
  // Open the matching findings; without a filter, open those to fix first.
  for (const details of allDetails) details.open = asked.size ? !details.parentElement.hidden : "first" in details.parentElement.dataset;
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

function setFilters(values) {
  for (const field of form.elements) {
    if (field.type === "radio") field.checked = field.value === (values.get("show") ?? "");
    else if (field.name) field.value = values.get(field.name) ?? "";
  }
  applyFilters();
}

if (form) {
  form.addEventListener("input", applyFilters);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    applyFilters();
  });
  for (const link of document.querySelectorAll("a[data-filter], .clear-filters")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setFilters(new URL(link.href).searchParams);
      form.scrollIntoView();
      form.elements.q.focus({ preventScroll: true });
    });
  }
}

// Expand all findings with all their places, or collapse them again.
const expand = form?.querySelector("[data-expand]");
if (expand && allDetails.length) {
  expand.hidden = false;
  expand.addEventListener("click", () => {
    const open = expand.textContent === EXPAND;
    for (const details of allDetails) {
      details.open = open;
      for (const inner of details.querySelectorAll("details:not(.thumbnail)")) inner.open = open;
    }
    expand.textContent = open ? COLLAPSE : EXPAND;
  });
}

// A link to a finding also opens and shows it if it is collapsed or filtered out.
function revealTarget() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id && document.getElementById(id);
  if (!target || !target.closest(".report")) return;
  if (form && target.closest("[hidden]")) {
    const hash = location.hash;
    setFilters(new URLSearchParams());
    history.replaceState(null, "", hash);
  }
  for (let details = target.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  for (const details of target.querySelectorAll(":scope > details")) details.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", revealTarget);
// The URL does not change when somebody follows the same link again.
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link?.hash && link.href === location.href) revealTarget();
});
if (location.hash) revealTarget();

// The current category is the last one that begins above the middle of the window.
const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
const places = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
const button = document.querySelector(".contents .button");
let waiting = false;
function markCurrentCategory() {
  waiting = false;
  const above = places.filter((heading) => heading.checkVisibility() && heading.getBoundingClientRect().top < innerHeight / 2);
  const here = links.get(above.at(-1)?.id);
  for (const link of links.values()) link.toggleAttribute("aria-current", false);
  here?.setAttribute("aria-current", "true");
  if (button) {
    button.querySelector("span").textContent = (here?.querySelector("span") ?? here)?.textContent.trim() ?? "Categories";
    button.querySelector("strong").textContent = here?.querySelector("strong")?.textContent ?? "";
  }
}
addEventListener("scroll", () => {
  if (!waiting) requestAnimationFrame(markCurrentCategory);
  waiting = true;
}, { passive: true });
// Wait until the page has loaded, because reading positions forces a layout.
addEventListener("load", markCurrentCategory);
for (const link of links.values()) {
  link.addEventListener("click", () => document.querySelector(".contents [popover]:popover-open")?.hidePopover());
}

// On a narrow screen, the open table of contents covers other elements, which must not be partly clickable.
document.querySelector(".contents [popover]")?.addEventListener("toggle", ({ newState }) => {
  for (const element of document.querySelectorAll(".summary, .details")) element.inert = newState === "open";
});

// Keyboard shortcuts can be switched off (WCAG 2.1.4), because speech input may trigger them by accident.
const OFF = "report-keys-off";
const dialog = document.getElementById("keys");
const keys = dialog?.querySelector("#keys-on");

function moveFocus(by) {
  const open = checks.filter((check) => check.checkVisibility() && !check.classList.contains("is-pass"));
  const among = open.length ? open : checks.filter((check) => check.checkVisibility());
  const at = document.activeElement.closest(".check") ?? document.querySelector(".check:target");
  let next = among.indexOf(at) + by;
  // If no finding has the focus, go to the next one from the current scroll position.
  if (!among.includes(at)) {
    const below = among.findIndex((check) => check.getBoundingClientRect().top >= 0);
    next = below < 0 ? among.length - 1 : by > 0 ? below : below - 1;
  }
  focusCheck(among[Math.max(0, Math.min(next, among.length - 1))]);
}

function focusCheck(check) {
  if (!check) return;
  check.querySelector("summary").focus({ preventScroll: true });
  check.scrollIntoView();
}

// Add a history entry as a click does, so that Back works.
function goTo(link) {
  if (!link) return;
  link.click();
  focusCheck(document.getElementById(link.hash.slice(1)));
}

const ACTIONS = {
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [number, () => goTo(document.querySelectorAll(".first a")[number - 1])])),
  c: () => document.activeElement.closest(".check")?.querySelector(".fix .copy")?.click(),
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
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
