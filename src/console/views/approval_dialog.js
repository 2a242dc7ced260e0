// Asks once before several writes are approved, and for the reason before some are rejected.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { decide } from "../lib/approvals.js";
import { Dialog } from "../lib/dialogs.js";
import { plural } from "../lib/text.js";
import { Button, Check, Field } from "../lib/ui.js";
import { Words } from "./approval_write.js";
import { Progress } from "./many_parts.js";

const SHOWN = 6;
const MAX_REASON = 500;

export function DecisionDialog({ items, approves, batch = null, onClose, done }) {
  const [acceptValues, setAcceptValues] = useState(false);
  const [dependants, setDependants] = useState(false);
  const [reason, setReason] = useState("");
  const [run, setRun] = useState(null);
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const waitsForOthers = items.some(({ record }) => record.depends_on.length);
  const isOfBatch = items.some(({ record }) => record.batch_id);
  const isReady = approves ? acceptValues || !waitsForOthers : reason.trim();
  const submit = async (event) => {
    event?.preventDefault();
    if (!isReady || run) return;
    setRun({});
    const how = approves ? { approves, acceptValues } : { approves, reason: reason.trim(), dependants };
    const results = await decide(items, { ...how, batch }, stopping.current.signal, (waits) => setRun({ waits }));
    done(results, (number) => `${plural(number, "write")} ${approves ? "approved" : "rejected"}.`);
  };
  const verb = approves ? "Approve" : "Reject";
  const what = items.length === 1 ? "this write" : plural(items.length, "write");
  return html`
    <${Dialog}
      title=${`${verb} ${batch ? "this batch of " : ""}${what}?`}
      onClose=${onClose}
      actions=${html`
        <${Button} onClick=${onClose}>Cancel<//>
        <${Button}
          kind="primary ${approves ? "" : "danger"}"
          busy=${Boolean(run) || !isReady}
          autofocus=${approves}
          onClick=${submit}
        >
          ${verb}
        <//>
      `}
    >
      <ul class="plain-list">
        ${items.slice(0, SHOWN).map((item) => html`<li key=${item.record.id}><${Words} item=${item} /></li>`)}
      </ul>
      ${items.length > SHOWN && html`<p class="muted small">and ${plural(items.length - SHOWN, "other")}</p>`}
      ${
        approves &&
        html`
          <p class="muted">
            ${items.length === 1 ? "It is" : "They are"} sent to QuickBooks when the Web Connector calls next.
          </p>
        `
      }
      ${
        approves &&
        waitsForOthers &&
        html`
          <${Check} checked=${acceptValues} onChange=${(event) => setAcceptValues(event.target.checked)}>
            Also with values of other requests that nobody has seen yet
          <//>
        `
      }
      ${
        !approves &&
        html`
          <form class="stack tight" onSubmit=${submit}>
            <${Field} label="Reason" help="The record of the request shows it.">
              ${(names) => html`
                <input
                  ...${names}
                  value=${reason}
                  maxlength=${MAX_REASON}
                  autocomplete="off"
                  autofocus
                  onInput=${(event) => setReason(event.target.value)}
                />
              `}
            <//>
            ${
              isOfBatch &&
              html`
                <${Check} checked=${dependants} onChange=${(event) => setDependants(event.target.checked)}>
                  Also end the requests of the batch that wait for it
                <//>
              `
            }
          </form>
        `
      }
      ${run && html`<${Progress} label=${verb} waits=${run.waits}>Keep this page open.<//>`}
    <//>
  `;
}
