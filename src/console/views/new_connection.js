// A new connection in three steps: create it, set up the Web Connector, wait for the first contact.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { CopyButton } from "../lib/copying.js";
import { url } from "../lib/router.js";
import { Ago, Button, explain, Field, Icon, Note, useTitle } from "../lib/ui.js";

const STEPS = ["Describe it", "Set up the Web Connector", "Wait for the first contact"];
const CONTACT_MILLISECONDS = 2000;

export default function NewConnection() {
  const [step, setStep] = useState(0);
  const [made, setMade] = useState(null);
  useTitle("New connection");
  return html`
    <div class="page narrow">
      <nav class="crumbs" aria-label="Breadcrumbs">
        <a href=${url("/")}>Connections</a>
        <span aria-hidden="true">/</span>
        <span>New</span>
      </nav>
      <h1>New connection</h1>
      <ol class="steps">
        ${STEPS.map(
          (name, n) => html`
            <li class=${n < step ? "done" : ""} aria-current=${n === step ? "step" : undefined}>
              <span class="dot">${n < step ? html`<${Icon} name="check" />` : n + 1}</span>
              ${name}
            </li>
          `,
        )}
      </ol>
      ${
        step === 0 &&
        html`
          <${Describe}
            done=${(connection, password) => {
              setMade({ connection, password });
              setStep(1);
            }}
          />
        `
      }
      ${step === 1 && html`<${SetUp} ...${made} done=${() => setStep(2)} />`}
      ${step === 2 && html`<${Wait} connection=${made.connection} back=${() => setStep(1)} />`}
    </div>
  `;
}

function Describe({ done }) {
  const [values, setValues] = useState({ name: "", company_file: "", webhook_url: "" });
  const [problems, setProblems] = useState({});
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const bind = (name) => ({
    value: values[name],
    onInput: (event) => setValues({ ...values, [name]: event.target.value }),
  });
  const submit = async (event) => {
    event.preventDefault();
    if (!values.name.trim()) return setProblems({ name: "Give the connection a name." });
    setBusy(true);
    setError(null);
    try {
      const body = Object.fromEntries(
        Object.entries(values)
          .filter(([, value]) => value.trim())
          .map(([name, value]) => [name, value.trim()]),
      );
      const { data } = await call("POST", ["connections"], { body });
      const password = await call("POST", ["connections", data.id, "password"], { body: {} });
      done(data, password.data.password);
    } catch (problem) {
      const known = Object.fromEntries(
        (problem.details?.problems ?? [])
          .filter(({ field }) => field in values)
          .map(({ field, message }) => [field, message]),
      );
      setProblems(known);
      setError(Object.keys(known).length ? null : problem);
      setBusy(false);
    }
  };
  return html`
    <form class="card" onSubmit=${submit}>
      <div class="body stack">
        <${Field}
          label="Name"
          help="A name that people recognise, usually that of the company."
          problem=${problems.name}
        >
          ${(control) => html`<input ...${control} ...${bind("name")} maxlength="200" autofocus />`}
        <//>
        <${Field}
          label="Company file (optional)"
          problem=${problems.company_file}
          help="Full path on the Windows machine. Without it, the Web Connector uses the file that is open at the first contact."
        >
          ${(control) => html`
            <input
              ...${control}
              ...${bind("company_file")}
              class="mono"
              maxlength="500"
              placeholder="C:\\Users\\Public\\Documents\\Company.qbw"
              spellcheck=${false}
            />
          `}
        <//>
        <${Field}
          label="Webhook URL (optional)"
          problem=${problems.webhook_url}
          help="Receives the outcome of every request of this connection."
        >
          ${(control) => html`
            <input
              ...${control}
              ...${bind("webhook_url")}
              type="url"
              inputmode="url"
              maxlength="2048"
              placeholder="https://example.com/webhooks/quickbooks"
            />
          `}
        <//>
        ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
        <div class="row end">
          <a class="button" href=${url("/")}>Cancel</a>
          <${Button} kind="primary" type="submit" busy=${busy}>Create connection<//>
        </div>
      </div>
    </form>
  `;
}

export async function downloadQwc(connection) {
  const text = await call("GET", ["connections", connection.id, "qwc"], {
    headers: { Accept: "application/x-qwc" },
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-qwc" }));
  link.download = `${(connection.name ?? "connection").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "connection"}.qwc`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const Password = ({ password }) => html`
  <div class="stack tight">
    <div class="secret">
      <code>${password}</code>
      <${CopyButton} text=${password} />
    </div>
    <p class="muted small">Copy it now: it is shown only once. You can set a new password at any time.</p>
  </div>
`;

function SetUp({ connection, password, done }) {
  const [error, setError] = useState(null);
  const download = () => downloadQwc(connection).then(() => setError(null), setError);
  return html`
    <div class="card">
      <div class="body stack loose">
        <div class="stack tight">
          <h2>1. Download the .qwc file</h2>
          <p class="muted">
            Copy it to the Windows machine where QuickBooks runs. Open the company file as Admin in single-user mode,
            then double-click the .qwc file and allow access even when QuickBooks is not running.
          </p>
          <div class="row"><${Button} icon="download" onClick=${download}>Download .qwc file<//></div>
          ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
        </div>
        <div class="stack tight">
          <h2>2. Type the password into the Web Connector</h2>
          <p class="muted">
            Click the password field of the new application in the Web Connector, paste this password and save it.
          </p>
          <${Password} password=${password} />
        </div>
        <div class="stack tight">
          <h2>3. Tick Auto-Run</h2>
          <p class="muted">Tick the application and its Auto-Run box, then choose Update Selected.</p>
        </div>
        <div class="row end"><${Button} kind="primary" onClick=${done}>Continue<//></div>
      </div>
    </div>
  `;
}

function Wait({ connection, back }) {
  const { data, error } = useLoad(
    (signal) => call("GET", ["connections", connection.id], { signal }),
    [connection.id],
    { refresh: CONTACT_MILLISECONDS },
  );
  const now = data?.data;
  const address = url(`/connections/${connection.id}`);
  if (now?.last_connected_at && !now.last_error) {
    return html`
      <${Note}
        tone="green"
        role="status"
        title=${now.quickbooks_answered_at ? "QuickBooks is connected" : "The password is right"}
      >
        <p>
          First contact <${Ago} at=${now.last_connected_at} />
          ${now.quickbooks_product_name ? ` with ${now.quickbooks_product_name}` : ""}.
          ${now.quickbooks_answered_at ? "" : " A first request shows whether QuickBooks answers."}
        </p>
        <p class="row">
          <a class="button primary" href=${url("/compose", { connection: connection.id, type: "CompanyQueryRq" })}>
            Send a first request
          </a>
          <a class="button" href=${address}>Open the connection</a>
        </p>
      <//>
    `;
  }
  return html`
    <div class="card">
      <div class="empty" role="status">
        <span class="badge blue pulse">Waiting for the Web Connector</span>
        ${
          now?.login_failed_at &&
          html`
            <${Note}
              tone="red"
              title=${html`The Web Connector called with a wrong password <${Ago} at=${now.login_failed_at} />`}
            >
              <p>Go back, copy the password and paste it into the Web Connector again.</p>
            <//>
          `
        }
        ${
          now?.last_error
            ? html`<${Note} tone="red" title=${now.last_error.message}><p>${now.last_error.hint}</p><//>`
            : html`
              <p>
                The Web Connector has not called yet. In the Web Connector, tick the application and choose Update
                Selected. This page updates automatically.
              </p>
            `
        }
        ${error && html`<p>${explain(error)}</p>`}
        <div class="row">
          <${Button} onClick=${back}>Back to the password<//>
          <a class="button" href=${address}>Skip</a>
        </div>
      </div>
    </div>
  `;
}
