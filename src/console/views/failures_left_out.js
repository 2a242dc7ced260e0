// What the failures leave out: those before the period, and those of connections that were not read to the end.
import { html } from "../vendor/preact.js";
import { url } from "../lib/router.js";
import { count, plural } from "../lib/text.js";
import { periodOf } from "../lib/time_range.js";
import { Button, Foreign, Note } from "../lib/ui.js";

/** The connections that are named in a sentence. */
const NAMED = 5;

/** Says what a period leaves out, before the reader acts on its numbers. */
export const Earlier = ({ data, longer, change }) =>
  data.causes.length + data.receivers.length > 0 &&
  html`
  <p class="row muted">
    <span>
      Failures and webhooks before this period are not counted, and the buttons below leave them out. A cause may be
      older than the time shown as “first”.
    </span>
    ${longer && html`<${Button} kind="small" onClick=${() => change(longer)}>Look at ${periodOf(longer)}<//>`}
  </p>
`;

/** Names the connections whose failures are not all counted. */
export function Incomplete({
  data: { incomplete_connections: some, omitted_connections: omitted, omitted_groups: groups },
}) {
  if (!some.length && !omitted && !groups) return null;
  const unread = some.filter((one) => !one.complete_after);
  const cut = some.filter((one) => one.complete_after);
  const names = (list) => html`
    ${list.slice(0, NAMED).map(
      (one, index) => html`
        ${index ? ", " : ""}<a href=${url(`/connections/${one.id}`, { state: "error", sort: "updated_at" })}
          ><${Foreign} text=${one.name ?? "Unnamed connection"}
        /></a>
      `,
    )}
    ${list.length > NAMED && ` and ${count(list.length - NAMED)} more`}
  `;
  return html`
    <${Note} tone="amber" role="status" title="Not all failures are counted.">
      ${cut.length > 0 && html`<p>Only the newest 1,000 of: ${names(cut)}. Choose a shorter time to count all.</p>`}
      ${unread.length > 0 && html`<p>Not read in time: ${names(unread)}. Reload to try again.</p>`}
      ${omitted > 0 && html`<p>${plural(omitted, "newer connection")} of this app are never read here.</p>`}
      ${groups > 0 && html`<p>${plural(groups, "smaller group")} left out. Choose a shorter time to see all.</p>`}
    <//>
  `;
}
