// static/js/accounts/passkeys.js
var problem = document.querySelector("[data-passkey-problem]");
for (let button of document.querySelectorAll("[data-passkey]"))
  button.hidden = !window.PublicKeyCredential;
document.addEventListener("allauth.error", (event) => {
  event.preventDefault(), problem && (problem.textContent = event.detail.exception?.name === "NotAllowedError" ? "Nothing was done: the passkey was cancelled, or it took too long. Try again." : "This did not work in this browser. Try another passkey, or another way to sign in.", problem.hidden = !1);
});
