// Buttons that copy: <button data-copy="ID of the element">, without an ID the element before the button or the <span>
// after it; or <button data-copy-from="address of a text">. Without scripts, the style sheet hides the former, and a
// link replaces the latter.
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
  const beside = button.previousElementSibling ?? button.nextElementSibling.querySelector("span");
  const source = id ? document.getElementById(id) : beside;
  return navigator.clipboard.writeText(source.textContent.trim());
}

async function copyFor(button) {
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
    if (button) copyFor(button);
  });
} else {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = true;
}

// Send a form only once, however often its button is pressed. It can be sent again after a while if the request failed,
// or if somebody returns to the page.
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

// The server renders times in UTC and says so, unless the reader has chosen a time zone for their account. Scripts convert
// the times in UTC to the chosen or the browser's time zone and show UTC in the tooltip; relative times such as "3 days
// ago" do not change.
const chosenZone = document.documentElement.dataset.timeZone;
const FORMS = [
  [/^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/, (part) => `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}`],
  [/^\d+ \p{L}+ \d{4}, \d\d:\d\d(:\d\d)? UTC$/u, (part) => `${+part.day} ${part.name} ${part.year}, ${part.hour}:${part.minute}`],
];
const NUMBERS = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const partsOf = (moment, options) => Object.fromEntries(new Intl.DateTimeFormat("en-GB", { timeZone: chosenZone, ...options }).formatToParts(moment).map((part) => [part.type, part.value]));
const zoneAt = (moment) => partsOf(moment, { timeZoneName: "short" }).timeZoneName;

function showLocally(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const text = time.textContent.trim();
    const moment = new Date(time.dateTime.replace(" ", "T"));
    const [form, write] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
    if (!form || Number.isNaN(moment.getTime()) || (chosenZone && !text.endsWith("UTC"))) continue;
    const part = { ...partsOf(moment, NUMBERS), name: partsOf(moment, { month: "long" }).month };
    const seconds = form.exec(text)[1] ? `:${part.second}` : "";
    const zone = text.endsWith("UTC") ? ` ${zoneAt(moment)}` : "";
    time.title = text.endsWith("UTC") ? text : `${text} UTC`;
    time.textContent = write(part) + seconds + zone;
  }
  for (const header of root.querySelectorAll("th")) {
    if (header.textContent.endsWith("(UTC)")) header.textContent = header.textContent.replace("(UTC)", `(${zoneAt(new Date())})`);
  }
}
if ((chosenZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone) !== "UTC") {
  showLocally(document);
  document.addEventListener("htmx:load", (event) => showLocally(event.target.parentElement ?? event.target));
}

// Print the page's title in the margin of each sheet, which only a style sheet can do.
const about = document.querySelector(".report-title .target")?.textContent ?? document.title;
const margin = new CSSStyleSheet();
margin.replaceSync(`@page { @top-left { content: "${about.trim().replace(/[\\"\n\r\f]/g, (character) => `\\${character.charCodeAt(0).toString(16)} `)}"; } }`);
document.adoptedStyleSheets.push(margin);
