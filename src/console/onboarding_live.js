// The state of the setup, live.
import { html, useEffect, useState } from "./vendor/preact.js";
import { clockOffset, timeSince } from "./lib/onboarding_call.js";
import { problemText } from "./lib/onboarding_problems.js";
import { pollNow, useFreshness } from "./lib/polling.js";
import { ago } from "./lib/ago.js";
import { Button, Foreign, Note } from "./lib/ui.js";
import { Contact } from "./onboarding_parts.js";

/** After this time without a call, the page asks what Windows shows. */
const PATIENCE_MILLISECONDS = 120_000;

/** A test takes seconds. After this time without a result, QuickBooks probably waits for a person. */
const TEST_MILLISECONDS = 60_000;

/** The space between the box and what has the focus. */
const MARGIN_PIXELS = 16;

export function show(id) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.getElementById(id).scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

/** The steps of the page where a problem is solved, by the number of the step. */
const PLACES = { 1: ["file", "Go to step 1"], 2: ["program", "Go to step 2"], 3: ["access", "Go to step 3"] };

/**
 * Shows the state of the setup and what to do next. QBWC1039 and QBWC1048 stop the Web Connector before its first call,
 * so the page can only ask for them while nothing calls.
 */
export function Live({ progress, error, hasPassword, newPassword, busy, explain, hasMessage, askForMessage }) {
  const [since] = useState(Date.now);
  useUncovered();
  const { isPaused } = useFreshness();
  const { state, login_failed_at: failedAt, contact } = progress;
  if (isPaused) {
    return html`
      <${LiveNote} tone="amber" title="This page has stopped updating">
        <p>Nobody has used it for 10 minutes. Move the mouse here to continue.</p>
        <p class="row"><${Button} kind="small" icon="refresh" onClick=${() => pollNow()}>Update now<//></p>
      <//>
    `;
  }
  if (error) {
    return html`
      <${LiveNote} tone="amber" title="The service cannot be reached">
        <p>${error.message} This page tries again automatically.</p>
      <//>
    `;
  }
  if (state === "wrong_password") {
    return html`
      <${LiveNote}
        tone="red"
        title=${html`
          The Web Connector called with a wrong password${" "}
          <span aria-live="off">${ago(failedAt, Date.now() + clockOffset)}</span>
        `}
      >
        <p>
          ${
            hasPassword
              ? "Copy the password in step 4, paste it into the Web Connector and choose Update Selected."
              : "Get a new password in step 4 and paste it into the Web Connector."
          }
        </p>
        <p class="row">
          <${Button} kind="small" busy=${busy} onClick=${hasPassword ? () => show("password") : newPassword}>
            ${hasPassword ? "Go to the password" : "Show a new password"}
          <//>
        </p>
      <//>
    `;
  }
  if (state === "paused") {
    return html`
      <${LiveNote} tone="amber" title="The password is right. The test of QuickBooks waits.">
        <p>
          ${contact.name ?? "The application"} has paused this connection. Nothing is wrong on your computer.
          QuickBooks is tested when the pause ends.
        </p>
        <${Contact} contact=${contact} lead="Questions?" />
      <//>
    `;
  }
  if (state === "problem") {
    const { title, step, steps } = problemText(progress);
    const [place, name] = PLACES[step];
    return html`
      <${LiveNote} tone="red" title=${html`<${Foreign} text=${title} />`}>
        <ol class="plain break">
          ${steps.map((text) => html`<li><${Foreign} text=${text} /></li>`)}
        </ol>
        <p class="row">
          ${step !== 1 && html`<${Button} kind="small" onClick=${() => show(place)}>${name}<//>`}
          <${Contact} contact=${contact} lead="Still not working?" />
        </p>
        <details class="said">
          <summary>Message from QuickBooks</summary>
          <p class="small break">
            <${Foreign} text=${[progress.problem.hresult, progress.problem.message].filter(Boolean).join(": ")} />
          </p>
        </details>
      <//>
    `;
  }
  if (state === "testing") {
    const isLate = timeSince(progress.called_at) > TEST_MILLISECONDS;
    return isLate
      ? html`
        <${LiveNote} tone="amber" title="The password is right. QuickBooks has not answered yet.">
          <p>
            Look at QuickBooks: answer or close every dialog, and open the company file. Then choose${" "}
            <strong>Update Selected</strong> in the Web Connector.
          </p>
        <//>
      `
      : html`
        <${LiveNote} title="The password is right. Testing QuickBooks …" live=${true}>
          <p>The service asks QuickBooks which company is open. This takes a few seconds.</p>
        <//>
      `;
  }
  if (hasMessage || Date.now() - since > PATIENCE_MILLISECONDS) {
    return html`
      <${LiveNote} tone="amber" title="The Web Connector has not called yet">
        <p>What does the Web Connector show? This page cannot see its messages.</p>
        <p class="row">
          ${[
            ["1039", "QBWC1039"],
            ["1048", "QBWC1048"],
            ["password", "Authentication failed"],
            ["other", "Another message"],
            ["nothing", "No message"],
          ].map(([topic, name]) => html`<${Button} kind="small" onClick=${() => explain(topic)}>${name}<//>`)}
        </p>
      <//>
    `;
  }
  return html`
    <${LiveNote} title="Waiting for QuickBooks" live=${true}>
      <p>This page updates automatically when the Web Connector calls.</p>
      <p class="row"><${Button} kind="small" onClick=${askForMessage}>The Web Connector shows an error<//></p>
    <//>
  `;
}

/** Scrolls on when the box, which stays at the edge of the window, covers what has the focus. */
function uncover({ target }) {
  const box = document.querySelector(".live");
  if (!box || box.contains(target)) return;
  const [over, under] = [box.getBoundingClientRect(), target.getBoundingClientRect()];
  if (under.bottom > over.top && under.top < over.bottom) scrollBy(0, under.bottom - over.top + MARGIN_PIXELS);
}

/** Keeps what has the focus out from under the box. */
function useUncovered() {
  useEffect(() => {
    document.addEventListener("focusin", uncover);
    return () => document.removeEventListener("focusin", uncover);
  }, []);
}

const LiveNote = ({ tone = "", title, live, children }) => html`
  <section class="live" aria-label="Status" aria-live="polite">
    <${Note}
      tone=${tone}
      title=${html`
        ${title}
        ${live && html`<span class="beat" aria-hidden="true"></span>`}
      `}
    >
      ${children}
    <//>
  </section>
`;
