// What a write adds or changes, as tables: its fields, and its lines.
import { html, useState } from "../vendor/preact.js";
import { plural } from "../lib/text.js";
import { Button, Foreign } from "../lib/ui.js";

/** More than this is shown when the reader asks. */
const MAX_FIELDS = 12;
const MAX_LINES = 10;

const KINDS = {
  added: ["new", "New"],
  changed: ["required", "Changed"],
  removed: ["error", "Removed"],
  kept: ["", "Kept"],
};
const BOOLEANS = { true: "Yes", false: "No" };

const beyond = (rows, shown) => Math.max(rows.length - shown, 0);

/** `isCompared`: the values that are in the books are known. `onlyBefore`: only these are shown. */
export function ChangeTable({ table, isCompared, onlyBefore }) {
  const [isWhole, setWhole] = useState(false);
  const { fields, lines } = table;
  const shown = isWhole ? fields : fields.slice(0, MAX_FIELDS);
  const hidden = isWhole
    ? 0
    : lines.reduce((sum, { rows }) => sum + beyond(rows, MAX_LINES), beyond(fields, MAX_FIELDS));
  return html`
    <div class="stack tight">
      ${
        shown.length > 0 &&
        (isCompared
          ? html`<${Compared} fields=${shown} />`
          : html`<${Fields} fields=${shown} onlyBefore=${onlyBefore} />`)
      }
      ${lines.map(
        (some) => html`
          <${Lines} key=${some.title} lines=${some} ...${{ isWhole, isCompared, onlyBefore }} />
        `,
      )}
      ${
        hidden > 0 &&
        html`
          <p>
            <${Button} kind="small" onClick=${() => setWhole(true)}>
              Show ${plural(hidden, "more row")}
            <//>
          </p>
        `
      }
    </div>
  `;
}

/** A value as a person reads it. An empty one in a change clears the field. */
function Value({ text, later, empty = "" }) {
  if (later) return html`<span class="tag required"><${Foreign} text=${later} /> of another request</span>`;
  if (text === "") return html`<span class="muted">${empty}</span>`;
  return html`<${Foreign} text=${BOOLEANS[text] ?? text} />`;
}

const Fields = ({ fields, onlyBefore }) => html`
  <dl class="write-fields">
    ${fields.map(
      ({ key, label, before, after, later }) => html`
        <div key=${key} title=${key}>
          <dt>${label}</dt>
          <dd><${Value} text=${onlyBefore ? before : after} later=${later} empty="cleared" /></dd>
        </div>
      `,
    )}
  </dl>
`;

const Compared = ({ fields }) => html`
  <div class="table-wrap" tabindex="0" role="group" aria-label="Changes">
    <table class="change-table">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">In the books</th>
          <th scope="col">After the write</th>
        </tr>
      </thead>
      <tbody>
        ${fields.map(
          ({ key, label, before, after, isChanged, later }) => html`
            <tr key=${key} class=${isChanged ? "" : "same"}>
              <th scope="row" title=${key}>${label}</th>
              <td><${Value} text=${before} empty="empty" /></td>
              <td>
                ${isChanged ? html`<ins><${Value} text=${after} later=${later} empty="cleared" /></ins>` : "unchanged"}
              </td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;

function Lines({ lines: { title, columns, rows }, isWhole, isCompared, onlyBefore }) {
  return html`
    <div class="table-wrap" tabindex="0" role="group" aria-label=${title}>
      <table class="change-table lines">
        <thead>
          <tr>
            ${isCompared && html`<th scope="col">Line</th>`}
            ${columns.map(
              ({ key, label, isNumber }) => html`
                <th key=${key} scope="col" class=${isNumber ? "number" : ""} title=${key}>${label}</th>
              `,
            )}
          </tr>
        </thead>
        <tbody>
          ${(isWhole ? rows : rows.slice(0, MAX_LINES)).map(
            ({ kind, cells }) => html`
              <tr class=${isCompared ? kind : ""}>
                ${isCompared && html`<td><span class="tag ${KINDS[kind][0]}">${KINDS[kind][1]}</span></td>`}
                ${columns.map(
                  ({ key, isNumber }) => html`
                    <td key=${key} class=${isNumber ? "number" : ""}>
                      <${Cell} cell=${cells.get(key)} kind=${kind} isCompared=${isCompared} onlyBefore=${onlyBefore} />
                    </td>
                  `,
                )}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Cell({ cell, kind, isCompared, onlyBefore }) {
  if (!cell) return html`<span class="muted">–</span>`;
  if (onlyBefore) return html`<${Value} text=${cell.before} />`;
  if (!isCompared || kind === "added") return html`<${Value} text=${cell.after} later=${cell.later} empty="empty" />`;
  if (kind === "removed") return html`<del><${Value} text=${cell.before} /></del>`;
  if (!cell.isChanged) return html`<${Value} text=${cell.before} />`;
  return html`
    ${cell.before !== "" && html`<del><${Value} text=${cell.before} /></del>${" "}`}
    <ins><${Value} text=${cell.after} later=${cell.later} empty="cleared" /></ins>
  `;
}
