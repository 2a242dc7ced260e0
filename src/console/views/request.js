// One queued request: its timeline, results, request and response, webhook, and actions.
import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { isComplete } from "../lib/all_pages.js";
import { call, useFreshnessOf, useLoad, usePolling } from "../lib/api.js";
import { codeSamples } from "../lib/code_samples.js";
import { DocumentView } from "../lib/document_view.js";
import { wordsOf } from "../lib/error_words.js";
import { ApiError } from "../lib/http.js";
import { isUnsettled } from "../lib/queue_again.js";
import { isOneWithLines, nameIn, reachedMaximum, resultsOf, wantedColumns } from "../lib/result_rows.js";
import { ResultTable } from "../lib/result_table.js";
import { url } from "../lib/router.js";
import { hintOf, messageOf, requestTitle, stateOf, UNFINISHED, withLocalTimes } from "../lib/text.js";
import {
  Ago,
  Empty,
  Foreign,
  Note,
  Problem,
  Skeleton,
  SkeletonCard,
  StateBadge,
  Subject,
  TestRibbon,
  useTitle,
} from "../lib/ui.js";
import { Actions } from "./request_actions.js";
import { NeedsApproval } from "./request_approval.js";
import { Batch } from "./request_batch.js";
import { Incomplete } from "./request_incomplete.js";
import { Details } from "./request_details.js";
import { Timeline } from "./request_history.js";
import { Messages } from "./request_messages.js";
import { Pages } from "./request_pages.js";

/** The pause before the next look, in milliseconds: short at first, longer while nothing happens. */
const pause = (looks) => Math.min(2000 + looks * 1000, 15_000);

export default function Request({ parts: [id] }) {
  const first = useLoad((signal) => call("GET", ["queued_requests", id], { signal }), [id]);
  const record = first.data?.data;
  useTitle(record ? requestTitle(record.request_name) : "Request");
  if (first.error && !record) {
    const gone = first.error.status === 410 || first.error.status === 404;
    return html`
      <div class="page">
        <h1>Request</h1>
        ${
          gone
            ? html`
              <div class="card">
                <${Empty}
                  icon="search"
                  title=${first.error.status === 410 ? "This request was deleted" : "This request does not exist"}
                  actions=${html`<a class="button" href=${url("/")}>Connections</a>`}
                >
                  It may belong to another app, or the link is incomplete.
                <//>
              </div>
            `
            : html`<${Problem} error=${first.error} retry=${first.reload} what="The request could not be loaded." />`
        }
      </div>
    `;
  }
  if (!record)
    return html`
      <div class="page">
        <${Skeleton} width="220px" />
        <${SkeletonCard} />
        <${SkeletonCard} lines=${9} />
      </div>
    `;
  return html`<${Loaded} record=${record} load=${first} />`;
}

function Loaded({ record, load }) {
  const isLive = UNFINISHED.has(record.state) || record.webhook_state === "pending";
  const [checked, setChecked] = useState({ at: Date.now() });
  usePolling(
    async () => {
      const signal = Object.assign(new AbortController().signal, { isPoll: true });
      try {
        const fresh = await call("GET", ["queued_requests", record.id], { signal });
        setChecked({ at: Date.now() });
        if (
          fresh.data.updated_at !== record.updated_at ||
          fresh.data.waiting_reason?.code !== record.waiting_reason?.code
        )
          load.reload({ data: fresh });
      } catch (error) {
        setChecked(({ at }) => ({ at, error }));
      }
    },
    isLive ? pause : null,
    [record.id, record.updated_at],
  );
  useFreshnessOf(isLive, checked);
  const connection = useLoad(
    (signal) => call("GET", ["connections", record.connection_id], { signal }),
    [record.connection_id],
  ).data?.data;
  const results = resultsOf(record.response_json);
  const maximum = reachedMaximum(record);
  const forms = useMemo(
    () => ({
      xml: record.request_xml,
      json: record.request_json,
      ...(record.request_json ? codeSamples(record) : {}),
    }),
    [record.id],
  );
  // With its declarations and message set ID, as QuickBooks gets it, for Intuit's SDK test tool.
  const sentXml = async () =>
    (await call("GET", ["queued_requests", record.id], { query: { "include[]": "sent_xml" } })).data.sent_xml ??
    record.request_xml;
  const label = record.request_json?.request?.attributes?.request_id;
  return html`
    <div class="page wide">
      ${record.simulated && html`<${TestRibbon} />`}
      <nav class="crumbs" aria-label="Breadcrumbs">
        <a href=${url("/")}>Connections</a>
        <span aria-hidden="true">/</span>
        <a class="break" href=${url(`/connections/${record.connection_id}`)}>
          ${connection ? (connection.name ?? "Unnamed connection") : "Connection"}
        </a>
        <span aria-hidden="true">/</span>
        <span>Request</span>
      </nav>
      <div class="page-head">
        <div>
          <div class="row">
            <h1>
              ${requestTitle(record.request_name)}
              <${Subject} subject=${record.subject} name=${nameIn(results)} />
            </h1>
            <${StateBadge} request=${record} />
          </div>
          <div class="sub">
            <a href=${url(`/qbxml/${record.request_name}`)}><code>${record.request_name}</code></a>
            <span>Queued <${Ago} at=${record.inserted_at} /></span>
            ${record.page > 1 && html`<span>Page ${record.page}</span>`}
            ${label && label !== record.id && html`<span>requestID <code class="break">${label}</code></span>`}
          </div>
        </div>
        <${Actions} record=${record} load=${load} />
      </div>
      <${Outcome} record=${record} connection=${connection} />
      ${(isUnsettled(record) || record.settling) && html`<${Check} record=${record} connection=${connection} />`}
      <div class="columns level">
        <section class="card" aria-label="Timeline">
          <header><h2>Timeline</h2></header>
          <div class="body"><${Timeline} record=${record} /></div>
        </section>
        <section class="card" aria-label="Details">
          <header><h2>Details</h2></header>
          <div class="body"><${Details} record=${record} label=${label} /></div>
        </section>
      </div>
      <${Messages} record=${record} />
      ${record.batch_id && html`<${Batch} record=${record} />`}
      <${Pages} record=${record} />
      ${maximum && html`<${Incomplete} record=${record} maximum=${maximum} />`}
      ${
        results.length > 0 &&
        html`
        <${ResultTable} ...${{ results, maximum, whole: isComplete(record), wanted: wantedColumns(record) }} />
      `
      }
      ${isOneWithLines(results) && html`<${Later} load=${loadLines} what="The lines" results=${results} />`}
      <div class="columns documents">
        <${DocumentView} title="Request" name="request-${record.id}" forms=${forms} exactXml=${sentXml} />
        <${DocumentView}
          title="Response"
          name="response-${record.id}"
          forms=${{ xml: record.response_xml, json: record.response_json }}
          empty=${
            record.response_omitted
              ? "The response is too large to show here. Get it from the API with compression."
              : UNFINISHED.has(record.state)
                ? "QuickBooks has not responded yet."
                : "There is no response."
          }
        />
      </div>
    </div>
  `;
}

function Outcome({ record, connection }) {
  const { error, waiting_reason: reason } = record;
  if (error) {
    const { message, hint } = wordsOf(error);
    const status = error.details?.status_code ?? error.details?.hresult;
    return html`
      <${Note}
        tone=${stateOf(record).tone === "red" ? "red" : "amber"}
        title=${html`<${Foreign} text=${withLocalTimes(message)} />`}
      >
        ${hint && html`<p><${Foreign} text=${hint} /></p>`}
        ${
          record.executed === "unknown" &&
          html`<p>Nobody knows yet whether it is in the books. Below, QuickBooks can be asked.</p>`
        }
        <p class="small muted">
          <code>${error.code}</code>
          ${
            status !== undefined &&
            html` · <span>${error.details.hresult ? "HRESULT" : "Status"} <code>${status}</code></span>
          `
          }
          ${error.details?.retryable === true && " · The same request may succeed later."}
        </p>
      <//>
    `;
  }
  if (!reason) return null;
  if (reason.code === "approval") return html`<${NeedsApproval} record=${record} connection=${connection} />`;
  const calm = ["requests_ahead", "next_session", "outside_sync_window", "service_busy"].includes(reason.code);
  return html`
    <${Note} tone=${calm ? "" : "amber"} title=${html`<${Foreign} text=${messageOf(reason)} />`}>
      ${hintOf(reason) && html`<p>${hintOf(reason)}</p>`}
    <//>
  `;
}

const loadCheck = () => import("./outcome_check.js");
const loadLines = () => import("./request_lines.js");

/** The check of a write whose outcome is unknown. */
const Check = (props) => html`
  <section id="check" tabindex="-1" aria-label="Check">
    <${Later} load=${loadCheck} what="The check" ...${props} />
  </section>
`;

/** A view whose module is loaded when it is needed. */
function Later({ load, what, ...props }) {
  const [loaded, setLoaded] = useState({});
  useEffect(() => {
    load().then(
      (module) => setLoaded({ view: module.default }),
      () => setLoaded({ failed: true }),
    );
  }, []);
  if (loaded.failed)
    return html`
      <${Problem}
        error=${new ApiError(0, "unreachable", `${what} could not be loaded.`)}
        retry=${() => location.reload()}
      />
    `;
  return loaded.view ? html`<${loaded.view} ...${props} />` : html`<${SkeletonCard} lines=${3} />`;
}
