// When a moment is, in words for people.
import { lazy } from "./text.js";

const onlyTime = lazy(() => new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" }));
const dayOfYear = lazy(() => new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" }));
const onlyDay = lazy(() => new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" }));
const relative = lazy(() => new Intl.RelativeTimeFormat("en", { numeric: "auto" }));
const relativeShort = lazy(() => new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" }));

/** Further away, a relative time is too vague: "yesterday" can be 36 hours ago. */
const RELATIVE_SECONDS = 86_400;

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["hour", 3600],
  ["minute", 60],
];

/**
 * Returns when a moment is: within 24 hours how long ago or how far ahead, "3 minutes ago" or "in 3 minutes", otherwise
 * its date and time in the reader's time zone, with the year if it is another one: "Nov 28, 9:07 PM".
 *
 * @param {string} iso
 */
export const ago = (iso, now = Date.now()) => (isNear(iso, now) ? distance(relative(), iso, now) : dated(iso, now));

/**
 * The same for narrow columns: "3 min ago". A moment of another year has its date alone: "Nov 28, 2025".
 *
 * @param {string} iso
 */
export function agoShort(iso, now = Date.now()) {
  if (isNear(iso, now)) return distance(relativeShort(), iso, now).replace(". ", " ");
  return isOfYear(iso, now) ? dated(iso, now) : onlyDay().format(new Date(iso));
}

/**
 * Returns when something is expected, as `ago` does, and `passed` from ten seconds before that moment on.
 *
 * @param {string} iso
 * @param {string} passed
 */
export const due = (iso, passed, now = Date.now()) => (new Date(iso).getTime() - now < 10_000 ? passed : ago(iso, now));

/**
 * Whether `ago` says how far away a moment is, and not its date.
 *
 * @param {string} iso
 */
export const isNear = (iso, now = Date.now()) => Math.abs(new Date(iso).getTime() - now) < RELATIVE_SECONDS * 1000;

/**
 * Returns the date and time of a moment in the reader's time zone, with the year if it is not that of `now`.
 *
 * @param {string} iso
 * @param {number} now
 */
function dated(iso, now) {
  const moment = new Date(iso);
  return `${(isOfYear(iso, now) ? dayOfYear() : onlyDay()).format(moment)}, ${onlyTime().format(moment)}`;
}

/**
 * @param {string} iso
 * @param {number} now
 */
const isOfYear = (iso, now) => new Date(iso).getFullYear() === new Date(now).getFullYear();

/**
 * @param {Intl.RelativeTimeFormat} format
 * @param {string} iso
 * @param {number} now
 */
function distance(format, iso, now) {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Math.abs(seconds) < 10) return "just now";
  if (Math.abs(seconds) < 60) return format.format(Math.round(seconds / 10) * 10, "second");
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  }
  return "";
}
