// Buttons that copy: <button data-copy="ID of the element">, without an ID the element before the button; or
// <button data-copy-from="address of a text">. Without scripts, the style sheet hides the former, and a link replaces
// the latter.
const COPIED_MS = 2_000;
const copied = Object.assign(document.createElement("p"), { className: "visually-hidden", role: "status" });

async function fetchText(address) {
  const response = await fetch(address);
  // A session that has ended leads to the log-in page.
  if (!response.ok || response.redirected) throw new Error(`${address} answered ${response.status}`);
  return new Blob([await response.text()], { type: "text/plain" });
}

async function copy(button) {
  const { copyFrom, copy: id } = button.dataset;
  if (copyFrom) {
    const text = fetchText(copyFrom);
    text.catch(() => {}); // The clipboard fails with it, which the button reports.
    // The promise within the item keeps the permission of the click while the text is loaded.
    return navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
  }
  const source = id ? document.getElementById(id) : button.previousElementSibling;
  return navigator.clipboard.writeText(source.textContent.trim());
}

async function copyBy(button) {
  const name = button.querySelector("strong") ?? button;
  const label = (button.dataset.label ??= name.textContent);
  const result = await copy(button).then(() => "Copied", () => "Not copied");
  name.textContent = copied.textContent = result;
  setTimeout(() => {
    name.textContent = label;
    copied.textContent = "";
  }, COPIED_MS);
}
if (navigator.clipboard) {
  document.body.append(copied);
  for (const button of document.querySelectorAll("[data-copy-from]")) button.parentElement.hidden = false;
  for (const link of document.querySelectorAll("[data-copied-by-button]")) link.parentElement.hidden = true;
  addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (button) copyBy(button);
  });
} else {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = true;
}

// A form is sent once, however often its button is pressed. What does not come through may be sent again after a while,
// and so may the form of a page that is come back to.
const PATIENCE_MS = 10_000;
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.ariaBusy) return event.preventDefault();
  form.ariaBusy = "true";
  setTimeout(() => { form.ariaBusy = null; }, PATIENCE_MS);
});
addEventListener("pageshow", () => {
  for (const form of document.forms) form.ariaBusy = null;
});

// Moments stand in the page in UTC, and it says so. Where scripts run they are in the zone of the reader, UTC in the tip;
// "3 days ago" stays as it is.
const FORMS = [
  [/^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/, (part) => `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}`],
  [/^\d+ \p{L}+ \d{4}, \d\d:\d\d(:\d\d)? UTC$/u, (part) => `${+part.day} ${part.name} ${part.year}, ${part.hour}:${part.minute}`],
];
const NUMBERS = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const partsOf = (moment, options) => Object.fromEntries(new Intl.DateTimeFormat("en-GB", options).formatToParts(moment).map((each) => [each.type, each.value]));
const zoneAt = (moment) => partsOf(moment, { timeZoneName: "short" }).timeZoneName;

function showLocally(root) {
  for (const each of root.querySelectorAll("time[datetime]")) {
    const text = each.textContent.trim();
    const moment = new Date(each.dateTime.replace(" ", "T"));
    const [form, write] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
    if (!form || Number.isNaN(moment.getTime())) continue;
    const part = { ...partsOf(moment, NUMBERS), name: partsOf(moment, { month: "long" }).month };
    const seconds = form.exec(text)[1] ? `:${part.second}` : "";
    const zone = text.endsWith("UTC") ? ` ${zoneAt(moment)}` : "";
    each.title = text.endsWith("UTC") ? text : `${text} UTC`;
    each.textContent = write(part) + seconds + zone;
  }
  for (const each of root.querySelectorAll("th")) {
    if (each.textContent.endsWith("(UTC)")) each.textContent = each.textContent.replace("(UTC)", `(${zoneAt(new Date())})`);
  }
}
if (Intl.DateTimeFormat().resolvedOptions().timeZone !== "UTC") {
  showLocally(document);
  document.addEventListener("htmx:load", (event) => showLocally(event.target.parentElement ?? event.target));
}

// On paper each page says in its margin what it is about: only a style sheet can write there.
const about = document.querySelector(".report-title .target")?.textContent ?? document.title;
const margin = new CSSStyleSheet();
margin.replaceSync(`@page { @top-left { content: "${about.trim().replace(/[\\"\n\r\f]/g, (each) => `\\${each.charCodeAt(0).toString(16)} `)}"; } }`);
document.adoptedStyleSheets.push(margin);
