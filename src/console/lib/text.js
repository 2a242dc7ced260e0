// Words and numbers for people: dates in the reader's time zone, plurals, names of states.
import { wordsOf } from "./error_words.js";

/**
 * Makes a formatter when it is first used: each takes a millisecond or more.
 *
 * @template Made
 * @param {() => Made} make
 */
export const lazy = (make) => {
  let made;
  return () => (made ??= make());
};
const dateTime = lazy(
  () =>
    new Intl.DateTimeFormat(undefined, {
      year: "numeric",
      month: "short",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
      second: "2-digit",
      timeZoneName: "short",
    }),
);
const minuteTime = lazy(
  () =>
    new Intl.DateTimeFormat(undefined, {
      month: "short",
      day: "numeric",
      hour: "numeric",
      minute: "2-digit",
      timeZoneName: "short",
    }),
);
const onlyDay = lazy(() => new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" }));
const timeOfDay = lazy(
  () => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" }),
);
const number = lazy(() => new Intl.NumberFormat("en"));

/** @param {number} value */
export const count = (value) => (value < 1000 ? String(value) : number().format(value));
/**
 * @param {number} value
 * @param {string} one
 * @param {string} many
 */
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
/**
 * Returns a moment in the reader's time zone, with the name of the zone.
 *
 * @param {string | number} moment
 */
export const fullTime = (moment) => dateTime().format(new Date(moment));

/**
 * Returns the day of a moment, with its year: "Nov 22, 2027".
 *
 * @param {string} iso
 */
export const day = (iso) => onlyDay().format(new Date(iso));

/**
 * Returns a moment of this year for narrow columns: "Nov 22, 2:02 PM EST".
 *
 * @param {string} iso
 */
export const shortTime = (iso) => minuteTime().format(new Date(iso));

/**
 * Returns the time of day with its zone: "02:02 PM EST".
 *
 * @param {string | number} moment
 */
export const clock = (moment) => timeOfDay().format(new Date(moment));

/**
 * Returns when something was right: the time of day, and of another day the day too.
 *
 * @param {string} iso
 */
export const asOf = (iso, now = Date.now()) =>
  onlyDay().format(new Date(iso)) === onlyDay().format(now) ? clock(iso) : shortTime(iso);

/** Returns the reader's time zone: "America/New_York (EDT)", or "UTC". */
export function localZone() {
  const name = dateTime()
    .formatToParts(new Date())
    .find(({ type }) => type === "timeZoneName")?.value;
  const zone = dateTime().resolvedOptions().timeZone;
  return zone === name ? zone : `${zone} (${name})`;
}

/**
 * @param {string} first
 * @param {string} last
 */
export const millisecondsBetween = (first, last) => new Date(last).getTime() - new Date(first).getTime();

/**
 * Returns a length of time in its largest units: "0.3 s", "47 s", "3 min 12 s", "2 h 5 min", "4 days".
 *
 * @param {number} milliseconds
 */
export function duration(milliseconds) {
  const seconds = Math.max(milliseconds, 0) / 1000;
  if (seconds < 0.05) return "<0.1 s";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  /** @type {[number, string][]} */
  const units =
    whole < 3600
      ? [
          [60, "min"],
          [1, "s"],
        ]
      : whole < 172_800
        ? [
            [3600, "h"],
            [60, "min"],
          ]
        : [[86_400, "days"]];
  const [[size, unit], [rest, small] = [0, ""]] = units;
  const left = rest ? Math.floor((whole % size) / rest) : 0;
  return `${Math.floor(whole / size)} ${unit}${left ? ` ${left} ${small}` : ""}`;
}

/**
 * Returns seconds in words, of a duration of which only the bucket is known: more than two digits would be false
 * precision.
 *
 * @param {number} seconds
 */
export function roughDuration(seconds) {
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(2))} ms`;
  if (seconds < 90) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

const ISO_MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/**
 * Returns a message of the service with its moments in the reader's time zone.
 *
 * @param {string | undefined} message
 */
export const withLocalTimes = (message) => message?.replace(ISO_MOMENT, fullTime);

/** @param {number} size */
export function bytes(size) {
  if (size < 1024) return plural(size, "byte");
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(size < 10_240 ? 1 : 0)} KB`;
  return `${(size / 1024 / 1024).toFixed(1)} MB`;
}

/**
 * "CustomerQueryRq" → "Customer query", "CustomerModRq" → "Customer change".
 *
 * @param {string} name
 */
export function requestTitle(name) {
  const words = name
    .replace(/ModRq$/, "ChangeRq")
    .replace(/R[qs]$/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return words.replace(/ (?![A-Z]{2})(.)/g, (_, letter) => ` ${letter.toLowerCase()}`);
}

/** A ListID or a TxnID: its second part is a time in seconds. */
const OBJECT_ID = /^[0-9A-F]{1,8}-\d{9,10}$/i;

/**
 * Splits the subject of a request: what people call its object, and its IDs. A number of people can look like an ID,
 * so no ID may be left out.
 *
 * @param {string | null | undefined} subject
 */
export function partsOfSubject(subject) {
  const parts = subject ? subject.split(" · ") : [];
  return {
    about: parts.filter((part) => !OBJECT_ID.test(part)).join(" · "),
    ids: parts.filter((part) => OBJECT_ID.test(part)),
  };
}

/**
 * A read can be repeated without harm. Every other request is a write and must reach QuickBooks once.
 *
 * @param {string} name
 */
export const isRead = (name) => name.endsWith("QueryRq");

const VERBS = { Add: "Add", Mod: "Change", Del: "Delete", Void: "Void", Merge: "Merge" };

/**
 * Splits the name of a request: `{verb: "Add", subject: "Customer"}`. The type of a deletion and the like is in the
 * tree.
 *
 * @param {import("./trees.js").Tree} tree
 */
export function partsOf({ name, children }) {
  const [, kind, verb] = /^(.*?)(Query|Add|Mod|Del|Void|Merge)?Rq$/.exec(name) ?? [null, name, undefined];
  const type = ["Txn", "List"].includes(kind) && children?.find((child) => child.name === `${kind}${verb}Type`)?.text;
  return { verb, subject: type || kind };
}

/**
 * Returns the kind of what a request is about, in a sentence: "customer", "payment", "AR refund credit card".
 *
 * @param {string} subject
 */
export const nounOf = (subject) =>
  ({ Txn: "transaction", List: "list entry", ReceivePayment: "payment" })[subject] ??
  inSentence(requestTitle(`${subject.replace(/^Item(?=[A-Z])(?!Receipt)(.*)/, "$1Item")}Rq`));

/**
 * Returns what a request does: "Add customer", "Delete invoice", "Queue customer query".
 *
 * @param {import("./trees.js").Tree} tree
 */
export function actionTitle(tree) {
  const { verb, subject } = partsOf(tree);
  const noun = nounOf(subject);
  if (isRead(tree.name)) return `Queue ${inSentence(requestTitle(tree.name))}`;
  return verb === "Merge"
    ? `Merge ${subject === "List" ? "list" : noun} entries`
    : `${VERBS[verb] ?? "Execute"} ${noun}`;
}

/**
 * Lower case at the beginning, except of an abbreviation: "Customer" → "customer", "AR refund" stays.
 *
 * @param {string} text
 */
const inSentence = (text) => (/^[A-Z][A-Z0-9]/.test(text) ? text : text[0].toLowerCase() + text.slice(1));

export const STATES = {
  waiting: { name: "Waiting", tone: "grey" },
  ticketed: { name: "Claimed", tone: "blue", live: true },
  sent: { name: "Sent", tone: "blue", live: true },
  retryable: { name: "Waiting to retry", tone: "amber" },
  response_received: { name: "Completed", tone: "green" },
  error: { name: "Failed", tone: "red" },
  discarded: { name: "Discarded", tone: "grey" },
};

/** A write without a response that QuickBooks has executed, or may have, has not failed. */
const WITHOUT_RESPONSE = {
  unknown: { name: "Outcome unknown", tone: "amber" },
  yes: { name: "Executed", tone: "green" },
};

const AWAITS_APPROVAL = { name: "Waiting for approval", tone: "amber" };

/**
 * Returns how the state of a request is shown: `{name, tone, live}`.
 *
 * @param {{state: string, executed?: string | null, waiting_reason?: {code: string} | null, awaits_approval?: boolean}}
 *   request A record, or what a batch or a search shows of one.
 * @returns {{name: string, tone: string, live?: boolean}}
 */
export const stateOf = ({ state, executed, waiting_reason: reason, awaits_approval: isOpen }) =>
  (state === "error" && WITHOUT_RESPONSE[executed ?? ""]) ||
  ((isOpen || reason?.code === "approval") && AWAITS_APPROVAL) ||
  STATES[state] || { name: state, tone: "grey" };

export const WEBHOOK_STATES = {
  not_applicable: { name: "No webhook", tone: "grey" },
  pending: { name: "Pending", tone: "blue" },
  retrying: { name: "Retrying", tone: "amber" },
  succeeded: { name: "Delivered", tone: "green" },
  failed: { name: "Failed", tone: "red" },
};

/** The choices of a filter by webhook: its states, and those of a webhook whose last attempt failed together. */
export const WEBHOOK_FILTERS = { ...WEBHOOK_STATES, failing: { name: "Failed or retrying" } };

/**
 * Returns the key of WEBHOOK_STATES for a request. A webhook that failed and is tried again is not just pending.
 *
 * @param {{webhook_state: string, webhook_retrying?: boolean}} request
 */
export const webhookState = (request) => (request.webhook_retrying ? "retrying" : request.webhook_state);

/**
 * Returns the conditions of the API for a key of WEBHOOK_FILTERS.
 *
 * @param {string | undefined} key
 */
export function webhookConditions(key) {
  if (key === "failing") return { webhook_failing: true };
  if (key === "retrying") return { webhook_retrying: true };
  return key === "pending" ? { webhook_state: key, webhook_retrying: false } : { webhook_state: key };
}

/** Remedies in the console. The API's hints name calls instead. */
const HINTS = {
  send_by_passed: "It is not sent any more. Queue it again if it is still needed.",
  approval: "Somebody other than its author approves or rejects it on the page Approvals.",
  dependency: "The card of its batch shows them.",
  paused: "Choose Resume on the page of the connection to send requests again.",
  never_connected:
    "Open the settings of the connection: download the .qwc file, set a password, or create an onboarding link for your customer.",
  wrong_password:
    "Enter the password in the Web Connector again. If it is lost, set a new one in the settings of the connection. If QuickBooks works on another computer, where you set a longer interval than a minute, this ends with its next call.",
  quickbooks_failing:
    "Update Selected has no effect until then. To send again now, choose Resume on the page of the connection.",
  company_file_mismatch:
    "Open the company file of this connection in QuickBooks and choose Update Selected. If the connection is meant for the open file, choose Reset in the settings of the connection, and make sure that its company file is the open one or empty.",
  company_file_moved:
    "If it is a copy or a restored backup, open the right file and choose Update Selected. If the file was moved, or is the same file on a network drive, accept its path on the page of the connection.",
  outside_sync_window: "To send sooner, change the sync window in the settings of the connection.",
};

/** The beginning of many messages of QuickBooks. It says nothing and would fill a column. */
const USELESS = /^(There (is|was|has been) an error|An error occurred) ((when|while) )?(?=\w+ing\b)/i;

/**
 * Returns the code and the cause of an error, or null: "3100 · The name … is already in use", "3180 · Failed: saving a
 * Customers list".
 *
 * @param {{code: string, message: string, details?: Record<string, any>} | null} error
 */
export function causeOf(error) {
  if (!error) return null;
  const code = error.details?.status_code ?? error.details?.hresult ?? error.details?.reason ?? error.code;
  const cause = wordsOf(error).message.replace(USELESS, "Failed: ");
  return `${code} · ${withLocalTimes(cause)}`;
}

/** Messages for people in place of those of the API, which name ids and error codes. */
const MESSAGES = {
  send_by_passed: "It was not sent by the time that was asked for. It ends within a few minutes.",
  dependency: "It waits for other requests of its batch. It is sent when they have ended with a response.",
};

/**
 * Returns why a request or a connection waits, with the times of the reader's time zone. Without a reason, undefined.
 *
 * @param {{code: string, message: string} | null | undefined} reason
 */
export const messageOf = (reason) => reason && (MESSAGES[reason.code] ?? withLocalTimes(reason.message));

/** A sentence of the API about a call. */
const NAMED_CALL = / See GET \S+$/;

/**
 * Returns what to do about a waiting reason or the last error of a connection, or null.
 *
 * @param {{code: string, hint?: string | null}} reason
 * @param {{hint?: string | null} | null} [lastError]
 */
export function hintOf(reason, lastError) {
  const hint = HINTS[reason.code];
  if (!hint) return reason.hint?.replace(NAMED_CALL, "");
  return reason.code === "quickbooks_failing" && lastError?.hint ? `${lastError.hint} ${hint}` : hint;
}

/**
 * Returns the hint of hintOf for a reader who is on the page of the connection.
 *
 * @param {Parameters<typeof hintOf>} what
 */
export const hintOnItsPage = (...what) =>
  hintOf(...what)
    ?.replace(/(choose Resume) on the page of the connection/i, "$1 above")
    .replace("accept its path on the page of the connection", "accept its path below");

/**
 * Returns how many requests wait to be sent.
 *
 * @param {{waiting: number, retryable: number}} counts
 */
export const waiting = (counts) => counts.waiting + counts.retryable;

/**
 * Returns the scheme and host of a URL. Its path may be secret.
 *
 * @param {string} address
 */
export function originOf(address) {
  try {
    return new URL(address).origin;
  } catch {
    return address;
  }
}

export const UNFINISHED = new Set(["waiting", "ticketed", "sent", "retryable"]);
export const ENDED = new Set(["response_received", "error", "discarded"]);

/**
 * Returns the health of a connection: a name, a tone and a sentence.
 *
 * @param {Record<string, any>} connection
 */
export function health(connection) {
  const reason = connection.waiting_reason;
  if (connection.paused_at) return { name: "Paused", tone: "amber" };
  if (reason?.code === "wrong_password") return { name: "Wrong password", tone: "red" };
  if (connection.status === "never_connected") return { name: "Not connected yet", tone: "grey" };
  if (connection.status === "error" || reason?.code === "quickbooks_failing")
    return { name: "Needs attention", tone: "red" };
  if (reason?.code === "not_seen") return { name: "Calls missed", tone: "amber" };
  if (connection.quickbooks_status === "testing") return { name: "QuickBooks not tested", tone: "grey" };
  if (reason?.code === "service_busy") return { name: "Waiting for a session", tone: "grey" };
  if (reason?.code === "outside_sync_window") return { name: "Outside sync window", tone: "grey" };
  if (connection.warnings?.some((one) => one.code === "second_web_connector"))
    return { name: "Second Web Connector", tone: "amber" };
  return { name: "Connected", tone: "green" };
}

/**
 * Whether a connection is held by a pause, or by a backoff that a person can end.
 *
 * @param {{paused_at?: string | null, waiting_reason?: any}} connection
 */
export const canResume = ({ paused_at: pausedAt, waiting_reason: reason }) =>
  Boolean(pausedAt || reason?.code === "quickbooks_failing");

/**
 * Whether a connection needs a person: its health is red, or amber while requests wait. It then is paused, has missed
 * calls or is called by a second Web Connector.
 *
 * @param {Record<string, any>} connection
 * @param {boolean} hasWaiting
 */
export function needsPerson(connection, hasWaiting) {
  const { tone } = health(connection);
  return tone === "red" || (tone === "amber" && hasWaiting);
}

/**
 * Returns why a connection is not healthy, with the times of the reader's time zone, or undefined. An earlier version
 * of the service returns no warnings.
 *
 * @param {Record<string, any>} connection
 */
export const whyOf = ({ waiting_reason: reason, last_error: error, warnings }) =>
  withLocalTimes((reason ?? error ?? warnings?.[0])?.message);

/** Characters that are invisible or change the order of others. Line breaks and tabs are white space. */
const CONTROLS = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Splits a text into runs and control characters: `[{ text }, { control: "U+202E" }]`.
 *
 * @param {string} text
 */
export function withoutControls(text) {
  /** @type {{text?: string, control?: string}[]} */
  const parts = [];
  for (const character of text) {
    const last = parts.at(-1);
    if (CONTROLS.test(character))
      parts.push({ control: `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}` });
    else if (last?.text !== undefined) last.text += character;
    else parts.push({ text: character });
  }
  return parts;
}
