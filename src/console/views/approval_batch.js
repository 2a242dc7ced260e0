// The writes of a batch that wait for approval, as one card: a reader decides about them together, or about each.
import { html } from "../vendor/preact.js";
import { plural } from "../lib/text.js";
import { Button } from "../lib/ui.js";
import { plain } from "../lib/write_words.js";
import { wordsOf } from "./approval_write.js";

/** `ask` is called with whether all are to be approved. Its children are the writes. */
export function Batch({ items, mayDecide, ask, children }) {
  const [first] = items;
  const name = `Batch of ${plural(items.length, "write")}`;
  // Each region of a page has a name of its own.
  const which = first.record.label ?? plain(wordsOf(first));
  return html`
    <section class="batch-writes" aria-label=${`${name}: ${which}`}>
      <header>
        <div class="grow">
          <h3>${name}</h3>
          <p class="muted small">They were queued together. Each is sent after those that it needs.</p>
        </div>
        ${
          mayDecide &&
          html`
            <div class="row tools">
              <${Button} kind="small" onClick=${() => ask(false)}>Reject the batch…<//>
              <${Button} kind="small approve" icon="check" onClick=${() => ask(true)}>Approve the batch…<//>
            </div>
          `
        }
      </header>
      ${children}
    </section>
  `;
}
