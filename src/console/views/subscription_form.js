// The form of a subscription: which objects, how often, from when on.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { Choice, FormDialog, useForm } from "../lib/form.js";
import { SearchField } from "../lib/search_field.js";
import { includeOf, INCLUDES, objectsOf, OBJECTS, objectTitle, partsOf } from "../lib/subscriptions.js";
import { plural } from "../lib/text.js";
import { Check, explain, Field, Note, toast } from "../lib/ui.js";

const STARTS = {
  all: ["All records first", "Every record is read once, and then what changes. For a new copy."],
  now: ["Only changes", "What changed in the last day, and what changes from now on."],
};

const KINDS = [
  ["list", "Lists"],
  ["transaction", "Transactions"],
];

/** Fields that QuickBooks computes for entries of lists. They change without a change of the entry. */
const DERIVED = [
  ["", "Not read"],
  ["hourly", "Every hour"],
  ["daily", "Every day"],
];

const NUMBERS = { every_minutes: [5, 1_440], verify_days: [1, 90] };

/** A dialog that creates a subscription, or changes the one that has an id. */
export function SubscriptionForm({ path, one, close, done }) {
  const isNew = !one.id;
  const [values, setValues] = useState(() => initial(one));
  const set = (changes) => setValues({ ...values, ...changes });
  const form = useForm(async () => {
    check(values);
    const body = bodyOf(values, one);
    await (isNew
      ? call("POST", path, { body: { ...body, start: values.start } })
      : call("PATCH", [...path, one.id], { body }));
    toast(isNew ? "The subscription is created. Reading begins at the next call." : "The subscription is changed.");
    close();
    done();
  });
  const [{ problems, error }] = form;
  const bind = (name) => ({ value: values[name], onInput: (event) => set({ [name]: event.target.value }) });
  const possible = Object.keys(INCLUDES).filter((part) => values.objects.some((name) => OBJECTS[name]?.includes(part)));
  return html`
    <${FormDialog}
      title=${isNew ? "New subscription" : "Edit the subscription"}
      confirm=${isNew ? "Create" : "Save"}
      form=${form}
      canSend=${values.objects.length > 0}
      close=${close}
    >
      <${Field} label="Name" help="For people. It may be empty." problem=${problems.name}>
        ${(control) => html`<input ...${control} ...${bind("name")} maxlength="200" />`}
      <//>
      <${Objects} chosen=${values.objects} change=${(objects) => set({ objects })} problem=${problems.objects} />
      ${possible.length > 0 && html`<${Includes} possible=${possible} values=${values} set=${set} />`}
      <div class="field-grid">
        <${Field} label="Read every (minutes)" problem=${problems.every_minutes} help="5 to 1,440">
          ${(control) => html`<input ...${control} ...${bind("every_minutes")} inputmode="numeric" />`}
        <//>
        <${Field} label="Read all again after (days)" problem=${problems.verify_days} help="1 to 90">
          ${(control) => html`<input ...${control} ...${bind("verify_days")} inputmode="numeric" />`}
        <//>
      </div>
      <${Field}
        label="Balances and quantities of lists"
        problem=${problems.derived}
        help="QuickBooks computes them from transactions. They are read for all entries, and are events of their own."
      >
        ${(control) => html`
          <select ...${control} value=${values.derived} onChange=${(event) => set({ derived: event.target.value })}>
            ${DERIVED.map(
              ([value, label]) => html`<option value=${value} selected=${value === values.derived}>${label}</option>`,
            )}
          </select>
        `}
      <//>
      <${Field}
        label="Webhook URL"
        problem=${problems.webhook_url}
        help="Gets the changes, a page at a time, beside the feed. It may be empty."
      >
        ${(control) => html`
          <input ...${control} ...${bind("webhook_url")} inputmode="url" maxlength="2048" spellcheck=${false} />
        `}
      <//>
      ${
        isNew
          ? html`
            <${Choice}
              label="Start"
              options=${STARTS}
              value=${values.start}
              change=${(start) => set({ start })}
            />
          `
          : html`<p class="muted small">If you add objects, all records of this subscription are read again.</p>`
      }
      ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
    <//>
  `;
}

const initial = (one) => ({
  name: one.name ?? "",
  objects: one.objects?.map(({ object }) => object) ?? [],
  every_minutes: String(one.every_minutes ?? 15),
  verify_days: String(one.verify_days ?? 7),
  derived: one.derived ?? "",
  webhook_url: one.webhook_url ?? "",
  start: "all",
  parts: one.include ? partsOf(one.include) : ["lines"],
});

/**
 * Returns the body of the call. A webhook URL that stays is left out, unless pages were given up: the service forgets
 * them when it gets a URL.
 */
function bodyOf(values, one) {
  const { name, objects, every_minutes: minutes, verify_days: days, derived, webhook_url: typed, parts } = values;
  const url = typed.trim() || null;
  return {
    name: name.trim() || null,
    objects,
    every_minutes: Number(minutes),
    verify_days: Number(days),
    derived: derived || null,
    include: includeOf(objects, parts, one.include),
    ...((url !== (one.webhook_url ?? null) || one.webhook_gave_up_at) && { webhook_url: url }),
  };
}

/** Throws what the form shows beside the fields. */
function check(values) {
  const isWrong = ([name, [least, most]]) => {
    const text = values[name].trim();
    return !/^\d{1,4}$/.test(text) || Number(text) < least || Number(text) > most;
  };
  const problems = Object.entries(NUMBERS)
    .filter(isWrong)
    .map(([field, [least, most]]) => ({
      field,
      message: `Enter a whole number from ${least} to ${most.toLocaleString("en")}.`,
    }));
  if (problems.length) throw Object.assign(new Error("The form has a problem."), { details: { problems } });
}

function Objects({ chosen, change, problem }) {
  const [phrase, setPhrase] = useState("");
  const toggle = (name) => (event) =>
    change(event.target.checked ? [...chosen, name] : chosen.filter((other) => other !== name));
  const groups = KINDS.map(([kind, title]) => [title, objectsOf(kind, phrase)]).filter(([, names]) => names.length);
  return html`
    <fieldset class="field">
      <legend class="label">Objects</legend>
      <${SearchField}
        label="Search objects"
        placeholder="Customer, invoice, …"
        value=${phrase}
        change=${setPhrase}
      />
      <div class="choices" tabindex="0" role="group" aria-label="Objects to choose">
        ${groups.map(
          ([title, names]) => html`
            <h3 key=${title}>${title}</h3>
            ${names.map(
              (name) => html`
                <${Check} key=${name} checked=${chosen.includes(name)} onChange=${toggle(name)}>
                  ${objectTitle(name)}
                <//>
              `,
            )}
          `,
        )}
        ${groups.length === 0 && html`<p class="muted">No object has this name.</p>`}
      </div>
      ${
        problem
          ? html`<p class="problem">${problem}</p>`
          : html`
            <p class="help" role="status">
              ${
                chosen.length
                  ? `${plural(chosen.length, "object")}: ${chosen.map(objectTitle).join(", ")}`
                  : "Choose at least one."
              }
            </p>
          `
      }
    </fieldset>
  `;
}

const Includes = ({ possible, values, set }) => html`
  <fieldset class="field">
    <legend class="label">Read also, where an object has it</legend>
    <div class="stack tight">
      ${possible.map(
        (part) => html`
          <${Check}
            key=${part}
            checked=${values.parts.includes(part)}
            onChange=${(event) =>
              set({
                parts: event.target.checked ? [...values.parts, part] : values.parts.filter((other) => other !== part),
              })}
          >
            ${INCLUDES[part]}
          <//>
        `,
      )}
    </div>
  </fieldset>
`;
