// The writes that wait for approval, in the overview of one connection or of all.
import { html } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { noteApprovals } from "../lib/approval_count.js";
import { allConnections, MAX_COUNTED } from "../lib/approvals.js";
import { url } from "../lib/router.js";
import { plural } from "../lib/text.js";
import { Note, Problem } from "../lib/ui.js";

/** Each look makes a call for 100 connections, and an idle tab makes few calls. */
const REFRESH_MILLISECONDS = 120_000;

/** Returns how many writes wait for approval, and whether that is the number of all connections. */
async function readApprovals(id, signal) {
  if (id) {
    const query = { page_size: 1, bodies: false };
    const list = await call("GET", ["connections", id, "queued_requests"], { query, signal });
    return { number: list.awaiting_approval, isAll: true };
  }
  const { waiting, isAll } = await allConnections(signal);
  const number = waiting.reduce((sum, one) => sum + one.awaiting_approval, 0);
  noteApprovals(number, isAll);
  return { number, isAll };
}

/** Says how many writes wait, in all connections or only in those that were counted. If none waits, "". */
export function saysOf({ number, isAll }) {
  const verb = number === 1 ? "waits" : "wait";
  if (isAll) return number ? `${plural(number, "write")} ${verb} for approval.` : "";
  const counted = `of the first ${MAX_COUNTED} connections`;
  return number
    ? `${plural(number, "write")} ${counted} ${verb} for approval.`
    : `No write ${counted} waits for approval. Those of the others were not counted.`;
}

/** Leads to the writes that wait for approval. They are in no queue, so no figure of the overview counts them. */
export function ToApprove({ id }) {
  const load = useLoad((signal) => readApprovals(id, signal), [id], { refresh: REFRESH_MILLISECONDS });
  if (!load.data)
    return (
      load.error &&
      html`
        <${Problem}
          error=${load.error}
          retry=${load.reload}
          what="The writes that wait for approval could not be counted."
        />
      `
    );
  const title = saysOf(load.data);
  if (!title) return null;
  const { number } = load.data;
  return html`
    <${Note} icon="stamp" title=${title}>
      ${
        number > 0 &&
        html`
          <p>
            <a href=${url("/approvals", { connection: id })}>Look at ${number === 1 ? "it" : "them"} under Approvals</a>
          </p>
        `
      }
    <//>
  `;
}
