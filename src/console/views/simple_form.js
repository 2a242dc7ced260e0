// A form for people: the usual fields of a customer, an invoice or a payment, with a table of lines and totals. It
// reads and writes the same tree as the form of the schema, and keeps what it does not show.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import {
  clonedLine,
  factsOf,
  hiddenIn,
  linesOf,
  newLine,
  nodesAt,
  replaced,
  rootOf,
  textAt,
  withChildren,
} from "../lib/form_tree.js";
import { moneyText, typedNumber } from "../lib/money.js";
import { hintOf, matching } from "../lib/offers.js";
import { BASES, isBlank, textProblem } from "../lib/schema.js";
import { today } from "../lib/request_draft.js";
import { fieldsOf, lineFieldsOf } from "../lib/simple_forms.js";
import { localZone, withoutControls } from "../lib/text.js";
import { Button, Foreign } from "../lib/ui.js";
import { OfferNote } from "./offers.js";

const LONG_TEXT = 500;

/** `offers` is a load of lib/offers.js; `lackOf` is that of the form of the schema. */
export function SimpleForm({ form, type, tree, change, problems, offers, lackOf, showAllFields }) {
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
  const at = { set, remove, problems, offers, lackOf };
  const hidden = hiddenIn(root, [
    ...fieldsOf(form).map(({ path }) => path),
    ...(form.lines ? [form.lines.element, form.lines.instead?.path ?? ""] : []),
  ]);
  const edit = (next) => change(withChildren(form, type, tree, next));
  return html`
    <div class="stack loose simple-form">
      ${form.sections
        .slice(0, 1)
        .map((section) => html`<${Section} isFirst section=${section} tree=${root} facts=${facts.fields} at=${at} />`)}
      ${
        form.lines &&
        html`<${Lines} form=${form} type=${type} tree=${tree} facts=${facts.columns} at=${at} edit=${edit} />`
      }
      ${form.totals && html`<${Totals} form=${form} tree=${tree} offers=${offers} />`}
      ${form.sections.slice(1).map(
        (section) => html`
          <${Section} key=${section.title} section=${section} tree=${root} facts=${facts.fields} at=${at} />
        `,
      )}
      ${
        hidden.length > 0 &&
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

/** Returns the messages about a field, or about an element between the root and it. */
function problemsAt(tree, { path }, problems) {
  const nodes = nodesAt(tree, path);
  return problems.filter(({ element }) => nodes.includes(element)).map(({ message }) => message);
}

/** Returns what is wrong with a field, or "". */
function problemOf(tree, field, facts, { problems, lackOf }) {
  const text = textAt(tree, field.path);
  return problemsAt(tree, field, problems).join(" ") || textProblem(facts, text) || (text && lackOf(facts.since)) || "";
}

let fields = 0;

/**
 * A field with its label. In a cell of a table the label is spoken only, and `helpId` is where its problem is shown.
 */
function FormField({ field, tree, facts, at, label, isCell = false, helpId }) {
  const [id] = useState(() => `simple-${(fields += 1)}`);
  const nodes = nodesAt(tree, field.path);
  const node = nodes.length === field.path.split("/").length ? nodes.at(-1) : null;
  const found = problemsAt(tree, field, at.problems);
  const listId = nodes[0]?.children?.find(({ name, text }) => name === "ListID" && text);
  const text = node?.text ?? "";
  const lack = at.lackOf(facts.since);
  const problem = problemOf(tree, field, facts, at);
  const about = aboutText(field, text, at.offers, isCell);
  const help = problem || (lack && !text ? lack : "") || about || (isCell ? "" : (field.help ?? ""));
  const control = {
    id,
    "aria-label": isCell ? label : undefined,
    "aria-describedby": help ? (helpId ?? `${id}-help`) : undefined,
    "aria-invalid": problem ? "true" : undefined,
    "data-found": found.length ? "" : undefined,
  };
  let input;
  if (!node) input = html`<span class="muted small" id=${id}>Set in another way; see All fields.</span>`;
  else if (listId)
    input = html`
      <div class="row oneline">
        <code class="break grow" id=${id}>${listId.text}</code>
        <${Button} kind="small" onClick=${() => at.remove(listId)}>Use a name<//>
      </div>
    `;
  else
    input = html`
      <${Control}
        field=${field}
        facts=${facts}
        node=${node}
        control=${control}
        isDisabled=${Boolean(lack) && !text}
        isCell=${isCell}
        at=${at}
      />
    `;
  return html`
    <div class="field ${field.wide ? "wide" : ""}">
      ${
        !isCell &&
        html`
          <label for=${id}>
            ${field.label}
            ${facts.required && html` <span class="tag required">required</span>`}
          </label>
        `
      }
      ${input}
      ${help && !helpId && html`<p class=${problem ? "problem" : "help"} id="${id}-help">${help}</p>`}
      ${
        !problem &&
        field.isToday &&
        text !== today() &&
        html`<p><${Button} kind="small" onClick=${() => at.set(node, today())}>Today<//></p>`
      }
    </div>
  `;
}

/** Returns a note about the text of a field: that a date is today, or that a name is not in the lists of QuickBooks. */
function aboutText(field, text, offers, isCell) {
  if (field.isToday) return text === today() ? `Today in ${localZone()}.` : "";
  if (!text || !field.offers) return "";
  if (withoutControls(text).some(({ control }) => control))
    return html`It has characters that are invisible: <${Foreign} text=${text} />`;
  const known = offers.data?.entries[field.offers];
  if (!known?.size) return "";
  const entry = known.get(text.toLowerCase());
  if (!entry)
    return isCell
      ? "Not in the lists that were read."
      : "Not among the names that were read from QuickBooks. Check the spelling.";
  if (entry.isHidden) return "Inactive, closed or of another kind in QuickBooks.";
  return field.offers === "invoices" ? html`<${Foreign} text=${entry.hint} />` : "";
}

function Control({ field, facts, node, control, isDisabled, isCell, at }) {
  const isNumber = /AMT|PRICE|QUAN|PERCENT|FLOAT/.test(facts.base);
  const set = (event) => at.set(node, event.target.value);
  // When the person has finished the field, so that no key changes what is under the cursor.
  const finish = (event) => {
    const next = isNumber ? typedNumber(event.target.value, facts.base === "AMTTYPE") : event.target.value.trim();
    if (next !== node.text) at.set(node, next);
  };
  const shared = {
    ...control,
    disabled: isDisabled,
    value: node.text ?? "",
    placeholder: isCell
      ? isNumber
        ? undefined
        : field.label
      : node.example && node.example !== "Example"
        ? `for example ${node.example}`
        : undefined,
  };
  if (facts.base === "BOOLTYPE" || facts.values) {
    const options = facts.values?.map((value) => [value, value]) ?? [
      ["true", "Yes"],
      ["false", "No"],
    ];
    return html`
      <select ...${shared} onChange=${set}>
        <option value="" selected=${!node.text}>As QuickBooks decides</option>
        ${options.map(([value, name]) => html`<option value=${value} selected=${value === node.text}>${name}</option>`)}
      </select>
    `;
  }
  // A date that the browser cannot show must not look as if the field were empty.
  if (facts.base === "DATETYPE" && (!node.text || BASES.DATETYPE.pattern.test(node.text)))
    return html`<input type="date" ...${shared} onInput=${set} />`;
  if (field.offers)
    return html`
      <${OfferInput} kind=${field.offers} shared=${shared} set=${set} finish=${finish} offers=${at.offers} />
    `;
  if (facts.length > LONG_TEXT && field.wide)
    return html`<textarea rows="2" class="short" ...${shared} onInput=${set} onChange=${finish}></textarea>`;
  return html`
    <input
      ...${shared}
      class=${isCell && isNumber ? "number" : ""}
      inputmode=${isNumber ? "decimal" : undefined}
      autocomplete="off"
      spellcheck=${!isNumber}
      onInput=${set}
      onChange=${finish}
    />
  `;
}

/** A text that may be one of the names that earlier responses had. */
function OfferInput({ kind, shared, set, finish, offers }) {
  const [isActive, setActive] = useState(false);
  const list = `${shared.id}-offers`;
  const shown = isActive ? matching(offers.data?.kinds[kind] ?? [], shared.value) : [];
  return html`
    <input
      ...${shared}
      list=${list}
      autocomplete="off"
      spellcheck=${false}
      onInput=${set}
      onChange=${finish}
      onFocus=${() => setActive(true)}
      onBlur=${() => setActive(false)}
    />
    <datalist id=${list}>
      ${shown.map((offer) => html`<option key=${offer.name} value=${offer.name}>${hintOf(offer)}</option>`)}
    </datalist>
  `;
}

// --- Lines -------------------------------------------------------------------------------------------------------

/** Returns the values of a line for the sums: see `amountOf` in lib/simple_forms.js. */
function valuesOf(line, offers) {
  const item = textAt(line, "ItemRef/FullName").toLowerCase();
  return {
    is: (name) => line.children.some((child) => child.name === name && !isBlank(child)),
    text: (name) => textAt(line, name),
    item: offers.data?.entries.items?.get(item)?.item,
  };
}

const amountOf = (form, line, offers) => form.lines.amountOf(valuesOf(line, offers));

function Lines({ form, type, tree, facts, at, edit }) {
  const { lines } = form;
  const table = useRef();
  const [focus, setFocus] = useState(null);
  const root = rootOf(form, tree);
  const rows = linesOf(form, tree);
  useEffect(() => {
    if (focus === null) return;
    const row = table.current?.querySelectorAll("tbody")[focus];
    (row?.querySelector("input") ?? table.current?.querySelector("button"))?.focus();
    setFocus(null);
  }, [focus]);
  const insert = (n, line) => {
    edit((children) =>
      n < 0 ? [...children, line] : children.flatMap((child) => (child === rows[n] ? [child, line] : [child])),
    );
    setFocus(n < 0 ? rows.length : n + 1);
  };
  const remove = (n) => {
    const isLast = rows.length === 1;
    edit((children) =>
      children.flatMap((child) => (child === rows[n] ? (isLast ? [newLine(form, type)] : []) : [child])),
    );
    setFocus(isLast ? 0 : Math.min(n, rows.length - 2));
  };
  return html`
    <section class="stack" aria-label="Lines" ref=${table}>
      ${
        lines.instead &&
        html`
          <${Instead}
            lines=${lines}
            root=${root}
            rows=${rows}
            at=${at}
            edit=${edit}
            create=${() => newLine(form, type)}
          />
        `
      }
      ${
        rows.length > 0 &&
        html`
          <table class="line-table">
            <thead>
              <tr>
                ${lines.columns.map(
                  ({ label, path }) => html`
                    <th scope="col" class=${isNumeric(facts.get(path)) ? "number" : ""}>${label}</th>
                  `,
                )}
                <th scope="col"><span class="hidden-visually">Actions</span></th>
              </tr>
            </thead>
            ${rows.map(
              (line, n) => html`
                <${Line}
                  key=${n}
                  form=${form}
                  line=${line}
                  number=${n + 1}
                  facts=${facts}
                  at=${at}
                  clone=${() => insert(n, clonedLine(form, type, line))}
                  remove=${() => remove(n)}
                />
              `,
            )}
          </table>
          <div class="row">
            <${Button} kind="small" icon="plus" onClick=${() => insert(-1, newLine(form, type))}>Add line<//>
          </div>
        `
      }
    </section>
  `;
}

const isNumeric = ({ base }) => /AMT|PRICE|QUAN/.test(base);

function Line({ form, line, number, facts, at, clone, remove }) {
  const { columns, below, computed } = form.lines;
  const problems = at.problems.filter(({ element }) => element === line).map(({ message }) => message);
  const hidden = hiddenIn(
    line,
    lineFieldsOf(form).map(({ path }) => path),
  );
  const amount = amountOf(form, line, at.offers);
  // A cell with a number is too narrow for a sentence, so its problem is shown below the line.
  const wrong = columns
    .filter(({ path }) => isNumeric(facts.get(path)))
    .map((field) => ({
      field,
      id: `line-${number}-${field.path}`,
      problem: problemOf(line, field, facts.get(field.path), at),
    }))
    .filter(({ problem }) => problem);
  const cell = (field) => {
    const label = `${field.label} of line ${number}`;
    // QuickBooks computes the amount of a line with a rate. A person enters it only in its place.
    if (field.path === computed && !textAt(line, computed) && textAt(line, "Rate"))
      return html`<output class="computed" aria-label=${label}>${amount === null ? "–" : moneyText(amount)}</output>`;
    return html`
      <${FormField}
        field=${field}
        tree=${line}
        facts=${facts.get(field.path)}
        at=${at}
        label=${label}
        isCell=${true}
        helpId=${wrong.find((one) => one.field === field)?.id}
      />
    `;
  };
  return html`
    <tbody>
      <tr aria-label="Line ${number}">
        ${columns.map(
          (column) => html`
            <td data-label=${column.label} class=${isNumeric(facts.get(column.path)) ? "number" : "text"}>
              ${cell(column)}
            </td>
          `,
        )}
        <td class="actions">
          <div class="row oneline">
            <${Button}
              kind="icon ghost"
              icon="copy"
              aria-label="Clone line ${number}"
              title="Clone this line"
              onClick=${clone}
            />
            <${Button}
              kind="icon ghost"
              icon="close"
              aria-label="Remove line ${number}"
              title="Remove this line"
              onClick=${remove}
            />
          </div>
        </td>
      </tr>
      ${below && html`<tr class="about-line"><td colspan=${columns.length}>${cell(below)}</td></tr>`}
      ${
        (problems.length > 0 || hidden.length > 0 || wrong.length > 0) &&
        html`
          <tr class="about-line">
            <td colspan=${columns.length + 1}>
              ${problems.map((message) => html`<p class="problem" tabindex="-1" data-found>${message}</p>`)}
              ${wrong.map(
                ({ id, field, problem }) => html`
                  <p class="problem" id=${id}>
                    ${problem.startsWith(field.label) ? problem : `${field.label}: ${problem}`}
                  </p>
                `,
              )}
              ${hidden.length > 0 && html`<p class="muted small">Also has ${hidden.join(", ")}. See All fields.</p>`}
            </td>
          </tr>
        `
      }
    </tbody>
  `;
}

/** The choice between lines and an element in their place, such as `IsAutoApply`. */
function Instead({ lines, root, rows, at, edit, create }) {
  const { instead } = lines;
  const node = nodesAt(root, instead.path)[0];
  const found = problemsAt(root, instead, at.problems);
  const choose = (event) => {
    const value = event.target.value;
    edit((children) => [
      ...children.filter(({ name }) => name !== instead.path && name !== lines.element),
      value === "lines" ? create() : { name: instead.path, text: value },
    ]);
  };
  const value = rows.length ? "lines" : (node?.text ?? "");
  return html`
    <div class="field">
      <label for="instead">${instead.label} <span class="tag required">required</span></label>
      <select
        id="instead"
        value=${value}
        aria-invalid=${found.length ? "true" : undefined}
        aria-describedby="instead-help"
        data-found=${found.length ? "" : undefined}
        onChange=${choose}
      >
        <option value="" disabled selected=${!value}>Choose…</option>
        ${[...instead.options, ["lines", instead.lines]].map(
          ([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`,
        )}
      </select>
      <p class=${found.length ? "problem" : "help"} id="instead-help">
        ${found.join(" ") || (rows.some((row) => !isBlank(row)) ? "Another choice removes the lines." : "")}
      </p>
    </div>
  `;
}

/** Returns the totals of a form's tree, which are also shown before it is queued. */
export function totalsOf(form, tree, offers) {
  const root = rootOf(form, tree);
  const counted = root.children.filter(
    (child) => !isBlank(child) && (child.name === form.lines?.element || form.lines?.others?.includes(child.name)),
  );
  const lines = counted.map((line) => ({
    amount: line.name === form.lines.element ? amountOf(form, line, offers) : null,
  }));
  return form.totals?.({ lines, text: (path) => textAt(root, path) }) ?? [];
}

function Totals({ form, tree, offers }) {
  const totals = totalsOf(form, tree, offers);
  if (!totals.length) return null;
  return html`
    <dl class="totals" aria-label="Totals">
      ${totals.map(
        ({ label, text, note, isMain, isWrong }) => html`
          <div class="${isMain ? "grand" : ""} ${isWrong ? "wrong" : ""}">
            <dt>${label}</dt>
            <dd>${text}</dd>
            ${note && html`<dd class="note-text">${note}</dd>`}
          </div>
        `,
      )}
    </dl>
  `;
}
