// Sign in: as a person at the deployer's provider, or with an API key.
import { html, useState } from "../vendor/preact.js";
import { hasDrafts } from "../lib/drafts.js";
import { navigate, ROOT, url } from "../lib/router.js";
import { HAS_SIGN_IN, loginAddress, signIn, wantedPage } from "../lib/session.js";
import { Brand, Button, explain, Field, Note, useTitle } from "../lib/ui.js";

/** Why the service did not sign a person in (`/sign_in?problem=…`), and what to do. */
const PROBLEMS = {
  denied: [
    "You were not signed in",
    "The sign-in was cancelled, or your organization does not let you use this service. Try again, or ask the operator.",
  ],
  not_invited: [
    "You are not invited yet",
    "Nobody has invited your email address to an app. Ask an admin of your app to invite the address with which you sign in.",
  ],
  unverified_email: [
    "Your email address is not confirmed",
    "An invitation is for whoever owns its address. Confirm the address at your sign-in provider, then sign in again.",
  ],
  provider_failed: [
    "The sign-in provider did not answer",
    "Try again in a few minutes. If it happens again, tell the operator of this service.",
  ],
  try_again: ["The service is busy", "Try again in a moment."],
  invalid_login: [
    "This sign-in was not begun here",
    "It was begun in another browser, or it took longer than ten minutes. Sign in again in this window.",
  ],
};
const OTHER_PROBLEM = [
  "You were not signed in",
  "Sign in again. If it happens again, tell the operator of this service.",
];

export default function SignIn({ reason, problem, done }) {
  useTitle("Sign in");
  const signedIn = () => {
    // The address with the problem is not a page to return to.
    if (problem) navigate(ROOT + wantedPage(), { replace: true });
    done();
  };
  const [title, advice] = Object.hasOwn(PROBLEMS, problem) ? PROBLEMS[problem] : OTHER_PROBLEM;
  return html`
    <main class="sign-in">
      <div class="card">
        <${Brand} href=${url("/")} />
        <div>
          <h1>Sign in</h1>
          <p class="muted">
            ${
              HAS_SIGN_IN
                ? "Use the account of your organization."
                : "Use an API key of your app. It stays in this tab until you sign out or close it."
            }
          </p>
        </div>
        ${
          problem
            ? html`<${Note} tone="amber" role="alert" title=${title}><p>${advice}</p><//>`
            : reason &&
              html`
                <${Note} tone="amber" role="alert">
                  <p>
                    ${reason}
                    ${hasDrafts() && " Your drafts are kept in this tab."}
                  </p>
                <//>
              `
        }
        ${
          HAS_SIGN_IN
            ? html`
              <a class="button primary" href=${loginAddress()}>Sign in</a>
              <p class="or">or with an API key</p>
              <${KeyForm} done=${signedIn}>Sign in with the key<//>
            `
            : html`<${KeyForm} done=${signedIn} isFirst=${true}>Sign in<//>`
        }
        <p class="muted small">
          ${
            HAS_SIGN_IN
              ? "An admin of your app invites people and creates API keys. Without an account you can read the"
              : "The operator of this service creates API keys. Without one you can read the"
          }${" "}
          <a href=${url("/qbxml")}>QBXML reference</a> and the <a href="${ROOT}/docs">API reference</a>.
        </p>
      </div>
    </main>
  `;
}

function KeyForm({ done, isFirst, children }) {
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
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
    <form class="stack" onSubmit=${submit}>
      <${Field}
        label="API key"
        problem=${problem}
        help=${!isFirst && "It stays in this tab until you sign out or close it."}
      >
        ${(control) => html`
          <input
            ...${control}
            type="password"
            class="mono"
            autocomplete="off"
            spellcheck=${false}
            placeholder="sk_…"
            value=${key}
            autofocus=${isFirst}
            onInput=${(event) => {
              setKey(event.target.value);
              setProblem(null);
            }}
          />
        `}
      <//>
      <${Button} kind=${isFirst ? "primary" : ""} type="submit" busy=${busy}>${busy ? "Signing in…" : children}<//>
    </form>
  `;
}
