// What a change or a deletion finds in the books. A query reads it only when the reader asks.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { objectQuery } from "../lib/object_query.js";
import { resultsOf } from "../lib/result_rows.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { ENDED, messageOf } from "../lib/text.js";
import { Ago, Button, explain, Foreign, Note } from "../lib/ui.js";
import { differenceOf, objectOf, objectTable, tableOf } from "../lib/write_fields.js";
import { ChangeTable } from "./approval_table.js";

const REFRESH_MILLISECONDS = 3000;

export function InTheBooks({ record, tree, content }) {
  const [asked, setAsked] = useState({});
  const isChange = tree.name.endsWith("ModRq");
  const query = useLoad(
    async (signal) => (asked.id ? (await call("GET", ["queued_requests", asked.id], { signal })).data : null),
    [asked.id],
    { refresh: asked.id && !asked.isOver ? REFRESH_MILLISECONDS : 0, showsAge: false },
  );
  const answer = query.data && ENDED.has(query.data.state) ? query.data : null;
  if (answer && !asked.isOver) setAsked({ ...asked, isOver: true });
  const ask = async () => {
    setAsked({ isBusy: true });
    try {
      setAsked({ id: await queueQuery(record, tree) });
    } catch (error) {
      setAsked({ problem: error instanceof NoQuery ? error.message : explain(error) });
    }
  };
  const object = answer?.response_json ? objectOf(resultsOf(answer.response_json)) : null;
  const button = (label) =>
    session.may("queue") &&
    html`<${Button} kind="small" icon="search" busy=${asked.isBusy} onClick=${ask}>${label}<//>`;
  if (object) {
    return html`
      <${ChangeTable}
        table=${isChange ? differenceOf(content, object) : objectTable(object)}
        isCompared=${isChange}
        onlyBefore=${!isChange}
      />
      ${isChange && html`<${Outdated} content=${content} object=${object} />`}
      <p class="row small muted">
        <a href=${url(`/queued_requests/${answer.id}`)}>Read in QuickBooks</a>
        <${Ago} at=${answer.responded_at} />
        ${button("Read again")}
      </p>
    `;
  }
  return html`
    ${isChange && html`<${ChangeTable} table=${tableOf(content)} />`}
    <div class="row small muted in-books">
      ${
        asked.id && !answer
          ? html`
            <span role="status">
              <a href=${url(`/queued_requests/${asked.id}`)}>A query</a> asks QuickBooks.${" "}
              ${query.data?.waiting_reason && html`<${Foreign} text=${messageOf(query.data.waiting_reason)} />`}
              ${query.error && explain(query.error)}
            </span>
          `
          : html`
            ${button(isChange ? "Compare with the books" : "Show what is in the books")}
            <span>
              ${
                session.may("queue")
                  ? "Queues a query, which changes nothing."
                  : "Whoever may queue requests can compare it with the books."
              }
            </span>
          `
      }
    </div>
    ${
      (asked.problem || answer) &&
      html`
        <${Note} tone="amber" role="alert" title="QuickBooks has not returned the object.">
          <p>
            <${Foreign} text=${asked.problem ?? answer.error?.message ?? NOT_IN_BOOKS} />
          </p>
        <//>
      `
    }
  `;
}

const NOT_IN_BOOKS = "QuickBooks does not have an object with this id.";

/** A type of object that no query can read. */
class NoQuery extends Error {}

/** Queues the query for the object of a write, and returns its id. */
async function queueQuery(record, tree) {
  const request = await objectQuery(tree);
  if (!request) throw new NoQuery("No query can read an object of this type.");
  // In another version, the object would lack fields.
  const { data } = await call("GET", ["queued_requests", record.id]);
  const body = {
    request_json: { version: data.request_json?.version, ...request },
    ...(session.may("give_webhook_url") ? { webhook_url: null } : {}),
  };
  return (await call("POST", ["connections", record.connection_id, "queued_requests"], { body })).data.id;
}

/** QuickBooks refuses a change of an object that has changed since it was read. */
function Outdated({ content, object }) {
  const [own, current] = [content, object].map(
    ({ children }) => children.find(({ name }) => name === "EditSequence")?.text,
  );
  if (!own || own === current) return null;
  return html`
    <${Note} tone="amber" title="The object has changed since this change was prepared.">
      <p>QuickBooks refuses a change with an old EditSequence. Reject it, and let it be prepared again.</p>
    <//>
  `;
}
