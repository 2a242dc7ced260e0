// What failed, in groups of all connections, and what is said about them.
import { wordsOf } from "./error_words.js";
import { causeOf } from "./text.js";

/**
 * Returns the groups of connections with the same name as one group, the largest first. `open` counts the requests that
 * were not queued again. The webhooks of a receiver have no such number.
 *
 * @param {Record<string, any>[]} rows
 * @param {(row: Record<string, any>) => string} nameOf
 */
export function merged(rows, nameOf) {
  /** @type {Map<string, Record<string, any>[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = nameOf(row);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()]
    .map((members) => ({
      members,
      open: members.reduce((sum, one) => sum + openOf(one), 0),
      queued_again: sum(members, "queued_again"),
      failed_again: sum(members, "failed_again"),
      repeatable: sum(members, "repeatable"),
      unknown: sum(members, "unknown"),
      first_at: members.reduce((first, one) => (one.first_at < first ? one.first_at : first), members[0].first_at),
      newest: members.reduce((last, one) => (one.last_at > last.last_at ? one : last)),
    }))
    .toSorted((one, other) => other.open - one.open);
}

/** @param {Record<string, any>} row */
export const openOf = (row) => row.requests - (row.queued_again ?? 0);

/**
 * @param {Record<string, any>[]} rows
 * @param {string} name
 */
const sum = (rows, name) => rows.reduce((total, one) => total + (one[name] ?? 0), 0);

/**
 * Returns how to remove a cause, if it is known.
 *
 * @param {Record<string, any>} row
 * @returns {string | undefined}
 */
export const hintOfCause = ({ cause, message, hint }) => wordsOf({ code: cause, message, details: { hint } }).hint;

/**
 * Returns what is said about causes of the same name, the newest first: a title and what is below it. The title is the
 * message only if all requests have it.
 *
 * @param {Record<string, any>[]} causes
 */
export function saysOfCauses(causes) {
  const [{ cause, message, meaning }] = causes;
  const hint = hintOfCause(causes[0]);
  /** @param {string} text */
  const titleOf = (text) => causeOf({ code: cause, message: text, details: {} });
  const isOne = causes.every((one) => one.messages === 1 && one.message === message);
  return isOne ? [titleOf(message), hint] : [titleOf(meaning ?? "Different messages"), `For example: ${message}`, hint];
}
