// The range of time of a list: ranges to choose, and one that the reader enters.
import { html } from "../vendor/preact.js";
import { MomentInput } from "./moment_input.js";
import { fullTime, localZone } from "./text.js";

const HOUR = 3_600_000;

/** Ranges, in the reader's time zone. A night is from 18:00 to 8:00, and a week begins on Monday. */
const RANGES = {
  hour: ["Last hour", () => [new Date(Date.now() - HOUR)]],
  today: ["Today", () => [dayBegin(0)]],
  night: ["Last night", () => [dayBegin(-1, 18), dayBegin(0, 8)]],
  evening: ["Since last night", () => [dayBegin(-1, 18)]],
  yesterday: ["Yesterday", () => [dayBegin(-1), dayBegin(0)]],
  monday: ["Since Monday", () => [dayBegin(-((new Date().getDay() + 6) % 7))]],
  week: ["Last 7 days", () => [dayBegin(-6)]],
  month: ["Last 30 days", () => [dayBegin(-29)]],
  day: ["Last 24 hours", () => [new Date(Date.now() - 24 * HOUR)]],
  calendar: ["Last month", () => [monthBegin(-1), monthBegin(0)]],
};

/** The ranges to choose for a list. */
const OF_LISTS = ["hour", "today", "night", "evening", "yesterday", "monday", "week", "month"];

/** The ranges to choose for failures. */
export const OF_FAILURES = ["day", "week", "month", "calendar"];

/** @param {number} months */
function monthBegin(months) {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth() + months);
}

/** @param {number} days */
function dayBegin(days, hour = 0) {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/**
 * Returns one of the ranges as parameters of a list: `{range, from, to}`.
 *
 * @param {string} key
 */
export function rangeOf(key) {
  const [from, to] = RANGES[key]?.[1]() ?? [];
  return { range: key, from: from?.toISOString(), to: to?.toISOString() };
}

/**
 * Returns the range of a list as filters of the API. `time` is "sent" for the time of sending; otherwise the range is
 * of the time that the list is sorted by.
 *
 * @param {{from?: string, to?: string, time?: string, sort?: string}} range
 */
export function rangeConditions({ from, to, time, sort }) {
  if (time === "sent") return { sent_since: from, sent_before: to };
  return sort === "updated_at" ? { updated_since: from, updated_before: to } : { from, to };
}

/** The maximum age of the bounds of a range that moves with the time. The bounds of the other ranges are full hours. */
const MAX_AGE = { hour: HOUR / 4, day: HOUR };

/**
 * Returns the key of the range that has these bounds now, or "custom". An address keeps its bounds, so a list and its
 * bulk actions mean the same requests whenever it is opened. One that was kept, or comes from another zone, has the
 * bounds of another time: they are shown as dates, and not under the name of the range.
 *
 * @param {{range?: string, from?: string, to?: string}} bounds
 */
export function nameOf({ range = "", from, to }) {
  if (!Object.hasOwn(RANGES, range)) return "custom";
  const now = rangeOf(range);
  const age = Math.abs(Date.parse(now.from ?? "") - Date.parse(from ?? ""));
  const isNow = age <= (MAX_AGE[range] ?? 0) && (to || undefined) === now.to;
  return isNow ? range : "custom";
}

/**
 * Returns one of the ranges in a sentence: "the last 7 days", "October 2026", or "this period" if it has no name.
 *
 * @param {{range?: string, from?: string, to?: string}} bounds
 */
export function periodOf({ range, from = "", to }) {
  const name = nameOf({ range, from, to });
  if (!OF_FAILURES.includes(name)) return "this period";
  if (name !== "calendar") return `the ${RANGES[name][0].toLowerCase()}`;
  return new Date(from).toLocaleDateString(undefined, { month: "long", year: "numeric" });
}

/**
 * A choice of `ranges`, or of `any` time. `change` receives `range`, `from` and `to`; an empty one does not limit the
 * range. In a list of requests, which has a `time`, it also receives that: "sent" or nothing (`rangeConditions`).
 */
export function RangeSelect({ from, to, range, time, change, any = "Any time", ranges = OF_LISTS }) {
  const entered = { range: "custom", from: from ?? dayBegin(0).toISOString(), to: to ?? "" };
  const choose = (event) => {
    const chosen = event.target.value;
    if (chosen === "sent") return change({ ...entered, time: "sent" });
    if (chosen === "custom") return change({ ...entered, ...(time === undefined ? {} : { time: "" }) });
    return change({ ...rangeOf(chosen), ...(chosen || time === undefined ? {} : { time: "" }) });
  };
  const name = nameOf({ range, from, to });
  const value = from || to ? (ranges.includes(name) ? name : time === "sent" ? "sent" : "custom") : "";
  return html`
    <select aria-label="Time" value=${value} onChange=${choose}>
      ${any && html`<option value="" selected=${!value}>${any}</option>`}
      ${ranges.map((key) => html`<option value=${key} selected=${key === value}>${RANGES[key][0]}</option>`)}
      <option value="custom" selected=${value === "custom"}>From … to …</option>
      ${time !== undefined && html`<option value="sent" selected=${value === "sent"}>Sent from … to …</option>`}
    </select>
  `;
}

/**
 * Says which range of time is listed. A range that the reader entered can be changed, and is said in words too: a date
 * alone means its whole day. `what` names the time that is meant; `children`, if there are any, show it.
 */
export function RangeBar({ what, from, to, range, change, children }) {
  if (!from && !to) return null;
  const input = (name, label, value) => html`
    <div class="row plain">
      <span aria-hidden="true">${label}</span>
      <${MomentInput}
        label="${what} ${label}"
        value=${value ?? ""}
        isEnd=${name === "to"}
        change=${(moment) => change({ range: "custom", [name]: moment })}
      />
    </div>
  `;
  return html`
    <div class="search-note small range">
      ${children ?? html`<span class="strong">${what}</span>`}
      ${
        nameOf({ range, from, to }) !== "custom"
          ? html`<span>${inWords(from, to)}</span>`
          : html`
            ${input("from", "from", from)}
            ${input("to", "to", to)}
            <span class="muted">${inWords(from, to)} · ${localZone()}</span>
          `
      }
    </div>
  `;
}

/**
 * Returns a range as words: "from … to before …".
 *
 * @param {string | undefined} from
 * @param {string | undefined} to
 */
export const inWords = (from, to) =>
  [from && `from ${named(from)}`, to && `${from ? "to " : ""}before ${named(to)}`].filter(Boolean).join(" ");

/**
 * An address can have any text in place of a moment, which the service refuses.
 *
 * @param {string} moment
 */
const named = (moment) => (Number.isNaN(Date.parse(moment)) ? `“${moment}”` : fullTime(moment));
