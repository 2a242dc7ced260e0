// What a reader can do with a request.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { changeOf, hasChangeForm } from "../lib/changeable.js";
import { ActionButton } from "../lib/dialogs.js";
import {
  againAction,
  editAddress,
  isOutdated,
  isReplaced,
  isUnsent,
  isUnsettled,
  newKey,
  queueAgain,
} from "../lib/queue_again.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { ENDED, isRead, UNFINISHED } from "../lib/text.js";
import { Button, Icon, toast } from "../lib/ui.js";

/** Compose can put a change on what its object is now. */
function editTitle(record, continues) {
  if (continues) return "Fix and continue";
  return isOutdated(record) && hasChangeForm(record.request_name) ? "Read again and change" : "Edit and queue again";
}

/** Leads to the check that settles whether a write may be queued again. */
function goToCheck() {
  const check = document.getElementById("check");
  check?.scrollIntoView({ block: "center", behavior: "smooth" });
  check?.focus({ preventScroll: true });
}

/** Says what a copy of a request does beside the request. */
function aboutCopy(state, isWrite) {
  if (UNFINISHED.has(state) && isWrite)
    return "This request has not ended: it is sent too, so QuickBooks executes both. What it adds is then in the books twice.";
  if (UNFINISHED.has(state)) return "This request has not ended: it is sent too, so QuickBooks executes both.";
  return isWrite && state === "response_received"
    ? "QuickBooks has executed this request. A copy makes a second entry in the books."
    : "A new request with the same content is put at the end of the queue.";
}

export function Actions({ record, load }) {
  // Pressing the button again after a lost answer queues the same copy.
  const [key] = useState(newKey);
  const path = ["queued_requests", record.id];
  const act = (name, said) => async () => {
    load.reload({ data: await call("POST", [...path, name]) });
    toast(said);
  };
  const again = async () => {
    const { id } = await queueAgain(record, key);
    toast(continues ? "The batch continues." : "The copy is queued.");
    navigate(url(`/queued_requests/${id}`));
  };
  const remove = async () => {
    await call("DELETE", path);
    toast("The request is deleted.");
    navigate(url(`/connections/${record.connection_id}`));
  };
  const continues = isReplaced(record) && record.batch_id;
  // The service itself copies the URL of a request that failed.
  const isOther = !isReplaced(record) && record.webhook_url && !session.may("see_webhook_urls");
  const webhook = isOther ? " Its webhook goes to the webhook URL of the connection." : "";
  const isWrite = !isRead(record.request_name);
  const change = changeOf(record);
  // How the request can be queued again, or where that was done.
  const queueingAgain = () => {
    if (record.replaced_by && !record.batch_id)
      return html`
        <a class="button" href=${url(`/queued_requests/${record.replaced_by}`)}>Open the request in its place</a>
      `;
    if (isUnsent(record) && record.batch_id)
      return html`
        <a class="button" href=${url(`/queued_requests/${record.error.details.dependency_id}`)}>
          Open the request that failed
        </a>
      `;
    const mayQueue = session.may(againAction(record));
    if (isUnsettled(record)) return mayQueue && html`<${Button} icon="copy" onClick=${goToCheck}>Queue again…<//>`;
    return html`
      ${
        isReplaced(record) &&
        session.may("queue") &&
        html`
          <a class="button" href=${editAddress(record)}>
            <${Icon} name="pen" />
            ${editTitle(record, continues)}
          </a>
        `
      }
      ${
        mayQueue &&
        html`
          <${ActionButton}
            label=${continues ? "Continue" : "Queue again"}
            icon="copy"
            question=${
              continues
                ? "Continue the batch?"
                : UNFINISHED.has(record.state)
                  ? "Queue a second request beside this one?"
                  : "Queue a copy of this request?"
            }
            confirm=${continues ? "Continue the batch" : "Queue a copy"}
            explanation=${
              continues
                ? "This request is queued again as it is, and with it the requests that were not sent because of it."
                : `${aboutCopy(record.state, isWrite)}${webhook}`
            }
            action=${again}
          />
        `
      }
    `;
  };
  return html`
    <div class="row">
      ${
        ["waiting", "retryable"].includes(record.state) &&
        session.may("discard") &&
        html`
          <${ActionButton}
            label="Discard"
            danger=${true}
            question="Discard this request?"
            explanation="It leaves the queue and is never sent to QuickBooks. Its webhook reports that it was discarded."
            action=${act("discard", "The request is discarded.")}
          />
        `
      }
      ${
        ENDED.has(record.state) &&
        record.webhook_url &&
        session.may("redeliver") &&
        html`
          <${ActionButton}
            label="Redeliver webhook"
            icon="refresh"
            action=${act("redeliver", "The webhook is sent again.")}
          />
        `
      }
      ${
        change &&
        session.may("queue") &&
        html`
          <a class="button" href=${change.address} onClick=${change.open}>
            <${Icon} name="pen" />
            Change this ${change.noun}
          </a>
        `
      }
      ${queueingAgain()}
      ${
        ENDED.has(record.state) &&
        session.may("delete_request") &&
        html`
          <${ActionButton}
            label="Delete"
            kind="ghost"
            danger=${true}
            question="Delete this request?"
            explanation="The request, its response and its webhook attempts are removed. Changes in QuickBooks remain."
            action=${remove}
          />
        `
      }
    </div>
  `;
}
