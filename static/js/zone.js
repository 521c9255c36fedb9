// Select the browser's time zone in a new monitor's or list's form, if the list contains it and the person has chosen none.
const zones = document.querySelector("[data-preset-zone]");
const zone = document.documentElement.dataset.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && [...zones.options].some((option) => option.value === zone)) zones.value = zone;

// Offer the browser's time zone on the account page.
const offer = document.getElementById("browser-zone");
const accountZones = document.getElementById("id_time_zone");
const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (offer && accountZones.value !== browserZone && [...accountZones.options].some((option) => option.value === browserZone)) {
  offer.querySelector("strong").textContent = browserZone.replaceAll("_", " ");
  offer.hidden = false;
  offer.querySelector("button").addEventListener("click", () => {
    accountZones.value = browserZone;
    accountZones.focus();
    offer.hidden = true;
  });
}
