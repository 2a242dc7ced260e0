// A moment as a person enters it: a date, and perhaps a time of the day, in the reader's time zone or in that of the
// QuickBooks computer.

/** @typedef {{date: string, time: string}} Entered as `<input type="date">` and `<input type="time">` have them */

/** @type {Record<string, string>} What to say about an input that is not whole, by its type. */
export const NOT_WHOLE = { date: "Enter the whole date.", time: "Enter the whole time, or none." };

const NOTHING = { date: "", time: "" };

/**
 * Returns the moment that is meant, in UTC, or "" for none. A date alone means its whole day: the end of a range
 * is then the beginning of the next day. Returns null for what means no moment, such as a time without a date.
 *
 * @param {Entered} entered
 * @param {boolean} isEnd
 */
export function momentOf({ date, time }, isEnd) {
  if (!date) return time ? null : "";
  const [year, month, day] = date.split("-").map(Number);
  const [hour, minute] = time ? time.split(":").map(Number) : [0, 0];
  const moment = new Date(year, month - 1, day + (isEnd && !time ? 1 : 0), hour, minute);
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}

/**
 * Returns what a person would enter for a moment, to the minute. Midnight is a date alone.
 *
 * @param {string | undefined} moment
 * @param {boolean} isEnd
 * @returns {Entered}
 */
export function enteredFor(moment, isEnd) {
  if (!moment || Number.isNaN(Date.parse(moment))) return NOTHING;
  const one = new Date(moment);
  const isMidnight = one.getTime() === new Date(one.getFullYear(), one.getMonth(), one.getDate()).getTime();
  const day = isMidnight && isEnd ? new Date(one.getFullYear(), one.getMonth(), one.getDate() - 1) : one;
  const padded = (/** @type {number} */ number, length = 2) => String(number).padStart(length, "0");
  return {
    date: `${padded(day.getFullYear(), 4)}-${padded(day.getMonth() + 1)}-${padded(day.getDate())}`,
    time: isMidnight ? "" : `${padded(one.getHours())}:${padded(one.getMinutes())}`,
  };
}

/** The last second of a day: QuickBooks includes the end of a range. */
const DAY_END = "23:59:59";
const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):00$/;

/**
 * Returns the time of the QuickBooks computer that is meant, as QBXML writes it, or "" for none. Returns null for a
 * time without a date.
 *
 * @param {Entered} entered
 * @param {boolean} isEnd
 */
function localTimeOf({ date, time }, isEnd) {
  if (!date) return time ? null : "";
  return `${date}T${time ? `${time}:00` : isEnd ? DAY_END : "00:00:00"}`;
}

/**
 * Returns what a person would enter for a time of the QuickBooks computer: nothing for a text that has a time zone or
 * other seconds, which these inputs cannot show.
 *
 * @param {string | undefined} text
 * @param {boolean} isEnd
 * @returns {Entered}
 */
function enteredForLocal(text = "", isEnd) {
  if (isEnd && text.endsWith(`T${DAY_END}`)) return { date: text.slice(0, -DAY_END.length - 1), time: "" };
  const [, date = "", time = ""] = LOCAL_TIME.exec(text) ?? [];
  return { date, time: !isEnd && time === "00:00" ? "" : time };
}

/** How the inputs of a moment read and show it. */
export const UTC = { momentOf, enteredFor };
export const LOCAL = { momentOf: localTimeOf, enteredFor: enteredForLocal };

/**
 * Returns the days of a range, in the reader's time zone, for the name of a file: "2026-10" for a whole month,
 * "2026-11-24-to-2026-11-30", or "2026-11-30".
 *
 * @param {string} from
 * @param {string} to
 */
export function daysOf(from, to) {
  const [first, last] = [enteredFor(from, false), enteredFor(to, true)];
  const begin = new Date(from);
  const nextMonth = new Date(begin.getFullYear(), begin.getMonth() + 1);
  const isMonth = !first.time && begin.getDate() === 1 && nextMonth.getTime() === Date.parse(to);
  if (isMonth) return first.date.slice(0, -3);
  return first.date === last.date ? first.date : `${first.date}-to-${last.date}`;
}
