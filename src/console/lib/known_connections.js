// The connections that Ctrl-K finds by name, kept in the memory of the tab.
import { call } from "./api.js";
import { session } from "./session.js";

const PAGE_SIZE = 100;
/** The pages that are read. */
const MAX_PAGES = 10;
const KEEP_MILLISECONDS = 300_000;

/** @typedef {{at: number, list: any[], total: number}} Known */

/** The connections that were read last. @type {Known | null} */
let kept = null;
/** What was forgotten or changed while it was read is not kept. @type {symbol | null} */
let reading = null;
/** The connection that a view read last. The list can be older, or too short for it. @type {any} */
let noted = null;

/** Returns the connections that were read last, or none. */
export const known = () => kept ?? { at: 0, list: [], total: 0 };

/** Returns a connection if a view has read it last. @param {string} id */
export const notedConnection = (id) => (noted?.id === id ? noted : undefined);

/**
 * Keeps a connection that a view has read or changed.
 *
 * @param {any} connection
 */
export function noteConnection(connection) {
  noted = connection;
  reading = null;
  if (kept) kept = { ...kept, list: kept.list.map((one) => (one.id === connection.id ? connection : one)) };
}

/** Forgets the connections: one was created or deleted, or another reader may sign in. */
export function forgetConnections() {
  kept = null;
  reading = null;
  noted = null;
}
session.onSignOut(forgetConnections);

/**
 * Reads connections, oldest first, and shows what is read after each page. It keeps them for five minutes.
 *
 * @param {AbortSignal} signal
 * @param {(known: Known) => void} show
 */
export async function readConnections(signal, show) {
  if (kept && Date.now() - kept.at < KEEP_MILLISECONDS) return show(kept);
  const mine = Symbol("reading");
  reading = mine;
  let read = /** @type {Known} */ ({ at: Date.now(), list: [], total: 0 });
  for (let page = 1, pages = 1; page <= Math.min(pages, MAX_PAGES); page += 1) {
    const answer = await call("GET", ["connections"], { query: { page, page_size: PAGE_SIZE }, signal });
    pages = answer.total_pages;
    read = { ...read, list: [...read.list, ...answer.data], total: answer.total };
    show(read);
  }
  if (reading === mine) kept = read;
  return undefined;
}
