// A search in all connections: for a whole value, with one call, or for a part of a text. The latter searches up to 20
// connections, or for five seconds, and then the next ones.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { navigate, url } from "../lib/router.js";
import { SearchField } from "../lib/search_field.js";
import { count, duration, plural } from "../lib/text.js";
import { Button, Empty, explain, Foreign, Note, useTitle } from "../lib/ui.js";
import { Searched } from "./request_list.js";
import { HitLine, ValueResults } from "./search_values.js";

const MAX_CONNECTIONS = 20;
const MAX_MILLISECONDS = 5000;
/** The part of this time in which the list of connections is read. The next run reads on. */
const MAX_LIST_MILLISECONDS = 2500;
/** Searches that run at the same time. An app may have more, but other callers need some of them. */
const PARALLEL = 3;
const SHOWN = 5;
const PAGE_SIZE = 100;

export default function Search({ query }) {
  const phrase = (query.search ?? "").trim();
  const isPart = query.part === "true";
  const [text, setText] = useState(phrase);
  useTitle("Search");
  // An effect after the paint would remove the first letter of a person who types at once.
  useLayoutEffect(() => setText(phrase), [phrase]);
  const submit = (event) => {
    event.preventDefault();
    const search = text.trim();
    if (search) navigate(url("/search", isPart ? { search, part: "true" } : { search, go: "true" }));
  };
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Search</h1>
          <p class="sub">
            ${
              isPart
                ? "A part of a text, in the connections with the latest contact first."
                : "The requests of all connections, newest first."
            }
            ${isPart && phrase && html` <a href=${url("/search", { search: phrase })}>Search for the whole value</a>`}
          </p>
        </div>
      </div>
      <form class="card" role="search" onSubmit=${submit}>
        <div class="toolbar plain">
          <${SearchField}
            label="Search the requests of all connections"
            placeholder=${`Customer, number, label, ${isPart ? "“invoice add”" : "ID"}, error`}
            value=${text}
            change=${setText}
            isFirst=${!phrase}
          />
          <${Button} kind="primary" type="submit" disabled=${!text.trim()}>Search<//>
        </div>
      </form>
      ${phrase && isPart && html`<${Results} key=${phrase} phrase=${phrase} />`}
      ${
        phrase &&
        !isPart &&
        html`
          <${ValueResults}
            key=${phrase}
            value=${phrase}
            opens=${query.go === "true"}
            part=${url("/search", { search: phrase, part: "true" })}
          />
        `
      }
    </div>
  `;
}

function Results({ phrase }) {
  const [state, setState] = useState({ isRunning: true, results: [], left: [], nextPage: 1 });
  const running = useRef(null);
  /** Reads connections and searches some of them, within MAX_MILLISECONDS. Continues where the previous run ended. */
  const run = async ({ results, left, nextPage }) => {
    const controller = new AbortController();
    running.current = controller;
    const begun = performance.now();
    const progress = { results, left, nextPage };
    const show = (more) => {
      if (running.current === controller) setState({ ...progress, ...more });
    };
    show({ isRunning: true });
    const late = setTimeout(() => controller.abort(), MAX_MILLISECONDS);
    let stopped;
    try {
      await readConnections(progress, controller.signal);
      stopped = await searchSome(progress, phrase, controller.signal, () => show({ isRunning: true }));
    } catch (error) {
      stopped = error;
    }
    clearTimeout(late);
    show({
      isRunning: false,
      milliseconds: performance.now() - begun,
      stopped: controller.signal.aborted ? "late" : stopped,
    });
  };
  useEffect(() => {
    run(state);
    return () => {
      const { current } = running;
      running.current = null;
      current?.abort();
    };
  }, []);
  const { results, left, nextPage, isRunning, milliseconds, stopped } = state;
  const isAll = nextPage === null;
  const found = results.filter((one) => one.total > 0);
  const total = found.reduce((sum, one) => sum + one.total, 0);
  const failed = results.filter((one) => one.error);
  const known = results.length + left.length;
  const extent = `${isAll ? "" : "more than "}${plural(known, "connection")}`;
  return html`
    <section class="stack" aria-label="Results" aria-busy=${String(isRunning)}>
      <p role="status">
        <span class="strong">${plural(total, "request")} in ${plural(found.length, "connection")}.</span>${" "}
        ${
          isRunning
            ? "Searching …"
            : known === 0 && !isAll
              ? "No connection was searched."
              : `Searched ${count(results.length - failed.length)} of ${extent} in ${duration(milliseconds)}.`
        }
      </p>
      ${
        !isRunning &&
        stopped &&
        html`
          <${Note}
            tone=${stopped === "late" ? "amber" : "red"}
            role="alert"
            title=${
              stopped === "late" ? "The search took five seconds and was stopped." : "The search was interrupted."
            }
          >
            ${stopped !== "late" && html`<p>${explain(stopped)}</p>`}
          <//>
        `
      }
      ${failed.map(
        (one) => html`
          <${Note} tone="amber" title=${html`<${Name} connection=${one.connection} /> was not searched.`}>
            <p>${explain(one.error)}</p>
          <//>
        `,
      )}
      ${
        !isRunning &&
        (left.length > 0 || !isAll) &&
        html`
          <div class="card">
            <div class="body row between">
              <div>
                <span class="strong">
                  Not searched yet:${" "}
                  ${
                    left.length
                      ? `${isAll ? "" : "more than "}${plural(left.length, "connection")}.`
                      : "other connections."
                  }
                </span>
                <div class="muted small break">
                  ${left.slice(0, SHOWN).map(
                    ({ name }, index) => html`
                      ${index ? ", " : ""}
                      <${Foreign} text=${name ?? "Unnamed connection"} />
                    `,
                  )}
                  ${left.length > SHOWN && ` and ${count(left.length - SHOWN)} more`}
                </div>
                ${
                  !isAll &&
                  html`
                    <div class="muted small">
                      The list of your connections was not read to its end. The next search reads on.
                    </div>
                  `
                }
              </div>
              <${Button} onClick=${() => run(state)}>
                ${left.length ? `Search the next ${count(Math.min(left.length, MAX_CONNECTIONS))}` : "Continue"}
              <//>
            </div>
          </div>
        `
      }
      ${found.map((one) => html`<${Found} key=${one.connection.id} one=${one} phrase=${phrase} />`)}
      ${
        !isRunning &&
        found.length === 0 &&
        (isAll || results.length > 0) &&
        html`
          <div class="card">
            <${Empty}
              icon="search"
              title=${
                isAll && !left.length && !failed.length
                  ? "Nothing was found"
                  : "Nothing in the connections that were searched"
              }
            >
              <${Searched} />
            <//>
          </div>
        `
      }
    </section>
  `;
}

/**
 * Reads connections into `progress.left`, those with the latest contact first, until `signal` or, once some are known,
 * MAX_LIST_MILLISECONDS end it. `progress.nextPage` is where the next run reads on, or null if all are known.
 */
async function readConnections(progress, signal) {
  const short = AbortSignal.any([signal, AbortSignal.timeout(MAX_LIST_MILLISECONDS)]);
  while (progress.nextPage) {
    const isFirst = progress.left.length === 0;
    if (short.aborted && !isFirst) return;
    try {
      const query = { page: progress.nextPage, page_size: PAGE_SIZE };
      const list = await call("GET", ["connections"], { query, signal: isFirst ? signal : short });
      progress.left = latestFirst([...progress.left, ...list.data]);
      progress.nextPage = progress.nextPage < list.total_pages ? progress.nextPage + 1 : null;
    } catch (error) {
      if (isFirst || !short.aborted) throw error;
    }
  }
}

const latestFirst = (connections) =>
  connections.toSorted((one, other) => (other.last_connected_at ?? "").localeCompare(one.last_connected_at ?? ""));

/**
 * Searches the first connections of `left` until MAX_CONNECTIONS are done or `signal` ends it, and moves them to
 * `results`. Returns the error that the next search would meet too, or null.
 */
async function searchSome({ left, results }, phrase, signal, show) {
  const chosen = left.slice(0, MAX_CONNECTIONS);
  let stopped = null;
  const worker = async () => {
    while (chosen.length && !stopped && !signal.aborted) {
      const connection = chosen.shift();
      const result = { connection, total: 0, hits: [] };
      try {
        const query = { search_phrase: phrase, page_size: SHOWN, bodies: false };
        const list = await call("GET", ["connections", connection.id, "queued_requests"], { query, signal });
        Object.assign(result, { total: list.total, hits: list.data });
      } catch (error) {
        if (stopped || signal.aborted) return;
        // A limit of the app, or no network: the others would fail too.
        if (error.status === 429 || error.status === 0 || error.status === 401) {
          stopped = error;
          return;
        }
        result.error = error;
      }
      results.push(result);
      left.splice(left.indexOf(connection), 1);
      show();
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return stopped;
}

const Name = ({ connection }) => html`<${Foreign} text=${connection.name ?? "Unnamed connection"} />`;

function Found({ one: { connection, total, hits }, phrase }) {
  const all = url(`/connections/${connection.id}`, { search: phrase });
  return html`
    <section class="card">
      <header>
        <h2><a class="break" href=${all}><${Name} connection=${connection} /></a></h2>
        <span class="small muted">${plural(total, "request")}</span>
      </header>
      <ul class="items">
        ${hits.map(
          (hit) => html`
            <li key=${hit.id}><${HitLine} hit=${hit} /></li>
          `,
        )}
      </ul>
      ${total > hits.length && html`<p class="foot"><a href=${all}>Show all ${count(total)}</a></p>`}
    </section>
  `;
}
