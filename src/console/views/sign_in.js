// Sign in with an API key.
import { html, useState } from "../vendor/preact.js";
import { signIn } from "../lib/api.js";
import { hasDrafts } from "../lib/drafts.js";
import { ROOT, url } from "../lib/router.js";
import { Brand, Button, explain, Field, Note, useTitle } from "../lib/ui.js";

export default function SignIn({ reason, done }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  useTitle("Sign in");
  const submit = async (event) => {
    event.preventDefault();
    if (!key.trim()) return setProblem("Enter an API key.");
    setBusy(true);
    try {
      await signIn(key.trim());
      done();
    } catch (error) {
      setProblem(error.status === 401 ? "This API key is not valid. It may have been revoked." : explain(error));
      setBusy(false);
    }
  };
  return html`
    <main class="sign-in">
      <form class="card" onSubmit=${submit}>
        <${Brand} href=${url("/")} />
        <div>
          <h1>Sign in</h1>
          <p class="muted">Use an API key of your app. It stays in this tab until you sign out or close it.</p>
        </div>
        ${
          reason &&
          !problem &&
          html`
            <${Note} tone="amber" role="alert">
              <p>
                ${reason}
                ${hasDrafts() && " Your drafts are kept in this tab."}
              </p>
            <//>
          `
        }
        <${Field} label="API key" problem=${problem}>
          ${(control) => html`
            <input
              ...${control}
              type="password"
              class="mono"
              autocomplete="off"
              spellcheck=${false}
              placeholder="sk_…"
              value=${key}
              autofocus
              onInput=${(event) => {
                setKey(event.target.value);
                setProblem(null);
              }}
            />
          `}
        <//>
        <${Button} kind="primary" type="submit" busy=${busy}>${busy ? "Signing in…" : "Sign in"}<//>
        <p class="muted small">
          The operator of this service creates API keys. Without one you can read the${" "}
          <a href=${url("/qbxml")}>QBXML reference</a> and the <a href="${ROOT}/docs">API reference</a>.
        </p>
      </form>
    </main>
  `;
}
