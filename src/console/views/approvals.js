// The writes that wait for approval, as a queue: what each one does, and the decision.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { useLoad } from "../lib/api.js";
import { noteApprovals } from "../lib/approval_count.js";
import { batchesOf, changed, decide, itemOf, labelIn, merged, readQueue, refused } from "../lib/approvals.js";
import { focusedRow, useKeys } from "../lib/keyboard.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { count, plural } from "../lib/text.js";
import { Button, Empty, explain, Foreign, Note, Problem, SkeletonCard, toast, useTitle } from "../lib/ui.js";
import { Batch } from "./approval_batch.js";
import { DecisionDialog } from "./approval_dialog.js";
import { Write } from "./approval_write.js";
import { Pick } from "./many_bar.js";

/** A look makes several calls. */
const REFRESH_MILLISECONDS = 60_000;

export default function Approvals({ query: { connection } }) {
  useTitle("Approvals");
  const load = useLoad((signal) => readQueue(connection, signal), [connection], { refresh: REFRESH_MILLISECONDS });
  const own = session.actorId;
  const queue = useQueue(load.data, connection);
  const [dialog, setDialog] = useState(null);
  const [selected, select] = useState(/** @type {string[]} */ ([]));
  const groups = queue.shown?.groups ?? [];
  const items = groups.flatMap((group) => batchesOf(group.items).flatMap((part) => part.items));
  /** What is not shown, or was queued by this reader, cannot be approved here. */
  const mayDecide = ({ record, tree, newer }) =>
    session.may("decide") && tree && !newer && (!own || record.approval.queued_by !== own);
  const chosen = items.filter((item) => selected.includes(item.record.id) && mayDecide(item));
  const set = (ids, isSelected) =>
    select((former) => [...former.filter((id) => !ids.includes(id)), ...(isSelected ? ids : [])]);

  const done = async (meant, results, said) => {
    setDialog(null);
    const next = nextOf(items, meant, results);
    const left = await queue.decided(meant, results);
    select((ids) => ids.filter((id) => !results.has(id) || results.get(id)));
    const decided = meant.length - left;
    if (decided) toast(left ? `${said(decided)} ${plural(left, "other")} left.` : said(decided));
    if (next) focusWrite(next);
    if (groups.some(({ total, items: some }) => total > some.length)) load.reload();
  };
  /** Approves a write whose button was pressed. One with values that nobody has seen is asked about first. */
  const approve = async (item) => {
    if (item.record.depends_on.length) return setDialog({ approves: true, items: [item] });
    const results = await decide([item], { approves: true, acceptValues: false }, new AbortController().signal);
    return done([item], results, () => "Approved.");
  };
  const ask = (approves, meant) => meant.length > 0 && setDialog({ approves, items: meant });
  const focused = () => items.filter((item) => item.record.id === focusedRow()?.dataset.id && mayDecide(item));
  useKeys(
    session.may("decide")
      ? [
          ["x", "Select the row", () => focused().forEach(({ record: { id } }) => set([id], !selected.includes(id)))],
          ["a", "Approve the selected rows, or this one", () => ask(true, chosen.length ? chosen : focused())],
          ["r", "Reject the selected rows, or this one", () => ask(false, chosen.length ? chosen : focused())],
        ]
      : [],
  );
  const row = (item) => html`
    <${Write}
      key=${item.record.id}
      item=${item}
      isOwn=${Boolean(own) && item.record.approval.queued_by === own}
      mayDecide=${mayDecide(item)}
      isSelected=${selected.includes(item.record.id)}
      select=${(isSelected) => set([item.record.id], isSelected)}
      approve=${() => approve(item)}
      reject=${() => ask(false, [item])}
      show=${(record) => queue.show(record)}
    />
  `;
  return html`
    <div class="page approvals">
      <div class="page-head">
        <div>
          <h1>Approvals</h1>
          <p class="sub">
            ${
              connection
                ? html`
                  <span>Writes of one connection. They are sent after somebody has approved them.</span>
                  <a href=${url("/approvals")}>All connections</a>
                `
                : "Writes that are sent to QuickBooks after somebody has approved them."
            }
          </p>
        </div>
      </div>
      ${
        load.error &&
        html`<${Problem} error=${load.error} retry=${load.reload} what="The writes could not be loaded." />`
      }
      ${!session.may("decide") && items.length > 0 && html`<${CannotDecide} />`}
      ${!queue.shown && !load.error && html`<${SkeletonCard} lines=${6} />`}
      ${queue.shown && groups.length === 0 && html`<${Nothing} queue=${queue.shown} />`}
      ${
        items.length > 0 &&
        session.may("decide") &&
        html`<${Bar} items=${items.filter(mayDecide)} chosen=${chosen} set=${set} ask=${ask} />`
      }
      ${groups.map(
        (group) => html`
          <section class="card" key=${group.connection.id} aria-label=${labelIn(groups, group)}>
            <header>
              <h2>
                <a class="break" href=${url(`/connections/${group.connection.id}`)}>
                  <${Foreign} text=${group.connection.name ?? "Unnamed connection"} />
                </a>
              </h2>
              <span class="muted small">${plural(group.total, "write")}</span>
            </header>
            ${batchesOf(group.items).map(({ id, batch, items: some }) => {
              const list = html`<ol class="writes" key=${id}>${some.map(row)}</ol>`;
              const askAll = (approves) => setDialog({ approves, items: some, batch });
              return batch
                ? html`<${Batch} key=${id} items=${some} mayDecide=${some.every(mayDecide)} ask=${askAll}>${list}<//>`
                : list;
            })}
            ${
              group.total > group.items.length &&
              group.items.length > 0 &&
              html`
                <p class="foot">
                  <span>The ${count(group.items.length)} that have waited longest.</span>
                  ${
                    connection
                      ? "Decide about them, and the next ones are shown."
                      : html`<a href=${url("/approvals", { connection: group.connection.id })}>Only this connection</a>`
                  }
                </p>
              `
            }
          </section>
        `,
      )}
      <${Others} queue=${queue.shown} />
      ${
        dialog &&
        html`
          <${DecisionDialog}
            ...${dialog}
            onClose=${() => setDialog(null)}
            done=${(results, said) => done(dialog.items, results, said)}
          />
        `
      }
    </div>
  `;
}

/** The queue as it is shown, and what changes it. */
function useQueue(fresh, connection) {
  const [shown, setShown] = useState(null);
  const gone = useRef(new Set());
  useEffect(() => setShown(null), [connection]);
  useEffect(() => {
    if (fresh) setShown((former) => merged(former, fresh, gone.current));
  }, [fresh]);
  useEffect(() => {
    if (!shown || connection) return;
    const waiting = shown.groups.map(({ total }) => total).concat(shown.others.map((one) => one.awaiting_approval));
    noteApprovals(
      waiting.reduce((sum, number) => sum + number, 0),
      shown.isAll,
    );
  }, [shown]);
  const replace = (id, change) =>
    setShown((former) => former && changed(former, (item) => (item.record.id === id ? change(item) : item)));
  return {
    shown,
    /** Shows the content of a record in place of what is shown of it. */
    show: (record) => replace(record.id, (item) => ({ ...itemOf(record), wasChanged: Boolean(item.newer) })),
    /** Takes the results of a decision, and returns how many writes were left. */
    decided: async (items, results) => {
      let left = 0;
      for (const item of items) {
        const { id } = item.record;
        const problem = results.get(id);
        if (problem === undefined) left += 1;
        else if (problem === null) {
          gone.current.add(id);
          replace(id, () => null);
        } else {
          left += 1;
          const next = await refused(item, problem);
          if (!next) {
            gone.current.add(id);
            toast(explain(problem), "red");
          }
          replace(id, () => next);
        }
      }
      return left;
    },
  };
}

/** Returns the write behind those that a decision removes, or before them. */
function nextOf(items, meant, results) {
  const isGone = ({ record }) => meant.some((one) => one.record.id === record.id) && results.get(record.id) === null;
  const last = items.findLastIndex(isGone);
  const next =
    items.slice(last + 1).find((item) => !isGone(item)) ?? items.slice(0, last).findLast((item) => !isGone(item));
  return next?.record.id;
}

/** Gives the focus to a write, as soon as those that were decided are not shown any more. */
function focusWrite(id) {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const row = [...document.querySelectorAll(".writes > li")].find((one) => one.dataset.id === id);
    row?.querySelector("a[href]")?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  });
}

function Bar({ items, chosen, set, ask }) {
  const ids = items.map(({ record }) => record.id);
  const isAll = chosen.length > 0 && chosen.length === ids.length;
  return html`
    <div class="card decision-bar" role="group" aria-label="Decide about several">
      <span class="pick">
        <${Pick}
          label="Select all that are shown"
          checked=${isAll}
          isPartial=${chosen.length > 0 && !isAll}
          onChange=${(isSelected) => set(ids, isSelected)}
        />
      </span>
      <span class="strong" role="status">
        ${chosen.length ? `${count(chosen.length)} selected` : "None selected"}
      </span>
      <div class="row tools">
        <${Button} kind="small" disabled=${!chosen.length} onClick=${() => ask(false, chosen)}>Reject…<//>
        <${Button} kind="small primary" icon="check" disabled=${!chosen.length} onClick=${() => ask(true, chosen)}>
          Approve…
        <//>
      </div>
    </div>
  `;
}

const CannotDecide = () => html`
  <${Note} title="You may look, but not decide">
    <p>
      ${
        session.person
          ? session.refusal
          : html`
            Sign in with a full key or one with the scope <code>approve</code>, other than the key that queued the
            write.
          `
      }
    </p>
  <//>
`;

function Nothing({ queue }) {
  return html`
    <div class="card">
      <${Empty} icon="stamp" title=${queue.isAll ? "Nothing waits for approval" : "Nothing was found that waits"}>
        A write waits here if it was queued with approval required, if its connection requires approval for all writes,
        or if a key that only proposes has queued it.
      <//>
    </div>
  `;
}

/** The connections that were not read. */
function Others({ queue }) {
  if (!queue || (queue.isAll && queue.others.length === 0)) return null;
  return html`
    <section class="card" aria-label="Other connections">
      <header><h2>Other connections</h2></header>
      ${
        queue.others.length > 0 &&
        html`
          <ul class="items">
            ${queue.others.map(
              ({ id, name, awaiting_approval: number }) => html`
                <li key=${id} class="row between">
                  <a class="break" href=${url("/approvals", { connection: id })}>
                    <${Foreign} text=${name ?? "Unnamed connection"} />
                  </a>
                  <span class="muted">${plural(number, "write")}</span>
                </li>
              `,
            )}
          </ul>
        `
      }
      ${!queue.isAll && html`<p class="foot">Only your oldest connections were looked at.</p>`}
    </section>
  `;
}
