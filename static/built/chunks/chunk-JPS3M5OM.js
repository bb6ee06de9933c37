// static/js/shared/signed_in.js
var KEY = "studio:signed-in";
if ("signedIn" in document.body.dataset)
  try {
    localStorage.setItem(KEY, String(Date.now()));
  } catch {
  }
document.querySelector("[data-close-window]") && window.close();
function onSignIn(act) {
  window.addEventListener("storage", (event) => event.key === KEY && act());
}

// static/js/shared/cookies.js
function remember(name, value) {
  let age = value ? 31536e3 : 0;
  document.cookie = `${name}=${value}; path=/; max-age=${age}; samesite=lax`;
}
var read = (name) => document.cookie.split("; ").find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);

export {
  remember,
  read,
  onSignIn
};
