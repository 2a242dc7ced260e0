// The messages of a request that took more than one: what the Web Connector got, when, and in which session.
import { html } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { url } from "../lib/router.js";
import { UNCLEAR } from "../lib/sendings.js";
import { fullTime, plural } from "../lib/text.js";
import { Skeleton } from "../lib/ui.js";

/** The number of messages that a record lists. */
const LISTED = 20;

const KINDS = {
  query: "Query for its object",
  add: "Addition",
  mod: "Change of the object",
  status_check: "Question whether QuickBooks has executed the write",
};

/** Returns the messages of a record that are known, `[{name, at}]`, oldest first. */
function messagesOf({ messages, first_sent_at: first, sent_at: last, sent_in_sessions: times }) {
  if (messages) return messages.map(({ kind, sent_at: at }) => ({ name: KINDS[kind] ?? kind, at }));
  const latest = !first ? "Latest" : times > 1 ? UNCLEAR : KINDS.status_check;
  return [
    ...(first ? [{ name: "The write, whose response was lost", at: first }] : []),
    ...(last && last !== first ? [{ name: latest, at: last }] : []),
  ];
}

/** Says which messages are not listed, or what is not kept of them. */
function missingOf({ messages, first_sent_at: first, sent_in_sessions: sessions }) {
  if (messages) {
    const earlier = messages.length >= LISTED ? `Messages before the latest ${LISTED} are not kept. ` : "";
    return `${earlier}The text of a query is not kept. It asks for the object by its name or its number.`;
  }
  const times = `The request itself was sent in ${plural(sessions, "session")}. `;
  return `${sessions > 1 ? times : ""}The record keeps only the ${first ? "first and the " : ""}latest message.`;
}

/** Returns the session of a message. A connection has one session at a time. */
const sessionAt = (sessions, at) =>
  sessions.find(({ began_at: began, ended_at: ended }) => began <= at && (ended === null || at <= ended));

export function Messages({ record }) {
  const { messages, first_sent_at: first, sent_in_sessions: number } = record;
  const isShown = Boolean(messages?.length || first || number > 1);
  const sessions = useLoad(
    async (signal) =>
      isShown ? (await call("GET", ["connections", record.connection_id, "sessions"], { signal })).data : null,
    [record.id, record.updated_at, isShown],
  );
  if (!isShown) return null;
  return html`
    <section class="card" aria-labelledby="messages">
      <header><h2 id="messages">Messages to QuickBooks</h2></header>
      <div class="table-wrap">
        <table class="responsive">
          <thead>
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Sent</th>
              <th scope="col">Session</th>
            </tr>
          </thead>
          <tbody>
            ${messagesOf(record).map(
              ({ name, at }) => html`
                <tr key=${at}>
                  <td class="full">${name}</td>
                  <td class="full" data-label="Sent">${fullTime(at)}</td>
                  <td class="full" data-label="Session">
                    <${OfSession} sessions=${sessions} record=${record} at=${at} />
                  </td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      <div class="foot">${missingOf(record)}</div>
    </section>
  `;
}

function OfSession({ sessions: { data, error }, record, at }) {
  if (error && !data) return html`<span class="muted">Could not be loaded</span>`;
  if (!data) return html`<${Skeleton} width="160px" />`;
  const session = sessionAt(data, at);
  if (!session) return html`<span class="muted">Not among the newest 100 of the last 30 days</span>`;
  return html`
    <a href=${url(`/connections/${record.connection_id}/sessions`)}>Began ${fullTime(session.began_at)}</a>
    ${session.address && html` <span class="muted nowrap">from ${session.address}</span>`}
  `;
}
