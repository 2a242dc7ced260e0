// The onboarding page: leads a customer through setting up the Web Connector and says when QuickBooks has called.
import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { ROOT } from "./lib/router.js";
import { Button, CopyButton, Foreign, Icon, Note, Skeleton } from "./lib/ui.js";
import { ago, fullTime } from "./lib/text.js";
import { AllowAccess, TypePassword, TickAutoRun } from "./onboarding_pictures.js";

const TOKEN = location.hash.slice(1);
const POLL_MILLISECONDS = 3000;
const REDIRECT_MILLISECONDS = 4000;
/** After this time without a call, the page asks what Windows shows. */
const PATIENCE_MILLISECONDS = 120_000;

/** How far the service's clock is ahead of this computer's. */
let clockOffset = 0;

async function call(method, path) {
  let response;
  try {
    response = await fetch(`${ROOT}/onboarding/${path}`, { method, credentials: "omit", cache: "no-store", headers: { Authorization: `Bearer ${TOKEN}` } });
  } catch {
    throw Object.assign(new Error("The service cannot be reached. Check the internet connection."), { status: 0 });
  }
  clockOffset = (Date.parse(response.headers.get("Date")) || Date.now()) - Date.now();
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
  const product = progress.quickbooks_product_name;
  const heading = useRef();
  useEffect(() => {
    heading.current.focus();
    if (!next) return undefined;
    const timer = setTimeout(() => location.assign(next), REDIRECT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return html`<h1 tabindex="-1" ref=${heading}>QuickBooks is connected</h1>
    <${Note} tone="green" role="status" title="You are done."><p>${product ? `QuickBooks has called from ${product}.` : "The Web Connector has called with the right password."}</p>
      <p>Leave the Web Connector running, with Auto-Run ticked.</p><//>
    ${next ? html`<div class="stack tight"><p><a class="button primary" href=${next}>Continue</a></p><p class="muted small">You are taken there in a few seconds.</p></div>` : html`<p class="muted">You can close this page.</p>`}`;
}

function Steps({ progress, error }) {
  const [downloaded, setDownloaded] = useState(false);
  const [password, setPassword] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState(null);
  /** Returns a handler for a button. A failure is shown in the step of the button. */
  const attempt = (step, action) => async () => {
    setBusy(true);
    setProblem(null);
    try {
      await action();
    } catch (failure) {
      setProblem({ step, message: failure.message });
    }
    setBusy(false);
  };
  const problemOf = (step) => problem?.step === step && html`<${Note} tone="red" role="alert"><p>${problem.message}</p><//>`;
  const download = attempt("file", async () => {
    const { qwc } = await call("GET", "qwc");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([qwc], { type: "application/x-qwc" }));
    link.download = `${(progress.name ?? "QuickBooks").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "QuickBooks"}.qwc`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    setDownloaded(true);
  });
  const makePassword = attempt("password", async () => setPassword((await call("POST", "password")).password));
  const newPassword = async () => {
    await makePassword();
    show("password");
  };
  const explain = (topic) => {
    setOpen(topic);
    show("help");
  };
  const leave = destination(progress.redirect_url, "cancelled");
  const topic = (name) => ({ open: open === name, toggle: (isOpen) => setOpen(isOpen ? name : open === name ? null : open) });
  return html`
    <div><h1>Connect QuickBooks${progress.name ? html` for <span class="break">${progress.name}</span>` : ""}</h1>
      <p class="muted lead">Five steps on the Windows computer where QuickBooks runs. They take about five minutes.</p></div>
    <${Step} n=${1} title="Open QuickBooks">
      <p>Open ${progress.company_file ? html`the company file <code class="break">${progress.company_file}</code>` : "the right company file"} as <strong>Admin</strong>, in single-user mode. Close every dialog.</p>
      <p class="muted">The QuickBooks Web Connector comes with QuickBooks Desktop. You find it in the Windows start menu under QuickBooks, or in QuickBooks under File → App Management → Update Web Services.</p><//>
    <${Step} n=${2} title="Download and open the file" done=${downloaded}>
      <p><${Button} kind="primary" icon="download" busy=${busy} onClick=${download}>Download the file<//></p>
      ${problemOf("file")}
      <p>Double-click the file to open it. The Web Connector starts and shows the name of the application. Choose <strong>OK</strong>.</p><//>
    <${Step} n=${3} title="Give the application access">
      <p>QuickBooks shows a dialog about a certificate. Choose <strong>Yes, whenever this QuickBooks company file is open</strong>, or <strong>Yes, always</strong> if it should also work at night. Then choose <strong>Continue</strong> and <strong>Done</strong>.</p>
      <figure><${AllowAccess} /><figcaption>The dialog of QuickBooks, and where to click</figcaption></figure><//>
    <${Step} id="password" n=${4} title="Enter the password" done=${Boolean(password)}>
      ${password ? html`<div class="secret"><code>${password}</code><${CopyButton} text=${password} /></div>
          <p class="muted">It is shown only here. If you lose it, load this page again and get a new one.</p>`
        : html`<p><${Button} icon="plus" busy=${busy} onClick=${makePassword}>Show the password<//></p>${problemOf("password")}<p class="muted">Each new password replaces the one before.</p>`}
      <p>Click the password field of the application in the Web Connector, paste the password and press Enter. When it asks whether to save the password, choose <strong>Yes</strong>.</p>
      <figure><${TypePassword} /><figcaption>The password field in the Web Connector</figcaption></figure><//>
    <${Step} n=${5} title="Tick Auto-Run and start">
      <p>Tick the application and its <strong>Auto-Run</strong> box, then choose <strong>Update Selected</strong>.</p>
      <figure><${TickAutoRun} /><figcaption>With Auto-Run, the Web Connector calls by itself</figcaption></figure><//>
    <${Live} progress=${progress} error=${error} hasPassword=${Boolean(password)} newPassword=${newPassword} busy=${busy} explain=${explain} />
    <section class="card" id="help" aria-label="If something goes wrong"><header><h2>If something goes wrong</h2></header>
      <${Help} ...${topic("1039")} title="QBWC1039: a unique OwnerID or FileID pair is needed"><p>The Web Connector already has this application. Select the old entry in the Web Connector and choose <strong>Remove</strong>. Then open the file from step 2 again.</p>
        <p>If the message comes back, close QuickBooks, open the right company file and open the file from step 2 once more.</p><//>
      <${Help} ...${topic("1048")} title="QBWC1048: the certificate could not be verified"><p>Open this page in Edge on the same computer. If Edge shows a warning too, check the computer's date and time, and run Windows Update.</p><p>If a security program inspects connections, tell it to leave out the Web Connector.</p><//>
      <${Help} ...${topic("password")} title="QBWC1040, or “Authentication failed”: the password is wrong"><p>Go back to step 4, show a new password and paste it again. Make sure that no blank is pasted with it.</p><//>
      <${Help} ...${topic("file")} title="Another company file is open"><p>Nothing is sent to the wrong company file. Open the right one in QuickBooks: <strong>File → Open or Restore Company</strong>. Then choose <strong>Update Selected</strong> in the Web Connector.</p><//>
      <${Help} ...${topic("start")} title="The Web Connector says that QuickBooks cannot be started"><p>Close all dialogs in QuickBooks. Make sure that QuickBooks and the Web Connector run for the same Windows user, and that neither runs as administrator.</p><//>
      <${Help} ...${topic("nothing")} title="The Web Connector shows no message"><p>Tick the application and its <strong>Auto-Run</strong> box, then choose <strong>Update Selected</strong>. If the application is not in the list, open the file from step 2 again.</p><//>
    </section>
    <p class="muted small">This link works until ${fullTime(progress.expires_at)}.${leave && html` <a href=${leave}>I cannot do this now</a>`}</p>`;
}

function show(id) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.getElementById(id).scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

const Step = ({ n, id, title, done, children }) => html`<section class="card step ${done ? "done" : ""}" id=${id} aria-label="Step ${n}: ${title}">
  <span class="dot" aria-hidden="true">${done ? html`<${Icon} name="check" />` : n}</span><div class="stack"><h2>${title}${done && html`<span class="hidden-visually"> (done)</span>`}</h2>${children}</div></section>`;

const Help = ({ title, open, toggle, children }) => html`<details open=${open} onToggle=${(event) => event.target.open !== open && toggle(event.target.open)}><summary>${title}</summary><div>${children}</div></details>`;

/** What a customer can do about the open company file. The API's hints name calls instead. */
const FILE_PROBLEMS = {
  company_file_mismatch: { title: "Another company file is open", hint: "Open the right company file. If the open one is right, ask whoever sent you this link to accept it." },
  company_file_moved: { title: "The company file is open at another place", hint: "If it is a copy or a restored backup, open the right file. If you moved the file, ask whoever sent you this link to accept its new place." },
};

/**
 * Shows the state of the Web Connector and what to click. QBWC1039 and QBWC1048 stop it before its first call, so the
 * page can only ask for them while nothing calls.
 */
function Live({ progress, error, hasPassword, newPassword, busy, explain }) {
  const [since] = useState(Date.now);
  const { problem, login_failed_at: failedAt } = progress;
  if (error) {
    return html`<${LiveNote} tone="amber" title="The service cannot be reached"><p>${error.message} This page tries again by itself.</p><//>`;
  }
  if (failedAt) {
    return html`<${LiveNote} tone="red" title=${html`The Web Connector called with a wrong password <span aria-live="off">${ago(failedAt, Date.now() + clockOffset)}</span>`}>
      <p>${hasPassword ? "Copy the password in step 4, paste it into the Web Connector and choose Update Selected." : "Get a new password in step 4 and paste it into the Web Connector."}</p>
      <p class="row"><${Button} kind="small" busy=${busy} onClick=${hasPassword ? () => show("password") : newPassword}>${hasPassword ? "Go to the password" : "Show a new password"}<//></p><//>`;
  }
  if (problem && progress.has_called) {
    const file = FILE_PROBLEMS[problem.code];
    const hint = file ? file.hint : problem.hint;
    return html`<${LiveNote} tone="red" title=${file ? file.title : "The Web Connector called, but it cannot reach QuickBooks"}>
      <p class="break"><${Foreign} text=${problem.message} /></p>${hint && html`<p>${hint}</p>`}
      <p class="row"><${Button} kind="small" onClick=${() => explain(file ? "file" : "start")}>What to click<//></p><//>`;
  }
  if (Date.now() - since > PATIENCE_MILLISECONDS) {
    return html`<${LiveNote} tone="amber" title="Nothing has called yet"><p>What does the Web Connector show? This page cannot see its messages.</p>
      <p class="row">${[["1039", "QBWC1039"], ["1048", "QBWC1048"], ["password", "Authentication failed"], ["nothing", "No message"]].map(([topic, name]) => html`<${Button} kind="small" onClick=${() => explain(topic)}>${name}<//>`)}</p><//>`;
  }
  return html`<${LiveNote} title="Waiting for QuickBooks" live=${true}><p>This page notices by itself when QuickBooks calls.</p><//>`;
}

const LiveNote = ({ tone = "", title, live, children }) => html`<section class="live" aria-label="Status" aria-live="polite">
  <${Note} tone=${tone} title=${html`${title}${live && html`<span class="beat" aria-hidden="true"></span>`}`}>${children}<//></section>`;

const root = document.getElementById("app");
root.replaceChildren();
render(TOKEN ? html`<${Page} />` : html`<${Invalid} error=${{ status: 404 }} />`, root);
