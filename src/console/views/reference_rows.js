// The elements of a request or a response as rows of a tree that opens.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { editionsText } from "../lib/reference_data.js";
import { BASES } from "../lib/schema.js";
import { count, plural } from "../lib/text.js";
import { Icon } from "../lib/ui.js";

/** A row of the tree: its cells and its child rows. */
export function partRow(about, part, parent) {
  if (part.kind === "element") {
    const below = part.content
      ? () =>
          (part.content.kind === "choice" ? [part.content] : part.content.parts).map((one) =>
            partRow(about, one, part.name),
          )
      : null;
    return {
      name: part.name,
      type: typeName(part),
      text: about.fieldText(part.name),
      notes: [...notesOf(part), ...editionNotes(about, part.name, parent)],
      below,
    };
  }
  const name =
    part.kind === "choice"
      ? part.repeats
        ? "any of, repeated"
        : part.required
          ? "one of"
          : "at most one of"
      : "all of";
  return {
    group: true,
    name,
    type: "",
    notes: [],
    below: () => part.parts.map((one) => partRow(about, one, parent)),
    open: true,
  };
}

function editionNotes(about, name, parent) {
  const editions = about.missing(name, parent);
  return editions ? [html`<span class="tag">${editionsText(editions)}</span>`] : [];
}

function typeName(element) {
  if (element.content) return "group";
  if (element.values) return "one of a list";
  return BASES[element.base]?.name ?? element.base;
}

function notesOf(element) {
  const notes = [];
  if (element.required && !element.alternative) notes.push(html`<span class="tag required">required</span>`);
  if (element.repeats)
    notes.push(
      html`<span class="tag">
        ${/\d/.test(element.times) ? `up to ${element.times.split("..")[1]} times` : "repeats"}
      </span>`,
    );
  if (element.since && element.since !== "1.0") notes.push(html`<span class="tag new">since ${element.since}</span>`);
  const words = [];
  if (element.length) {
    const abroad = element.length_abroad ? ` (${count(element.length_abroad)} outside the US)` : "";
    words.push(`at most ${plural(element.length, "character")}${abroad}`);
  }
  if (element.least !== undefined) words.push(`at least ${element.least}`);
  if (element.most !== undefined) words.push(`at most ${element.most}`);
  if (element.default !== undefined) words.push(`default ${element.default}`);
  if (element.values)
    words.push(
      element.values
        .map((value) => (element.added?.[value] ? `${value} (since ${element.added[value]})` : value))
        .join(", "),
    );
  if (words.length) notes.push(html`<span class="break">${words.join("; ")}</span>`);
  return notes;
}

export function returnedRow(about, name, value, parent) {
  const repeats = Array.isArray(value);
  const inside = repeats ? value[0] : value;
  const below =
    inside && typeof inside === "object"
      ? () => Object.entries(inside).map(([one, part]) => returnedRow(about, one, part, name))
      : null;
  return {
    name,
    type: below
      ? repeats
        ? "array of objects"
        : "object"
      : `${inside === 1 ? "boolean" : "text"}${repeats ? " (array)" : ""}`,
    text: about.fieldText(name),
    notes: [...(repeats ? [html`<span class="tag">repeats</span>`] : []), ...editionNotes(about, name, parent)],
    below,
  };
}

/** Returns whether a row is the field or contains it. */
const holds = (row, field) => row.name === field || Boolean(row.below?.().some((one) => holds(one, field)));

export function Tree({ rows, columns, field }) {
  const table = useRef();
  useEffect(() => table.current.querySelector(".hit")?.scrollIntoView({ block: "center" }), [field]);
  return html`
    <div class="table-wrap">
      <table class="tree" ref=${table}>
        <thead>
          <tr>
            ${columns.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row, n) => html`<${Branch} key=${n} row=${row} depth=${0} open=${rows.length <= 3} field=${field} />`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Branch({ row, depth, open: first, field }) {
  const [open, setOpen] = useState(() =>
    Boolean(row.open || first || (field && row.below?.().some((one) => holds(one, field)))),
  );
  return html`
    <tr class=${!row.group && row.name === field ? "hit" : ""}>
      <td style=${{ paddingLeft: `${32 + depth * 20}px` }}>
        ${
          row.below &&
          html`
            <button
              type="button"
              class="fold"
              aria-expanded=${String(open)}
              aria-label="${open ? "Hide" : "Show"} the fields of ${row.name}"
              onClick=${() => setOpen(!open)}
            >
              <${Icon} name="chevron" />
            </button>
          `
        }
        ${row.group ? html`<em class="muted">${row.name}</em>` : row.name}
      </td>
      <td class="muted nowrap">${row.type}</td>
      <td>
        ${row.text && html`<p class="meaning">${row.text}</p>`}
        ${row.notes.length > 0 && html`<div class="row">${row.notes}</div>`}
      </td>
    </tr>
    ${open && row.below?.().map((one, n) => html`<${Branch} key=${n} row=${one} depth=${depth + 1} field=${field} />`)}
  `;
}
