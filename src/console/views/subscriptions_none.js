// A connection without subscriptions: what they are for, and queries that answer once what changed.
import { html } from "../vendor/preact.js";
import { CHANGED_SINCE } from "../lib/request_types.js";
import { ROOT, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { Empty } from "../lib/ui.js";

const REFERENCE = `${ROOT}/docs#/Subscriptions`;

export const Nothing = ({ id, create }) => html`
  <section class="card" aria-label="Subscriptions">
    <${Empty}
      icon="copy"
      title="No subscriptions"
      actions=${html`
        ${create}
        ${
          session.may("queue") &&
          Object.entries(CHANGED_SINCE).map(
            ([type, name]) => html`
              <a class="button" href=${url("/compose", { connection: id, type, which: "changed" })}>${name}</a>
            `,
          )
        }
        <a class="button" href=${REFERENCE}>API reference</a>
      `}
    >
      With a subscription, a program keeps a copy of customers, invoices and other objects that stays right. The
      service reads all of them once, and then what changes, in sessions of the Web Connector. The program reads the
      changes from the feed of events, and does not query QuickBooks itself. To look once, query what changed since a
      date.
    <//>
  </section>
`;
