// A new connection in three steps: create it, set up the Web Connector, wait for the first contact.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { forgetConnections } from "../lib/known_connections.js";
import { newKey } from "../lib/queue_again.js";
import { navigate, url } from "../lib/router.js";
import { Ago, Button, explain, Field, Icon, Note, Problem, SkeletonCard, useTitle } from "../lib/ui.js";
import { newPassword, SetUp } from "./web_connector_setup.js";

const STEPS = ["Describe it", "Set up the Web Connector", "Wait for the first contact"];
const CONTACT_MILLISECONDS = 2000;

const ADDRESS = "/connections/new";

/**
 * The idempotency key of the connection that this tab is making, in its session storage. If the answer is lost, the
 * next try returns the connection that was made, also after a reload.
 */
const attempt = {
  NAME: "qbxml-queue.new-connection",
  key() {
    const key = sessionStorage.getItem(this.NAME) ?? newKey();
    sessionStorage.setItem(this.NAME, key);
    return key;
  },
  end: () => sessionStorage.removeItem(attempt.NAME),
};

/** The address has the connection and the step, so a reload goes on with the connection that was made. */
export default function NewConnection({ query: { connection: id, step: name } }) {
  const [made, setMade] = useState(null);
  // The passwords by connection (`ShownPassword`). Back and Forward can show another connection that was made here.
  const [secrets, setSecrets] = useState({});
  const keep = (of, secret) => setSecrets((former) => ({ ...former, [of]: secret }));
  useTitle("New connection");
  const load = useLoad(
    async (signal) => (id && id !== made?.id ? (await call("GET", ["connections", id], { signal })).data : null),
    [id],
  );
  const connection = id && (made?.id === id ? made : load.data);
  const step = id ? (name === "wait" ? 2 : 1) : 0;
  const go = (to, changes = {}) => navigate(url(ADDRESS, { connection: id, step: to, ...changes }));
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
            done=${(data) => {
              setMade(data);
              navigate(url(ADDRESS, { connection: data.id }), { replace: true });
            }}
            keep=${keep}
          />
        `
      }
      ${
        id &&
        !connection &&
        (load.error
          ? html`<${Problem} error=${load.error} retry=${load.reload} what="The connection could not be loaded." />`
          : html`<${SkeletonCard} />`)
      }
      ${
        connection &&
        step === 1 &&
        html`
          <${SetUp}
            key=${id}
            connection=${connection}
            secret=${secrets[id]}
            keepPassword=${(password) => keep(id, { password })}
            done=${() => go("wait")}
          />
        `
      }
      ${connection && step === 2 && html`<${Wait} connection=${connection} back=${() => go("")} />`}
    </div>
  `;
}

/**
 * Makes the connection. `done` gets it before it has a password: whatever happens then, it is not made a second time.
 */
function Describe({ done, keep }) {
  const [values, setValues] = useState({ name: "", company_file: "", webhook_url: "" });
  const [problems, setProblems] = useState({});
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [madeBefore, setMadeBefore] = useState(null);
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
      const { data } = await call("POST", ["connections"], { body, headers: { "Idempotency-Key": attempt.key() } });
      attempt.end();
      forgetConnections();
      keep(data.id, { isComing: true });
      done(data);
      newPassword(data.id).then(
        (password) => keep(data.id, { password }),
        (problem) => keep(data.id, { error: problem }),
      );
    } catch (problem) {
      if (problem.status === 410) {
        attempt.end(); // somebody has deleted the connection that an earlier try made
        return submit(event);
      }
      const known = Object.fromEntries(
        (problem.details?.problems ?? [])
          .filter(({ field }) => field in values)
          .map(({ field, message }) => [field, message]),
      );
      setProblems(known);
      setMadeBefore(problem.details?.connection_id ?? null);
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
        ${
          madeBefore
            ? html`<${MadeBefore} id=${madeBefore} />`
            : error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`
        }
        <div class="row end">
          <a class="button" href=${url("/")}>Cancel</a>
          <${Button} kind="primary" type="submit" busy=${busy}>Create connection<//>
        </div>
      </div>
    </form>
  `;
}

/** A try whose answer was lost has made a connection with other settings. */
const MadeBefore = ({ id }) => html`
  <${Note} tone="amber" role="alert" title="An earlier try has made a connection">
    <p>Its answer was lost. Go on with that connection and change its settings, or create another one.</p>
    <p class="row">
      <a class="button small" href=${url(ADDRESS, { connection: id })} onClick=${attempt.end}>Go on with it</a>
      <${Button} kind="small" type="submit" onClick=${attempt.end}>Create another one<//>
    </p>
  <//>
`;

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
              <p>
                Paste the password into the Web Connector again. If you no longer have it, go back and set a new one.
              </p>
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
