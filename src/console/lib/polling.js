// Polling: when views load their data again, and how old the data on the screen is.
//
// One budget holds for the tab, whatever a view shows. A hidden tab and one that nobody uses do not poll.
import { useEffect, useState } from "../vendor/preact.js";

/** A view that opens makes up to two calls of its own, so a tab stays at ten calls a minute. */
const MAX_POLLS = 8;
const MINUTE = 60_000;
const IDLE_MILLISECONDS = 10 * MINUTE;
export const SLOW_MILLISECONDS = 3000;

/**
 * @typedef {object} Poll
 * @property {() => unknown} run
 * @property {(n: number) => number} wait
 * @property {number} number
 * @property {number} timer
 * @property {number} due
 * @property {number} next
 * @typedef {{at?: number, error?: any, reload?: () => unknown}} Shown What a load shows.
 */

/** @type {Set<Poll>} */
const polls = new Set();
/** @type {Map<unknown, Shown>} */
const loads = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {number[]} */
let recent = [];
let blockedUntil = 0;
let slowCalls = 0;
let usedAt = Date.now();

/**
 * Calls `run` again and again. `wait(n)` is the pause in milliseconds before poll `n`, which begins with 0. Returns a
 * function that ends it.
 *
 * @param {() => unknown} run
 * @param {(n: number) => number} wait
 */
export function poll(run, wait) {
  const due = Date.now() + wait(0);
  const one = { run, wait, number: 0, timer: 0, due, next: due };
  polls.add(one);
  plan(one);
  return () => {
    clearTimeout(one.timer);
    polls.delete(one);
  };
}

/**
 * The service asks to wait: no view polls before that.
 *
 * @param {number} seconds
 */
export function blockPolls(seconds) {
  blockedUntil = Math.max(blockedUntil, Date.now() + seconds * 1000);
}

/** Counts a call that may take long. Returns a function to call at its end. */
export function watchCall() {
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    slowCalls += 1;
    notify();
  }, SLOW_MILLISECONDS);
  return () => {
    clearTimeout(timer);
    if (isSlow) {
      slowCalls -= 1;
      notify();
    }
  };
}

/**
 * Notes what a load shows: `at`, the time of its data, and `error`, why they are not newer. `reload` loads them again
 * if they do not poll.
 *
 * @param {unknown} key
 * @param {Shown | null} state
 */
export function noteLoad(key, state) {
  if (state) loads.set(key, state);
  else loads.delete(key);
  notify();
}

/** Loads everything at once whose age is shown: at the reader's wish, so the budget does not hold. */
export function pollNow() {
  usedAt = Date.now();
  for (const one of polls) start(one);
  for (const { reload } of loads.values()) reload?.();
}

/** Makes every poll due: the reader comes back from another window. The budget holds. */
export function pollSoon() {
  usedAt = Date.now();
  for (const one of polls) {
    one.due = usedAt;
    plan(one);
  }
}

/** `{at, error, nextAt, isSlow, isPaused}` of the view. `at` is the time of its oldest data, or undefined. */
export function useFreshness() {
  const [, update] = useState(0);
  useEffect(() => {
    const listener = () => update((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  const all = [...loads.values()];
  const times = all.flatMap(({ at }) => at ?? []);
  const failed = all.find((one) => one.error);
  return {
    at: times.length ? Math.min(...times) : undefined,
    error: failed?.error,
    nextAt: failed && !failed.reload && polls.size ? Math.min(...[...polls].map(({ next }) => next)) : undefined,
    isSlow: slowCalls > 0,
    isPaused: polls.size > 0 && isIdle(),
  };
}

const isIdle = () => Date.now() - usedAt >= IDLE_MILLISECONDS;
const notify = () => {
  for (const listener of listeners) listener();
};

/**
 * Returns when a poll may begin: it is due, the service does not ask to wait, and the budget has room.
 *
 * @param {Poll} one
 */
function beginningOf({ due }) {
  const now = Date.now();
  recent = recent.filter((at) => at > now - MINUTE);
  const hasRoomAt = recent.length < MAX_POLLS ? now : recent[recent.length - MAX_POLLS] + MINUTE;
  return Math.max(due, blockedUntil, hasRoomAt);
}

/** @param {Poll} one */
function plan(one) {
  clearTimeout(one.timer);
  one.next = beginningOf(one);
  // Polls that were planned for the same moment share the room that the budget has then.
  const begin = () => (beginningOf(one) <= Date.now() ? start(one) : plan(one));
  one.timer = setTimeout(begin, Math.max(one.next - Date.now(), 0));
}

/** @param {Poll} one */
async function start(one) {
  clearTimeout(one.timer);
  if (document.visibilityState === "hidden") return;
  if (isIdle()) return notify();
  recent.push(Date.now());
  one.number += 1;
  await one.run();
  if (!polls.has(one)) return;
  one.due = Date.now() + one.wait(one.number);
  plan(one);
  notify();
}

function wake() {
  const wasIdle = isIdle();
  usedAt = Date.now();
  if (!wasIdle) return;
  for (const one of polls) plan(one);
  notify();
}

for (const name of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "focus"])
  addEventListener(name, wake, { capture: true, passive: true });
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") for (const one of polls) plan(one);
});
