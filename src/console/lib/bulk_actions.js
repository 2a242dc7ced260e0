// The bulk actions of a list of requests, and which of them its filters and the reader's permissions leave.
import { session } from "./session.js";

/**
 * The bulk actions, with the call that the reader must be allowed to make, and the states and webhooks of the requests
 * that they are for. The dialog (`many.js`) does them.
 */
export const ACTIONS = {
  // No webhook is sent before its request has ended.
  discard: {
    name: "Discard",
    needs: "discard_many",
    states: ["waiting", "retryable"],
    webhooks: ["not_applicable", "pending"],
  },
  queue_again: { name: "Queue again", needs: "queue_many_again", states: ["error", "discarded"] },
  redeliver: {
    name: "Redeliver webhooks",
    needs: "redeliver_many",
    states: ["response_received", "error", "discarded"],
    webhooks: ["pending", "retrying", "failed", "failing"],
  },
};

/** Whether the reader may do any bulk action. */
export const hasBulkActions = () => Object.values(ACTIONS).some(({ needs }) => session.may(needs));

/**
 * Returns the names of the actions that the filters of a list leave to the reader.
 *
 * @param {{state?: string, webhook_state?: string}} filters
 */
export const possible = ({ state, webhook_state: webhook }) =>
  Object.entries(ACTIONS)
    .filter(
      ([, { needs, states, webhooks }]) =>
        session.may(needs) &&
        (!state || states.includes(state)) &&
        (!webhook || !webhooks || webhooks.includes(webhook)),
    )
    .map(([name]) => name);
