// Passkeys with django-allauth's scripts: <form data-passkey="add | use | login" data-options="JSON to sign">. The button
// stays hidden if the browser does not support passkeys.
const form = document.querySelector("form[data-passkey]");
if (form && window.PublicKeyCredential) {
  const ids = { credential: "passkey-credential", passwordless: "id_passwordless" };
  const data = JSON.parse(form.dataset.options || "{}");
  const { addForm, authenticateForm, loginForm } = window.allauth.webauthn.forms;
  const button = document.getElementById("passkey-button");
  const problem = form.querySelector("[data-passkey-problem]");
  for (const element of form.querySelectorAll("[data-passkey-absent]")) element.hidden = true;
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
