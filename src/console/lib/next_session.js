// The next session of a connection: whether it is expected by a time, or cannot begin before it.
import { html } from "../vendor/preact.js";
import { At, By } from "./ui.js";

const MINUTE = 60_000;
const MINUTES_OF_A_DAY = 24 * 60;

/** @param {string} clock */
const minutesOf = (clock) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5));

/**
 * Returns how many minutes before a moment a window opened, or null if it is closed.
 *
 * @param {{from: string, to: string, time_zone: string}} window
 * @param {number} moment
 */
function minutesOpen({ from, to, time_zone: timeZone }, moment) {
  const local = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(moment);
  const since = (/** @type {string} */ clock) =>
    (minutesOf(clock) - minutesOf(from) + MINUTES_OF_A_DAY) % MINUTES_OF_A_DAY;
  return since(local) < since(to) ? since(local) : null;
}

/**
 * Whether the sync window is open from `now` until a later moment.
 *
 * @param {{from: string, to: string, time_zone: string} | null} window
 * @param {number} now
 * @param {number} moment
 */
function isOpenUntil(window, now, moment) {
  if (!window) return true;
  const [first, last] = [minutesOpen(window, now), minutesOpen(window, moment)];
  return first !== null && last !== null && first <= last && moment - now < MINUTES_OF_A_DAY * MINUTE;
}

/** While one of these is the reason, no session begins before its end. A closed window can have another reason. */
const HELD = new Set(["outside_sync_window", "quickbooks_failing"]);

/**
 * Whether the next session cannot begin before its time. Otherwise it is expected by then, and may begin sooner.
 *
 * @param {{next_session_at: string, sync_window?: {from: string, to: string, time_zone: string} | null,
 *   waiting_reason: {code: string} | null}} connection
 * @param {number} now
 */
export const isHeld = ({ next_session_at: next, sync_window: window, waiting_reason: reason }, now = Date.now()) =>
  HELD.has(reason?.code ?? "") || !isOpenUntil(window ?? null, now, Date.parse(next));

/** "expected by …", or "not before …". The Web Connector may call sooner than expected, so no time runs down. */
export const NextSession = ({ connection }) =>
  isHeld(connection)
    ? html`not before <${At} moment=${connection.next_session_at} />`
    : html`expected <${By} moment=${connection.next_session_at} />`;
