// A field of a form for people.
import { html, useRef, useState } from "../vendor/preact.js";
import { nodesAt, textAt } from "../lib/form_tree.js";
import { editing } from "../lib/incomplete_dates.js";
import { FIRST_DAY, MomentInput } from "../lib/moment_input.js";
import { LOCAL } from "../lib/moments.js";
import { typedNumber } from "../lib/money.js";
import { hintOf, matching } from "../lib/offers.js";
import { today } from "../lib/request_draft.js";
import { BASES, textProblem } from "../lib/schema.js";
import { localZone, requestTitle, withoutControls } from "../lib/text.js";
import { Button, Foreign } from "../lib/ui.js";

const LONG_TEXT = 500;

/** Returns the messages about a field, or about an element between the root and it. */
export function problemsAt(tree, { path }, problems) {
  const nodes = nodesAt(tree, path);
  return problems.filter(({ element }) => nodes.includes(element)).map(({ message }) => message);
}

/** Returns what is wrong with a field, or "". */
export function problemOf(tree, field, facts, { problems, lackOf }) {
  const text = textAt(tree, field.path);
  return problemsAt(tree, field, problems).join(" ") || textProblem(facts, text) || (text && lackOf(facts.since)) || "";
}

let fields = 0;

/**
 * A field with its label. In a cell of a table the label is spoken only, and `helpId` is where its problem is shown.
 */
export function FormField({ field, tree, facts, at, label, isCell = false, helpId }) {
  const [id] = useState(() => `simple-${(fields += 1)}`);
  const nodes = nodesAt(tree, field.path);
  const node = nodes.length === field.path.split("/").length ? nodes.at(-1) : null;
  const found = problemsAt(tree, field, at.problems);
  const listId = nodes[0]?.children?.find(({ name, text }) => name === "ListID" && text);
  const text = node?.text ?? "";
  const lack = at.lackOf(facts.since);
  const problem = problemOf(tree, field, facts, at);
  const former = at.formerOf?.(tree, field.path) ?? "";
  const about = former ? aboutChange(former, text, field) : aboutText(field, text, at.offers, isCell);
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
        isKept=${Boolean(field.initial || former)}
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
      ${at.beside?.[field.path]}
      ${
        !problem &&
        field.isToday &&
        text !== today() &&
        html`<p><${Button} kind="small" onClick=${() => at.set(node, today())}>Today<//></p>`
      }
    </div>
  `;
}

/** Returns what a change makes of a field, or "". */
function aboutChange(former, text, { label }) {
  if (former === text) return "";
  return text
    ? html`It was <${Foreign} text=${former} />.`
    : html`Clears ${label}: it was <${Foreign} text=${former} />.`;
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

function Control({ field, facts, node, control, isDisabled, isKept, isCell, at }) {
  const isNumber = /AMT|PRICE|QUAN|PERCENT|FLOAT/.test(facts.base);
  // An input of one line would join the lines of a text. The control stays while the person edits.
  const hasLines = useRef(false);
  hasLines.current ||= /\n/.test(node.text ?? "");
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
    const options = facts.values?.map((value) => [value, requestTitle(value)]) ?? [
      ["true", "Yes"],
      ["false", "No"],
    ];
    const unset = at.formerOf ? "As it is" : "As QuickBooks decides";
    return html`
      <select ...${shared} onChange=${set}>
        ${!isKept && html`<option value="" selected=${!node.text}>${unset}</option>`}
        ${options.map(([value, name]) => html`<option value=${value} selected=${value === node.text}>${name}</option>`)}
      </select>
    `;
  }
  if (facts.base === "DATETIMETYPE" && (!node.text || LOCAL.enteredFor(node.text, field.isEnd).date >= FIRST_DAY))
    return html`
      <${MomentInput}
        label=${field.label}
        names=${{ ...control, disabled: isDisabled }}
        as=${LOCAL}
        isEnd=${field.isEnd}
        edits=${editing({ element: node })}
        value=${node.text ?? ""}
        change=${(text) => at.set(node, text)}
      />
    `;
  // A date that the browser cannot show must not look as if the field were empty.
  if (facts.base === "DATETYPE" && (!node.text || BASES.DATETYPE.pattern.test(node.text)))
    return html`<input type="date" ref=${editing({ element: node })} ...${shared} onInput=${set} />`;
  if (field.offers)
    return html`
      <${OfferInput} kind=${field.offers} shared=${shared} set=${set} finish=${finish} offers=${at.offers} />
    `;
  if (hasLines.current || (facts.length > LONG_TEXT && field.wide))
    return html`
      <textarea
        rows=${rowsOf(shared.value)}
        class="short"
        ...${shared}
        onInput=${set}
        onChange=${finish}
      ></textarea>
    `;
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

const MAX_ROWS = 8;
const rowsOf = (text) => Math.min(Math.max(text.split("\n").length, 2), MAX_ROWS);

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
