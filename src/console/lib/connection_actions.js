// What can be done with a connection from any page: its views, and the actions that its pages ask about.
import { MOVE } from "./new_computer.js";
import { url } from "./router.js";
import { session } from "./session.js";
import { canResume } from "./text.js";

/**
 * A connection as far as it is known: of one that was not read, only the id.
 *
 * @typedef {{id: string, name?: string | null, simulated?: boolean, paused_at?: string | null, waiting_reason?: any}}
 *   Known
 * @typedef {{title: (name: string) => string, icon: string, address: (id: string) => string, words?: string,
 *   needs?: string, when?: (connection: Known) => boolean}} Action
 */

/** @type {(view: string, query?: Record<string, string>) => (id: string) => string} */
const page =
  (view, query = {}) =>
  (id) =>
    url(`/connections/${id}${view}`, query);

/** @type {(parameters: Record<string, string>) => (id: string) => string} */
const compose = (parameters) => (id) => url("/compose", { connection: id, ...parameters });

/** @param {Known} connection */
const isReal = ({ simulated }) => !simulated;

/**
 * In the order in which they are offered. `words` are other words that find an action. `when` says whether a connection
 * has it; one that was not read has none of these.
 *
 * @type {Action[]}
 */
const ACTIONS = [
  { title: (name) => `Requests of ${name}`, icon: "plug", address: page("") },
  { title: (name) => `Overview of ${name}`, icon: "chart", address: page("/overview") },
  {
    title: (name) => `Failures of ${name}`,
    icon: "alert",
    words: "failed errors",
    address: page("", { state: "error", sort: "updated_at" }),
  },
  { title: (name) => `Subscriptions of ${name}`, icon: "refresh", address: page("/subscriptions") },
  {
    title: (name) => `Sessions of ${name}`,
    icon: "history",
    words: "machine address version company file",
    address: page("/sessions"),
  },
  {
    title: (name) => `Settings of ${name}`,
    icon: "pen",
    words: "rename webhook url sync window qwc onboarding link web connector delete",
    address: page("/settings"),
  },
  { title: (name) => `Audit log of ${name}`, icon: "history", address: page("/audit_log") },
  { title: (name) => `Usage of ${name}`, icon: "bars", address: (id) => url("/usage", { search: id }) },
  { title: (name) => `New request for ${name}`, icon: "plus", needs: "queue", address: compose({}) },
  {
    title: (name) => `Change a customer of ${name}`,
    icon: "pen",
    needs: "queue",
    address: compose({ type: "CustomerModRq" }),
  },
  {
    title: (name) => `Change an invoice of ${name}`,
    icon: "pen",
    needs: "queue",
    address: compose({ type: "InvoiceModRq" }),
  },
  {
    title: (name) => `Pause ${name}`,
    icon: "pause",
    words: "stop",
    needs: "pause",
    when: (one) => !canResume(one),
    address: page("", { ask: "pause" }),
  },
  {
    title: (name) => `Resume ${name}`,
    icon: "play",
    words: "continue",
    needs: "resume",
    when: canResume,
    address: page("", { ask: "resume" }),
  },
  {
    title: (name) => `New password for ${name}`,
    icon: "key",
    needs: "set_password",
    when: isReal,
    address: page("/settings", { open: "password" }),
  },
  {
    title: (name) => `${MOVE}: ${name}`,
    icon: "plug",
    words: "machine",
    when: isReal,
    address: page("/settings", { open: "move" }),
  },
];

/**
 * Returns the actions of a connection that a reader may do: `{name, icon, address, verbs}`. `verbs` are the words of an
 * action without those of the connection.
 *
 * @param {Known} connection
 */
export const actionsOf = (connection) =>
  ACTIONS.filter(
    ({ needs, when }) =>
      (!needs || session.may(needs)) && (!when || (connection.name !== undefined && when(connection))),
  ).map(({ title, icon, address, words = "" }) => ({
    name: title(connection.name === undefined ? "this connection" : (connection.name ?? "Unnamed connection")),
    icon,
    address: address(connection.id),
    verbs: `${title("")} ${words}`.toLowerCase(),
  }));
