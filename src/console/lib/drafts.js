// Drafts of requests. They have the names and amounts of customers, so they are kept where the API key is: in the
// session storage of the tab, which no other tab and no other person's session can read. Signing out clears them; a key
// or a sign-in that has expired does not.

const PREFIX = "qbxml-queue.draft.";
const OWNER = "qbxml-queue.owner-of-drafts";
/** Drafts of an older version of the console are not read. */
const FORMAT = 1;
const MAX_DRAFTS = 20;
/** The maximum characters of all drafts. Browsers give a tab about five million. */
const MAX_CHARACTERS = 2_000_000;

/**
 * Returns the name of a draft. An app, a connection, a type, and the request that is edited or the object that is
 * changed have one draft.
 *
 * @param {string} app
 * @param {{connection?: string, type: string, from?: string, object?: string}} place
 */
export const draftKey = (app, { connection = "", type, from = "", object = "" }) =>
  `${PREFIX}${app}.${connection}.${type}.${from}${object && `.${object}`}`;

const keys = () => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));

/** @param {string} key */
export function readDraft(key) {
  const draft = JSON.parse(sessionStorage.getItem(key) ?? "null");
  return draft?.format === FORMAT ? draft : null;
}

/**
 * Keeps a draft, and returns whether that was possible. Beyond the limits, the oldest drafts give way.
 *
 * @param {string} key
 * @param {object} draft
 */
export function writeDraft(key, draft) {
  sessionStorage.removeItem(key);
  const text = JSON.stringify({ ...draft, format: FORMAT, at: Date.now() });
  const others = keys()
    .map((one) => ({ key: one, at: readDraft(one)?.at ?? 0, size: sessionStorage.getItem(one)?.length ?? 0 }))
    .sort((one, other) => one.at - other.at);
  let size = text.length + others.reduce((sum, one) => sum + one.size, 0);
  if (text.length > MAX_CHARACTERS) return false;
  while (size > MAX_CHARACTERS || others.length >= MAX_DRAFTS) {
    const oldest = others.shift();
    if (!oldest) break;
    sessionStorage.removeItem(oldest.key);
    size -= oldest.size;
  }
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    return false; // The browser gives the tab less space.
  }
}

/** @param {string} key */
export const removeDraft = (key) => sessionStorage.removeItem(key);

/**
 * Moves a draft to another name, unless there is one. The change of an object stays, because the object is in one
 * company file.
 *
 * @param {string} from
 * @param {string} to
 */
export function moveDraft(from, to) {
  const draft = readDraft(from);
  if (!draft || draft.base || draft.former || readDraft(to)) return;
  removeDraft(from);
  // An idempotency key counts for one connection, and so does a query.
  writeDraft(to, { ...draft, reading: undefined, idempotencyKey: null, unanswered: null });
}

/**
 * Returns the drafts of an app, the newest first: `[{key, connection, type, from, object, at}]`.
 *
 * @param {string} app
 */
export function draftsOf(app) {
  return keys()
    .filter((key) => key.startsWith(`${PREFIX}${app}.`))
    .map((key) => {
      const [, connection, type, from, object = ""] = key.slice(PREFIX.length).split(".");
      return { key, connection, type, from, object, at: readDraft(key)?.at };
    })
    .filter(({ at }) => at)
    .sort((one, other) => other.at - one.at);
}

export const hasDrafts = () => keys().length > 0;

/**
 * Removes the drafts that somebody who has signed in must not see: those of another person, and unless the person is
 * the same, those of other apps. With an API key, there is no person.
 *
 * @param {string} app
 * @param {string} [person]
 */
export function claimDrafts(app, person = "") {
  const owner = sessionStorage.getItem(OWNER) ?? "";
  if (owner && person && owner !== person) clearDrafts();
  else if (!person || owner !== person) clearDrafts(app);
  if (person) sessionStorage.setItem(OWNER, person);
  else sessionStorage.removeItem(OWNER);
}

/**
 * Removes the drafts of all apps, or of all but one.
 *
 * @param {string} [app]
 */
export function clearDrafts(app) {
  for (const key of keys()) if (!app || !key.startsWith(`${PREFIX}${app}.`)) sessionStorage.removeItem(key);
  if (!app) sessionStorage.removeItem(OWNER);
}
