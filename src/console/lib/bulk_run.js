// A bulk action as calls: the requests that are meant, and calls that wait for the limits of the app.
import { call } from "./api.js";
import { webhookConditions } from "./text.js";
import { rangeConditions } from "./time_range.js";

export const DAY_MILLISECONDS = 86_400_000;

/** A limit of the app is waited for without asking. Other errors stop the work. */
const MAX_WAIT_SECONDS = 90;

/** A call takes up to 100 ids. The results of a search are read before the first change, up to this many. */
const IDS_PER_CALL = 100;

const MAX_RESULTS = 1000;

/**
 * Makes a call. One that has begun is not cut off, so its numbers are known. If a limit of the app is used up, it waits
 * for as long as the service asks, and calls again. Returns null if the work was stopped meanwhile.
 *
 * @template Answer
 * @param {() => Promise<Answer>} make
 * @param {AbortSignal} signal
 * @param {(seconds: number) => void} waits
 */
export async function patiently(make, signal, waits) {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (error.status !== 429 || !error.retryAfter || error.retryAfter > MAX_WAIT_SECONDS) throw error;
      waits(error.retryAfter);
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        const timer = setTimeout(resolve, error.retryAfter * 1000);
        signal.addEventListener(
          "abort",
          () => {
            clearTimeout(timer);
            resolve();
          },
          { once: true },
        );
      });
      if (signal.aborted) return null;
    }
  }
}

/**
 * @param {Record<string, number>} sums
 * @param {Record<string, number>} more
 */
export const added = (sums, more) =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [name, (sums[name] ?? 0) + value]));

/** @param {Record<string, unknown>} conditions */
const filled = (conditions) =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined && value !== ""));

/**
 * Returns the filters of the list as conditions of the API.
 *
 * @param {Record<string, any>} query
 */
export const conditionsOf = ({ state, webhook_state: webhook, cause, receiver, from, to, time, sort }) =>
  filled({
    state,
    ...(webhook ? webhookConditions(webhook) : {}),
    cause,
    receiver,
    ...rangeConditions({ from, to, time, sort }),
  });

/**
 * Returns the bodies of the calls: one for a filter, or one for each 100 ids. `chosen` is the number of ids, and
 * `omitted` that of the results of a search that are left out. Returns null if the work was stopped meanwhile.
 */
export async function meantBy({ id, query, ids, action, conditions }, patient) {
  const { request_name: name, label_prefix: prefix, since, tooPending } = conditions;
  const more =
    action === "redeliver"
      ? { ...filled({ failed_since: timeOf(since)?.toISOString() }), include_pending: tooPending }
      : {};
  const filter = {
    ...(ids ? {} : conditionsOf(query)),
    ...filled({ request_name: name.trim(), label_prefix: prefix.trim() }),
  };
  if (!ids && !query.search) {
    // Without a condition, a time in the future means every request.
    const every = { to: new Date(Date.now() + DAY_MILLISECONDS).toISOString() };
    return { bodies: [{ filter: Object.keys(filter).length ? filter : every, ...more }] };
  }
  const found = ids ? { ids, total: ids.length } : await results(id, query, patient);
  if (!found) return null;
  const bodies = [];
  for (let at = 0; at < found.ids.length; at += IDS_PER_CALL)
    bodies.push({ filter: { ...filter, ids: found.ids.slice(at, at + IDS_PER_CALL) }, ...more });
  return { bodies, chosen: found.ids.length, omitted: Math.max(found.total - found.ids.length, 0) };
}

/** Returns the ids that a search finds, the oldest first, up to MAX_RESULTS, and their total. */
async function results(id, filters, patient) {
  const { state, webhook_state: webhook, cause, receiver, search, sort, from, to, time } = filters;
  const ids = new Set();
  for (let page = 1; ; page += 1) {
    const query = {
      page,
      page_size: 100,
      sort,
      sort_direction: "asc",
      state,
      ...webhookConditions(webhook),
      cause,
      receiver,
      search_phrase: search,
      ...rangeConditions({ from, to, time, sort }),
      bodies: false,
    };
    const list = await patient(() => call("GET", ["connections", id, "queued_requests"], { query }));
    if (!list) return null;
    for (const one of list.data) ids.add(one.id);
    if (page >= list.total_pages || ids.size >= MAX_RESULTS) return { ids: [...ids], total: list.total };
  }
}

/** @param {string} text */
export function timeOf(text) {
  const moment = new Date(text);
  return text && !Number.isNaN(moment.getTime()) ? moment : null;
}
