// A response that may leave something out, and the button that fetches all.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { newKey } from "../lib/queue_again.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { count } from "../lib/text.js";
import { Note, toast } from "../lib/ui.js";

/** Says that QuickBooks returned as many objects as the query allows. The button queues a query for all of them. */
export function Incomplete({ record, maximum }) {
  // Pressing the button again after a lost answer queues the same query.
  const [key] = useState(newKey);
  const fetchAll = async () => {
    const { wholeQuery } = await import("../lib/whole_query.js");
    const body = await wholeQuery(record);
    const path = ["connections", record.connection_id, "queued_requests"];
    const { data } = await call("POST", path, { body, headers: { "Idempotency-Key": key } });
    toast("The query is queued. It fetches all objects.");
    navigate(url(`/queued_requests/${data.id}`));
  };
  return html`
    <${Note} tone="amber" title=${`QuickBooks returned ${count(maximum)}, your maximum. It may have more.`}>
      ${
        session.may("queue") &&
        html`<div class="row"><${ActionButton} label="Fetch all" kind="small" action=${fetchAll} /></div>`
      }
    <//>
  `;
}
