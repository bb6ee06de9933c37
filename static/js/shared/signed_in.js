// Signing in lets pages in other windows send what waits for it.
const KEY = "studio:signed-in";

if ("signedIn" in document.body.dataset) {
  try {
    localStorage.setItem(KEY, String(Date.now()));
  } catch {} // switched off: the other pages ask every ten seconds
}
if (document.querySelector("[data-close-window]")) window.close();

export function onSignIn(act) {
  window.addEventListener("storage", (event) => event.key === KEY && act());
}
