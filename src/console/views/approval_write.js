// A write that waits for approval: in words, as a table, and its buttons.
import { html, useState } from "../vendor/preact.js";
import { PersonName } from "../lib/account.js";
import { authorOf, readRecord, refusalOf } from "../lib/approvals.js";
import { ActionButton } from "../lib/dialogs.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { fullTime, requestTitle, shortTime } from "../lib/text.js";
import { Ago, Button, Foreign, Note } from "../lib/ui.js";
import { contentOf, tableOf } from "../lib/write_fields.js";
import { plain, sentenceOf } from "../lib/write_words.js";
import { InTheBooks } from "./approval_books.js";
import { ChangeTable } from "./approval_table.js";
import { IntendedUpdate } from "./approval_update.js";
import { Pick } from "./many_bar.js";

/** From this time before its end on, a write is said to end soon. */
const SOON_MILLISECONDS = 86_400_000;

/** Returns the words of what a write does. */
export const wordsOf = ({ record, tree }) =>
  tree
    ? sentenceOf(tree, record.if_exists)
    : [`${requestTitle(record.request_name)} `, { value: record.subject ?? "" }];

export const Words = ({ item }) =>
  wordsOf(item).map((word) =>
    typeof word === "string" ? word : html`<strong><${Foreign} text=${word.value} /></strong>`,
  );

export function Write({ item, isOwn, mayDecide, isSelected, select, approve, reject, show }) {
  const [isBusy, setBusy] = useState(false);
  const { record, tree, newer, problem, wasChanged } = item;
  const text = plain(wordsOf(item));
  const press = async () => {
    setBusy(true);
    await approve();
    setBusy(false);
  };
  return html`
    <li class=${isSelected && mayDecide ? "selected" : ""} data-id=${record.id}>
      <div class="pick">
        ${mayDecide && html`<${Pick} label=${`Select: ${text}`} checked=${isSelected} onChange=${select} />`}
      </div>
      <div class="write">
        <div class="write-head">
          <div class="grow">
            <a class="title break" href=${url(`/queued_requests/${record.id}`)}><${Words} item=${item} /></a>
            <${About} record=${record} isOwn=${isOwn} />
          </div>
          ${
            mayDecide &&
            html`
              <div class="row tools">
                <${Button} kind="small" aria-label=${`Reject: ${text}`} onClick=${reject}>Reject…<//>
                <${Button}
                  kind="small approve"
                  icon="check"
                  busy=${isBusy}
                  aria-label=${`Approve: ${text}`}
                  onClick=${press}
                >
                  Approve
                <//>
              </div>
            `
          }
        </div>
        ${
          newer &&
          html`
            <${Note} tone="amber" role="alert" title="It has changed since it was shown here.">
              <p>Look at it again before you decide.</p>
              <p><${Button} kind="small" onClick=${() => show(newer)}>Show its new content<//></p>
            <//>
          `
        }
        ${wasChanged && html`<p class="small muted" role="status">This is its content after the change.</p>`}
        ${
          problem &&
          html`
            <${Note} tone="red" role="alert" title="Nothing was decided.">
              <p><${Foreign} text=${refusalOf(problem)} /></p>
            <//>
          `
        }
        ${
          tree
            ? html`<${Content} record=${record} tree=${tree} />`
            : html`
              <p class="row small muted">
                <${ActionButton}
                  kind="small"
                  label="Show its content"
                  action=${async () => show(await readRecord(record.id))}
                />
                <span>It is large.</span>
              </p>
            `
        }
      </div>
    </li>
  `;
}

/** Who queued it, when, and until when somebody has to decide. */
function About({ record, isOwn }) {
  const { label, batch_position: position, send_by: end, depends_on: awaited } = record;
  const isSoon = end && Date.parse(end) - Date.now() < SOON_MILLISECONDS;
  return html`
    <p class="about muted small">
      <span>Queued <${Ago} at=${record.inserted_at} /></span>
      <span>
        ${
          isOwn
            ? html`
              <span class="tag">
                ${session.person ? "by you: somebody else has to decide" : "with your key: another key has to decide"}
              </span>
            `
            : html`by <${QueuedBy} record=${record} />`
        }
      </span>
      ${label && html`<span class="tag"><${Foreign} text=${label} /></span>`}
      ${position !== null && html`<span>request ${position + 1} of its batch</span>`}
      ${awaited.length > 0 && html`<span class="tag required">waits for other requests</span>`}
      ${
        end &&
        html`
          <span class=${isSoon ? "tag required" : ""} title=${`Without a decision, it ends ${fullTime(end)}`}>
            until ${isSoon ? fullTime(end) : shortTime(end)}
          </span>
        `
      }
    </p>
  `;
}

/** The name of whoever queued a write, or an id. */
function QueuedBy({ record }) {
  const { queued_by: id } = record.approval;
  const author = authorOf(record);
  if (author?.type === "person") return html`<span title=${id}><${PersonName} name=${author.name} /></span>`;
  if (author?.name) return html`<span title=${id}><${Foreign} text=${author.name} /></span>`;
  return html`<code>${id ?? "an unknown key"}</code>`;
}

function Content({ record, tree }) {
  const content = contentOf(tree);
  const isChange = /(Mod|Del|Void)Rq$/.test(tree.name);
  if (isChange) return html`<${InTheBooks} record=${record} tree=${tree} content=${content} />`;
  if (record.if_exists === "update") return html`<${IntendedUpdate} record=${record} content=${content} />`;
  return html`<${ChangeTable} table=${tableOf(content)} />`;
}
