// Keys: Ctrl-K opens anything. Single keys: / searches, j and k move through rows, ? explains, and a view can have
// others. They can be switched off (WCAG 2.1.4).
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Dialog } from "./dialogs.js";
import { Button, Check, Icon, toast } from "./ui.js";

const OFF = "qbxml-queue.single-keys";
const ROWS = "main tr.clickable, main .reference .list li, main .writes > li";
const KEYS = [
  ["/", "Search in this view"],
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
];
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);
const GO = [IS_MAC ? "⌘ K" : "Ctrl K", "Open a connection, a request or an action"];
const HELP = ["?", "Show this list"];

/**
 * The keys of the view: `[key, what it does, function]`.
 *
 * @type {() => [string, string, () => unknown][]}
 */
let keysOfView = () => [];

/** Adds keys of a view, which the list of keys shows too. */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    keysOfView = () => latest.current;
    return () => {
      keysOfView = () => [];
    };
  }, []);
}

/** Returns the row that has the focus, or null. */
export const focusedRow = () => /** @type {HTMLElement | null} */ (document.activeElement?.closest(ROWS) ?? null);

const isTyping = (element) =>
  element.isContentEditable ||
  Boolean(element.closest("input:not([type=checkbox], [type=radio]), textarea, select, .cm-editor"));
const isVisible = (element) => element.getClientRects().length > 0;

/**
 * Whether these are the keys that open anything. On a Mac, Ctrl-K deletes the end of a line. When a browser fills in a
 * form, its `keydown` has no key.
 */
const isGo = (event) =>
  event.key?.toLowerCase() === "k" && !event.altKey && !event.shiftKey && (IS_MAC ? event.metaKey : event.ctrlKey);

/** Returns whether Ctrl-K was pressed while the page was loading (loading.js), once. */
function takeEarlyKey() {
  const page = /** @type {{earlyKey?: KeyboardEvent}} */ (globalThis);
  const isEarly = Boolean(page.earlyKey && isGo(page.earlyKey));
  page.earlyKey = undefined;
  return isEarly;
}

/**
 * Lets Ctrl-K open any connection, request or action, with a dialog whose module `load` imports. Returns the dialog, if
 * it is open, and a function that opens it, or null for readers who have not signed in.
 */
export function useGo(isSignedIn, load) {
  const [Palette, setPalette] = useState(/** @type {any} */ (null));
  const open = () =>
    load().then(
      (module) => setPalette(() => module.default),
      () => toast("This could not be loaded. Reload the page.", "red"),
    );
  // In an effect that runs after the browser has drawn, a key that is pressed meanwhile would be lost.
  useLayoutEffect(() => {
    if (!isSignedIn) return undefined;
    const press = (event) => {
      if (event.defaultPrevented || !isGo(event)) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) open();
    };
    addEventListener("keydown", press);
    if (takeEarlyKey()) open();
    return () => removeEventListener("keydown", press);
  }, [isSignedIn]);
  return [Palette && html`<${Palette} onClose=${() => setPalette(null)} />`, isSignedIn ? open : null];
}

/**
 * Handles the keys. Returns the list of them, if it is open, and a function that opens it. `hasGo` says whether `useGo`
 * has something to open. The list is outside of the navigation, which a narrow window hides.
 */
export function useKeyboard(hasGo) {
  const [asking, setAsking] = useState(false);
  const [isOff, setOff] = useState(localStorage.getItem(OFF) === "off");
  useEffect(() => {
    const press = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const done = {
        "/": search,
        j: () => move(1),
        k: () => move(-1),
        "?": () => {
          setAsking(true);
          return true;
        },
      }[event.key];
      const own = keysOfView().find(([key]) => key === event.key);
      if (own) own[2]();
      if (own || done?.()) event.preventDefault();
    };
    if (!isOff) addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [isOff]);
  const choose = (event) => {
    const off = !event.target.checked;
    if (off) localStorage.setItem(OFF, "off");
    else localStorage.removeItem(OFF);
    setOff(off);
  };
  const list =
    asking &&
    html`
      <${Dialog}
        title="Keyboard"
        onClose=${() => setAsking(false)}
        actions=${html`<${Button} kind="primary" onClick=${() => setAsking(false)}>Close<//>`}
      >
        <dl class="keys">
          ${[...(hasGo ? [GO] : []), ...KEYS, ...keysOfView(), HELP].map(
            ([key, does]) => html`
              <dt><kbd>${key}</kbd></dt>
              <dd>${does}</dd>
            `,
          )}
        </dl>
        <${Check} checked=${!isOff} onChange=${choose}>Use these single keys<//>
      <//>
    `;
  return [list, () => setAsking(true)];
}

/** The buttons for those who do not use the keys. */
export const KeyButtons = ({ go, ask }) => html`
  ${
    go &&
    html`
      <button type="button" class="go-button" onClick=${go}>
        <${Icon} name="search" />Go to <kbd>${GO[0]}</kbd>
      </button>
    `
  }
  <button type="button" class="keys-button" onClick=${ask}><kbd>?</kbd>Keyboard</button>
`;

function search() {
  /** @type {NodeListOf<HTMLInputElement>} */
  const all = document.querySelectorAll("main input[type=search]");
  const fields = [...all].filter(isVisible);
  fields[0]?.focus();
  fields[0]?.select();
  return fields.length > 0;
}

function move(step) {
  const links = [...document.querySelectorAll(ROWS)]
    .filter(isVisible)
    .flatMap((row) => /** @type {HTMLElement | null} */ (row.querySelector("a[href]")) ?? []);
  if (!links.length) return false;
  const row = focusedRow();
  const at = links.findIndex((link) => row?.contains(link));
  const next = links[Math.min(Math.max(at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step, 0), links.length - 1)];
  next.focus({ preventScroll: true });
  next.closest(ROWS)?.scrollIntoView({ block: "nearest" });
  return true;
}
