// The Web Connector of a connection, as a card of its settings: how it logs in, which one called last, and what moves
// it to another computer.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { CopyIcon } from "../lib/copying.js";
import { ActionButton, Dialog } from "../lib/dialogs.js";
import { MOVE } from "../lib/new_computer.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { fullTime } from "../lib/text.js";
import { Ago, Button, explain, Foreign, Skeleton } from "../lib/ui.js";
import { MoveComputer } from "./move_computer.js";
import { downloadQwc, NewPassword, OnboardingLink, Password } from "./web_connector_setup.js";

/** `open` is the dialog that the address opens: "move" or "password". */
export function WebConnector({ connection, open }) {
  const [password, setPassword] = useState(null);
  const address = (dialog) => url(`/connections/${connection.id}/settings`, { open: dialog });
  const close = () => navigate(address(undefined), { replace: true });
  return html`
    <section class="card" aria-label="Web Connector">
      <header><h2>Web Connector</h2></header>
      <div class="body stack">
        <dl class="facts">
          <dt>User name</dt>
          <dd class="id">
            <code>${connection.username}</code>
            <${CopyIcon} text=${connection.username} what="the user name" />
          </dd>
          <dt>Password</dt>
          <dd>
            ${
              connection.password_changed_at
                ? html`Last changed <${Ago} at=${connection.password_changed_at} />`
                : "Not set"
            }
          </dd>
          <${LastSession} id=${connection.id} />
        </dl>
        <div class="row">
          <${ActionButton} label="Download .qwc file" icon="download" action=${() => downloadQwc(connection)} />
          <${NewPassword}
            connection=${connection}
            done=${setPassword}
            isAsking=${open === "password"}
            asked=${close}
          />
          <${Button} icon="plug" onClick=${() => navigate(address("move"))}>${MOVE}<//>
        </div>
        ${session.may("create_onboarding_link") && html`<${OnboardingLink} connection=${connection} />`}
        ${
          password &&
          html`
            <${Dialog}
              title="The new password"
              onClose=${() => setPassword(null)}
              actions=${html`<${Button} kind="primary" onClick=${() => setPassword(null)}>Done<//>`}
            >
              <${Password} password=${password} />
            <//>
          `
        }
        ${open === "move" && html`<${MoveComputer} connection=${connection} onClose=${close} />`}
      </div>
    </section>
  `;
}

const UNKNOWN = html`<span class="muted">Not known</span>`;

/**
 * Returns what the newest session knows that knows it: `{value, at}`. `at` is when an older session than the newest
 * began. Without any, undefined.
 */
function newest(sessions, valueOf) {
  const place = sessions.findIndex(valueOf);
  return place < 0
    ? undefined
    : { value: valueOf(sessions[place]), at: place > 0 ? sessions[place].began_at : undefined };
}

const Known = ({ known, isCode }) =>
  known
    ? html`
      <span class=${isCode ? "mono" : ""}><${Foreign} text=${known.value} /></span>
      ${known.at && html` <span class="muted small">(session of ${fullTime(known.at)})</span>`}
    `
    : UNKNOWN;

const FACTS = [
  ["Last address", ({ address }) => address, true],
  ["Version", (one) => one.web_connector_version],
  [
    "QuickBooks",
    (one) => [one.quickbooks_product_name, one.quickbooks_version].filter(Boolean).join(", version ") || undefined,
  ],
  ["Company file", (one) => one.company_file_path, true],
];

/** The machine, as the sessions of the last 30 days know it. */
function LastSession({ id }) {
  const load = useLoad((signal) => call("GET", ["connections", id, "sessions"], { signal }), [id]);
  const sessions = load.data?.data;
  const all = html`<a class="inline" href=${url(`/connections/${id}/sessions`)}>All sessions</a>`;
  if (!sessions)
    return html`
      <dt>Last session</dt>
      <dd>${load.error ? explain(load.error) : html`<${Skeleton} width="140px" />`}</dd>
    `;
  if (!sessions.length)
    return html`
      <dt>Last session</dt>
      <dd>None in the last 30 days</dd>
    `;
  const [{ began_at: began }] = sessions;
  return html`
    <dt>Last session</dt>
    <dd><span title=${fullTime(began)}>Began <${Ago} at=${began} /></span> · ${all}</dd>
    ${FACTS.map(
      ([term, valueOf, isCode]) => html`
        <dt>${term}</dt>
        <dd><${Known} known=${newest(sessions, valueOf)} isCode=${isCode} /></dd>
      `,
    )}
  `;
}
