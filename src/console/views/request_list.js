// The parts of a connection's list of requests: rows, those that are selected, and what a search covers.
import { html, useState } from "../vendor/preact.js";
import { hasBulkActions } from "../lib/bulk_actions.js";
import { navigate, url } from "../lib/router.js";
import {
  causeOf,
  duration,
  fullTime,
  messageOf,
  millisecondsBetween,
  plural,
  requestTitle,
  shortTime,
  webhookState,
} from "../lib/text.js";
import { Ago, Foreign, SkeletonRows, StateBadge, Subject, WebhookBadge } from "../lib/ui.js";
import { Pick } from "./many_bar.js";

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

/** The requests of a page as a table, or its skeleton with `rows` rows while `requests` load. */
export function RequestTable({ requests, rows, selection, order, change, phrase, shared, showsSent }) {
  const { sort, direction } = order;
  const idsOnPage = requests?.map((one) => one.id) ?? [];
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
    <div class="table-wrap">
      <table class="responsive requests">
        <thead>
          <tr>
            ${
              hasBulkActions() &&
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
                      phrase=${phrase}
                      shared=${shared}
                      showsSent=${showsSent}
                      isSelected=${selection.has(one.id)}
                      select=${hasBulkActions() && ((isSelected) => selection.set([one.id], isSelected, idsOnPage))}
                    />
                  `,
                )
              : html`
                <${SkeletonRows} rows=${rows} columns=${(hasBulkActions() ? 8 : 7) + Number(showsSent)} />
              `
          }
        </tbody>
      </table>
    </div>
  `;
}

/** A row. With `select`, it has a check box, and with `showsSent` the time of sending. */
function Row({ request, phrase, shared, showsSent, isSelected, select }) {
  const address = url(`/queued_requests/${request.id}`);
  const follow = (event) => !event.target.closest("a, .pick") && !String(getSelection()) && navigate(address);
  const { sent_at: sentAt, responded_at: respondedAt, waiting_reason: reason } = request;
  const lastCall = request.webhook_attempts.at(-1);
  const why = causeOf(request.error) ?? (reason && reason.message !== shared?.message ? messageOf(reason) : null);
  const found = phrase && whereFound(request, phrase);
  return html`
    <tr class="clickable ${isSelected ? "selected" : ""}" onClick=${follow}>
      ${
        select &&
        html`
          <td class="pick">
            <${Pick}
              label=${["Select", requestTitle(request.request_name), request.subject].filter(Boolean).join(" ")}
              checked=${isSelected}
              onChange=${select}
            />
          </td>
        `
      }
      <td
        class="about"
        title=${[requestTitle(request.request_name), request.subject, request.label].filter(Boolean).join(" · ")}
      >
        <div class="naming">
          <div class="line">
            <a class="title" href=${address}>${requestTitle(request.request_name)}</a>
            ${request.page > 1 && html` <span class="tag">page ${request.page}</span>`}
            <${Subject} subject=${request.subject} />
            ${found && html` <span class="tag new">in ${found}</span>`}
          </div>
          ${request.label && html`<span class="tag whole"><${Foreign} text=${request.label} /></span>`}
        </div>
      </td>
      <td class="full">
        <${StateBadge} request=${request} />
        ${
          request.replaced_by &&
          html` <a class="tag" href=${url(`/queued_requests/${request.replaced_by}`)}>Queued again</a>`
        }
        ${why && html` <span class="why muted small" title=${why}><${Foreign} text=${why} /></span>`}
      </td>
      <td class="webhook narrow-hide">
        ${
          request.webhook_state === "not_applicable"
            ? html`<span class="muted">–</span>`
            : html`
              <${WebhookBadge} state=${webhookState(request)} />
              ${
                lastCall?.duration_ms != null &&
                html`
                  ${" "}
                  <span
                    class="muted small took"
                    title=${`The receiver took this long, ${fullTime(lastCall.attempted_at)}`}
                  >
                    ${duration(lastCall.duration_ms)}
                  </span>
                `
              }
            `
        }
      </td>
      <td><${Ago} at=${request.inserted_at} short=${true} /></td>
      ${
        showsSent &&
        html`<td><time class="nowrap" datetime=${sentAt} title=${fullTime(sentAt)}>${shortTime(sentAt)}</time></td>`
      }
      <td class="number took waited" title=${sentAt ? `Sent ${fullTime(sentAt)}` : undefined}>
        ${sentAt && duration(millisecondsBetween(request.inserted_at, sentAt))}
      </td>
      <td class="number took" title=${respondedAt ? `Responded ${fullTime(respondedAt)}` : undefined}>
        ${respondedAt && duration(millisecondsBetween(sentAt, respondedAt))}
      </td>
      <td class="narrow-hide"><${Ago} at=${request.updated_at} short=${true} /></td>
    </tr>
  `;
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

/** The texts that a search covers (docs/reference/service-contract.md, Search). */
export const Searched = () => html`
  Searched: names, subjects, ids, labels, errors, texts of requests, and names, ids and numbers in responses. Of a
  long request only the first 8,192 characters are searched, and of its response 2 KB. Not searched: states, times,
  webhooks, metadata, and amounts in responses.
`;

/** How many requests a search found, what it covers, and the same search without the limit to one connection. */
export function SearchNote({ phrase, total }) {
  return html`
    <div class="search-note small muted" role="status">
      <span class="strong">
        ${plural(total, "request")} with “<${Foreign} text=${phrase} />” in this connection.
      </span>${" "}
      <a href=${url("/search", { search: phrase, part: "true" })}>Search all connections</a>.${" "}
      <${Searched} />
    </div>
  `;
}

/** Leads to the writes that wait for approval. */
export const ToApprove = ({ id, number }) => html`
  <div class="search-note small" role="status">
    <span class="strong">${plural(number, "write")} ${number === 1 ? "waits" : "wait"} for approval.</span>${" "}
    <a href=${url("/approvals", { connection: id })}>Look at ${number === 1 ? "it" : "them"}</a>
  </div>
`;

export const SharedReason = ({ reason }) => html`
  <div class="search-note small" role="status">
    <span class="strong">Why they wait:</span> <${Foreign} text=${messageOf(reason)} />
  </div>
`;
