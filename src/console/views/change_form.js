// The form of a change: reads an object from QuickBooks, lets a person edit it, and shows what will change.
import { html, useEffect, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { knownName, noteName, takeChosen } from "../lib/changeable.js";
import {
  baseOf,
  CHANGES,
  changeRequest,
  editedOf,
  isChange,
  namesOf,
  objectOfChange,
  readingQuery,
} from "../lib/changes.js";
import { matching } from "../lib/offers.js";
import { isOutdated, newKey } from "../lib/queue_again.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { ENDED, messageOf, requestTitle } from "../lib/text.js";
import { formTree } from "../lib/trees.js";
import { Ago, Button, explain, Field, Foreign, Note } from "../lib/ui.js";
import { contentOf, differenceOf } from "../lib/write_fields.js";
import { objectsIn } from "../lib/xml.js";
import { ChangeTable } from "./approval_table.js";
import { SimpleForm } from "./simple_form.js";

const REFRESH_MILLISECONDS = 3000;

/** Returns what a change makes of the object that was read, or null. */
export function differenceIn(draft) {
  if (draft.mode !== "change" || !draft.base) return null;
  const content = contentOf(changeRequest(draft.tree.name, draft.base, draft.edited));
  return differenceOf(content, objectOfChange(draft.base));
}

/** `edit` takes changes of the draft. Other arguments are those of `SimpleForm`. */
export function ChangeForm({ type, draft, edit, target, source, object, askForTarget, ...rest }) {
  const { base, edited } = draft;
  const { form, noun } = CHANGES[type.name];
  const restart = () => edit({ ...UNREAD, former: base, tree: changeOf(draft) });
  if (!base) {
    const take = (object, answer) => {
      const now = baseOf(type, object);
      const { id, responded_at: at, connection_id: connection } = answer;
      const { name, party } = namesOf(now);
      noteName(connection, textIn(now, CHANGES[type.name].id), [party, name].filter(Boolean).join(" · "));
      edit({ ...UNREAD, base: now, edited: editedOf(type, now, draft.tree, draft.former), readBy: { id, at } });
    };
    return html`
      <${ReadObject} ...${{ type, draft, edit, target, source, object, askForTarget, take }} offers=${rest.offers} />
    `;
  }
  const formerOf = (tree, path) => textIn(formerTree(base, tree), path);
  const difference = differenceIn(draft);
  const isChanged = isChange(changeRequest(type.name, base, edited));
  return html`
    <p class="row small muted">
      <span>
        <a href=${url(`/queued_requests/${draft.readBy.id}`)}>Read from QuickBooks</a>${" "}
        <${Ago} at=${draft.readBy.at} />
      </span>
      <${Button} kind="small" icon="refresh" onClick=${restart}>Read the ${noun} again<//>
      ${!isChanged && !source && html`<${Another} ...${{ type, edit, target, object }} />`}
    </p>
    <${SimpleForm} ...${rest} form=${form} type=${type} tree=${edited} formerOf=${formerOf} />
    ${base.children.some(isGroup) && html`<p class="muted small">Groups of lines stay as they are.</p>`}
    <section class="stack" aria-label="What will change">
      <h3>What will change</h3>
      ${
        isChanged
          ? html`<${ChangeTable} table=${difference} isCompared />`
          : html`<p class="muted">Nothing yet. The ${noun} in QuickBooks keeps what you do not change.</p>`
      }
    </section>
  `;
}

/** Of a draft whose object is to be read. */
const UNREAD = { base: undefined, edited: undefined, former: undefined, reading: undefined };

/** Lets a person name another object in place of the one that was read. The draft of an `object` stays that of it. */
function Another({ type, edit, target, object }) {
  const change = () =>
    object
      ? navigate(url("/compose", { connection: target?.id, type: type.name }))
      : edit({ ...UNREAD, tree: formTree(type) });
  return html`<${Button} kind="small" onClick=${change}>Change another ${CHANGES[type.name].noun}<//>`;
}

/** The change so far, to be put on an object that is read again. */
const changeOf = ({ tree, base, edited }) => changeRequest(tree.name, base, edited);

const isGroup = ({ name }) => /LineGroupMod$/.test(name);

const idOf = (tree) => tree.children.find(({ name }) => name === "TxnLineID")?.text;

/** Returns the object that was read, or the line of it that a line of the form was. */
const formerTree = (base, tree) =>
  tree.name === base.name ? base : base.children.find((one) => one.name === tree.name && idOf(one) === idOf(tree));

const textIn = (tree, path) =>
  path.split("/").reduce((at, name) => at?.children?.find((one) => one.name === name), tree)?.text ?? "";

/** Asks QuickBooks for an object with a query, which a person starts, and takes the one that is meant. */
function ReadObject({ type, draft, edit, target, source, object, askForTarget, offers, take }) {
  const { form, noun, by, id } = CHANGES[type.name];
  const [entered, setEntered] = useState("");
  const [state, setState] = useState({});
  const { reading } = draft;
  const query = useLoad(
    async (signal) => (reading ? (await call("GET", ["queued_requests", reading], { signal })).data : null),
    [reading],
    { refresh: reading && !state.isOver ? REFRESH_MILLISECONDS : 0, showsAge: false },
  );
  const answer = query.data && query.data.id === reading && ENDED.has(query.data.state) ? query.data : null;
  const objects = answer?.response_xml ? objectsIn(answer.response_xml) : [];
  useEffect(() => {
    if (answer) setState({ isOver: true });
    if (objects.length === 1) take(objects[0], answer);
  }, [answer?.id]);
  const { children = [] } = contentOf(draft.tree);
  const known = children.find(({ name, text }) => name === id && text)?.text;
  const isChanged = children.length > 1 || draft.former;
  const ask = async () => {
    if (!target) return askForTarget();
    if (!known && !entered.trim()) return setState({ problem: `Enter the ${by.label.toLowerCase()}.` });
    setState({ isBusy: true });
    try {
      edit({ reading: await queueReading(type, draft, target.id, entered.trim()) });
      setState({});
    } catch (error) {
      setState({ problem: explain(error) });
    }
    return undefined;
  };
  // Who has chosen the object on the page of a request needs no second click for a query, which changes nothing.
  useEffect(() => {
    if (known && target && session.may("queue") && takeChosen(target.id, known) && !reading) ask();
  }, []);
  const isWaiting = Boolean(reading) && !answer;
  const submit = (event) => {
    event.preventDefault();
    if (!isWaiting) ask();
  };
  return html`
    <form class="stack" aria-label="Read the ${noun}" onSubmit=${submit}>
      ${
        known
          ? html`
            <p class="strong">
              ${requestTitle(type.name.replace("Mod", ""))}${" "}
              <${Foreign} text=${knownName(target?.id, known) ?? ""} />${" "}
              <code class="muted small"><${Foreign} text=${known} /></code>
            </p>
            <p>
              ${source && isOutdated(source) && `The ${noun} has changed in QuickBooks since this change was made. `}
              ${
                isChanged
                  ? "Read it: your changes are put on what it is now."
                  : `Read the ${noun} as it is now, then change it.`
              }
              ${
                isChanged &&
                form.lines &&
                !draft.former &&
                " Lines that they removed are there again: remove them once more."
              }
            </p>
          `
          : html`
            <${Field} label=${by.label} problem=${state.problem}>
              ${(control) => html`
                <input
                  ...${control}
                  list="objects-to-read"
                  autocomplete="off"
                  spellcheck=${false}
                  value=${entered}
                  onInput=${({ target: { value } }) => setEntered(value)}
                />
                <datalist id="objects-to-read">
                  ${matching(offers?.data?.kinds[by.offers] ?? [], entered).map(
                    ({ name }) => html`<option key=${name} value=${name}></option>`,
                  )}
                </datalist>
              `}
            <//>
          `
      }
      <div class="row">
        ${
          session.may("queue")
            ? html`
              <${Button} kind="primary" type="submit" icon="search" busy=${state.isBusy || isWaiting}>
                ${known && isChanged ? `Read the ${noun} again` : "Read from QuickBooks"}
              <//>
            `
            : html`<span class="muted">${session.refusal}</span>`
        }
        ${isWaiting && html`<${Button} kind="small" onClick=${() => edit({ reading: undefined })}>Stop waiting<//>`}
        ${known && !isWaiting && !source && html`<${Another} ...${{ type, edit, target, object }} />`}
        <${Progress} reading=${isWaiting && reading} query=${query} />
      </div>
      ${known && state.problem && html`<p class="problem" role="alert">${state.problem}</p>`}
      ${answer && objects.length === 0 && html`<${NotFound} noun=${noun} answer=${answer} />`}
      ${objects.length > 1 && html`<${Several} noun=${noun} objects=${objects} take=${(one) => take(one, answer)} />`}
    </form>
  `;
}

function Progress({ reading, query }) {
  if (!reading) return html`<span class="small muted">Queues a query, which changes nothing.</span>`;
  return html`
    <span class="small muted" role="status">
      <a href=${url(`/queued_requests/${reading}`)}>A query</a> asks QuickBooks.${" "}
      ${query.data?.waiting_reason && html`<${Foreign} text=${messageOf(query.data.waiting_reason)} />`}
      ${query.error && explain(query.error)}
    </span>
  `;
}

const NotFound = ({ noun, answer }) => html`
  <${Note} tone="amber" role="alert" title="QuickBooks has not returned the ${noun}.">
    <p><${Foreign} text=${answer.error?.message ?? "Check the spelling, and read again."} /></p>
  <//>
`;

/** Several invoices can have one number. */
function Several({ noun, objects, take }) {
  const textOf = (tree, name) => textIn(tree, name) || "–";
  return html`
    <p role="status">QuickBooks has returned several. Choose the ${noun} that you mean.</p>
    <ul class="drafts">
      ${objects.map(
        (one) => html`
          <li>
            <div class="grow">
              <${Foreign} text=${textIn(one, "CustomerRef/FullName") || textIn(one, "FullName")} />
              <div class="muted small">${textOf(one, "TxnDate")} · ${textOf(one, "Subtotal")}</div>
            </div>
            <${Button} kind="small" onClick=${() => take(one)}>Change this one<//>
          </li>
        `,
      )}
    </ul>
  `;
}

/** Queues the query for an object in the version of the change, and returns its id. */
async function queueReading(type, { tree, version }, connection, entered) {
  const body = {
    request_json: { version, ...readingQuery(CHANGES[type.name], tree, entered) },
    ...(session.may("give_webhook_url") ? { webhook_url: null } : {}),
  };
  const headers = { "Idempotency-Key": newKey() };
  return (await call("POST", ["connections", connection, "queued_requests"], { body, headers })).data.id;
}
