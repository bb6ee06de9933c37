// Who else has this page open.
const place = document.querySelector("[data-presence]");

export function showOthers(names) {
  const text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} here` : "";
  if (place && place.textContent !== text) place.textContent = text;
}
