// A form for people: the usual fields of a customer, an invoice or a payment, with a table of lines and totals. It
// reads and writes the same tree as the form of the schema, and keeps what it does not show.
import { html, useMemo, useState } from "../vendor/preact.js";
import { factsOf, hiddenIn, replaced, rootOf, textAt, withChildren } from "../lib/form_tree.js";
import { fieldsOf } from "../lib/simple_forms.js";
import { Button } from "../lib/ui.js";
import { OfferNote } from "./offers.js";
import { FormField, problemsAt } from "./simple_field.js";
import { Lines, Totals } from "./simple_lines.js";

/**
 * `offers` is a load of lib/offers.js; `lackOf` is that of the form of the schema. `formerOf` returns the text that a
 * field has in QuickBooks; then what the form does not show is not part of the request. `beside` has what is shown
 * below a field, by its path.
 */
export function SimpleForm({ form, type, tree, change, problems, offers, lackOf, formerOf, beside, showAllFields }) {
  const facts = useMemo(() => factsOf(form, type), [form, type]);
  const root = rootOf(form, tree);
  const set = (node, text) =>
    change(
      replaced(tree, node, {
        name: node.name,
        ...(node.attributes ? { attributes: node.attributes } : {}),
        ...(node.example ? { example: node.example } : {}),
        text,
      }),
    );
  const remove = (node) => change(replaced(tree, node, null));
  const at = { set, remove, problems, offers, lackOf, formerOf, beside };
  const hidden = hiddenIn(root, [
    ...fieldsOf(form).map(({ path }) => path),
    ...(form.lines ? [form.lines.element, form.lines.instead?.path ?? ""] : []),
  ]);
  const edit = (next) => change(withChildren(form, type, tree, next));
  return html`
    <div class="stack loose simple-form">
      ${form.sections
        .slice(0, 1)
        .filter(hasFields)
        .map((section) => html`<${Section} isFirst section=${section} tree=${root} facts=${facts.fields} at=${at} />`)}
      ${
        form.lines &&
        html`<${Lines} form=${form} type=${type} tree=${tree} facts=${facts.columns} at=${at} edit=${edit} />`
      }
      ${form.totals && html`<${Totals} form=${form} tree=${tree} offers=${offers} />`}
      ${form.sections
        .slice(1)
        .filter(hasFields)
        .map(
          (section) => html`
          <${Section} key=${section.title} section=${section} tree=${root} facts=${facts.fields} at=${at} />
        `,
        )}
      ${
        hidden.length > 0 &&
        !formerOf &&
        html`
          <p class="muted small">
            This request also has ${hidden.join(", ")}. It stays as it is.${" "}
            <${Button} kind="small" onClick=${showAllFields}>Show all fields<//>
          </p>
        `
      }
      <${OfferNote} offers=${offers} />
    </div>
  `;
}

const hasFields = ({ fields }) => fields.length > 0;

/** The heading of the card names the first section. */
function Section({ section, tree, facts, at, isFirst }) {
  const [isOpen, setOpen] = useState(false);
  const fields = html`
    <div class="field-grid">
      ${section.fields.map(
        (field) => html`
          <${FormField} key=${field.path} field=${field} tree=${tree} facts=${facts.get(field.path)} at=${at} />
        `,
      )}
    </div>
  `;
  const isUsed = section.fields.some(
    (field) => textAt(tree, field.path) || problemsAt(tree, field, at.problems).length,
  );
  if (!section.isClosed)
    return html`
      <section class="stack" aria-label=${section.title}>
        ${isFirst ? "" : html`<h3>${section.title}</h3>`}
        ${fields}
      </section>
    `;
  return html`
    <details class="more-fields" open=${isOpen || isUsed} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${section.title}</summary>
      ${fields}
    </details>
  `;
}
