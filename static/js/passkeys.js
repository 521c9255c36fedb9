// Passkeys, by django-allauth's scripts: <form data-passkey="add | use | login" data-options="what to sign, as JSON">. The
// button stays out of sight where the browser knows none.
const form = document.querySelector("form[data-passkey]");
if (form && window.PublicKeyCredential) {
  const ids = { credential: "passkey-credential", passwordless: "id_passwordless" };
  const data = JSON.parse(form.dataset.options || "{}");
  const { addForm, authenticateForm, loginForm } = window.allauth.webauthn.forms;
  const button = document.getElementById("passkey-button");
  const problem = form.querySelector("[data-passkey-problem]");
  for (const each of form.querySelectorAll("[data-passkey-absent]")) each.hidden = true;
  button.hidden = false;
  button.addEventListener("click", () => { problem.hidden = true; });
  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    problem.hidden = false;
  });
  if (form.dataset.passkey === "add") addForm({ ids: { ...ids, add: button.id }, data });
  else if (form.dataset.passkey === "use") authenticateForm({ ids: { ...ids, authenticate: button.id }, data });
  else loginForm({ ids: { ...ids, login: button.id } });
}
