// A new monitor begins with the time zone of the browser, where the list has it.
const zones = document.querySelector("[data-preset-zone]");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && [...zones.options].some((each) => each.value === zone)) zones.value = zone;
