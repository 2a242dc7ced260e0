// The form of a request, made from a group of the schema. It reads and writes a tree: {name, attributes, text |
// children}.
import { html, useState } from "../vendor/preact.js";
import { purposeOf } from "../lib/choice_texts.js";
import { editing } from "../lib/incomplete_dates.js";
import { BASES, inOrder, namesIn, textProblem } from "../lib/schema.js";
import { plural } from "../lib/text.js";
import { elementsIn, emptyPart, isBlank, newTree } from "../lib/trees.js";
import { Button } from "../lib/ui.js";

const LONG_TEXT = 500;

/**
 * `problems` are those that the check of the whole form has found: `[{element, message}]`. `lackOf` returns why the
 * version of the request cannot have an element that exists since another version, or null.
 */
export function GroupForm({ group, tree, change, problems, lackOf }) {
  const children = tree.children ?? [];
  const put = (next) => change({ ...tree, children: inOrder(group, next) });
  const at = {
    problems,
    lackOf,
    children,
    of: (names) => children.filter(({ name }) => names.includes(name)),
    replace: (former, next) => put(children.flatMap((child) => (child === former ? (next ? [next] : []) : [child]))),
    add: (more) => put([...children, ...more]),
    without: (names, more = []) => put([...children.filter(({ name }) => !names.includes(name)), ...more]),
  };
  return html`<${Part} part=${group} at=${at} root=${true} />`;
}

/** A group's parts in order; optional elements that are not set are offered in one list at the end. */
function Part({ part, at, root }) {
  if (part.kind === "element") return html`<${ElementForm} element=${part} at=${at} />`;
  if (part.kind === "choice")
    return part.repeats ? html`<${RepeatedChoice} part=${part} at=${at} />` : html`<${Choice} part=${part} at=${at} />`;
  const isShown = (one) => one.kind !== "element" || one.required || at.of([one.name]).length > 0;
  const hidden = part.parts.filter((one) => !isShown(one));
  return html`
    <div class="stack" style=${{ gap: "12px" }}>
      ${part.parts.filter(isShown).map((one) => html`<${Part} key=${namesIn(one).join()} part=${one} at=${at} />`)}
      ${hidden.length > 0 && html`<${AddField} elements=${hidden} at=${at} root=${root} />`}
    </div>
  `;
}

function AddField({ elements, at }) {
  const add = (event) => {
    const element = elements.find(({ name }) => name === event.target.value);
    event.target.value = "";
    if (element) at.add([newTree(element)]);
  };
  return html`
    <select class="add-field" aria-label="Add a field" value="" onChange=${add}>
      <option value="" selected>Add a field… (${elements.length})</option>
      ${elements.map(
        ({ name, since }) => html`
          <option value=${name} disabled=${Boolean(at.lackOf(since))}>
            ${name}
            ${at.lackOf(since) ? ` – ${at.lackOf(since)}` : since && since !== "1.0" ? ` (since ${since})` : ""}
          </option>
        `,
      )}
    </select>
  `;
}

function ElementForm({ element, at }) {
  const trees = at.of([element.name]);
  const maximum = /\.\.(\d+)/.exec(element.times)?.[1] ?? Infinity;
  return html`
    <div class="stack tight">
      ${trees.map(
        (tree, n) => html`
          <${One}
            key=${n}
            element=${element}
            tree=${tree}
            problems=${at.problems}
            lackOf=${at.lackOf}
            change=${(next) => at.replace(tree, next)}
            remove=${element.required && trees.length === 1 ? null : () => at.replace(tree, null)}
          />
        `,
      )}
      ${
        element.required &&
        !trees.length &&
        html`
          <div class="row">
            <${Button} kind="small" icon="plus" onClick=${() => at.add([newTree(element)])}>${element.name}<//>
            <span class="tag required">required</span>
          </div>
        `
      }
      ${
        element.repeats &&
        trees.length > 0 &&
        trees.length < maximum &&
        html`
          <div class="row">
            <${Button} kind="small ghost" icon="plus" onClick=${() => at.add([newTree(element)])}>
              Another ${element.name}
            <//>
          </div>
        `
      }
    </div>
  `;
}

function One({ element, tree, change, remove, problems, lackOf }) {
  const lack = !isBlank(tree) && lackOf(element.since);
  const found = [
    ...problems.filter((one) => one.element === tree).map(({ message }) => message),
    ...(lack ? [lack] : []),
  ];
  if (!element.content)
    return html`<${Leaf} element=${element} tree=${tree} change=${change} remove=${remove} found=${found} />`;
  return html`
    <div class="fieldset ${found.length ? "wrong" : ""}" role="group" aria-label=${element.name}>
      <div class="head">
        <span class="strong grow">${element.name}</span>
        <${Tags} element=${element} />
        ${
          remove &&
          html`<${Button} kind="icon ghost" icon="close" aria-label="Remove ${element.name}" onClick=${remove} />`
        }
      </div>
      ${found.map((message) => html`<p class="problem" tabindex="-1" data-found>${message}</p>`)}
      <${GroupForm} group=${element.content} tree=${tree} change=${change} problems=${problems} lackOf=${lackOf} />
    </div>
  `;
}

const Tags = ({ element }) => html`
  ${element.required && !element.alternative && html`<span class="tag required">required</span>`}
  ${element.since && element.since !== "1.0" && html`<span class="tag new">since ${element.since}</span>`}
`;

let leaves = 0;

function Leaf({ element, tree, change, remove, found }) {
  const [id] = useState(() => `leaf-${(leaves += 1)}`);
  const problem = found.join(" ") || textProblem(element, tree.text);
  const base = BASES[element.base] ?? {};
  const help = [
    base.help && `${base.name}, ${base.help}`,
    element.length && `at most ${plural(element.length, "character")}`,
    element.default !== undefined && `default ${element.default}`,
  ]
    .filter(Boolean)
    .join("; ");
  const control = {
    id,
    "aria-describedby": problem || help ? `${id}-help` : undefined,
    "aria-invalid": problem ? "true" : undefined,
    "data-found": found.length ? "" : undefined,
    placeholder: placeholder(tree.example),
    onInput: (event) => change({ ...tree, text: event.target.value }),
  };
  const options = element.values ?? (element.base === "BOOLTYPE" ? ["true", "false"] : null);
  return html`
    <div class="form-line">
      <label class="name" for=${id}>
        ${element.name}
        <${Tags} element=${element} />
      </label>
      ${
        options
          ? html`
            <select ...${control} value=${tree.text}>
              <option value="" selected=${!tree.text}>Choose…</option>
              ${options.map((value) => html`<option value=${value} selected=${value === tree.text}>${value}</option>`)}
            </select>
          `
          : element.base === "DATETYPE"
            ? html`<input type="date" ref=${editing({ element: tree })} ...${control} value=${tree.text} />`
            : element.length > LONG_TEXT
              ? html`<textarea rows="2" class="short" ...${control} value=${tree.text}></textarea>`
              : html`
                <input
                  ...${control}
                  value=${tree.text}
                  inputmode=${
                    /AMT|PRICE|QUAN|PERCENT|FLOAT/.test(element.base)
                      ? "decimal"
                      : element.base === "INTTYPE"
                        ? "numeric"
                        : undefined
                  }
                  spellcheck=${false}
                />
              `
      }
      ${
        remove
          ? html`<${Button} kind="icon ghost" icon="close" aria-label="Remove ${element.name}" onClick=${remove} />`
          : html`<span></span>`
      }
      ${(problem || help) && html`<p class="help ${problem ? "problem" : ""}" id="${id}-help">${problem ?? help}</p>`}
    </div>
  `;
}

/** Says that it is an example, because nothing of it is sent. */
const placeholder = (example) => (example && example !== "Example" ? `for example ${example}` : undefined);

/** One of several elements or groups. */
function Choice({ part, at }) {
  const used = part.parts.findIndex((one) => at.of(namesIn(one)).length > 0);
  const [picked, setPicked] = useState(-1);
  const active = used >= 0 ? used : picked;
  const choose = (event) => {
    const next = Number(event.target.value);
    setPicked(next);
    const one = part.parts[next];
    at.without(namesIn(part), !one ? [] : one.kind === "element" ? [newTree(one)] : emptyPart(one));
  };
  return html`
    <div class="fieldset choice" role="group" aria-label="One of several">
      <div class="head">
        <span class="muted small">${part.required ? "One of" : "At most one of"}</span>
        <select class="grow" aria-label="Choose one" value=${String(active)} onChange=${choose}>
          <option value="-1" selected=${active < 0}>${part.required ? "Choose…" : "None"}</option>
          ${part.parts.map(
            (one, n) => html`<option value=${String(n)} selected=${n === active}>${nameOf(one)}</option>`,
          )}
        </select>
      </div>
      <p class="help">
        ${purposeOf(namesIn(part))} QuickBooks takes only one of these ${part.parts.length}
        ${part.required ? " and needs it" : ", or none"}.
        ${active >= 0 ? " Another choice removes what you filled in here." : ""}
      </p>
      ${active >= 0 && html`<${Part} part=${part.parts[active]} at=${at} />`}
    </div>
  `;
}

function nameOf(part) {
  if (part.kind === "element") return part.name;
  const names = namesIn(part);
  return names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}

/** Elements that may be mixed in any number, such as the lines of an invoice. */
function RepeatedChoice({ part, at }) {
  const elements = new Map(elementsIn(part).map((element) => [element.name, element]));
  return html`
    <div class="stack tight">
      ${at.of([...elements.keys()]).map(
        (tree, n) => html`
          <${One}
            key=${n}
            element=${{ ...elements.get(tree.name), content: elements.get(tree.name).content, required: false }}
            tree=${tree}
            problems=${at.problems}
            lackOf=${at.lackOf}
            change=${(next) => at.replace(tree, next)}
            remove=${() => at.replace(tree, null)}
          />
        `,
      )}
      <div class="row">
        ${[...elements.values()].map(
          (element) => html`
            <${Button} kind="small" icon="plus" onClick=${() => at.add([newTree(element)])}>${element.name}<//>
          `,
        )}
      </div>
    </div>
  `;
}
