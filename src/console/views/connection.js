// One connection: its health and its requests with filters and search, and the frame that its settings share.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call, session, useLoad } from "../lib/api.js";
import { RequestsCsv } from "../lib/list_export.js";
import { navigate, url } from "../lib/router.js";
import { RangeBar, rangeConditions, rangeOf, RangeSelect } from "../lib/time_range.js";
import { count, health, hintOf, STATES, WEBHOOK_FILTERS, webhookConditions, withLocalTimes } from "../lib/text.js";
import {
  ActionButton,
  Ago,
  Badge,
  Button,
  Empty,
  explain,
  Foreign,
  Icon,
  Note,
  Pager,
  Problem,
  Segmented,
  Skeleton,
  SkeletonRows,
  toast,
  useTitle,
} from "../lib/ui.js";
import {
  ManyBar,
  Pick,
  possible,
  Row,
  SearchNote,
  SharedReason,
  sharedReason,
  useDense,
  useSelection,
} from "./request_list.js";

/** Eight polls a minute together, as many as `polling.js` allows. */
const LIST_MILLISECONDS = 12_000;
const CONNECTION_MILLISECONDS = 20_000;
const TYPING_MILLISECONDS = 300;
const PAGE_SIZES = [20, 50, 100];
const NO_FILTERS = { state: "", webhook_state: "", search: "", from: "", to: "", range: "", time: "" };

export default function Connection({ parts: [id], query }) {
  return html`
    <${ConnectionFrame} id=${id}>
      ${(connection) => html`<${Requests} id=${id} query=${query} held=${connection?.waiting_reason} />`}
    <//>
  `;
}

/**
 * The part that every tab of a connection shows. `children` receives the connection (null while it loads) and `load`.
 */
export function ConnectionFrame({ id, tab, children }) {
  const load = useLoad((signal) => call("GET", ["connections", id], { signal }), [id], {
    refresh: CONNECTION_MILLISECONDS,
  });
  const connection = load.data?.data;
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
                  ${
                    connection.next_session_at &&
                    html`<span>Next session <${Ago} at=${connection.next_session_at} /></span>`
                  }
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
      <nav class="tabs" aria-label="Connection">
        <a href=${url(`/connections/${id}`)} aria-current=${tab ? undefined : "page"}>Requests</a>
        <a href=${url(`/connections/${id}/overview`)} aria-current=${tab === "overview" ? "page" : undefined}>
          Overview
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

function HeadActions({ connection, load }) {
  if (!session.canChange) return null;
  const change = (name, said) => async () => {
    load.reload({ data: await call("POST", ["connections", connection.id, name]) });
    toast(said);
  };
  const canResume = connection.paused_at || connection.waiting_reason?.code === "quickbooks_failing";
  return html`
    <div class="row">
      ${
        canResume
          ? html`
            <${ActionButton}
              label="Resume"
              icon="play"
              action=${change("resume", "The connection sends requests again.")}
            />
          `
          : html`
            <${ActionButton}
              label="Pause"
              icon="pause"
              question="Pause this connection?"
              explanation="The service still accepts requests, and they wait. QuickBooks finishes the request that it is working on."
              action=${change("pause", "The connection is paused.")}
            />
          `
      }
      <a class="button primary" href=${url("/compose", { connection: connection.id })}>
        <${Icon} name="plus" />
        New request
      </a>
    </div>
  `;
}

function Health({ connection, load }) {
  const { waiting_reason: reason, last_error: error } = connection;
  const accept = html`<${AcceptPath} connection=${connection} load=${load} />`;
  if (reason) {
    const isCalm = ["outside_sync_window", "service_busy", "never_connected"].includes(reason.code);
    const isWrongPassword = reason.code === "wrong_password";
    const title = isWrongPassword
      ? html`The Web Connector called with a wrong password <${Ago} at=${connection.login_failed_at} />`
      : html`<${Foreign} text=${withLocalTimes(reason.message)} />`;
    const hint = hintOf(reason, error);
    return html`
      <${Note} tone=${isCalm ? "" : error || isWrongPassword ? "red" : "amber"} title=${title}>
        ${hint && html`<p>${hint}</p>`}
        ${accept}
      <//>
    `;
  }
  if (!error) return null;
  const hint = hintOf(error);
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
  if (error?.code !== "company_file_moved" || !session.canChange) return null;
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

/** The states whose requests are counted. Each number is that of the requests which its link lists. */
const CARDS = ["waiting", "retryable", "response_received", "error"];
/** The states and webhooks that are listed by their last change: when they failed. */
const FAILURES = ["error", "failed", "retrying", "failing"];
/** The order that a filter brings along. */
const orderOf = (filter) => (FAILURES.includes(filter) ? "updated_at" : undefined);
/**
 * Many people look for these webhooks in the morning, so one choice finds them. A webhook that failed in the evening
 * may have been tried again in the morning, so the range has no end.
 */
const LAST_NIGHT = "failed_last_night";
const WEBHOOK_CHOICES = { ...WEBHOOK_FILTERS, [LAST_NIGHT]: { name: "Failed since last night" } };
const TIMES = [
  ["inserted_at", "Queued"],
  ["sent", "Sent"],
  ["updated_at", "Last change"],
];

function Numbers({ id, counts, failed, current }) {
  return html`
    <nav class="numbers" aria-label="Requests by state">
      ${CARDS.filter((state) => state !== "retryable" || counts?.retryable > 0 || current === state).map(
        (state) => html`
          <a
            class="card number-card"
            href=${url(`/connections/${id}`, state === current ? {} : { state, sort: orderOf(state) })}
            aria-current=${state === current ? "true" : undefined}
          >
            <div class="name">${STATES[state].name}</div>
            <div class="value">
              ${counts ? count(counts[state]) : failed ? "–" : html`<${Skeleton} width="60px" />`}
            </div>
          </a>
        `,
      )}
    </nav>
  `;
}

function Requests({ id, query, held }) {
  const [dense, setDense] = useDense();
  const page = Math.max(1, Number(query.page) || 1);
  const pageSize = PAGE_SIZES.includes(Number(query.page_size)) ? Number(query.page_size) : PAGE_SIZES[0];
  const sort = query.sort === "updated_at" ? "updated_at" : "inserted_at";
  const direction = query.sort_direction === "asc" ? "asc" : "desc";
  const { state, webhook_state: webhookState, search, from, to, range } = query;
  const time = query.time === "sent" ? "sent" : "";
  const showsSent = Boolean(time && (from || to));
  const conditions = {
    sort,
    sort_direction: direction,
    state,
    ...webhookConditions(webhookState),
    search_phrase: search,
    ...rangeConditions({ from, to, time }),
  };
  const list = useLoad(
    (signal) =>
      call("GET", ["connections", id, "queued_requests"], {
        query: { ...conditions, page, page_size: pageSize, bodies: false },
        signal,
      }),
    [id, page, pageSize, sort, direction, state, webhookState, search, from, to, time],
    { refresh: search || showsSent ? 0 : LIST_MILLISECONDS, showsAge: true },
  );
  // They count all requests of the connection, so they stay while another filter or page loads.
  const counts = useRef();
  counts.current = list.data?.counts ?? (list.error ? undefined : counts.current);
  // While a page loads, the list stays as high as it was, and the pager in its place.
  const height = useRef(8);
  height.current = list.data?.data.length || height.current;
  const change = (changes, options) =>
    navigate(url(`/connections/${id}`, { ...query, page: undefined, ...changes }), options);
  /** The order after a filter was chosen: the one that it or the other filter brings along, or that of the reader. */
  const sortAfter = (chosen, other, former) =>
    orderOf(chosen) ?? orderOf(other) ?? (orderOf(former) ? undefined : query.sort);
  const requests = list.data?.data;
  const idsOnPage = requests?.map((one) => one.id) ?? [];
  const selection = useSelection([id, state, webhookState, search, from, to, sort, time].join(" "));
  const filtered = Boolean(state || webhookState || search || from || to);
  const shared = sharedReason(requests ?? []);
  const heading = (column, text) => html`
    <th
      scope="col"
      class="when"
      aria-sort=${sort === column ? (direction === "asc" ? "ascending" : "descending") : "none"}
    >
      <button
        type="button"
        onClick=${() =>
          change({ sort: column, sort_direction: sort === column && direction === "desc" ? "asc" : "desc" })}
      >
        ${text}
        <span aria-hidden="true">${sort === column ? (direction === "asc" ? "↑" : "↓") : ""}</span>
      </button>
    </th>
  `;
  return html`
    <${Numbers} id=${id} counts=${counts.current} failed=${list.error} current=${state} />
    <section
      class="card request-list ${dense ? "dense" : ""}"
      aria-label="Requests"
      aria-busy=${String(list.loading)}
    >
      <div class="toolbar">
        <${SearchBox} value=${search ?? ""} change=${(text) => change({ search: text }, { replace: true })} />
        <${Select}
          label="State"
          value=${state}
          options=${STATES}
          all="All states"
          change=${(value) => change({ state: value, sort: sortAfter(value, webhookState, state) })}
        />
        <${Select}
          label="Webhook"
          value=${webhookState}
          options=${WEBHOOK_CHOICES}
          all="All webhooks"
          change=${(value) =>
            change(
              value === LAST_NIGHT
                ? { webhook_state: "failing", sort: "updated_at", time: "", ...rangeOf("evening") }
                : { webhook_state: value, sort: sortAfter(value, state, webhookState) },
            )}
        />
        <${RangeSelect} from=${from} to=${to} range=${range} time=${time} change=${change} />
        ${filtered && html`<${Button} kind="ghost" icon="close" onClick=${() => change(NO_FILTERS)}>Clear<//>`}
        <div class="row tools">
          ${
            session.canChange &&
            possible(query).length > 0 &&
            html`<${ManyAtOnce} id=${id} query=${query} done=${list.reload} />`
          }
          ${
            requests?.length > 0 &&
            html`<${RequestsCsv} connectionId=${id} total=${list.data.total} query=${conditions} />`
          }
          <${Button}
            kind="ghost density"
            aria-pressed=${String(dense)}
            title="More rows on the screen"
            onClick=${() => setDense(!dense)}
          >
            Dense
          <//>
        </div>
      </div>
      <${RangeBar}
        what=${TIMES.find(([key]) => key === (time || sort))[1]}
        from=${from}
        to=${to}
        range=${range}
        change=${change}
      >
        <${Segmented}
          label="Filter by time"
          options=${TIMES}
          value=${time || sort}
          onChange=${(value) => change(value === "sent" ? { time: value } : { time: "", sort: value })}
        />
      <//>
      ${search && list.data && html`<${SearchNote} phrase=${search} total=${list.data.total} />`}
      ${shared && shared.message !== held?.message && html`<${SharedReason} reason=${shared} />`}
      ${
        session.canChange &&
        html`
          <${ManyBar}
            id=${id}
            query=${query}
            total=${list.data?.total ?? 0}
            isFiltered=${filtered}
            selection=${selection}
            done=${list.reload}
          />
        `
      }
      ${
        list.error && !requests
          ? html`
            <div class="body">
              <${Problem} error=${list.error} retry=${list.reload} what="The requests could not be loaded." />
            </div>
          `
          : requests?.length === 0
            ? html`<${Nothing} id=${id} filtered=${filtered} page=${page} change=${change} />`
            : html`
              <div class="table-wrap">
                <table class="responsive requests">
                  <thead>
                    <tr>
                      ${
                        session.canChange &&
                        html`
                          <th scope="col" class="pick">
                            <${Pick}
                              label="Select all on this page"
                              checked=${idsOnPage.length > 0 && idsOnPage.every(selection.has)}
                              isPartial=${idsOnPage.some(selection.has) && !idsOnPage.every(selection.has)}
                              onChange=${(isSelected) => selection.set(idsOnPage, isSelected, idsOnPage)}
                            />
                          </th>
                        `
                      }
                      <th scope="col">Request</th>
                      <th scope="col" class="state">State</th>
                      <th scope="col" class="webhook">Webhook</th>
                      ${heading("inserted_at", "Queued")}
                      ${showsSent && html`<th scope="col" class="when sent">Sent</th>`}
                      <th scope="col" class="number took waited" title="How long the request waited before it was sent">
                        Waited
                      </th>
                      <th scope="col" class="number took executed" title="How long QuickBooks took">QuickBooks</th>
                      ${heading("updated_at", "Last change")}
                    </tr>
                  </thead>
                  <tbody>
                    ${
                      requests
                        ? requests.map(
                            (one) => html`
                              <${Row}
                                key=${one.id}
                                request=${one}
                                phrase=${search}
                                shared=${shared ?? held}
                                showsSent=${showsSent}
                                isSelected=${selection.has(one.id)}
                                select=${
                                  session.canChange && ((isSelected) => selection.set([one.id], isSelected, idsOnPage))
                                }
                              />
                            `,
                          )
                        : html`
                          <${SkeletonRows}
                            rows=${height.current}
                            columns=${(session.canChange ? 8 : 7) + Number(showsSent)}
                          />
                        `
                    }
                  </tbody>
                </table>
              </div>
            `
      }
      ${
        list.error &&
        requests &&
        html`
          <div class="foot" role="status">
            The list could not be updated; it shows the last state. ${explain(list.error)}${" "}
            <${Button} kind="small" onClick=${() => list.reload()}>Try again<//>
          </div>
        `
      }
      ${
        (requests ? requests.length > 0 : !list.error) &&
        html`
          <${Pager} page=${page} totalPages=${list.data?.total_pages} go=${(to) => change({ page: to })}>
            <label class="row plain">
              <span>Rows</span>
              <select
                class="compact"
                value=${pageSize}
                onChange=${(event) => change({ page_size: event.target.value })}
              >
                ${PAGE_SIZES.map((size) => html`<option value=${size} selected=${size === pageSize}>${size}</option>`)}
              </select>
            </label>
          <//>
        `
      }
    </section>
  `;
}

/** A button that opens the dialog for many requests, whose module is loaded then. */
function ManyAtOnce({ id, query, done }) {
  const [dialog, setDialog] = useState(null);
  const open = () =>
    import("./many.js").then(
      (module) => setDialog(() => module.default),
      () => toast("The dialog could not be loaded. Reload the page.", "red"),
    );
  return html`
    <${Button} kind="ghost" onClick=${open}>Bulk actions<//>
    ${
      dialog &&
      html`
        <${dialog}
          id=${id}
          query=${query}
          onClose=${() => {
            setDialog(null);
            done();
          }}
        />
      `
    }
  `;
}

function Nothing({ id, filtered, page, change }) {
  if (filtered)
    return html`
      <${Empty}
        icon="search"
        title="No request matches"
        actions=${html`<${Button} onClick=${() => change(NO_FILTERS)}>Clear search and filters<//>`}
      >
        Try another word, another range of time or fewer filters.
      <//>
    `;
  if (page > 1)
    return html`
      <${Empty}
        title="This page is empty"
        actions=${html`<${Button} onClick=${() => change({})}>Go to the first page<//>`}
      >
        There are fewer requests than before.
      <//>
    `;
  return html`
    <${Empty}
      title="Nothing is queued"
      actions=${
        session.canChange &&
        html`
          <a class="button primary" href=${url("/compose", { connection: id, type: "CompanyQueryRq" })}>
            Ask QuickBooks for the company's data
          </a>
        `
      }
    >
      ${
        session.canChange
          ? "Here is a first request: it reads the company's name and address and changes nothing."
          : "Requests appear here when somebody queues them with a full API key."
      }
    <//>
  `;
}

function SearchBox({ value, change }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => change(text.trim()), TYPING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`
    <div class="search">
      <${Icon} name="search" />
      <input
        type="search"
        aria-label="Search requests"
        placeholder="Customer, number, label, “invoice add”, error"
        value=${text}
        onInput=${(event) => setText(event.target.value)}
      />
    </div>
  `;
}

const Select = ({ label, value = "", options, all, change }) => html`
  <select aria-label=${label} value=${value} onChange=${(event) => change(event.target.value)}>
    <option value="" selected=${!value}>${all}</option>
    ${Object.entries(options).map(
      ([key, { name }]) => html`<option value=${key} selected=${key === value}>${name}</option>`,
    )}
  </select>
`;
