// How often a write was sent, and whether it can be in QuickBooks twice, as far as its record tells
// (docs/decisions/0005-recovery-of-lost-responses.md).
import { isRead, UNFINISHED } from "./text.js";

/** The name of a message that the record does not tell from others. */
export const UNCLEAR = "Sent again or asked about (the record does not say which)";

/**
 * Returns the messages to QuickBooks whose times are stored, oldest first. Those of a request that looks for its object
 * can be queries, which its list of messages names.
 *
 * @param {Record<string, any>} record
 * @returns {{name: string, at: string, tone: string}[]}
 */
export function sendingsOf({ first_sent_at: first, sent_at: last, sent_in_sessions: times }) {
  if (!last) return [];
  if (!first || first === last) return [{ name: "Sent to QuickBooks", at: last, tone: "green" }];
  const lost = { name: "Sent to QuickBooks, response lost", at: first, tone: "amber" };
  return [
    lost,
    times > 1
      ? { name: UNCLEAR, at: last, tone: "green" }
      : {
          name: "QuickBooks was asked for its response",
          at: last,
          tone: "green",
        },
  ];
}

/**
 * Returns how often a write was sent, and whether it is in QuickBooks: `{sent, executed, why}`. `why` is null if there
 * is nothing to explain. Returns null for a read.
 *
 * @param {Record<string, any>} record
 */
export const executionOf = (record) =>
  isRead(record.request_name)
    ? null
    : { sent: sentWords(record), executed: executedWords(record), why: whyOnce(record) };

/** @param {Record<string, any>} record */
function sentWords({ state, sent_at: last, messages, sent_in_sessions: times }) {
  if (times > 1) return `${times} times`;
  if (times === 1) return "Once";
  if (messages?.length) return "No, only a query for its object";
  if (last) return "Only while QuickBooks was closed or busy";
  return UNFINISHED.has(state) ? "Not yet" : "Never";
}

/** @param {Record<string, any>} record */
function executedWords({ executed, outcome, sent_in_sessions: times }) {
  if (executed === "yes") return "Yes. QuickBooks executed this request once";
  if (outcome === "found" || outcome === "unchanged") return "It was there before";
  return executed === "no" || times === 0 ? "No" : "Not known. If it is, then once.";
}

const AGAIN = "It was sent again only after QuickBooks had answered that it had not executed it.";
const EXCEPTION =
  "It can be there twice only if QuickBooks lost its record of it, for example because the company file was rebuilt or restored.";

/** @param {Record<string, any>} record */
function whyOnce({ first_sent_at: first, state, sent_in_sessions: times, if_exists: ifExists }) {
  if (!first) return times > 1 ? AGAIN : null;
  const isOne = ifExists === "fail" ? " Each time it had the same message set ID, which QuickBooks executes once." : "";
  if (times > 1) return `The response was lost. ${AGAIN}${isOne} ${EXCEPTION}`;
  return state === "retryable"
    ? "The response was lost. QuickBooks is asked for it. Only if it has not executed the write, this is sent again."
    : "The response was lost. Since then QuickBooks was only asked for it, which executes nothing.";
}
