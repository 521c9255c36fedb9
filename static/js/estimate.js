// Display the cost of a form's current values. The server renders the same sentences for the initial values
// (sites/pages/estimates.py).
const RUNS = { hour: 744, "6h": 124, day: 31, week: 5, month: 1 };
const box = document.getElementById("estimate");
const form = box.closest("form");
const counted = (number, one) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
const pagesOf = {
  page: () => 1,
  pages: () => Math.min(form.elements.pages.value.split(/\s+/).filter(Boolean).length, +form.elements.max_pages.max),
  site: () => {
    const field = form.elements.max_pages;
    return Math.min(/^\s*\d+\s*$/.test(field.value) && +field.value ? +field.value : +box.dataset.usual, +field.max);
  },
  // The states and the types of a journey are fixed. The server has counted those of the journey that was chosen.
  journey: (sentence) => (form.elements.journey.value === sentence.dataset.journey ? +sentence.dataset.planned : 0),
};
function estimate() {
  const ticked = form.querySelectorAll('[name="type"]:checked').length;
  const runs = RUNS[form.querySelector('[name="every"]:checked')?.value] ?? 0;
  for (const sentence of box.querySelectorAll("[data-kind]")) {
    const types = +(sentence.dataset.chosen ?? ticked);
    const pages = pagesOf[sentence.dataset.kind](sentence);
    const scans = pages * types;
    const write = (name, text) => {
      const place = sentence.querySelector(`[data-${name}]`);
      if (place && place.textContent !== text) place.textContent = text;
    };
    write("pages", counted(pages, "page"));
    write("types", counted(types, "type"));
    write("scans", counted(scans, "scan"));
    write("month", (scans * runs).toLocaleString("en"));
    const isUnknown = sentence.dataset.kind === "journey" && !pages;
    sentence.querySelector("[data-numbers]").hidden = isUnknown;
    if (sentence.querySelector("[data-general]")) sentence.querySelector("[data-general]").hidden = !isUnknown;
    sentence.querySelector("[data-over]").hidden = runs ? scans * runs <= +box.dataset.limit : scans <= +box.dataset.left;
  }
}
form.addEventListener("input", estimate);
// The browser may have restored earlier input.
addEventListener("pageshow", estimate);
