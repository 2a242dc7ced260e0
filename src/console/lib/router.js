// Paths below /app, kept in the browser's history. Every view has an address that can be shared.
import { useEffect, useState } from "../vendor/preact.js";
import { saveScroll } from "./place.js";

/** The path of the console, for example `/app` or `/live/app`, taken from the address of this file. */
export const APP = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
/** The path in front of `/app` and `/api`: empty, or the stage of the deployment. */
export const ROOT = APP.replace(/\/app$/, "");

/** The form of an id, as a part of a regular expression. */
export const ID = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})";

/** An id, or a name in an address of the service. */
const SEGMENT = /^[A-Za-z0-9_-]+$/;

/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * Returns a path: `["connections", id]`. A segment needs no encoding, because it has only letters, digits, `_` and `-`.
 * So no text can add a segment, a parameter or another host. Throws TypeError for any other segment.
 *
 * @param {string[]} segments
 */
export function pathOf(segments) {
  for (const segment of segments) {
    if (typeof segment !== "string" || !SEGMENT.test(segment))
      throw new TypeError(`${JSON.stringify(segment)} cannot be a part of a path.`);
  }
  return segments.join("/");
}

/**
 * Returns the address of a view: `url("/compose", {type: "InvoiceAddRq"})`. Empty parameters are left out.
 *
 * @param {string} path
 * @param {Record<string, unknown>} query
 */
export function url(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return APP + (path === "/" ? "" : path) + (text ? `?${text}` : "");
}

/**
 * Shows the view of an address, without loading the page again.
 *
 * @param {string} address
 * @param {{replace?: boolean}} options
 */
export function navigate(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  if (replace) {
    history.replaceState(history.state, "", address);
  } else {
    saveScroll();
    history.pushState(null, "", address);
    scrollTo(0, 0);
  }
  for (const listener of listeners) listener();
}

/** Returns `{path, query}` of the current view and renders again when it changes. */
export function useRoute() {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const update = () => setRoute(current());
    listeners.add(update);
    addEventListener("popstate", update);
    return () => {
      listeners.delete(update);
      removeEventListener("popstate", update);
    };
  }, []);
  return route;
}

/**
 * Whether this is the page /docs. Its Content-Security-Policy is looser than that of /app, so no view is shared with
 * it.
 */
const isDocs = () => location.pathname.replace(/\/+$/, "") === `${ROOT}/docs`;

function current() {
  if (isDocs()) return { path: "/docs", query: {} };
  const path = location.pathname.startsWith(APP) ? location.pathname.slice(APP.length) : "/";
  return { path: path.replace(/\/+$/, "") || "/", query: Object.fromEntries(new URLSearchParams(location.search)) };
}

/**
 * Whether a click asks for nothing but to follow its link. With a key or another button it opens a tab or a window.
 *
 * @param {MouseEvent} event
 */
export const isPlainClick = (event) =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

/** Follows links to other views without loading the page again. */
export function followLinks() {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const link = /** @type {HTMLAnchorElement | null} */ (event.target.closest("a[href]"));
    if (!link || !isPlainClick(event) || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const target = new URL(link.href);
    const isView = target.pathname === APP || target.pathname.startsWith(`${APP}/`);
    if (target.origin !== location.origin || !isView || target.hash || isDocs()) return;
    event.preventDefault();
    navigate(target.pathname + target.search);
  });
}
