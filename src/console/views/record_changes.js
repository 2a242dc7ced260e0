// What happened to a record: its changes that the feed still has, newest first.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { Dialog } from "../lib/dialogs.js";
import { changesOf, happened, objectTitle, recordTitle } from "../lib/subscriptions.js";
import { fullTime, plural } from "../lib/text.js";
import { At, Badge, Button, Field, Foreign, Problem } from "../lib/ui.js";

/** One press of a button makes no more calls. Each looks at up to 100 pages of changes. */
const MAX_CALLS = 5;
const LIMIT = 50;
const SHOWN_FIELDS = 8;

/** A dialog with the changes of an object, or of one record of it. */
export function RecordChanges({ id, object, close }) {
  const [typed, setTyped] = useState("");
  const [wanted, setWanted] = useState({});
  const search = useChanges(id, object, wanted);
  const choose = (one) => {
    setTyped(one);
    setWanted({ id: one });
  };
  const submit = (event) => {
    event.preventDefault();
    setWanted({ value: typed.trim() });
  };
  return html`
    <${Dialog}
      title=${`Changes: ${objectTitle(object)}`}
      onClose=${close}
      actions=${html`<${Button} kind="primary" onClick=${close}>Close<//>`}
    >
      <form onSubmit=${submit}>
        <${Field}
          label="Name, number, ListID or TxnID of a record"
          help="The whole one, such as a full name or a RefNumber. A deletion is found by the ID only."
        >
          ${(control) => html`
            <div class="row oneline">
              <input
                ...${control}
                maxlength="209"
                spellcheck=${false}
                value=${typed}
                onInput=${(event) => setTyped(event.target.value)}
              />
              <${Button} type="submit">Show<//>
            </div>
          `}
        <//>
      </form>
      <ol class="record-changes" aria-label="Changes, newest first">
        ${changesOf(search.found).map(
          ({ change, differences }) => html`
            <${Change}
              key=${change.sequence}
              change=${change}
              differences=${differences}
              choose=${wanted.id ? null : choose}
            />
          `,
        )}
      </ol>
      ${
        search.error
          ? html`<${Problem} error=${search.error} retry=${search.more} what="The changes could not be loaded." />`
          : html`<${Reach} search=${search} />`
      }
    <//>
  `;
}

/** Reads changes, newest first: `{found, next, readFrom, busy, error, more}`. */
function useChanges(id, object, wanted) {
  const nothing = { found: [], next: undefined, readFrom: null };
  const [state, setState] = useState({ ...nothing, busy: true });
  const running = useRef(null);
  const read = async (from) => {
    running.current?.abort();
    const { signal } = (running.current = new AbortController());
    let known = from;
    setState({ ...known, busy: true });
    try {
      for (let number = 0; number < MAX_CALLS && known.next !== null; number += 1) {
        const query = { object, ...wanted, before: known.next, limit: LIMIT };
        const part = await call("GET", ["connections", id, "changes"], { query, signal });
        known = { found: [...known.found, ...part.data], next: part.next, readFrom: part.read_from };
        if (known.found.length >= from.found.length + LIMIT) break;
      }
      setState({ ...known, busy: false });
    } catch (error) {
      if (!signal.aborted) setState({ ...known, busy: false, error });
    }
  };
  useEffect(() => {
    read(nothing);
    return () => running.current?.abort();
  }, [wanted]);
  return { ...state, more: () => read({ found: state.found, next: state.next, readFrom: state.readFrom }) };
}

/** How far back the changes reach. */
function Reach({ search: { found, next, readFrom, busy, more } }) {
  const what = found.length ? plural(found.length, "change") : "No change";
  return html`
    <div class="row between" role="status">
      <span class="muted small">
        ${
          busy
            ? "Looking back …"
            : next === null
              ? `${what} in the last seven days. The feed keeps no older ones.`
              : `${what} since ${fullTime(readFrom)}. There may be older ones.`
        }
      </span>
      ${!busy && next !== null && html`<${Button} kind="small" onClick=${() => more()}>Look further back<//>`}
    </div>
  `;
}

function Change({ change, differences, choose }) {
  const { name: what, tone } = happened(change);
  const name = recordTitle(change);
  return html`
    <li>
      <div class="row oneline">
        <${Badge} tone=${tone}>${what}<//>
        <span class="grow strong break">${name && html`<${Foreign} text=${name} />`}</span>
      </div>
      <p class="muted small"><${Times} change=${change} /></p>
      ${
        choose
          ? html`
            <div>
              <${Button} kind="small" title="Only this record" onClick=${() => choose(change.id)}>
                <code>${change.id}</code>
              <//>
            </div>
          `
          : html`<code class="muted">${change.id}</code>`
      }
      <${Differences} differences=${differences} />
      ${
        change.record_omitted &&
        html`<p class="muted small">The record is too large for an event. Query it by its id.</p>`
      }
      ${
        change.record &&
        html`
          <details class="small">
            <summary>The record</summary>
            <pre>${JSON.stringify(change.record, null, 2)}</pre>
          </details>
        `
      }
    </li>
  `;
}

/** When the record was changed in QuickBooks, if it says so, and when a session found that. */
export function Times({ change: { at, record } }) {
  const modified = record?.TimeModified;
  const isKnown = !Number.isNaN(Date.parse(modified));
  return isKnown
    ? html`Changed <${At} moment=${modified} /> · found <${At} moment=${at} />`
    : html`Found <${At} moment=${at} />`;
}

function Differences({ differences }) {
  if (!differences) return null;
  if (!differences.length) return html`<p class="muted small">Read again, without a difference.</p>`;
  const rest = differences.length - SHOWN_FIELDS;
  return html`
    <ul class="small">
      ${differences.slice(0, SHOWN_FIELDS).map(
        ([field, before, after]) => html`
          <li key=${field} class="break">
            <code>${field}</code>${" "}
            ${before !== undefined && html`<del><${Foreign} text=${before} /></del>`}
            ${before !== undefined && after !== undefined && " → "}
            ${after !== undefined && html`<ins><${Foreign} text=${after} /></ins>`}
          </li>
        `,
      )}
      ${rest > 0 && html`<li class="muted">and ${plural(rest, "more field", "more fields")}</li>`}
    </ul>
  `;
}
