// How many writes wait for approval, for the navigation. It makes no call of its own: the number is the one that a view
// has read last.
import { useEffect, useState } from "../vendor/preact.js";
import { session } from "./session.js";

/** @type {{number: number, isAll: boolean} | null} `isAll`: it includes every connection. */
let known = null;
/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Notes how many writes wait.
 *
 * @param {number} number
 * @param {boolean} isAll
 */
export function noteApprovals(number, isAll) {
  known = { number, isAll };
  for (const listener of listeners) listener();
}

/**
 * Notes what a page of the list of connections says, if it is the only one.
 *
 * @param {{data: {awaiting_approval: number}[], total_pages: number}} list
 */
export function noteConnections(list) {
  if (list.total_pages > 1) return;
  const number = list.data.reduce((sum, one) => sum + one.awaiting_approval, 0);
  noteApprovals(number, true);
}

session.onSignOut(() => {
  known = null;
});

/** Returns how many writes wait, or null if that is not known. */
export function useApprovals() {
  const [, update] = useState(0);
  useEffect(() => {
    const listener = () => update((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return known;
}
