// One connection: its requests, with filters and search.
import { html, useRef } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { hasBulkActions, possible } from "../lib/bulk_actions.js";
import { RequestsCsv } from "../lib/list_export.js";
import { navigate, url } from "../lib/router.js";
import { SearchBox } from "../lib/search_field.js";
import { session } from "../lib/session.js";
import { STATES, webhookConditions } from "../lib/text.js";
import { RangeBar, rangeConditions, rangeOf, RangeSelect } from "../lib/time_range.js";
import { Button, Empty, explain, Pager, Problem, Segmented } from "../lib/ui.js";
import { ConnectionFrame } from "./connection_frame.js";
import { ManyAtOnce, ManyBar, useSelection } from "./many_bar.js";
import { GroupBar, LAST_NIGHT, Numbers, orderOf, Select, WEBHOOK_CHOICES } from "./request_filters.js";
import { RequestTable, SearchNote, SharedReason, sharedReason, ToApprove, useDense } from "./request_list.js";

/** Eight polls a minute together, as many as `polling.js` allows. */
const LIST_MILLISECONDS = 12_000;

const PAGE_SIZES = [20, 50, 100];
const NO_FILTERS = {
  state: "",
  webhook_state: "",
  cause: "",
  receiver: "",
  search: "",
  from: "",
  to: "",
  range: "",
  time: "",
};

export default function Connection({ parts: [id], query }) {
  return html`
    <${ConnectionFrame} id=${id}>
      ${(connection) => html`<${Requests} id=${id} query=${query} held=${connection?.waiting_reason} />`}
    <//>
  `;
}

const TIMES = [
  ["inserted_at", "Queued"],
  ["sent", "Sent"],
  ["updated_at", "Last change"],
];

function Requests({ id, query, held }) {
  const [dense, setDense] = useDense();
  const page = Math.max(1, Number(query.page) || 1);
  const pageSize = PAGE_SIZES.includes(Number(query.page_size)) ? Number(query.page_size) : PAGE_SIZES[0];
  const sort = query.sort === "updated_at" ? "updated_at" : "inserted_at";
  const direction = query.sort_direction === "asc" ? "asc" : "desc";
  const { state, webhook_state: webhookState, cause, receiver, search, from, to, range } = query;
  const time = query.time === "sent" ? "sent" : "";
  const showsSent = Boolean(time && (from || to));
  const conditions = {
    sort,
    sort_direction: direction,
    state,
    ...webhookConditions(webhookState),
    cause,
    receiver,
    search_phrase: search,
    ...rangeConditions({ from, to, time, sort }),
  };
  const list = useLoad(
    (signal) =>
      call("GET", ["connections", id, "queued_requests"], {
        // The list of a cause does not poll, and its reader wants to know what is still to do.
        query: {
          ...conditions,
          page,
          page_size: pageSize,
          bodies: false,
          "include[]": cause ? "replaced_by" : undefined,
        },
        signal,
      }),
    [id, page, pageSize, sort, direction, state, webhookState, cause, receiver, search, from, to, time],
    { refresh: search || cause || receiver || showsSent ? 0 : LIST_MILLISECONDS, showsAge: true },
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
  const selection = useSelection([id, state, webhookState, cause, receiver, search, from, to, sort, time].join(" "));
  const filtered = Boolean(state || webhookState || cause || receiver || search || from || to);
  const shared = sharedReason(requests ?? []);
  return html`
    <${Numbers} id=${id} counts=${counts.current} failed=${list.error} current=${state} />
    <section
      class="card request-list ${dense ? "dense" : ""}"
      aria-label="Requests"
      aria-busy=${String(list.loading)}
    >
      <div class="toolbar">
        <${SearchBox}
          label="Search requests"
          placeholder="Customer, number, label, “invoice add”, error"
          value=${search ?? ""}
          change=${(text) => change({ search: text }, { replace: true })}
        />
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
          ${possible(query).length > 0 && html`<${ManyAtOnce} id=${id} query=${query} done=${list.reload} />`}
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
      <${GroupBar} cause=${cause} receiver=${receiver} change=${change} />
      ${search && list.data && html`<${SearchNote} phrase=${search} total=${list.data.total} />`}
      ${list.data?.awaiting_approval > 0 && html`<${ToApprove} id=${id} number=${list.data.awaiting_approval} />`}
      ${shared && shared.code !== held?.code && html`<${SharedReason} reason=${shared} />`}
      ${
        hasBulkActions() &&
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
              <${RequestTable}
                requests=${requests}
                rows=${height.current}
                selection=${selection}
                order=${{ sort, direction }}
                change=${change}
                phrase=${search}
                shared=${shared ?? held}
                showsSent=${showsSent}
              />
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
        session.may("queue") &&
        html`
          <a class="button primary" href=${url("/compose", { connection: id, type: "CompanyQueryRq" })}>
            Ask QuickBooks for the company's data
          </a>
        `
      }
    >
      ${
        session.may("queue")
          ? "Here is a first request: it reads the company's name and address and changes nothing."
          : "Requests appear here when somebody queues them with a full API key."
      }
    <//>
  `;
}
