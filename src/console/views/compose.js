// Compose a request: pick a type, fill in a form made from the schema or edit XML or JSON, see the other form, queue
// it.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { appOfKey, call, session, useLoad } from "../lib/api.js";
import { samplesOf } from "../lib/code_samples.js";
import { draftKey, draftsOf, moveDraft, readDraft, removeDraft, writeDraft } from "../lib/drafts.js";
import { Editor } from "../lib/editor.js";
import { isUnsettled, newKey } from "../lib/queue_again.js";
import {
  beginning,
  bodyOf,
  inForm,
  isForm,
  isOnlyXml,
  modesOf,
  read,
  requestOf,
  sampleBodyOf,
  written,
} from "../lib/request_draft.js";
import { navigate, url } from "../lib/router.js";
import { elementAt, missingIn, pruned, requestNames, requestType } from "../lib/schema.js";
import { inWordsOf, labelsOf, offersIn, SIMPLE_FORMS } from "../lib/simple_forms.js";
import { actionTitle, fullTime, isRead, plural, requestTitle } from "../lib/text.js";
import { firstVersion, isTooNew, lackOf, versionsFor } from "../lib/versions.js";
import {
  Ago,
  Button,
  Code,
  Empty,
  explain,
  Field,
  Foreign,
  Note,
  Problem,
  problemText,
  Segmented,
  SkeletonCard,
  toast,
  useTitle,
} from "../lib/ui.js";
import { GroupForm } from "./compose_form.js";
import { ConfirmWrite } from "./confirm_write.js";
import { useOffers } from "./offers.js";
import { SimpleForm, totalsOf } from "./simple_form.js";

const NO_PROBLEMS = [];
const NO_OFFERS = [];
const POPULAR = [
  "CustomerQueryRq",
  "InvoiceAddRq",
  "InvoiceQueryRq",
  "ItemQueryRq",
  "CustomerAddRq",
  "ReceivePaymentAddRq",
  "BillAddRq",
  "CompanyQueryRq",
];
const ONLY_XML = "Only XML can hold these attributes of QBXMLMsgsRq.";
const PAGE_SIZE = 100;
const MAX_PAGES = 10;
/** The service keeps idempotency keys for a day. An older one would not prevent a second request. */
const KEY_MILLISECONDS = 23 * 3_600_000;

export default function Compose({ query }) {
  useTitle("Compose");
  const names = useLoad(requestNames, []);
  const app = useLoad(appOfKey, []);
  const connections = useLoad((signal) => connectionsWith(query.connection, signal), []);
  const source = useLoad(
    async (signal) => (query.from ? (await call("GET", ["queued_requests", query.from], { signal })).data : null),
    [query.from],
  );
  const [unchosen, setUnchosen] = useState(false);
  const picker = useRef();
  const list = connections.data;
  // With several connections, only a person or a link decides whose books are meant.
  const connection = query.connection ?? (list?.length === 1 ? list[0].id : undefined);
  const target = list
    ? list.find(({ id }) => id === connection)
    : connections.error && connection && { id: connection };
  const place = (of) => draftKey(app.data, of);
  const change = (changes) => {
    const next = { ...query, connection, ...changes };
    if (changes.type) delete next.from;
    if (changes.connection && query.type) moveDraft(place({ ...query, connection }), place(next));
    setUnchosen(false);
    navigate(url("/compose", next), { replace: true });
  };
  const askForTarget = () => {
    setUnchosen(true);
    picker.current?.querySelector("select").focus();
  };
  const ready = app.data && (list || connections.error) && !source.loading;
  return html`
    <div class="page wide">
      <div class="page-head">
        <div>
          <h1>Compose a request</h1>
          <p class="sub">A form, XML or JSON. Nothing reaches QuickBooks until you queue it.</p>
        </div>
      </div>
      ${
        connections.error &&
        html`
          <${Problem}
            error=${connections.error}
            retry=${connections.reload}
            what="The connections could not be loaded."
          />
        `
      }
      ${app.error && html`<${Problem} error=${app.error} retry=${app.reload} />`}
      <section class="card" aria-label="Target" ref=${picker}>
        <div class="body columns">
          <${Field} label="Connection" problem=${unchosen && "Choose the company file that the request is for."}>
            ${(control) => html`
              <select
                ...${control}
                value=${target?.id ?? ""}
                onChange=${(event) => change({ connection: event.target.value })}
              >
                ${
                  !target &&
                  html`<option value="" selected disabled>${list ? "Choose a connection…" : "Loading…"}</option>`
                }
                ${list?.map(
                  (one) => html`<option value=${one.id} selected=${one.id === connection}>${nameOf(one)}</option>`,
                )}
              </select>
            `}
          <//>
          <${TypePicker} names=${names.data ?? []} value=${query.type ?? ""} pick=${(type) => change({ type })} />
        </div>
      </section>
      ${
        list?.length === 0 &&
        html`
          <${Note} tone="amber" title="There is no connection yet">
            <p>
              <a href=${url("/connections/new")}>Create a connection</a> first. You can still compose and copy a
              request.
            </p>
          <//>
        `
      }
      ${
        names.error &&
        html`<${Problem} error=${names.error} retry=${names.reload} what="The schema could not be loaded." />`
      }
      ${
        source.error &&
        html`
          <${Problem}
            error=${source.error}
            retry=${source.reload}
            what="The request that you want to edit could not be loaded."
          />
        `
      }
      ${
        !query.type
          ? html`
            <${Drafts} app=${app.data} connections=${list} />
            <${PickType} names=${names.data} pick=${(type) => change({ type })} />
          `
          : names.data && !names.data.includes(query.type)
            ? html`
              <${Note} tone="amber" role="status" title="Type ${query.type} does not exist">
                <p>Choose one from the list.</p>
              <//>
            `
            : !ready
              ? !source.error && !app.error && html`<${SkeletonCard} lines=${8} />`
              : html`
                <${Work}
                  key=${place({ ...query, connection })}
                  name=${query.type}
                  place=${place({ ...query, connection })}
                  target=${target}
                  askForTarget=${askForTarget}
                  source=${source.data}
                />
              `
      }
    </div>
  `;
}

const nameOf = ({ name, id }) => name ?? id;

/** Loads up to a thousand connections, and the one of the address if it is not among them. */
async function connectionsWith(wanted, signal) {
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

function PickType({ names, pick }) {
  return html`
    <div class="card">
      <${Empty}
        icon="pen"
        title="Pick a request type"
        actions=${POPULAR.map(
          (name) => html`<${Button} kind="small" onClick=${() => pick(name)}>${requestTitle(name)}<//>`,
        )}
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
function Drafts({ app, connections }) {
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
        ${drafts.map(({ key, connection, type, from, at }) => {
          const of = connections?.find(({ id }) => id === connection);
          return html`
            <li key=${key}>
              <div class="grow">
                <a class="strong" href=${url("/compose", { connection, type, from })}>${requestTitle(type)}</a>
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

function TypePicker({ names, value, pick }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const input = (event) => {
    setText(event.target.value);
    if (names.includes(event.target.value)) pick(event.target.value);
  };
  return html`
    <${Field} label="Request type">
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
          onKeyDown=${(event) => event.key === "Enter" && text && pick(text.trim())}
        />
        <datalist id="request-types">
          ${names.map((name) => html`<option value=${name}>${requestTitle(name)}</option>`)}
        </datalist>
      `}
    <//>
  `;
}

function Work({ name, ...rest }) {
  const type = useLoad(() => requestType(name), [name]);
  if (type.error)
    return html`<${Problem} error=${type.error} retry=${type.reload} what="This type could not be loaded." />`;
  if (!type.data)
    return html`
      <div class="compose">
        <${SkeletonCard} lines=${8} />
        <${SkeletonCard} lines=${8} />
      </div>
    `;
  return html`<${Draft} type=${type.data} ...${rest} />`;
}

function Draft({ type, place, target, askForTarget, source }) {
  const supported = target?.qbxml_version;
  const [draft, setDraft] = useState(() => readDraft(place) ?? beginning(type, source, supported));
  const [restoredAt, setRestoredAt] = useState(draft.at);
  const [isKept, setKept] = useState(true);
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const confirmed = useRef(null);
  const outcome = useRef();
  const { mode, tree, version, text, webhook } = draft;
  // The service takes this version for a text without one.
  const assumed = firstVersion(supported);
  const current = useMemo(() => requestOf(draft, assumed), [mode, tree, version, text, assumed]);
  const simple = SIMPLE_FORMS[type.name];
  const offers = useOffers(target?.id, mode === "simple" ? offersIn(simple) : NO_OFFERS);

  const keep = (next) => {
    setDraft(next);
    setKept(writeDraft(place, next));
  };
  // Each content has one idempotency key, so queueing it twice, also after a reload, makes one request.
  const edit = (changes) => {
    setError(null);
    keep({ ...draft, touched: true, idempotencyKey: null, ...changes });
  };
  const changeTree = (next) => {
    setProblems(stillIn(next, problems));
    edit({ tree: next });
  };
  const startOver = () => {
    removeDraft(place);
    setDraft(beginning(type, source, supported));
    setRestoredAt(null);
    setProblems(NO_PROBLEMS);
    setError(null);
  };
  const switchTo = (next) => {
    try {
      const { tree: nextTree, version: nextVersion } = read(draft, assumed);
      if (isForm(next) && nextTree.name !== type.name)
        throw new Error(`The form is for ${type.name}; the text holds ${nextTree.name}. Pick that type above.`);
      if (next !== "xml" && isOnlyXml(draft))
        throw new Error(`${ONLY_XML} Write only onError="stopOnError", or stay in XML.`);
      const changed = { tree: inForm(type, next, nextTree), version: nextVersion, mode: next };
      const after = {
        ...draft,
        ...changed,
        idempotencyKey: null,
        text: isForm(next) ? "" : written(next, requestOf(draft, assumed), assumed),
      };
      if (draft.touched) keep(after);
      else setDraft(after);
      setProblems(NO_PROBLEMS);
      setError(null);
    } catch (problem) {
      setProblems([{ message: problem.message, line: problem.line, column: problem.column }]);
    }
  };
  const show = (found) => {
    setProblems(mode === "simple" ? found.map((one) => inWordsOf(simple, one)) : found);
    setTimeout(() =>
      (document.querySelector("[data-found]") ?? outcome.current)?.scrollIntoView({
        block: "center",
        behavior: "smooth",
      }),
    );
    setTimeout(() => document.querySelector("[data-found]")?.focus({ preventScroll: true }));
  };

  const press = () => {
    if (!target) return askForTarget();
    setError(null);
    const missing = isForm(mode) ? missingIn(type.content, tree) : [];
    if (missing.length) return show(missing);
    // A document that cannot be read here counts as a write.
    const isHarmless = current && isRead(current.tree.name);
    if (isHarmless || (draft.idempotencyKey && confirmed.current === draft.idempotencyKey)) return queue();
    return setAsking(true);
  };

  const queue = async () => {
    setAsking(false);
    setBusy(true);
    setProblems(NO_PROBLEMS);
    const now = Date.now();
    const isFresh = draft.idempotencyKey && now - draft.unanswered < KEY_MILLISECONDS;
    const sent = {
      ...draft,
      idempotencyKey: isFresh ? draft.idempotencyKey : newKey(),
      unanswered: isFresh ? draft.unanswered : now,
    };
    confirmed.current = sent.idempotencyKey;
    try {
      const body = bodyOf(sent);
      keep(sent);
      const { data } = await call("POST", ["connections", target.id, "queued_requests"], {
        body,
        headers: { "Idempotency-Key": sent.idempotencyKey },
      });
      removeDraft(place);
      toast("The request is queued.");
      navigate(url(`/queued_requests/${data.id}`));
    } catch (problem) {
      const isDefinite = problem instanceof SyntaxError || (problem.status >= 400 && problem.status < 500);
      // After somebody signed out, nothing is kept.
      if (isDefinite && (session.key || problem.status === 401)) keep({ ...draft, idempotencyKey: null });
      const found =
        problem instanceof SyntaxError
          ? [{ field: "body", message: `The JSON is broken: ${problem.message}.` }]
          : (problem.details?.problems ?? []);
      setError(found.length ? null : problem);
      setBusy(false);
      show(
        found.map((one) => ({
          ...one,
          message: problemText(one),
          element: isForm(mode) && one.path ? elementAt(pruned(tree), one.path) : undefined,
        })),
      );
    }
  };

  const action = current ? actionTitle(current.tree) : "Queue request";
  const books = target && nameOf(target);
  const lack = (since) => lackOf(since, version, supported);
  return html`
    <${Beginning}
      source=${source}
      draft=${draft}
      target=${target}
      restoredAt=${restoredAt}
      startOver=${startOver}
    />
    <div class="compose ${mode === "simple" ? "simple" : ""}">
      <section class="card" aria-label="Request">
        <header>
          <h2>${requestTitle(type.name)}</h2>
          <div class="row">
            ${
              isForm(mode) &&
              html`
                <label class="row plain">
                  <span class="muted small">QBXML</span>
                  <select
                    class="compact"
                    value=${version}
                    title=${supportText(target)}
                    onChange=${(event) => edit({ version: event.target.value })}
                  >
                    ${versionsFor(supported, version).map(
                      (one) => html`<option value=${one} selected=${one === version}>${one}</option>`,
                    )}
                  </select>
                </label>
              `
            }
            <${Segmented} label="Edit as" value=${mode} onChange=${switchTo} options=${modesOf(type.name)} />
          </div>
        </header>
        ${
          isForm(mode)
            ? html`
              <div class="body stack">
                <${Version} version=${version} target=${target} choose=${(next) => edit({ version: next })} />
                ${
                  mode === "simple"
                    ? html`
                      <${SimpleForm}
                        form=${simple}
                        type=${type}
                        tree=${tree}
                        change=${changeTree}
                        problems=${problems}
                        offers=${offers}
                        lackOf=${lack}
                        showAllFields=${() => switchTo("form")}
                      />
                    `
                    : html`
                      <${GroupForm}
                        group=${type.content}
                        tree=${tree}
                        change=${changeTree}
                        problems=${problems}
                        lackOf=${lack}
                      />
                    `
                }
                <${RequestAttributes} type=${type} tree=${tree} change=${changeTree} />
              </div>
            `
            : html`
              <${Editor}
                key=${mode}
                text=${text}
                language=${mode}
                label="${mode.toUpperCase()} of the request"
                problems=${problems}
                onChange=${(value) => {
                  setProblems(NO_PROBLEMS);
                  edit({ text: value });
                }}
              />
            `
        }
      </section>
      <div class="stack stick">
        <section class="card" aria-label="Queue">
          <div class="body stack">
            <div ref=${outcome}>
              ${
                problems.length > 0 &&
                html`
                  <${Note} tone="red" role="alert" title=${plural(problems.length, "problem")}>
                    <ul class="stack tight">
                      ${problems.map(
                        (one) => html`
                          <li>
                            ${one.line && mode !== "json" ? html`<span class="tag">line ${one.line}</span> ` : ""}
                            ${one.message}
                          </li>
                        `,
                      )}
                    </ul>
                  <//>
                `
              }
              ${
                error &&
                html`
                  <${Note} tone="red" role="alert">
                    <p>${explain(error)}</p>
                    ${
                      error.status === 0 || error.status >= 500
                        ? html`
                          <p>
                            Nothing is lost: press the button again. If the request was queued, it is not queued twice.
                          </p>
                        `
                        : ""
                    }
                  <//>
                `
              }
            </div>
            <${Field}
              label="Webhook URL (optional)"
              help=${webhook !== null && "If it is empty, the webhook URL of the connection is used."}
            >
              ${(control) => html`
                <input
                  ...${control}
                  value=${webhook ?? ""}
                  disabled=${webhook === null}
                  inputmode="url"
                  maxlength="2048"
                  placeholder=${webhook === null ? undefined : "https://example.com/webhooks/quickbooks"}
                  onInput=${(event) => edit({ webhook: event.target.value })}
                />
              `}
            <//>
            <label class="check">
              <input
                type="checkbox"
                checked=${webhook === null}
                onChange=${(event) => edit({ webhook: event.target.checked ? null : "" })}
              />
              Send no webhook
            </label>
            ${
              session.canChange
                ? html`
                  <${Button} kind="primary block" busy=${busy} onClick=${press}>
                    ${books ? html`<span>${action} in <${Foreign} text=${books} /></span>` : action}
                  <//>
                `
                : html`<span class="muted">A read-only key cannot queue requests.</span>`
            }
            <div class="row between">
              <a href=${url(`/qbxml/${type.name}`)}>${type.name} in the reference</a>
              ${
                !isKept &&
                html`<span class="failed small" role="status">This draft is too large to be kept in this tab.</span>`
              }
            </div>
          </div>
        </section>
        <${Preview} draft=${draft} current=${current} assumed=${assumed} connection=${target?.id} />
      </div>
    </div>
    ${
      asking &&
      html`
        <${ConfirmWrite}
          tree=${current && pruned(current.tree)}
          target=${books}
          unanswered=${draft.unanswered}
          isSame=${Boolean(draft.idempotencyKey)}
          labels=${mode === "simple" ? labelsOf(simple) : undefined}
          totals=${mode === "simple" ? totalsOf(simple, tree, offers) : []}
          confirm=${queue}
          close=${() => setAsking(false)}
        />
      `
    }
  `;
}

/** Says which version of QBXML the connection supports, and offers it if the request has a higher one. */
function Version({ version, target, choose }) {
  const supported = target?.qbxml_version;
  if (!isTooNew(version, supported)) return html`<p class="muted small">${supportText(target)}</p>`;
  return html`
    <${Note} tone="amber" title="QuickBooks cannot read QBXML ${version}">
      <p>${supportText(target)}</p>
      <p><${Button} kind="small" onClick=${() => choose(supported)}>Use ${supported}<//></p>
    <//>
  `;
}

function supportText(target) {
  if (!target) return "Choose a connection to see which version of QBXML its QuickBooks supports.";
  if (!target.qbxml_version)
    return "This connection's QuickBooks has not answered yet, so the QBXML version that it supports is unknown.";
  return `This connection's ${target.quickbooks_product_name ?? "QuickBooks"} supports QBXML up to ${target.qbxml_version}.`;
}

/** Returns the problems whose element is still in the form unchanged. */
function stillIn(tree, problems) {
  const elements = new Set();
  const visit = (element) => {
    elements.add(element);
    element.children?.forEach(visit);
  };
  visit(tree);
  return problems.filter(({ element }) => elements.has(element));
}

/** Where a draft comes from, and what to know before it is queued. */
function Beginning({ source, draft, target, restoredAt, startOver }) {
  return html`
    ${source && html`<${Source} source=${source} />`}
    ${
      restoredAt &&
      html`
        <${Note} title=${draft.unanswered ? "This draft may already be queued" : "Your draft was restored"}>
          <p>
            ${
              draft.unanswered
                ? html`
                  It was sent at ${fullTime(new Date(draft.unanswered).toISOString())}, and no answer arrived.${" "}
                  ${
                    target &&
                    html`
                      <a href=${url(`/connections/${target.id}`)}>Look at the requests</a> before you queue it again.
                    `
                  }
                `
                : html`
                  You last changed it <${Ago} at=${new Date(restoredAt).toISOString()} />. It stays in this tab until
                  you queue it or sign out.
                `
            }
          </p>
          <p><${Button} kind="small" icon="refresh" onClick=${startOver}>Start over<//></p>
        <//>
      `
    }
  `;
}

/** The request that a draft was copied from, and why it failed. */
function Source({ source }) {
  const address = url(`/queued_requests/${source.id}`);
  if (isUnsettled(source)) {
    return html`
      <${Note} tone="amber" title="QuickBooks may have executed the request that you are editing">
        <p><a href=${address}>Find out first</a>. Otherwise it could be in the books twice.</p>
      <//>
    `;
  }
  return html`
    <${Note}
      tone=${source.error ? "amber" : ""}
      title=${source.error ? html`<${Foreign} text=${source.error.message} />` : "This is a copy of an earlier request"}
    >
      ${source.error?.details?.hint && html`<p><${Foreign} text=${source.error.details.hint} /></p>`}
      <p>Correct the copy and queue it. <a href=${address}>The earlier request</a> stays as it is.</p>
    <//>
  `;
}

/** `requestID` and the iterator of a query. */
function RequestAttributes({ type, tree, change }) {
  const set = (name, value) => change({ ...tree, attributes: { ...tree.attributes, [name]: value } });
  return html`
    <div class="fieldset">
      <div class="form-line">
        <label class="name" for="request-label">Label</label>
        <input
          id="request-label"
          maxlength="50"
          value=${tree.attributes?.request_id ?? ""}
          onInput=${(event) => set("request_id", event.target.value)}
        />
        <p class="help">
          Sent as requestID and returned with the response. If it is empty, the ID of the request is used.
        </p>
      </div>
      ${
        "iterator" in type.attributes &&
        html`
          <label class="check">
            <input
              type="checkbox"
              checked=${tree.attributes?.iterator === "Start"}
              onChange=${(event) => set("iterator", event.target.checked ? "Start" : "")}
            />
            Fetch all results in pages (needs MaxReturned)
          </label>
        `
      }
    </div>
  `;
}

/** `current` is what the draft queues, or null if its text cannot be read. */
function Preview({ draft, current, assumed, connection = "CONNECTION_ID" }) {
  const { mode } = draft;
  const [form, setForm] = useState("xml");
  // While one form is edited, the preview shows the other one.
  useEffect(() => {
    if (mode === form) setForm(mode === "xml" ? "json" : "xml");
  }, [mode]);
  const problem = !current ? "The text cannot be read yet." : form === "json" && isOnlyXml(draft) ? ONLY_XML : null;
  const text = () =>
    form === "xml" || form === "json"
      ? written(form, current, assumed)
      : samplesOf(connection, sampleBodyOf(draft, current, assumed))[form];
  return html`
    <section class="card" aria-label="Preview">
      <header>
        <h2>Preview</h2>
        <${Segmented}
          label="Show as"
          value=${form}
          onChange=${setForm}
          options=${[
            ["xml", "XML"],
            ["json", "JSON"],
            ["curl", "curl"],
            ["python", "Python"],
            ["javascript", "JavaScript"],
          ]}
        />
      </header>
      <div class="body">
        ${problem ? html`<p class="muted">${problem}</p>` : html`<${Code} label="Preview" text=${text()} />`}
      </div>
    </section>
  `;
}
