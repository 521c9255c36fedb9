// Select the browser's time zone in the form for a new monitor, if the list contains it.
const zones = document.querySelector("[data-preset-zone]");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zones && [...zones.options].some((option) => option.value === zone)) zones.value = zone;
