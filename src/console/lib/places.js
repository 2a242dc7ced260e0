// The views of the navigation, which Ctrl-K opens too.
import { ROOT, url } from "./router.js";
import { session } from "./session.js";

/**
 * @typedef {{path: string, icon: string, name: string, needs?: string, open?: boolean,
 *   holds?: (path: string) => boolean}} Place
 */

/**
 * In the order of the navigation. `needs` is the permission that a place needs. `open` ones are there without a
 * sign-in. `holds` says whether an address belongs to a place; without it, only its own does.
 *
 * @type {Place[]}
 */
const PLACES = [
  {
    path: "/",
    icon: "plug",
    name: "Connections",
    open: true,
    holds: (path) => path === "/" || /^\/(connections|queued_requests)/.test(path),
  },
  { path: "/search", icon: "search", name: "Search" },
  { path: "/overview", icon: "chart", name: "Overview" },
  { path: "/failures", icon: "alert", name: "Failures" },
  { path: "/usage", icon: "bars", name: "Usage" },
  { path: "/compose", icon: "pen", name: "Compose", needs: "queue" },
  { path: "/approvals", icon: "stamp", name: "Approvals" },
  { path: "/audit_log", icon: "history", name: "Audit log" },
  { path: "/contact", icon: "phone", name: "Your contact" },
  { path: "/people", icon: "people", name: "People", needs: "manage_people" },
  { path: "/api_keys", icon: "key", name: "API keys", needs: "manage_keys" },
  { path: "/qbxml", icon: "book", name: "QBXML reference", open: true, holds: (path) => path.startsWith("/qbxml") },
  { path: "/docs", icon: "code", name: "API reference", open: true },
];

/** Returns the places of a reader: `{path, address, icon, name, holds}`. */
export const places = (isSignedIn) =>
  PLACES.filter(({ open, needs }) => open || (isSignedIn && (!needs || session.may(needs)))).map((place) => ({
    holds: (path) => path === place.path,
    ...place,
    // The reference of the API is a page of its own.
    address: place.path === "/docs" ? `${ROOT}/docs` : url(place.path),
  }));
