// The bulk actions of a list of requests, and which of them its filters leave.

/**
 * The bulk actions, with the states and webhooks of the requests that they are for. The dialog (`many.js`) does them.
 */
export const ACTIONS = {
  // No webhook is sent before its request has ended.
  discard: { name: "Discard", states: ["waiting", "retryable"], webhooks: ["not_applicable", "pending"] },
  queue_again: { name: "Queue again", states: ["error", "discarded"] },
  redeliver: {
    name: "Redeliver webhooks",
    states: ["response_received", "error", "discarded"],
    webhooks: ["pending", "retrying", "failed", "failing"],
  },
};

/**
 * Returns the names of the actions that the filters of a list leave.
 *
 * @param {{state?: string, webhook_state?: string}} filters
 */
export const possible = ({ state, webhook_state: webhook }) =>
  Object.entries(ACTIONS)
    .filter(
      ([, { states, webhooks }]) =>
        (!state || states.includes(state)) && (!webhook || !webhooks || webhooks.includes(webhook)),
    )
    .map(([name]) => name);
