// The batch of a request: its steps, their states, and what each one waits for.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { CopyIcon } from "../lib/copying.js";
import { url } from "../lib/router.js";
import { count, plural, requestTitle, UNFINISHED } from "../lib/text.js";
import { Problem, Skeleton, StateBadge, Subject } from "../lib/ui.js";

const REFRESH_MILLISECONDS = 20_000;

/** The steps of the batch as a card. They are read again while this request changes, or one of them has not ended. */
export function Batch({ record }) {
  const [isChanging, setChanging] = useState(true);
  const load = useLoad(
    async (signal) => {
      const { batch } = (await call("GET", ["queued_requests", record.id], { query: { "include[]": "batch" }, signal }))
        .data;
      setChanging(batch.some(({ state }) => UNFINISHED.has(state)));
      return batch;
    },
    [record.id, record.updated_at],
    { refresh: isChanging ? REFRESH_MILLISECONDS : 0 },
  );
  const steps = load.data;
  const done = steps?.filter(({ state }) => state === "response_received").length;
  return html`
    <section class="card" aria-labelledby="batch">
      <header>
        <div class="row">
          <h2 id="batch">Batch</h2>
          <span class="muted" role="status">
            ${steps && `${count(done)} of ${plural(steps.length, "step")} completed`}
          </span>
        </div>
        <span class="small muted">
          <code>${record.batch_id}</code>
          <${CopyIcon} text=${record.batch_id} what="the batch ID" />
        </span>
      </header>
      ${
        load.error &&
        html`<${Problem} error=${load.error} retry=${load.reload} what="The batch could not be loaded." />`
      }
      ${
        steps
          ? html`
            <ol class="items">
              ${steps.map(
                (one) => html`<${Step} key=${one.id} one=${one} steps=${steps} isThis=${one.id === record.id} />`,
              )}
            </ol>
          `
          : !load.error && html`<div class="body"><${Skeleton} /></div>`
      }
    </section>
  `;
}

function Step({ one, steps, isThis }) {
  const { request_name: name, subject, batch_position: place, depends_on: ids, error_code: code } = one;
  const title = html`
    ${requestTitle(name)}
    <${Subject} subject=${subject} />
  `;
  const needed = steps.filter(({ id }) => ids.includes(id)).map((other) => other.batch_position + 1);
  const waits = UNFINISHED.has(one.state) ? "waits for" : "waited for";
  return html`
    <li class="row between" aria-current=${isThis ? "true" : undefined}>
      <span>
        <span class="muted">${place + 1}.</span>${" "}
        ${
          isThis
            ? html`<span class="strong">${title}</span> <span class="tag">this request</span>`
            : html`<a href=${url(`/queued_requests/${one.id}`)}>${title}</a>`
        }
      </span>
      <span class="row">
        ${
          needed.length > 0 &&
          html`
            <span class="muted small">
              ${waits} ${needed.length === 1 ? "step" : "steps"} ${needed.join(", ")}
            </span>
          `
        }
        ${code && html`<code class="small">${code}</code>`}
        <${StateBadge} request=${one} />
      </span>
    </li>
  `;
}
