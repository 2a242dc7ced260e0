// The frame that every tab of a connection shows: its name, its health, and the tabs.
import { html, useEffect } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { noteConnection } from "../lib/known_connections.js";
import { NextSession } from "../lib/next_session.js";
import { navigate, url, useRoute } from "../lib/router.js";
import { session } from "../lib/session.js";
import { canResume, health, hintOf, hintOnItsPage, withLocalTimes } from "../lib/text.js";
import {
  Ago,
  Badge,
  CopyAsOf,
  Empty,
  Foreign,
  Icon,
  Note,
  Problem,
  Skeleton,
  TestRibbon,
  toast,
  useTitle,
} from "../lib/ui.js";

const CONNECTION_MILLISECONDS = 20_000;

/**
 * The part that every tab of a connection shows. `children` receives the connection (null while it loads) and `load`.
 */
export function ConnectionFrame({ id, tab, children }) {
  const load = useLoad((signal) => call("GET", ["connections", id], { signal }), [id], {
    refresh: CONNECTION_MILLISECONDS,
  });
  const connection = load.data?.data;
  useEffect(() => connection && noteConnection(connection), [connection]);
  useTitle(connection?.name ?? "Connection");
  if (load.error?.status === 404) {
    return html`
      <div class="page">
        <div class="card">
          <${Empty}
            icon="search"
            title="This connection does not exist"
            actions=${html`<a class="button" href=${url("/")}>Connections</a>`}
          >
            It was deleted, belongs to another app, or the link is incomplete.
          <//>
        </div>
      </div>
    `;
  }
  const { name, tone } = connection ? health(connection) : {};
  return html`
    <div class="page">
      ${connection?.simulated && html`<${TestRibbon} />`}
      <nav class="crumbs" aria-label="Breadcrumbs">
        <a href=${url("/")}>Connections</a>
        <span aria-hidden="true">/</span>
        <span>${connection ? (connection.name ?? "Unnamed connection") : "…"}</span>
      </nav>
      ${
        connection
          ? html`
            <div class="page-head">
              <div>
                <div class="row">
                  <h1>${connection.name ?? "Unnamed connection"}</h1>
                  <${Badge} tone=${tone}>${name}<//>
                </div>
                <div class="sub">
                  <span>
                    ${
                      connection.last_connected_at
                        ? html`Last contact <${Ago} at=${connection.last_connected_at} />`
                        : "No contact yet"
                    }
                  </span>
                  ${connection.last_connected_at && html`<span><${Next} connection=${connection} /></span>`}
                  ${connection.copied_at && html`<span><${CopyAsOf} at=${connection.copied_at} /></span>`}
                  ${connection.quickbooks_product_name && html`<span>${connection.quickbooks_product_name}</span>`}
                  ${connection.qbxml_version && html`<span>QBXML ${connection.qbxml_version}</span>`}
                  ${connection.country && html`<span>${connection.country}</span>`}
                </div>
              </div>
              <${HeadActions} connection=${connection} load=${load} />
            </div>
          `
          : load.error
            ? html`<h1>Connection</h1>`
            : html`
              <div class="page-head" role="status">
                <div class="grow stack tight">
                  <span class="hidden-visually">Loading…</span>
                  <h1><${Skeleton} width="240px" /></h1>
                  <${Skeleton} width="380px" />
                </div>
              </div>
            `
      }
      ${
        load.error &&
        html`<${Problem} error=${load.error} retry=${load.reload} what="The connection could not be loaded." />`
      }
      ${connection && html`<${Health} connection=${connection} load=${load} />`}
      ${connection && html`<${Warnings} connection=${connection} />`}
      <nav class="tabs" aria-label="Connection">
        <a href=${url(`/connections/${id}`)} aria-current=${tab ? undefined : "page"}>Requests</a>
        <a href=${url(`/connections/${id}/overview`)} aria-current=${tab === "overview" ? "page" : undefined}>
          Overview
        </a>
        <a href=${url(`/connections/${id}/subscriptions`)} aria-current=${tab === "subscriptions" ? "page" : undefined}>
          Subscriptions
        </a>
        <a href=${url(`/connections/${id}/sessions`)} aria-current=${tab === "sessions" ? "page" : undefined}>
          Sessions
        </a>
        <a href=${url(`/connections/${id}/settings`)} aria-current=${tab === "settings" ? "page" : undefined}>
          Settings
        </a>
        <a href=${url(`/connections/${id}/audit_log`)} aria-current=${tab === "audit_log" ? "page" : undefined}>
          Audit log
        </a>
      </nav>
      ${children(connection ?? null, load)}
    </div>
  `;
}

/** Whether a connection is paused, and when its next session is expected. */
function Next({ connection }) {
  const { paused_at: paused, next_session_at: next } = connection;
  if (paused) return html`<span class="strong">Paused <${Ago} at=${paused} />, no session until it is resumed</span>`;
  if (!next) return "Not paused. The time of the next session is not known.";
  return html`Not paused, next session <${NextSession} connection=${connection} />`;
}

const PAUSE =
  "The service still accepts requests, and they wait. QuickBooks finishes the request that it is working on.";

/**
 * The parameter `ask` of the address asks whether to pause or to resume. One that does not fit the state, or that the
 * reader may not do, is removed: it would ask after another action. Resuming by the button needs no question.
 */
function HeadActions({ connection, load }) {
  const { path, query } = useRoute();
  const asked = () => query.ask && navigate(url(path, { ...query, ask: undefined }), { replace: true });
  const change = (name, said) => async () => {
    load.reload({ data: await call("POST", ["connections", connection.id, name]) });
    toast(said);
  };
  const isHeld = canResume(connection);
  const possible = isHeld ? "resume" : "pause";
  const isAsking = query.ask === possible && session.may(possible);
  useEffect(() => {
    if (!isAsking) asked();
  }, [isAsking, query.ask]);
  return html`
    <div class="row">
      ${
        session.may(possible) &&
        (isHeld
          ? html`
            <${ActionButton}
              key="resume"
              label="Resume"
              icon="play"
              question=${isAsking ? "Resume this connection?" : undefined}
              explanation="It sends the requests that wait."
              isAsking=${isAsking}
              asked=${asked}
              action=${change("resume", "The connection sends requests again.")}
            />
          `
          : html`
            <${ActionButton}
              key="pause"
              label="Pause"
              icon="pause"
              question="Pause this connection?"
              explanation=${PAUSE}
              isAsking=${isAsking}
              asked=${asked}
              action=${change("pause", "The connection is paused.")}
            />
          `)
      }
      ${
        session.may("queue") &&
        html`
          <a class="button primary" href=${url("/compose", { connection: connection.id })}>
            <${Icon} name="plus" />
            New request
          </a>
        `
      }
    </div>
  `;
}

/** What needs a person although nothing waits because of it. */
const Warnings = ({ connection }) =>
  connection.warnings?.map(
    (warning) => html`
      <${Note}
        key=${warning.code}
        tone="amber"
        title=${html`<${Foreign} text=${withLocalTimes(warning.message)} />`}
      >
        <p>${hintOf(warning)}</p>
      <//>
    `,
  );

function Health({ connection, load }) {
  const { waiting_reason: reason, last_error: error } = connection;
  const accept = html`<${AcceptPath} connection=${connection} load=${load} />`;
  if (reason) {
    const isCalm = ["outside_sync_window", "service_busy", "never_connected"].includes(reason.code);
    const isWrongPassword = reason.code === "wrong_password";
    const title = isWrongPassword
      ? html`The Web Connector called with a wrong password <${Ago} at=${connection.login_failed_at} />`
      : html`<${Foreign} text=${withLocalTimes(reason.message)} />`;
    const hint = hintOnItsPage(reason, error);
    return html`
      <${Note} tone=${isCalm ? "" : error || isWrongPassword ? "red" : "amber"} title=${title}>
        ${hint && html`<p>${hint}</p>`}
        ${accept}
      <//>
    `;
  }
  if (!error) return null;
  const hint = hintOnItsPage(error);
  return html`
    <${Note} tone="red" title=${html`<${Foreign} text=${error.message} />`}>
      ${hint && html`<p>${hint}</p>`}
      ${accept}
      <p class="small muted">Reported <${Ago} at=${error.at} /></p>
    <//>
  `;
}

/** A button that accepts the path at which the company file was found, if nobody has accepted it yet. */
function AcceptPath({ connection, load }) {
  const { last_error: error } = connection;
  if (error?.code !== "company_file_moved" || !session.may("accept_company_file")) return null;
  const accept = async () => {
    load.reload({ data: await call("POST", ["connections", connection.id, "accept_company_file"]) });
    toast("The path is accepted.");
  };
  const explanation = html`
    Requests are then also sent to the company file at${" "}
    <code class="break"><${Foreign} text=${error.path} /></code>. Make sure that it is not a copy or an old backup.
  `;
  return html`
    <div class="row">
      <${ActionButton}
        label="Accept this path"
        kind="small"
        question="Accept this path?"
        explanation=${explanation}
        confirm="Accept"
        action=${accept}
      />
    </div>
  `;
}
