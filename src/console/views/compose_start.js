// Where a request begins: the choice of a connection and of a type, and earlier drafts.
import { html, useLayoutEffect, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { draftsOf, removeDraft } from "../lib/drafts.js";
import { CHANGED_SINCE, CHANGES, POPULAR, typesWith } from "../lib/request_types.js";
import { url } from "../lib/router.js";
import { plural, requestTitle } from "../lib/text.js";
import { Ago, Button, Empty, Field, Foreign } from "../lib/ui.js";

const PAGE_SIZE = 100;

const MAX_PAGES = 10;

const MAX_FOUND = 6;

export const nameOf = ({ name, id }) => name ?? id;

/** Loads up to a thousand connections, and the one of the address if it is not among them. */
export async function connectionsWith(wanted, signal) {
  const all = [];
  for (let page = 1, pages = 1; page <= Math.min(pages, MAX_PAGES); page += 1) {
    const answer = await call("GET", ["connections"], { query: { page, page_size: PAGE_SIZE }, signal });
    all.push(...answer.data);
    pages = answer.total_pages;
  }
  if (wanted && !all.some(({ id }) => id === wanted)) {
    try {
      all.push((await call("GET", ["connections", wanted], { signal })).data);
    } catch (error) {
      if (error.status !== 404 && error.status !== 400) throw error;
    }
  }
  return all;
}

/** A change with a form is named as people name it, with its type. */
const TypeButton = ({ name, pick }) => html`
  <${Button} kind="small" onClick=${() => pick(name)}>
    ${CHANGES[name] ? html`${CHANGES[name]} <code class="muted">${name}</code>` : requestTitle(name)}
  <//>
`;

/** `pick` gets `{type}`, and for a query the choice `which` of its form. */
export function PickType({ names, pick }) {
  return html`
    <div class="card">
      <${Empty}
        icon="pen"
        title="Pick a request type"
        actions=${html`
          ${POPULAR.map((name) => html`<${TypeButton} name=${name} pick=${(type) => pick({ type })} />`)}
          ${Object.entries(CHANGED_SINCE).map(
            ([type, name]) => html`
              <${Button} kind="small" onClick=${() => pick({ type, which: "changed" })}>${name}<//>
            `,
          )}
        `}
      >
        ${
          names
            ? `Type a name above, or begin with one of these. There are ${plural(names.length, "type")}.`
            : "Type a name above, or begin with one of these."
        }
      <//>
    </div>
  `;
}

/** The drafts of this tab, to continue or to discard. */
export function Drafts({ app, connections }) {
  const [, update] = useState(0);
  const drafts = app ? draftsOf(app) : [];
  if (!drafts.length) return null;
  const discard = (key) => {
    removeDraft(key);
    update((n) => n + 1);
  };
  return html`
    <section class="card" aria-label="Drafts">
      <header>
        <h2>Drafts</h2>
        <span class="muted small">In this tab, until you queue them or sign out</span>
      </header>
      <ul class="drafts">
        ${drafts.map(({ key, connection, type, from, object, at }) => {
          const of = connections?.find(({ id }) => id === connection);
          return html`
            <li key=${key}>
              <div class="grow">
                <a class="strong" href=${url("/compose", { connection, type, from, object })}>${requestTitle(type)}</a>
                <div class="muted small break">
                  ${of ? html`<${Foreign} text=${nameOf(of)} />` : "No connection chosen"}
                  ${from && " · copy of an earlier request"} · <${Ago} at=${new Date(at).toISOString()} />
                </div>
              </div>
              <${Button}
                kind="icon ghost"
                icon="close"
                aria-label="Discard the draft of ${requestTitle(type)}"
                title="Discard"
                onClick=${() => discard(key)}
              />
            </li>
          `;
        })}
      </ul>
    </section>
  `;
}

export function TypePicker({ names, value, pick }) {
  const [text, setText] = useState(value);
  // An effect after the paint would remove the first letter of a person who types at once.
  useLayoutEffect(() => setText(value), [value]);
  const input = (event) => {
    setText(event.target.value);
    if (names.includes(event.target.value)) pick(event.target.value);
  };
  const changes = names.filter((name) => CHANGES[name]);
  const wanted = text.trim();
  const found = wanted && !names.includes(wanted) ? typesWith(wanted, names) : [];
  const isUnknown = wanted && names.length > 0 && !names.includes(wanted) && !found.length;
  const enter = () => pick(found.length === 1 ? found[0] : wanted);
  return html`
    <${Field} label="Request type" problem=${isUnknown && "No type matches."}>
      ${(control) => html`
        <input
          ...${control}
          list="request-types"
          class="mono"
          placeholder="InvoiceAddRq"
          autocomplete="off"
          spellcheck=${false}
          value=${text}
          onInput=${input}
          onFocus=${(event) => event.target.select()}
          onKeyDown=${(event) => event.key === "Enter" && wanted && enter()}
        />
        <datalist id="request-types">
          ${[...new Set([...changes, ...names])].map(
            (name) => html`<option value=${name}>${CHANGES[name] ?? requestTitle(name)}</option>`,
          )}
        </datalist>
        ${
          found.length > 0 &&
          html`
            <div class="row" role="group" aria-label="Types that match">
              ${found.slice(0, MAX_FOUND).map((name) => html`<${TypeButton} key=${name} name=${name} pick=${pick} />`)}
              ${found.length > MAX_FOUND && html`<span class="muted small">and ${found.length - MAX_FOUND} more</span>`}
            </div>
          `
        }
      `}
    <//>
  `;
}
