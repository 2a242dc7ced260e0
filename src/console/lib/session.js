// Who has signed in: somebody with an API key, or a person. The key is kept in the tab's session storage; the token of
// a person is kept in memory only. Neither is ever in a URL.
import { claimDrafts, clearDrafts } from "./drafts.js";
import { ApiError, request, requestSession } from "./http.js";
import { allows } from "./permissions.js";
import { ROOT } from "./router.js";
import { RenewedToken } from "./token.js";

const KEY = "qbxml-queue.key";
const ABOUT = "qbxml-queue.about";
/** The app that this tab shows to a person, who may belong to several. */
const APP = "qbxml-queue.app";

/**
 * @typedef {object} About What `GET /api_key` says.
 * @property {string} app_id
 * @property {string[]} permissions
 * @property {"production" | "test"} environment
 * @property {string | null} scope
 * @property {string | null} role
 * @property {string | null} key_id
 * @property {string | null} person_id
 * @property {string | null} name
 *
 * @typedef {{id: string, name: string, environment: "production" | "test", role: string}} App
 *
 * @typedef {object} SignedIn A person with a token for one app. Without an app, text, about and app are null.
 * @property {string | null} text
 * @property {number} endsAt
 * @property {About | null} about
 * @property {{id: string, name: string, email: string}} person
 * @property {App | null} app
 * @property {App[]} apps
 */

/** Whether people can sign in to this deployment. */
export const HAS_SIGN_IN = document.querySelector('meta[name="sign-in"]')?.getAttribute("content") === "on";

/** @type {Set<(reason?: string) => void>} */
const signedOut = new Set();
/** @type {Set<() => void>} */
const changed = new Set();

/** @type {RenewedToken<SignedIn>} */
const token = new RenewedToken(async (former) => {
  const next = await askForToken(former);
  queueMicrotask(notify);
  return next;
});

const notify = () => {
  for (const listener of changed) listener();
};

export const session = {
  get key() {
    return sessionStorage.getItem(KEY);
  },
  /** @returns {About | null} */
  get about() {
    return this.key ? JSON.parse(sessionStorage.getItem(ABOUT) ?? "null") : (token.current?.about ?? null);
  },
  /** The person who has signed in, with the apps; null with an API key. */
  get person() {
    return this.key ? null : token.current;
  },
  /** The id that this reader has in audit logs and as an author. */
  get actorId() {
    return this.about?.key_id ?? this.about?.person_id ?? null;
  },
  /**
   * Whether the reader may do something: a name in `permissions.js`.
   *
   * @param {string} action
   */
  may(action) {
    return allows(this.about?.permissions ?? [], action);
  },
  /** Why the reader may not do something. */
  get refusal() {
    if (this.person) return `Your role, ${this.about?.role}, does not allow this. Ask an admin of the app.`;
    if (this.about?.scope === "read_only")
      return "This key is read-only. Sign in with a full API key to change things.";
    return "This API key does not allow this. Sign in with a full API key.";
  },
  /** Returns the key, or a token that does not end soon. */
  async credential() {
    return this.key ?? (await token.fresh()).text;
  },
  /** @param {(reason?: string) => void} listener */
  onSignOut(listener) {
    signedOut.add(listener);
    return () => signedOut.delete(listener);
  },
  /**
   * Calls a function when a person has signed in, or the role or the apps may have changed.
   *
   * @param {() => void} listener
   */
  onChange(listener) {
    changed.add(listener);
    return () => changed.delete(listener);
  },
};

/**
 * Finds out who reads, after the page was loaded: somebody with a key, a person with a session, or nobody. Throws
 * ApiError if that cannot be found out.
 */
export async function start() {
  try {
    if (session.key) await readAbout(session.key);
    else if (HAS_SIGN_IN) await token.renew();
  } catch (error) {
    if (error.status !== 401) throw error;
    if (session.key) signOut(ENDED.key);
  }
}

/** Whether `start` has to make a call before a view can be shown. */
export const mustStart = () => !session.about && (Boolean(session.key) || HAS_SIGN_IN);

const ENDED = {
  key: "Your API key is no longer valid. Sign in again.",
  person: "Your sign-in has ended. Sign in again.",
};

/**
 * Checks an API key and keeps it. Throws ApiError.
 *
 * @param {string} key
 */
export async function signIn(key) {
  await readAbout(key);
  sessionStorage.setItem(KEY, key);
}

/** @param {string} key */
async function readAbout(key) {
  const { data } = await request(key, "GET", ["api_key"]);
  claimDrafts(data.app_id);
  sessionStorage.setItem(ABOUT, JSON.stringify(data));
}

/**
 * Gets a token for the app that this tab shows. A person who no longer belongs to it gets one for another app only when
 * the page is loaded: a call that was meant for one app must not reach another.
 *
 * @param {SignedIn | null} former
 * @returns {Promise<SignedIn>}
 */
async function askForToken(former) {
  const asked = Date.now();
  const wanted = former ? former.app?.id : sessionStorage.getItem(APP);
  let answer;
  try {
    answer = await requestSession([], wanted ? { app_id: wanted } : {});
  } catch (error) {
    if (error.code !== "forbidden" || !wanted) throw error;
    if (former) throw new ApiError(401, "unauthorized", NO_MEMBER);
    answer = await requestSession([], {});
  }
  const { token: text, expires_in: seconds, person, app, apps } = answer.data;
  if (former?.app && app?.id !== former.app.id) throw new ApiError(401, "unauthorized", NO_MEMBER);
  const isSame = former && JSON.stringify(app) === JSON.stringify(former.app);
  const about = isSame || !app ? (former?.about ?? null) : (await request(text, "GET", ["api_key"])).data;
  if (app && !former) {
    sessionStorage.setItem(APP, app.id);
    claimDrafts(app.id, person.id);
  }
  return { text, endsAt: asked + seconds * 1000, about, person, app, apps };
}

const NO_MEMBER = "You no longer belong to this app.";

/** A path below `/app`, also with parameters. */
const PAGE = /^\/app(?:[/?]|$)/;

/**
 * Returns the page that is shown after the sign-in: a path below `/app`, without the stage of the deployment. The
 * address of the sign-in names it, after an attempt that failed.
 */
export function wantedPage() {
  const here = location.pathname.slice(ROOT.length);
  const wanted = here === "/app/sign_in" ? new URLSearchParams(location.search).get("to") : here + location.search;
  return wanted && PAGE.test(wanted) && !wanted.startsWith("/app/sign_in") ? wanted : "/app";
}

/** Returns the address that leads to the provider and back to the page that the reader wanted. */
export const loginAddress = () => `${ROOT}/session/login?${new URLSearchParams({ to: wantedPage() })}`;

/**
 * Sends a call with the key, or with a token that is renewed when that is needed.
 *
 * @template Answer
 * @param {(credential: string | null) => Promise<Answer>} send
 */
export async function withCredential(send) {
  try {
    return await (session.key ? send(session.key) : token.use(send));
  } catch (error) {
    if (error.status === 401 && (session.key || session.person)) signOut(session.key ? ENDED.key : endOf(error));
    throw error;
  }
}

const endOf = (error) => (error.message === NO_MEMBER ? `${NO_MEMBER} Sign in again.` : ENDED.person);

/**
 * Shows another app of the person. The page is loaded again, so nothing of the former app stays on the screen or in
 * memory.
 *
 * @param {string} appId
 * @param {string} address
 */
export function switchApp(appId, address) {
  sessionStorage.setItem(APP, appId);
  location.assign(address);
}

/**
 * Ends the session of a person in this browser, or everywhere. Throws ApiError if the service cannot be reached: then
 * the person is still signed in.
 *
 * @param {boolean} everywhere
 */
export async function endSession(everywhere) {
  try {
    await requestSession(["end"], { everywhere });
  } catch (error) {
    if (error.status !== 401) throw error; // The session has ended already.
  }
  signOut();
}

/**
 * Forgets the credential. A `reason` is shown at the sign-in: then the credential has ended, not the work, and drafts
 * are kept.
 *
 * @param {string} [reason]
 */
export function signOut(reason) {
  for (const name of [KEY, ABOUT]) sessionStorage.removeItem(name);
  token.forget();
  if (!reason) {
    sessionStorage.removeItem(APP);
    clearDrafts();
  }
  for (const listener of signedOut) listener(reason);
}
