// What an update writes that waits for approval: the changes of an object that QuickBooks has returned, or an addition.
import { html } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { explain } from "../lib/ui.js";
import { changesTable, tableOf } from "../lib/write_fields.js";
import { ChangeTable } from "./approval_table.js";

export function IntendedUpdate({ record, content }) {
  // Lists leave the changes out. If they are newer than the record, its approval is refused.
  const { data, error } = useLoad(
    async (signal) => (await call("GET", ["queued_requests", record.id], { signal })).data,
    [record.id, record.approval.revision],
  );
  if (error) return html`<p class="small muted">${explain(error)}</p>`;
  if (!data) return html`<p class="small muted" role="status">Loading the changes…</p>`;
  if (!data.modification) {
    return html`
      <p class="small">QuickBooks does not have it, so it is added.</p>
      <${ChangeTable} table=${tableOf(content)} />
    `;
  }
  return html`
    <p class="small">QuickBooks has it. Only these fields are changed, and only if it has not changed by then.</p>
    <${ChangeTable} table=${changesTable(data.modification.changes)} isCompared />
  `;
}
