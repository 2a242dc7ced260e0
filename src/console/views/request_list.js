// The parts of a connection's list of requests: rows, those that are selected, and what a search covers.
import { html, useEffect, useState } from "../vendor/preact.js";
import { navigate, url } from "../lib/router.js";
import {
  count,
  duration,
  fullTime,
  millisecondsBetween,
  plural,
  requestTitle,
  shortTime,
  webhookState,
  withLocalTimes,
} from "../lib/text.js";
import { Ago, Button, Foreign, StateBadge, toast, WebhookBadge } from "../lib/ui.js";

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

/** A row. With `select`, it has a check box, and with `showsSent` the time of sending. */
export function Row({ request, phrase, shared, showsSent, isSelected, select }) {
  const address = url(`/queued_requests/${request.id}`);
  const follow = (event) => !event.target.closest("a, .pick") && !String(getSelection()) && navigate(address);
  const { sent_at: sentAt, responded_at: respondedAt, waiting_reason: reason } = request;
  const lastCall = request.webhook_attempts.at(-1);
  const why =
    request.error?.message ?? (reason && reason.message !== shared?.message ? withLocalTimes(reason.message) : null);
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
        <a class="title" href=${address}>${requestTitle(request.request_name)}</a>
        ${request.page > 1 && html` <span class="tag">page ${request.page}</span>`}
        ${request.subject && html` <span class="subject"><${Foreign} text=${request.subject} /></span>`}
        ${request.label && html` <span class="tag"><${Foreign} text=${request.label} /></span>`}
        ${found && html` <span class="tag new">in ${found}</span>`}
      </td>
      <td class="full">
        <${StateBadge} state=${request.state} />
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

/** How many requests a search found, and what it covers. */
export function SearchNote({ phrase, total }) {
  return html`
    <div class="search-note small muted" role="status">
      <span class="strong">${plural(total, "request")} with “<${Foreign} text=${phrase} />”.</span>${" "}
      <${Searched} />
    </div>
  `;
}

export const SharedReason = ({ reason }) => html`
  <div class="search-note small" role="status">
    <span class="strong">Why they wait:</span> <${Foreign} text=${withLocalTimes(reason.message)} />
  </div>
`;

// --- Many requests -------------------------------------------------------------------------------------------------

/**
 * The bulk actions, with the states and webhooks of the requests that they are for. The dialog (`many.js`) does them.
 */
export const ACTIONS = {
  // No webhook is sent before its request has ended.
  discard: { name: "Discard", states: ["waiting", "retryable"], webhooks: ["not_applicable", "pending"] },
  queue_again: { name: "Queue again", states: ["error", "discarded"] },
  redeliver: {
    name: "Redeliver webhooks",
    states: ["response_received", "error", "discarded"],
    webhooks: ["pending", "retrying", "failed", "failing"],
  },
};

/** Returns the names of the actions that the filters of a list leave. */
export const possible = ({ state, webhook_state: webhook }) =>
  Object.entries(ACTIONS)
    .filter(
      ([, { states, webhooks }]) =>
        (!state || states.includes(state)) && (!webhook || !webhooks || webhooks.includes(webhook)),
    )
    .map(([name]) => name);

/**
 * Returns which requests of a list are selected: `{ids, isAll, has, set, clear, selectAll}`. `isAll` means all that
 * match, also on other pages. The selection ends when the list shows other requests, so when `list` changes.
 */
export function useSelection(list) {
  const [{ ids, isAll }, select] = useState({ ids: [], isAll: false });
  const clear = () => select({ ids: [], isAll: false });
  useEffect(clear, [list]);
  return {
    ids,
    isAll,
    clear,
    selectAll: () => select({ ids: [], isAll: true }),
    has: (id) => isAll || ids.includes(id),
    /** Selects some requests or not. `page` has the ids on the screen: one that is left out of all leaves those. */
    set: (some, isSelected, page) => {
      const others = (isAll ? page : ids).filter((id) => !some.includes(id));
      select({ ids: isSelected ? [...others, ...some] : others, isAll: false });
    },
  };
}

/** A check box whose whole cell can be pressed. `isPartial`: some of what it stands for is selected. */
export function Pick({ label, checked, isPartial, onChange }) {
  const mark = (box) => {
    if (box) box.indeterminate = Boolean(isPartial);
  };
  return html`
    <label>
      <input
        type="checkbox"
        aria-label=${label}
        checked=${checked}
        ref=${mark}
        onChange=${(event) => onChange(event.target.checked)}
      />
    </label>
  `;
}

/** The bulk actions for the selected rows, or for all requests that match the filters. */
export function ManyBar({ id, query, total, isFiltered, selection, done }) {
  const [dialog, setDialog] = useState(null);
  const { ids, isAll, clear, selectAll } = selection;
  const open = (action) =>
    import("./many.js").then(
      (module) => setDialog({ view: module.default, action, ids: ids.length ? ids : null }),
      () => toast("The dialog could not be loaded. Reload the page.", "red"),
    );
  const close = () => {
    setDialog(null);
    clear();
    done();
  };
  const names = possible(query);
  // The dialog stays when the list becomes empty.
  return html`
    ${
      total > 0 &&
      (ids.length > 0 || isAll || (isFiltered && names.length > 0)) &&
      html`
        <div class="search-note many-bar" role="group" aria-label="Many requests">
          <span class="strong" role="status">
            ${
              ids.length
                ? `${count(ids.length)} selected`
                : total === 1
                  ? `1 request${isFiltered ? " matches" : ""}`
                  : `All ${count(total)} requests${isFiltered ? " that match" : ""}`
            }
          </span>
          ${names.map((name) => html`<${Button} kind="small" onClick=${() => open(name)}>${ACTIONS[name].name}<//>`)}
          ${names.length === 0 && html`<span class="muted">No action applies to all of them.</span>`}
          ${
            ids.length > 0 &&
            ids.length < total &&
            html`
              <${Button} kind="small ghost" onClick=${selectAll}>
                Select all ${count(total)}
                ${isFiltered ? " that match" : ""}
              <//>
            `
          }
          ${(ids.length > 0 || isAll) && html`<${Button} kind="small ghost" onClick=${clear}>Select none<//>`}
        </div>
      `
    }
    ${
      dialog &&
      html`<${dialog.view} id=${id} query=${query} ids=${dialog.ids} action=${dialog.action} onClose=${close} />`
    }
  `;
}
