// The draft of a request: the form, its check, and queueing.
import { html, useMemo, useRef, useState } from "../vendor/preact.js";
import { useLoad } from "../lib/api.js";
import { CHANGES, namesOf } from "../lib/changes.js";
import { readDraft, removeDraft, writeDraft } from "../lib/drafts.js";
import { Editor } from "../lib/editor.js";
import { incompleteDates, stillIncomplete, withOthers } from "../lib/incomplete_dates.js";
import { newKey, queueDraft } from "../lib/queue_again.js";
import { session } from "../lib/session.js";
import {
  beginning,
  bodyOf,
  formOf,
  isForm,
  isForPeople,
  lacksOf,
  metadataProblem,
  modesOf,
  requestOf,
  stillIn,
  switched,
} from "../lib/request_draft.js";
import { navigate, url } from "../lib/router.js";
import { requestType } from "../lib/schema.js";
import { inWordsOf, labelsOf, offersIn } from "../lib/simple_forms.js";
import { actionTitle, isRead, requestTitle } from "../lib/text.js";
import { elementAt, pruned } from "../lib/trees.js";
import { Button, Foreign, Problem, problemText, Segmented, SkeletonCard, toast } from "../lib/ui.js";
import { firstVersion, lackOf } from "../lib/versions.js";
import { ChangeForm, differenceIn } from "./change_form.js";
import { GroupForm } from "./compose_form.js";
import { Beginning, hasFetchAll, Preview, RequestAttributes, Version, VersionSelect } from "./compose_parts.js";
import { QueueCard } from "./compose_queue.js";
import { nameOf } from "./compose_start.js";
import { ConfirmWrite } from "./confirm_write.js";
import { useOffers } from "./offers.js";
import { QueryForm } from "./query_form.js";
import { SimpleForm } from "./simple_form.js";
import { totalsOf } from "./simple_lines.js";

const NO_PROBLEMS = [];

const NO_OFFERS = [];

const inputs = () => document.querySelectorAll(".compose input");

/** The status of a call that has queued nothing, because an earlier one has. */
const REPEATED = 200;

/** The service keeps idempotency keys for a day. An older one would not prevent a second request. */
const KEY_MILLISECONDS = 23 * 3_600_000;

export function Work({ name, ...rest }) {
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

function Draft({ type, place, target, askForTarget, source, object, which }) {
  const supported = target?.qbxml_version;
  const [draft, setDraft] = useState(() => readDraft(place) ?? beginning(type, source, supported, object, which));
  const [restoredAt, setRestoredAt] = useState(draft.at);
  const [isKept, setKept] = useState(true);
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const confirmed = useRef(null);
  const outcome = useRef();
  const { mode, tree, version, text } = draft;
  // The service takes this version for a text without one.
  const assumed = firstVersion(supported);
  const current = useMemo(() => requestOf(draft, assumed), [mode, tree, draft.edited, version, text, assumed]);
  const simple = formOf(type, tree);
  const offers = useOffers(target?.id, isForPeople(mode) ? offersIn(simple) : NO_OFFERS);

  const keep = (next) => {
    setDraft(next);
    setKept(writeDraft(place, next));
  };
  // Each content has one idempotency key, so queueing it twice, also after a reload, makes one request.
  const edit = (changes) => {
    setError(null);
    setProblems((known) => known.filter(({ field }) => !(field in changes)));
    keep({ ...draft, touched: true, idempotencyKey: null, ...changes });
  };
  const isChange = mode === "change" && draft.base;
  const isUnread = mode === "change" && !draft.base;
  const changeTree = (next) => {
    setProblems(stillIn(next, problems));
    edit(isChange ? { edited: next } : { tree: next });
  };
  /** A render between the `input` and the `change` of another control, such as a check box, would undo its change. */
  const recheckDates = ({ target }) => {
    if (["date", "time"].includes(target.type))
      setProblems((known) => stillIncomplete(known, incompleteDates(inputs())));
  };
  const startOver = () => {
    removeDraft(place);
    setDraft(beginning(type, source, supported, object, which));
    setRestoredAt(null);
    setProblems(NO_PROBLEMS);
    setError(null);
  };
  const switchTo = (next) => {
    const lost = incompleteDates(inputs()).filter(({ element }) => element);
    if (lost.length) return show(lost);
    try {
      const changed = switched(type, draft, next, assumed);
      if (draft.touched) keep({ ...draft, ...changed });
      else setDraft({ ...draft, ...changed });
      setProblems(NO_PROBLEMS);
      setError(null);
    } catch (problem) {
      setProblems([{ message: problem.message, line: problem.line, column: problem.column }]);
    }
  };
  const show = (found) => {
    setProblems(isForPeople(mode) ? found.map((one) => inWordsOf(simple, one)) : found);
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
    const missing = lacksOf(type, draft);
    const unnamed = metadataProblem(draft.metadata);
    const lacks = unnamed ? [...missing, { message: unnamed }] : missing;
    const found = withOthers(incompleteDates(inputs()), lacks);
    if (found.length) return show(found);
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
      let wasThere = false;
      const queued = await queueDraft(target.id, source, body, sent.idempotencyKey, (status) => {
        wasThere = status === REPEATED;
      });
      removeDraft(place);
      toast(wasThere ? "The request was queued before. This is the one that replaces it." : "The request is queued.");
      navigate(url(`/queued_requests/${queued.id}`));
    } catch (problem) {
      const isDefinite = problem instanceof SyntaxError || (problem.status >= 400 && problem.status < 500);
      // After somebody signed out, nothing is kept.
      if (isDefinite && (session.about || problem.status === 401)) keep({ ...draft, idempotencyKey: null });
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
          element: isForm(mode) && one.path ? elementAt(current.tree, one.path) : undefined,
        })),
      );
    }
  };

  const forms = { simple: simple?.root ? SimpleForm : QueryForm, change: ChangeForm, form: GroupForm };
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
    <div class="compose ${isForPeople(mode) ? "simple" : ""}" onInput=${recheckDates} onKeyUp=${recheckDates}>
      <section class="card" aria-label="Request">
        <header>
          <h2>${requestTitle(type.name)}</h2>
          <div class="row">
            ${
              isForm(mode) &&
              html`<${VersionSelect} version=${version} target=${target} choose=${(next) => edit({ version: next })} />`
            }
            <${Segmented} label="Edit as" value=${mode} onChange=${switchTo} options=${modesOf(type)} />
          </div>
        </header>
        ${
          isForm(mode)
            ? html`
              <div class="body stack">
                <${Version} version=${version} target=${target} choose=${(next) => edit({ version: next })} />
                <${forms[mode]}
                  ...${{ type, draft, edit, target, source, object, askForTarget, problems, offers }}
                  form=${simple}
                  group=${type.content}
                  tree=${tree}
                  change=${changeTree}
                  lackOf=${lack}
                  showAllFields=${() => switchTo("form")}
                />
                <${RequestAttributes}
                  type=${type}
                  tree=${isChange ? draft.edited : tree}
                  change=${changeTree}
                  showsAll=${forms[mode] === QueryForm && hasFetchAll(type, tree)}
                />
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
        <${QueueCard}
          type=${type}
          draft=${draft}
          edit=${edit}
          problems=${problems}
          error=${error}
          outcome=${outcome}
          isKept=${isKept}
          button=${
            isUnread
              ? html`
                <p class="muted">Read the ${CHANGES[type.name].noun} first. Its change can then be queued here.</p>
              `
              : html`
                <${Button} kind="primary block" busy=${busy} onClick=${press}>
                  ${books ? html`<span>${action} in <${Foreign} text=${books} /></span>` : action}
                <//>
              `
          }
        />
        ${!isUnread && html`<${Preview} ...${{ draft, current, assumed }} connection=${target?.id} />`}
      </div>
    </div>
    ${
      asking &&
      html`
        <${ConfirmWrite}
          tree=${current && pruned(current.tree)}
          target=${books}
          object=${isChange ? namesOf(draft.base) : undefined}
          unanswered=${draft.unanswered}
          isSame=${Boolean(draft.idempotencyKey)}
          labels=${mode === "simple" ? labelsOf(simple) : undefined}
          difference=${differenceIn(draft)}
          totals=${mode === "simple" ? totalsOf(simple, tree, offers) : []}
          confirm=${queue}
          close=${() => setAsking(false)}
        />
      `
    }
  `;
}
