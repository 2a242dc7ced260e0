// The subscriptions of a connection: which objects programs keep a copy of, how far each was read, and what is wrong.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { NextSession } from "../lib/next_session.js";
import { session } from "../lib/session.js";
import {
  FAILED_RUNS,
  interval,
  nextStep,
  objectState,
  objectTitle,
  reportsDeletions,
  subscriptionState,
  titleOf,
} from "../lib/subscriptions.js";
import { count, fullTime, originOf, plural } from "../lib/text.js";
import { Ago, Badge, Button, CopyAsOf, Foreign, Note, Problem, SkeletonCard, toast } from "../lib/ui.js";
import { ConnectionFrame } from "./connection_frame.js";
import { RecordChanges } from "./record_changes.js";
import { SubscriptionForm } from "./subscription_form.js";
import { Nothing } from "./subscriptions_none.js";

/** With the poll of the frame, six polls a minute. */
const REFRESH_MILLISECONDS = 20_000;

export default function Subscriptions({ parts: [id, tab] }) {
  return html`
    <${ConnectionFrame} id=${id} tab=${tab}>
      ${(connection, { reload }) => html`<${Tab} id=${id} connection=${connection} changed=${() => reload()} />`}
    <//>
  `;
}

function Tab({ id, connection, changed }) {
  const path = ["connections", id, "subscriptions"];
  const load = useLoad((signal) => call("GET", path, { signal }), [id], { refresh: REFRESH_MILLISECONDS });
  const [editing, setEditing] = useState(null);
  const done = () => {
    load.reload();
    changed();
  };
  const all = load.data?.data;
  const create =
    session.may("create_subscription") &&
    html`<${Button} kind="primary" icon="plus" onClick=${() => setEditing({})}>New subscription<//>`;
  return html`
    ${
      load.error &&
      html`<${Problem} error=${load.error} retry=${load.reload} what="The subscriptions could not be loaded." />`
    }
    ${!all && !load.error && html`<${SkeletonCard} lines=${6} />`}
    ${all?.length === 0 && html`<${Nothing} id=${id} create=${create} />`}
    ${
      all?.length > 0 &&
      html`
        <div class="page-head">
          <p class="muted">
            Programs that read the feed of events keep a copy of these objects. Subscriptions share what is read.
          </p>
          ${create && html`<div class="row">${create}</div>`}
        </div>
        ${all.map(
          (one) => html`
            <${Subscription} key=${one.id} one=${one} connection=${connection} edit=${setEditing} done=${done} />
          `,
        )}
      `
    }
    ${editing && html`<${SubscriptionForm} path=${path} one=${editing} close=${() => setEditing(null)} done=${done} />`}
  `;
}

function Subscription({ one, connection, edit, done }) {
  const { name, tone, live } = subscriptionState(one);
  const step = connection && nextStep(one, connection);
  return html`
    <section class="card subscription" aria-label=${titleOf(one)}>
      <header>
        <div class="row">
          <h2 class="break"><${Foreign} text=${titleOf(one)} /></h2>
          <${Badge} tone=${tone} live=${live}>${name}<//>
        </div>
        <${Actions} one=${one} edit=${edit} done=${done} />
      </header>
      <div class="body stack tight">
        <p class="sub">
          ${one.copied_at && html`<span class="strong"><${CopyAsOf} at=${one.copied_at} /></span>`}
          <span>Read ${interval(one.every_minutes)}</span>
          <span>All records again every ${one.verify_days === 1 ? "day" : plural(one.verify_days, "day")}</span>
          ${one.derived && html`<span>Balances and quantities ${one.derived}</span>`}
          ${one.webhook_url && html`<span>Webhook to <code class="break">${originOf(one.webhook_url)}</code></span>`}
          ${one.last_run_at && html`<span>Last run <${Ago} at=${one.last_run_at} /></span>`}
          ${!step && one.next_run_at && html`<span>Next run <${Ago} at=${one.next_run_at} passed="due now" /></span>`}
        </p>
        ${
          step &&
          html`
            <p class="muted">${step.text} ${step.isNextCall && html`<${Expected} connection=${connection} />`}</p>
          `
        }
        ${one.failures > 0 && html`<${Failures} one=${one} />`}
        <${WebhookFailure} one=${one} />
      </div>
      <${Objects} one=${one} />
    </section>
  `;
}

/** When the next call is expected, if the service knows. */
const Expected = ({ connection }) =>
  connection.next_session_at && html`Next session: <${NextSession} connection=${connection} />.`;

const REMEDY =
  "Open QuickBooks with the right company file, close its dialog boxes, and choose Update Selected in the Web Connector.";

function Failures({ one: { failures, error, next_run_at: next } }) {
  const isReported = failures >= FAILED_RUNS;
  return html`
    <${Note}
      tone=${isReported ? "red" : "amber"}
      title=${failures === 1 ? "The last run failed" : `${count(failures)} runs in a row have failed`}
    >
      ${error && html`<p><${Foreign} text=${error} /></p>`}
      <p>
        ${isReported && REMEDY} Nothing is lost: the next run goes on where this one ended.
        ${next && html` The next one begins <${Ago} at=${next} passed="now" /> at the earliest.`}
      </p>
    <//>
  `;
}

/** What failed at the webhook. Pages that were given up are only in the feed, also after later attempts succeeded. */
function WebhookFailure({ one: { webhook_error: error, webhook_failed_at: failedAt, webhook_gave_up_at: gaveUpAt } }) {
  if (!error && !gaveUpAt) return null;
  return html`
    <${Note} tone=${gaveUpAt ? "red" : "amber"} title=${html`The webhook failed <${Ago} at=${failedAt} />`}>
      ${error && html`<p><${Foreign} text=${error} /></p>`}
      <p>
        ${
          gaveUpAt
            ? html`
              The service gave up some changes <${Ago} at=${gaveUpAt} />. The feed has them for seven days: let the
              program read the feed, or choose Resync. Saving the webhook URL again removes this note.
            `
            : "It is tried again. The feed has the same changes."
        }
      </p>
    <//>
  `;
}

function Actions({ one, edit, done }) {
  const path = ["connections", one.connection_id, "subscriptions", one.id];
  const post = (name, said) => async () => {
    await call("POST", [...path, name]);
    toast(said);
    done();
  };
  const remove = async () => {
    await call("DELETE", path);
    toast("The subscription is deleted.");
    done();
  };
  const button = (action, properties) => session.may(action) && html`<${ActionButton} kind="small" ...${properties} />`;
  return html`
    <div class="row">
      ${
        !one.paused_at &&
        button("run_subscription", {
          label: "Run now",
          icon: "refresh",
          action: post("run", "The objects are read at the next call of the Web Connector."),
        })
      }
      ${
        one.paused_at
          ? button("resume_subscription", {
              label: "Resume",
              icon: "play",
              action: post("resume", "The objects are read again."),
            })
          : button("pause_subscription", {
              label: "Pause",
              icon: "pause",
              question: "Pause this subscription?",
              explanation:
                "Its objects are read no more, unless another subscription has them. When you resume it, reading goes on where it stopped. After 85 days, QuickBooks no longer tells all deletions, and a resync is needed.",
              action: post("pause", "The subscription is paused."),
            })
      }
      ${button("resync_subscription", {
        label: "Resync",
        question: "Read all records again?",
        explanation:
          "The next run begins to read every record of these objects, with a new generation. Programs get each record again, and then remove what is no longer in the books. With many records this takes several sessions of the Web Connector; waiting requests go first.",
        action: post("resync", "All records are read again, from the next call of the Web Connector on."),
      })}
      ${
        session.may("change_subscription") &&
        html`<${Button} kind="small" icon="pen" onClick=${() => edit(one)}>Edit<//>`
      }
      ${button("delete_subscription", {
        label: "Delete",
        danger: true,
        question: `Delete ${titleOf(one)}?`,
        explanation:
          "Its objects are read no more, and how far they were read is forgotten, unless another subscription has them. Changes that were found stay in the feed for seven days.",
        action: remove,
      })}
    </div>
  `;
}

function Objects({ one }) {
  const [object, setObject] = useState(null);
  return html`
    <div class="table-wrap" tabindex="0" role="region" aria-label=${`Objects of ${titleOf(one)}`}>
      <table class="responsive">
        <thead>
          <tr>
            <th scope="col">Object</th>
            <th scope="col">State</th>
            <th scope="col">Last read</th>
            <th scope="col">Next read</th>
            <th scope="col" class="number" title="At the last complete read">Records</th>
            <th scope="col" class="number">Changes (24 h)</th>
            <th scope="col"><span class="hidden-visually">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${one.objects.map(
            (each) => html`<${ObjectRow} key=${each.object} each=${each} one=${one} show=${setObject} />`,
          )}
        </tbody>
      </table>
    </div>
    ${object && html`<${RecordChanges} id=${one.connection_id} object=${object} close=${() => setObject(null)} />`}
  `;
}

function ObjectRow({ each, one, show }) {
  const { name, tone, live, detail, help } = objectState(each);
  const title = objectTitle(each.object);
  const isOverdue = each.next_read_at && new Date(each.next_read_at) <= new Date();
  return html`
    <tr>
      <td class="full">
        <span class="strong">${title}</span>
        ${title !== each.object && html` <code class="muted">${each.object}</code>`}
        ${
          !reportsDeletions(each.object) &&
          html`
            <div class="why muted small">
              QuickBooks tells no deletions of it. They are found when all records are read.
            </div>
          `
        }
      </td>
      <td class="full">
        <${Badge} tone=${tone} live=${live}>${name}<//>
        ${detail && html`<div class="why small"><${Foreign} text=${detail} /></div>`}
        ${help && html`<div class="why muted small">${help}</div>`}
      </td>
      <td data-label="Last read"><${Ago} at=${each.read_at} /></td>
      <td data-label="Next read">
        ${
          isOverdue
            ? html`<span title=${fullTime(each.next_read_at)}>Next call</span>`
            : each.next_read_at
              ? html`<${Ago} at=${each.next_read_at} passed="due now" />`
              : html`<span class="muted">${one.paused_at ? "Paused" : "Not read"}</span>`
        }
      </td>
      <td class="number" data-label="Records">
        ${each.records === null ? html`<span class="muted">Not yet</span>` : count(each.records)}
      </td>
      <td class="number" data-label="Changes (24 h)">${count(each.changes)}</td>
      <td class="actions">
        <${Button} kind="small" onClick=${() => show(each.object)} aria-label=${`Changes of ${title}`}>Changes<//>
      </td>
    </tr>
  `;
}
