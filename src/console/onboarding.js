// The onboarding page: leads a customer through setting up the Web Connector and says when QuickBooks has called.
import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { ROOT } from "./lib/router.js";
import { Badge, Button, CopyButton, Icon, Note, Skeleton } from "./lib/ui.js";
import { fullTime } from "./lib/text.js";
import { AllowAccess, TypePassword, TickAutoRun } from "./onboarding_pictures.js";

const TOKEN = location.hash.slice(1);
const POLL_MILLISECONDS = 3000;
const REDIRECT_MILLISECONDS = 4000;

async function call(method, path) {
  let response;
  try {
    response = await fetch(`${ROOT}/onboarding/${path}`, { method, credentials: "omit", cache: "no-store", headers: { Authorization: `Bearer ${TOKEN}` } });
  } catch {
    throw Object.assign(new Error("The service cannot be reached. Check the internet connection."), { status: 0 });
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(body.error?.message ?? "The service does not answer right now."), { status: response.status, details: body.error?.details });
  return body.data;
}

/** Returns where the app wants the customer to go, or null. Only web addresses are followed. */
function destination(redirectUrl, state) {
  if (!redirectUrl) return null;
  const address = new URL(redirectUrl);
  if (!["https:", "http:"].includes(address.protocol)) return null;
  address.searchParams.set("state", state);
  return address.href;
}

function Page() {
  const [progress, setProgress] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let timer;
    const update = async () => {
      try {
        const now = await call("GET", "connection");
        setProgress(now);
        setError(null);
        if (now.connected) return;
      } catch (problem) {
        setError(problem);
        if ([404, 410].includes(problem.status)) return;
      }
      timer = setTimeout(update, POLL_MILLISECONDS);
    };
    update();
    return () => clearTimeout(timer);
  }, []);
  if (error?.status === 404 || error?.status === 410) return html`<${Invalid} error=${error} />`;
  if (!progress) return error ? html`<${Note} tone="red" role="alert" title="This page cannot be loaded"><p>${error.message} It tries again by itself.</p><//>` : html`<div class="stack" role="status"><${Skeleton} width="50%" /><${Skeleton} /><${Skeleton} width="80%" /></div>`;
  if (progress.connected) return html`<${Connected} progress=${progress} />`;
  return html`<${Steps} progress=${progress} error=${error} />`;
}

function Invalid({ error }) {
  const expired = error.status === 410;
  const back = expired && destination(error.details?.redirect_url, "expired");
  return html`<h1>${expired ? "This link has expired" : "This link is not valid"}</h1>
    <${Note} tone="amber" role="alert"><p>${expired ? "For security a link works for 48 hours." : "The link may be incomplete, or a newer one has replaced it."}</p>
      <p>Ask whoever sent it to you for a new one. What you have set up so far stays.</p><//>
    ${back && html`<p><a class="button" href=${back}>Go back</a></p>`}`;
}

function Connected({ progress }) {
  const next = destination(progress.redirect_url, "connected");
  const heading = useRef();
  useEffect(() => {
    heading.current.focus();
    if (!next) return undefined;
    const timer = setTimeout(() => location.assign(next), REDIRECT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return html`<h1 tabindex="-1" ref=${heading}>QuickBooks is connected</h1>
    <${Note} tone="green" role="status"><p>QuickBooks has called${progress.quickbooks_product_name ? ` from ${progress.quickbooks_product_name}` : ""}. You are done.</p>
      <p>Leave the Web Connector running, with Auto-Run ticked.</p><//>
    ${next ? html`<p><a class="button primary" href=${next}>Continue</a></p>` : html`<p class="muted">You can close this page.</p>`}`;
}

function Steps({ progress, error }) {
  const [downloaded, setDownloaded] = useState(false);
  const [password, setPassword] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const attempt = (action) => async () => {
    setBusy(true);
    setProblem(null);
    try {
      await action();
    } catch (failure) {
      setProblem(failure.message);
    }
    setBusy(false);
  };
  const download = attempt(async () => {
    const { qwc } = await call("GET", "qwc");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([qwc], { type: "application/x-qwc" }));
    link.download = `${(progress.name ?? "QuickBooks").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "QuickBooks"}.qwc`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    setDownloaded(true);
  });
  const makePassword = attempt(async () => setPassword((await call("POST", "password")).password));
  const leave = destination(progress.redirect_url, "cancelled");
  return html`
    <div><h1>Connect QuickBooks${progress.name ? html` for <span class="break">${progress.name}</span>` : ""}</h1>
      <p class="muted" style="margin-top: 6px">Five steps on the Windows computer where QuickBooks runs. It takes about five minutes, and nobody but you sees your password.</p></div>
    ${problem && html`<${Note} tone="red" role="alert"><p>${problem}</p><//>`}
    <${Step} n=${1} title="Open QuickBooks">
      <p>Open ${progress.company_file ? html`the company file <code class="break">${progress.company_file}</code>` : "the right company file"} as <strong>Admin</strong>, in single-user mode. Close every dialog.</p>
      <p class="muted">The QuickBooks Web Connector comes with QuickBooks Desktop. You find it in the Windows start menu below QuickBooks, or in QuickBooks under File → App Management → Update Web Services.</p><//>
    <${Step} n=${2} title="Download and open the file" done=${downloaded}>
      <p><${Button} kind="primary" icon="download" busy=${busy} onClick=${download}>Download the file<//></p>
      <p>Open it with a double-click. The Web Connector starts and shows the application's name; choose <strong>OK</strong>.</p><//>
    <${Step} n=${3} title="Let QuickBooks allow it">
      <p>QuickBooks shows a dialog about a certificate. Choose <strong>Yes, whenever this QuickBooks company file is open</strong>, or <strong>Yes, always</strong> if it should also work at night. Then <strong>Continue</strong> and <strong>Done</strong>.</p>
      <figure><${AllowAccess} /><figcaption>The dialog of QuickBooks, and where to click</figcaption></figure><//>
    <${Step} n=${4} title="Type the password" done=${Boolean(password)}>
      ${password ? html`<div class="secret"><code>${password}</code><${CopyButton} text=${password} /></div>
          <p class="muted">It is shown only here. If you lose it, load this page again and make another one.</p>`
        : html`<p><${Button} icon="plus" busy=${busy} onClick=${makePassword}>Show the password<//></p><p class="muted">Each new password replaces the one before.</p>`}
      <p>Click the password field of the application in the Web Connector, paste the password and press Enter. When it asks whether to save the password, choose <strong>Yes</strong>.</p>
      <figure><${TypePassword} /><figcaption>The password field in the Web Connector</figcaption></figure><//>
    <${Step} n=${5} title="Tick Auto-Run and start">
      <p>Tick the application and its <strong>Auto-Run</strong> box, then choose <strong>Update Selected</strong>.</p>
      <figure><${TickAutoRun} /><figcaption>Auto-Run keeps the connection going by itself</figcaption></figure><//>
    <${Live} progress=${progress} error=${error} />
    <section class="card" aria-label="If something goes wrong"><header><h2>If something goes wrong</h2></header>
      <${Help} title="“QBWC1039”: a unique OwnerID or FileID pair is needed"><p>The Web Connector already knows this application. Remove the old entry in the Web Connector, then open the file from step 2 again.</p><//>
      <${Help} title="“QBWC1048”: the certificate could not be verified"><p>Open this page in Edge on the same computer. If Edge shows a warning too, run Windows Update and check the computer's date. If a security program inspects connections, exclude the Web Connector.</p><//>
      <${Help} title="“Authentication failed” or a wrong password"><p>Go back to step 4, show a new password and paste it again. Watch for a blank at its end.</p><//>
      <${Help} title="Another company file is open"><p>Nothing is sent to the wrong books. Open the right company file in QuickBooks and choose Update Selected again.</p><//>
      <${Help} title="The Web Connector says that QuickBooks cannot be started"><p>Close all dialogs in QuickBooks. Make sure that QuickBooks runs for the same Windows user as the Web Connector.</p><//>
    </section>
    <p class="muted small">This link works until ${fullTime(progress.expires_at)}.${leave && html` <a href=${leave}>I cannot do this now</a>`}</p>`;
}

const Step = ({ n, title, done, children }) => html`<section class="card step ${done ? "done" : ""}" aria-label="Step ${n}: ${title}">
  <span class="dot" aria-hidden="true">${done ? html`<${Icon} name="check" />` : n}</span><div class="stack"><h2>${title}</h2>${children}</div></section>`;

const Help = ({ title, children }) => html`<details><summary>${title}</summary><div>${children}</div></details>`;

function Live({ progress, error }) {
  const { problem } = progress;
  return html`<section class="card live" aria-label="Status" aria-live="polite"><div class="body row between">
    ${error ? html`<div><${Badge} tone="amber">No connection to the service<//> <p class="muted" style="margin-top: 6px">${error.message} This page tries again by itself.</p></div>`
      : problem ? html`<div class="stack tight"><span><${Badge} tone="red">QuickBooks called, but something is in the way<//></span><p class="strong">${problem.message}</p>${problem.hint && html`<p>${problem.hint}</p>`}</div>`
      : html`<div class="stack tight"><span><${Badge} tone="blue" live=${true}>Waiting for QuickBooks<//></span><p class="muted">This page notices by itself when QuickBooks calls.</p></div>`}
  </div></section>`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(TOKEN ? html`<${Page} />` : html`<${Invalid} error=${{ status: 404 }} />`, root);
