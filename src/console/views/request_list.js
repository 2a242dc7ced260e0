// The parts of a connection's list of requests: rows, the range of time, and what a search covers.
import { html, useState } from "../vendor/preact.js";
import { navigate, url } from "../lib/router.js";
import { duration, fullTime, localZone, millisecondsBetween, plural, requestTitle, webhookState, withLocalTimes } from "../lib/text.js";
import { Ago, Foreign, StateBadge, WebhookBadge } from "../lib/ui.js";

const DENSE = "qbxml-queue.dense";

/** Returns whether rows are dense, and a function that changes it. The browser keeps the choice. */
export function useDense() {
  const [dense, setDense] = useState(() => localStorage.getItem(DENSE) === "true");
  const change = (value) => {
    localStorage.setItem(DENSE, String(value));
    setDense(value);
  };
  return [dense, change];
}

/** Returns the waiting reason that several requests of a page share, or null. Their rows do not repeat it. */
export function sharedReason(requests) {
  const reasons = requests.map((one) => one.waiting_reason).filter(Boolean);
  return reasons.length > 1 && reasons.every(({ message }) => message === reasons[0].message) ? reasons[0] : null;
}

export function Row({ request, phrase, shared }) {
  const address = url(`/queued_requests/${request.id}`);
  const follow = (event) => !event.target.closest("a") && !String(getSelection()) && navigate(address);
  const { sent_at: sentAt, responded_at: respondedAt, waiting_reason: reason } = request;
  const lastCall = request.webhook_attempts.at(-1);
  const why = request.error?.message ?? (reason && reason.message !== shared?.message ? withLocalTimes(reason.message) : null);
  const found = phrase && whereFound(request, phrase);
  return html`<tr class="clickable" onClick=${follow}>
    <td class="about" title=${[requestTitle(request.request_name), request.subject, request.label].filter(Boolean).join(" · ")}><a class="title" href=${address}>${requestTitle(request.request_name)}</a>${request.page > 1 && html` <span class="tag">page ${request.page}</span>`}
      ${request.subject && html` <span class="subject"><${Foreign} text=${request.subject} /></span>`}${request.label && html` <span class="tag"><${Foreign} text=${request.label} /></span>`}${found && html` <span class="tag new">in ${found}</span>`}</td>
    <td class="full"><${StateBadge} state=${request.state} />${why && html` <span class="why muted small" title=${why}><${Foreign} text=${why} /></span>`}</td>
    <td class="webhook narrow-hide">${request.webhook_state === "not_applicable" ? html`<span class="muted">–</span>` : html`<${WebhookBadge} state=${webhookState(request)} />${lastCall?.duration_ms != null && html` <span class="muted small took" title=${`The receiver took this long, ${fullTime(lastCall.attempted_at)}`}>${duration(lastCall.duration_ms)}</span>`}`}</td>
    <td><${Ago} at=${request.inserted_at} short=${true} /></td>
    <td class="number took waited" title=${sentAt ? `Sent ${fullTime(sentAt)}` : undefined}>${sentAt && duration(millisecondsBetween(request.inserted_at, sentAt))}</td>
    <td class="number took" title=${respondedAt ? `Responded ${fullTime(respondedAt)}` : undefined}>${respondedAt && duration(millisecondsBetween(sentAt, respondedAt))}</td>
    <td class="narrow-hide"><${Ago} at=${request.updated_at} short=${true} /></td></tr>`;
}

/** Returns the part of a request in which a search found the phrase, as far as the list shows it. */
function whereFound(request, phrase) {
  const folded = phrase.split(/\s+/).join(" ").toLowerCase();
  const places = [
    ["the name", `${request.request_name} ${requestTitle(request.request_name)}`],
    ["the subject", request.subject],
    ["the label", request.label],
    ["the id", request.id],
    ["the error", request.error && `${request.error.code} ${request.error.message}`],
  ];
  return places.find(([, text]) => text?.toLowerCase().includes(folded))?.[0] ?? "the request or response";
}

/** How many requests a search found, and what it does not cover. */
export function SearchNote({ phrase, total }) {
  return html`<div class="search-note small muted" role="status"><span class="strong">${plural(total, "request")} with “<${Foreign} text=${phrase} />”.</span>${" "}
    Searched: names, ids, labels, errors, texts of requests, and names, ids and numbers in responses.
    Not searched: states, times, webhooks, metadata, and amounts in responses.</div>`;
}

export const SharedReason = ({ reason }) => html`<div class="search-note small" role="status"><span class="strong">Why they wait:</span> <${Foreign} text=${withLocalTimes(reason.message)} /></div>`;

// --- The range of time ---------------------------------------------------------------------------------------------

const HOUR = 3_600_000;

/** The ranges to choose. Days begin at midnight of the reader's time zone. */
const RANGES = {
  hour: ["Last hour", () => [new Date(Date.now() - HOUR)]],
  today: ["Today", () => [dayBegin(0)]],
  yesterday: ["Yesterday", () => [dayBegin(-1), dayBegin(0)]],
  week: ["Last 7 days", () => [dayBegin(-6)]],
  month: ["Last 30 days", () => [dayBegin(-29)]],
};

function dayBegin(days) {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

export function RangeSelect({ from, to, range, change }) {
  const choose = (event) => {
    const chosen = event.target.value;
    if (chosen === "custom") return change({ range: "custom", from: from ?? dayBegin(0).toISOString(), to: to ?? "" });
    const [first, last] = RANGES[chosen]?.[1]() ?? [];
    return change({ range: chosen, from: first?.toISOString(), to: last?.toISOString() });
  };
  const value = from || to ? (RANGES[range] ? range : "custom") : "";
  return html`<select aria-label="Time" value=${value} onChange=${choose}><option value="" selected=${!value}>Any time</option>
    ${Object.entries(RANGES).map(([key, [name]]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
    <option value="custom" selected=${value === "custom"}>From … to …</option></select>`;
}

/** Says which range of time is listed. A custom range can be changed. */
export function RangeBar({ from, to, range, sort, change }) {
  if (!from && !to) return null;
  const what = sort === "updated_at" ? "Last change" : "Queued";
  const set = (name) => (event) => {
    const moment = event.target.value && new Date(event.target.value);
    change({ range: "custom", [name]: moment ? moment.toISOString() : "" });
  };
  const input = (name, label, value) => html`<label class="row plain"><span>${label}</span><input type="datetime-local" step="60" aria-label="${what} ${label}" value=${value ? localInput(value) : ""} onChange=${set(name)} /></label>`;
  return html`<div class="search-note small range"><span class="strong">${what}</span>
    ${RANGES[range] ? html`<span>${from && `from ${fullTime(from)}`}${to && ` to before ${fullTime(to)}`}</span>`
      : html`${input("from", "from", from)}${input("to", "to before", to)}<span class="muted">${localZone()}</span>`}</div>`;
}

/** Returns a moment as an input of the reader's local time has it. */
function localInput(iso) {
  const moment = new Date(iso);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
