// Where the reader is: the heading has the focus after a change of view, and scroll positions come back.

const SAVE_MILLISECONDS = 150;
const PATIENCE_MILLISECONDS = 8000;
/** A view that has not grown for this time is complete. */
const SETTLED_MILLISECONDS = 500;

let stopFocusing = () => {};
let stopRestoring = () => {};
let isRestoring = false;

/**
 * Gives the focus to the heading of the view as soon as it is there, or to the field that it begins with, unless the
 * reader has put it elsewhere.
 */
export function focusHeading() {
  stopFocusing();
  const main = document.getElementById("content");
  if (!main) return;
  // The link that was followed may still have it.
  if (document.activeElement !== document.body) /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
  const focus = () => {
    const heading = main.querySelector("h1");
    if (!heading || document.activeElement !== document.body) return;
    const first = main.querySelector("[data-first=true]");
    if (!first) heading.tabIndex = -1;
    /** @type {HTMLElement} */ (first ?? heading).focus({ preventScroll: true });
  };
  // A view draws its heading again when its data arrive.
  const observer = new MutationObserver(focus);
  observer.observe(main, { childList: true, subtree: true });
  stopFocusing = untilUsed(() => observer.disconnect());
  focus();
}

/** Keeps the scroll position of each entry of the history. */
export function keepScrollPositions() {
  history.scrollRestoration = "manual";
  let timer = 0;
  addEventListener(
    "scroll",
    () => {
      clearTimeout(timer);
      timer = setTimeout(saveScroll, SAVE_MILLISECONDS);
    },
    { passive: true },
  );
  addEventListener("popstate", () => {
    clearTimeout(timer);
    restoreScroll();
  });
  addEventListener("pagehide", saveScroll);
  restoreScroll();
}

export function saveScroll() {
  if (!isRestoring && Math.round(scrollY) !== (history.state?.scroll ?? 0))
    history.replaceState({ ...history.state, scroll: Math.round(scrollY) }, "");
}

/**
 * Scrolls to the position of this entry as soon as the view is long enough, and again while it grows. At first the
 * previous view is still there, and the parts of a view arrive one after the other.
 */
function restoreScroll() {
  stopRestoring();
  const position = history.state?.scroll ?? 0;
  const root = document.documentElement;
  let timer = 0;
  const observer = new ResizeObserver(() => {
    if (root.scrollHeight - innerHeight < position) return;
    scrollTo(0, position);
    clearTimeout(timer);
    timer = setTimeout(stop, SETTLED_MILLISECONDS);
  });
  const stop = untilUsed(() => {
    clearTimeout(timer);
    observer.disconnect();
    root.style.overflowAnchor = "";
    isRestoring = false;
  });
  stopRestoring = stop;
  isRestoring = true;
  // Otherwise the browser moves the position by the height of what arrives above it.
  root.style.overflowAnchor = "none";
  observer.observe(document.body);
}

/** Returns a function that runs `end` once: when it is called, when the reader does something, or after a while. */
function untilUsed(end) {
  const names = ["keydown", "pointerdown", "wheel", "touchstart"];
  const timer = setTimeout(() => stop(), PATIENCE_MILLISECONDS);
  let isOver = false;
  function stop() {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    for (const name of names) removeEventListener(name, stop, true);
    end();
  }
  for (const name of names) addEventListener(name, stop, { capture: true, passive: true });
  return stop;
}
