// The lines of a form for people, and their totals.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { clonedLine, hiddenIn, linesOf, newLine, nodesAt, rootOf, textAt } from "../lib/form_tree.js";
import { moneyText } from "../lib/money.js";
import { lineFieldsOf } from "../lib/simple_forms.js";
import { isBlank } from "../lib/trees.js";
import { Button } from "../lib/ui.js";
import { FormField, problemOf, problemsAt } from "./simple_field.js";

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

export function Lines({ form, type, tree, facts, at, edit }) {
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
    <section class="stack" aria-label=${at.formerOf ? "Lines to edit" : "Lines"} ref=${table}>
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
  const paths = lineFieldsOf(form).map(({ path }) => path);
  const hidden = at.formerOf ? [] : hiddenIn(line, paths);
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

export function Totals({ form, tree, offers }) {
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
