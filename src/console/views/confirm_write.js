// Asks once before a write is queued: what it does, in whose books, and with which values.
import { html } from "../vendor/preact.js";
import { Dialog } from "../lib/dialogs.js";
import { actionTitle, fullTime, partsOf, plural } from "../lib/text.js";
import { Button, Foreign, Note } from "../lib/ui.js";
import { ChangeTable } from "./approval_table.js";

const SHOWN = 6;
const EFFECTS = {
  Add: "QuickBooks adds this to the books",
  Mod: "QuickBooks changes this in the books",
  Del: "QuickBooks deletes this from the books, and cannot bring it back",
  Void: "QuickBooks sets the amounts to zero, and cannot undo that",
  Merge: "QuickBooks moves everything from the first entry to the second, deletes the first, and cannot undo that",
};
const LASTING = new Set(["Del", "Void", "Merge"]);

/**
 * `tree` is null if the text of the request could not be read. `unanswered` is when it was sent without an answer.
 * `labels` are the names of a form for its elements, and `totals` what its lines add up to. `object` names what a
 * change changes (`namesOf`), and `difference` is what it makes of it, if they are known.
 */
export function ConfirmWrite({
  tree,
  target,
  object,
  unanswered,
  isSame,
  labels,
  totals = [],
  difference,
  confirm,
  close,
}) {
  const { verb } = tree ? partsOf(tree) : {};
  const values = tree && !difference ? valuesOf(tree) : [];
  const action = tree ? actionTitle(tree) : "Queue request";
  return html`
    <${Dialog}
      title=${html`${action}<${Named} ...${object} /> in <${Foreign} text=${target} />?`}
      onClose=${close}
      actions=${html`
        <${Button} onClick=${close}>Cancel<//>
        <${Button} kind="primary ${LASTING.has(verb) ? "danger" : ""}" onClick=${confirm}>${action}<//>
      `}
    >
      ${
        unanswered &&
        html`
          <${Note} tone="amber">
            <p>
              ${
                isSame
                  ? html`
                    This was sent at ${fullTime(new Date(unanswered).toISOString())}, and no answer arrived. If it was
                    queued, it is not queued twice.
                  `
                  : html`
                    A draft of this was sent at ${fullTime(new Date(unanswered).toISOString())}, and no answer arrived.
                    It may be queued already. Look at the requests of the connection first.
                  `
              }
            </p>
          <//>
        `
      }
      ${difference && html`<${ChangeTable} table=${difference} isCompared />`}
      ${
        values.length > 0 &&
        html`
          <dl class="facts">
            ${values.slice(0, SHOWN).map(
              ([name, text]) => html`
                <dt>${labels?.get(name) ?? name}</dt>
                <dd><${Foreign} text=${text} /></dd>
              `,
            )}
          </dl>
        `
      }
      ${values.length > SHOWN && html`<p class="muted small">and ${plural(values.length - SHOWN, "more field")}</p>`}
      ${
        totals.length > 0 &&
        html`
          <dl class="facts">
            ${totals.map(
              ({ label, text }) => html`
                <dt>${label}</dt>
                <dd class="strong">${text}</dd>
              `,
            )}
          </dl>
        `
      }
      <p class="muted">
        ${EFFECTS[verb] ?? "QuickBooks executes this"} when the Web Connector calls next. Until then you can discard
        the request.
      </p>
    <//>
  `;
}

/** "1042 of Ada Kern", after a space, as far as it is known. */
const Named = ({ name, party }) => html`
  ${name && html` <${Foreign} text=${name} />`}${party && html` of <${Foreign} text=${party} />`}
`;

/** Returns the names and texts of a tree's fields. The name of a reference is that of its field: `CustomerRef`. */
function valuesOf({ name, text, children }, parent = name) {
  if (!children) return [[/^(FullName|ListID|TxnID)$/.test(name) && parent.endsWith("Ref") ? parent : name, text]];
  return children.flatMap((child) => valuesOf(child, name));
}
