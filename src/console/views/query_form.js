// The form of a query for people: which objects it asks for, then the fields of this choice.
import { html, useMemo } from "../vendor/preact.js";
import { choiceIn, choicesOf, queryForm, withChoice } from "../lib/query_forms.js";
import { Field } from "../lib/ui.js";
import { FetchAll, hasFetchAll } from "./compose_parts.js";
import { SimpleForm } from "./simple_form.js";

/** Its arguments are those of `SimpleForm`. */
export function QueryForm({ type, tree, change, ...rest }) {
  const choices = useMemo(() => choicesOf(type), [type]);
  const key = choiceIn(type, tree);
  const form = useMemo(() => queryForm(type, key), [type, key]);
  const all = html`<${FetchAll} tree=${tree} change=${change}>Fetch all, in pages of this number<//>`;
  const beside = hasFetchAll(type, tree) ? { MaxReturned: all } : {};
  return html`
    <${Field} label="Which">
      ${(control) => html`
        <select
          ...${control}
          value=${key}
          onChange=${(event) => change(withChoice(type, tree, event.target.value))}
        >
          ${choices.map((one) => html`<option value=${one.key} selected=${one.key === key}>${one.label}</option>`)}
        </select>
      `}
    <//>
    <${SimpleForm} key=${key} ...${rest} ...${{ form, type, tree, change, beside }} />
  `;
}
