// The card that queues a draft: what is wrong with it, its webhook, and the button.
import { html } from "../vendor/preact.js";
import { editing } from "../lib/incomplete_dates.js";
import { MomentInput } from "../lib/moment_input.js";
import { metadataRows } from "../lib/request_draft.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { plural } from "../lib/text.js";
import { Button, Check, explain, Field, Note } from "../lib/ui.js";

const DATE_ALONE = "A date alone means the end of this day.";

/** `outcome` is set to the element of the problems, and `button` queues the draft. */
export function QueueCard({ type, draft, edit, problems, error, outcome, isKept, button }) {
  const { mode, webhook } = draft;
  const late = problems.find(({ field }) => field === "send_by")?.message;
  return html`
    <section class="card" aria-label="Queue">
      <div class="body stack">
        <div ref=${outcome}>
          ${
            problems.length > 0 &&
            html`
              <${Note} tone="red" role="alert" title=${plural(problems.length, "problem")}>
                <ul class="stack tight">
                  ${problems.map(
                    (one) => html`
                      <li>
                        ${one.line && mode !== "json" ? html`<span class="tag">line ${one.line}</span> ` : ""}
                        ${one.message}
                      </li>
                    `,
                  )}
                </ul>
              <//>
            `
          }
          ${
            error &&
            html`
              <${Note} tone="red" role="alert">
                <p>${explain(error)}</p>
                ${
                  error.status === 0 || error.status >= 500
                    ? html`
                      <p>
                        Nothing is lost: press the button again. If the request was queued, it is not queued twice.
                      </p>
                    `
                    : ""
                }
              <//>
            `
          }
        </div>
        <${Field} label="Label (optional)" help="For people: lists and searches show it. QuickBooks does not get it.">
          ${(control) => html`
            <input
              ...${control}
              value=${draft.label ?? ""}
              maxlength="50"
              onInput=${({ target: { value } }) => edit({ label: value || undefined })}
            />
          `}
        <//>
        <${Metadata} rows=${metadataRows(draft.metadata)} change=${(rows) => edit({ metadata: rows })} />
        ${
          session.may("give_webhook_url") &&
          html`
            <${Field}
              label="Webhook URL (optional)"
              help=${webhook !== null && "If it is empty, the webhook URL of the connection is used."}
            >
              ${(control) => html`
                <input
                  ...${control}
                  value=${webhook ?? ""}
                  disabled=${webhook === null}
                  inputmode="url"
                  maxlength="2048"
                  placeholder=${webhook === null ? undefined : "https://example.com/webhooks/quickbooks"}
                  onInput=${(event) => edit({ webhook: event.target.value })}
                />
              `}
            <//>
            <${Check}
              checked=${webhook === null}
              onChange=${(event) => edit({ webhook: event.target.checked ? null : "" })}
            >
              Send no webhook
            <//>
          `
        }
        <${Field}
          label="Send by (optional)"
          help=${`If it is not sent before this time, it ends in an error and QuickBooks never gets it. ${DATE_ALONE}`}
          problem=${late}
        >
          ${(control) => html`
            <${MomentInput}
              label="Send by (optional)"
              names=${{ ...control, "data-found": late ? "" : undefined }}
              isEnd
              edits=${editing({ field: "send_by" })}
              value=${draft.send_by ?? ""}
              change=${(moment) => edit({ send_by: moment || undefined })}
            />
          `}
        <//>
        <${Check}
          checked=${draft.priority === "low"}
          onChange=${({ target: { checked } }) => edit({ priority: checked ? "low" : undefined })}
        >
          Send it behind others (low priority)
        <//>
        ${
          /AddRq$/.test(type.name) &&
          html`
            <${Field} label="If it exists">
              ${(control) => html`
                <select
                  ...${control}
                  value=${draft.if_exists ?? ""}
                  onChange=${({ target: { value } }) => edit({ if_exists: value || undefined })}
                >
                  <option value="">Do not look first</option>
                  <option value="return">Look first, and add nothing</option>
                  <option value="update">Look first, and change what differs (lists)</option>
                </select>
              `}
            <//>
          `
        }
        ${session.may("queue") ? button : html`<span class="muted">${session.refusal}</span>`}
        <div class="row between">
          <a href=${url(`/qbxml/${type.name}`)}>${type.name} in the reference</a>
          ${
            !isKept &&
            html`<span class="failed small" role="status">This draft is too large to be kept in this tab.</span>`
          }
        </div>
      </div>
    </section>
  `;
}

const MAX_ROWS = 20;

/** The names and values that a program keeps with the request. */
function Metadata({ rows, change }) {
  const set = (place, row) => change(rows.map((one, other) => (other === place ? row : one)));
  return html`
    <fieldset class="field metadata">
      <legend>Metadata (optional)</legend>
      ${rows.map(
        ([name, value], place) => html`
          <div class="row" key=${place}>
            <input
              aria-label="Name of entry ${place + 1}"
              placeholder="order"
              value=${name}
              onInput=${({ target }) => set(place, [target.value, value])}
            />
            <input
              aria-label="Value of entry ${place + 1}"
              placeholder="1007"
              value=${value}
              onInput=${({ target }) => set(place, [name, target.value])}
            />
            <${Button}
              kind="icon ghost"
              icon="close"
              aria-label="Remove entry ${place + 1}"
              onClick=${() => change(rows.filter((_, other) => other !== place))}
            />
          </div>
        `,
      )}
      ${
        rows.length < MAX_ROWS &&
        html`<${Button} kind="small" icon="plus" onClick=${() => change([...rows, ["", ""]])}>Add metadata<//>`
      }
      <p class="help">Names and values of your own. The response and its webhook have them; QuickBooks does not.</p>
    </fieldset>
  `;
}
