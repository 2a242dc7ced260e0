// The requests of all connections that have a whole value, what has it as its ID, and what was not searched for it.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { idOf, readById } from "../lib/by_id.js";
import { navigate, url } from "../lib/router.js";
import { count, fullTime, plural, requestTitle } from "../lib/text.js";
import { Ago, Button, Empty, Foreign, Note, Problem, StateBadge, Subject } from "../lib/ui.js";

/** The connections that are named in a sentence. */
const NAMED = 5;

const KINDS = { id: "ID", label: "label", number: "number", name: "customer or vendor", error: "error" };

/** Whether everything was searched. */
const isComplete = (data) => !data.unsearched_connections.length && !data.omitted_connections;

const NOTHING = { connection: null, request: null };

const addressOf = ({ connection, hits }) =>
  connection ? url(`/connections/${connection.id}`) : url(`/queued_requests/${hits[0].id}`);

/** With `opens`, a request or a connection that is the only one with the value is opened. */
export function ValueResults({ value, part, opens }) {
  const [state, setState] = useState({ connection: null, hits: [], last: null, error: null, isRunning: true });
  const running = useRef(/** @type {AbortController | null} */ (null));
  const id = idOf(value);
  /** Reads the first requests and what has the value as its ID, or the requests after the ones that are shown. */
  const run = async ({ connection, hits, last }) => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    const before = { connection, hits, last };
    setState({ ...before, error: null, isRunning: true });
    try {
      const [{ data }, own] = await Promise.all([
        call("GET", ["search"], { query: { value, cursor: last?.next }, signal }),
        id && !last ? readById(id, signal) : NOTHING,
      ]);
      const known = own.request ? [own.request] : hits;
      const others = data.hits.filter((hit) => known.every((one) => one.id !== hit.id));
      const found = { connection: own.connection ?? connection, hits: [...known, ...others] };
      const number = found.hits.length + (found.connection ? 1 : 0);
      if (running.current !== controller) return;
      if (opens && number === 1 && !data.next && isComplete(data)) navigate(addressOf(found), { replace: true });
      else setState({ ...found, last: data, error: null, isRunning: false });
    } catch (error) {
      if (!signal.aborted) setState({ ...before, error, isRunning: false });
    }
  };
  useEffect(() => {
    run(state);
    return () => running.current?.abort();
  }, []);
  const { connection, hits, last, error, isRunning } = state;
  const isWhole = last && isComplete(last);
  return html`
    <section class="stack" aria-label="Results" aria-busy=${String(isRunning)}>
      <p role="status">
        <span class="strong">
          ${connection && "A connection with this ID. "}
          ${last?.next && "The newest "}${last ? `${plural(hits.length, "request")} with this value.` : "Searching …"}
        </span>
      </p>
      ${error && html`<${Problem} error=${error} retry=${() => run(state)} what="The search was interrupted." />`}
      ${last && !isWhole && html`<${Unsearched} data=${last} />`}
      ${
        (connection || hits.length > 0) &&
        html`
          <div class="card">
            <ul class="items">
              ${connection && html`<${ConnectionHit} connection=${connection} />`}
              ${hits.map((hit) => html`<${Hit} key=${hit.id} hit=${hit} />`)}
            </ul>
            ${
              last.next &&
              html`
                <p class="foot start">
                  <${Button} kind="small" busy=${isRunning} onClick=${() => run(state)}>Show older requests<//>
                </p>
              `
            }
          </div>
        `
      }
      ${
        last &&
        !connection &&
        hits.length === 0 &&
        html`
          <div class="card">
            <${Empty}
              icon="search"
              title=${isWhole ? "Nothing was found" : "Nothing in what was searched"}
              actions=${html`<a class="button primary" href=${part}>Search for a part of a text</a>`}
            >
              ${
                isWhole
                  ? html`
                    No request ${id ? "or connection has this ID, and none has this" : "has this ID,"} label, number,
                    customer, vendor or error.
                  `
                  : "What was not searched is named above."
              }
            <//>
          </div>
        `
      }
      <p class="muted small">
        Compared as a whole, without regard to case: IDs of requests and connections, labels, RefNumber, TxnID, names of
        customers and vendors, and error codes, status codes and messages.${" "}
        ${hits.length > 0 && html`<a href=${part}>Search for a part of a text</a>, one connection after the other.`}
      </p>
    </section>
  `;
}

/** Names the connections that were not searched to their beginning, and says why. */
function Unsearched({ data: { unsearched_connections: connections, omitted_connections: omitted } }) {
  return html`
    <${Note} tone="amber" role="alert" title="Not everything was searched. More requests may have this value.">
      <ul class="plain-list small">
        ${connections.slice(0, NAMED).map(
          (one) => html`
            <li key=${one.id}>
              <a class="break" href=${url(`/connections/${one.id}`)}><${Name} name=${one.name} /></a>:${" "}
              ${one.complete_after ? `requests queued up to ${fullTime(one.complete_after)}` : "all requests"}.${" "}
              ${
                one.reason === "time"
                  ? "The search took too long."
                  : "They were queued with an earlier release. A search for a part of a text finds them."
              }
            </li>
          `,
        )}
        ${connections.length > NAMED && html`<li>${plural(connections.length - NAMED, "other connection")}.</li>`}
        ${omitted > 0 && html`<li>${plural(omitted, "connection")} beyond the oldest ${count(1000)}.</li>`}
      </ul>
    <//>
  `;
}

const Name = ({ name }) => html`<${Foreign} text=${name ?? "Unnamed connection"} />`;

/** What a request is, with its state and when it was queued. */
export const HitLine = ({ hit }) => html`
  <div class="row between">
    <span class="break">
      <a class="strong" href=${url(`/queued_requests/${hit.id}`)}>${requestTitle(hit.request_name)}</a>
      <${Subject} subject=${hit.subject} />
      ${hit.label && html` <span class="tag whole"><${Foreign} text=${hit.label} /></span>`}
    </span>
    <span class="row">
      <${StateBadge} request=${hit} />
      <span class="muted small"><${Ago} at=${hit.inserted_at} /></span>
    </span>
  </div>
`;

const ConnectionHit = ({ connection: { id, name } }) => html`
  <li>
    <a class="strong break" href=${url(`/connections/${id}`)}><${Name} name=${name} /></a>
    <div class="muted small">Connection · found as ID</div>
  </li>
`;

function Hit({ hit }) {
  const error = hit.cause && `${hit.cause} · ${hit.message}`;
  return html`
    <li>
      <${HitLine} hit=${hit} />
      <div class="muted small break">
        <a href=${url(`/connections/${hit.connection_id}`)}><${Name} name=${hit.connection_name} /></a>
        ${` · found as ${hit.matched.map((kind) => KINDS[kind] ?? kind).join(", ")}`}
        ${error && html`${" · "}<${Foreign} text=${error} />`}
      </div>
    </li>
  `;
}
