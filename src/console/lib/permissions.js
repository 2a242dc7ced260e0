// What the reader must be allowed to do for a control of the console to be shown.

/**
 * The calls that controls make, and the permissions of which one is enough for each.
 * `tests/infrastructure/test_console_permissions.py` compares them with the endpoints of the service.
 *
 * @type {Record<string, {call: string, needs: string[]}>}
 */
export const CALLS = {
  create_connection: { call: "POST /connections", needs: ["administer"] },
  change_connection: { call: "PATCH /connections/{connection_id}", needs: ["administer"] },
  delete_connection: { call: "DELETE /connections/{connection_id}", needs: ["administer"] },
  set_password: { call: "POST /connections/{connection_id}/password", needs: ["administer"] },
  reset_company_file: { call: "POST /connections/{connection_id}/reset_company_file", needs: ["administer"] },
  accept_company_file: { call: "POST /connections/{connection_id}/accept_company_file", needs: ["operate"] },
  pause: { call: "POST /connections/{connection_id}/pause", needs: ["operate"] },
  resume: { call: "POST /connections/{connection_id}/resume", needs: ["operate"] },
  create_onboarding_link: { call: "POST /connections/{connection_id}/onboarding_url", needs: ["operate"] },
  create_subscription: { call: "POST /connections/{connection_id}/subscriptions", needs: ["administer"] },
  change_subscription: {
    call: "PATCH /connections/{connection_id}/subscriptions/{subscription_id}",
    needs: ["administer"],
  },
  delete_subscription: {
    call: "DELETE /connections/{connection_id}/subscriptions/{subscription_id}",
    needs: ["administer"],
  },
  run_subscription: {
    call: "POST /connections/{connection_id}/subscriptions/{subscription_id}/run",
    needs: ["operate"],
  },
  pause_subscription: {
    call: "POST /connections/{connection_id}/subscriptions/{subscription_id}/pause",
    needs: ["operate"],
  },
  resume_subscription: {
    call: "POST /connections/{connection_id}/subscriptions/{subscription_id}/resume",
    needs: ["operate"],
  },
  resync_subscription: {
    call: "POST /connections/{connection_id}/subscriptions/{subscription_id}/resync",
    needs: ["administer"],
  },
  queue: { call: "POST /connections/{connection_id}/queued_requests", needs: ["propose"] },
  queue_again: { call: "POST /queued_requests/{request_id}/queue_again", needs: ["operate", "propose"] },
  continue_batch: { call: "POST /connections/{connection_id}/batches/{batch_id}/continue", needs: ["propose"] },
  discard: { call: "POST /queued_requests/{request_id}/discard", needs: ["operate"] },
  redeliver: { call: "POST /queued_requests/{request_id}/redeliver", needs: ["operate"] },
  delete_request: { call: "DELETE /queued_requests/{request_id}", needs: ["administer"] },
  settle: { call: "POST /queued_requests/{request_id}/settle", needs: ["operate"] },
  discard_many: { call: "POST /connections/{connection_id}/queued_requests/discard", needs: ["operate"] },
  queue_many_again: { call: "POST /connections/{connection_id}/queued_requests/queue_again", needs: ["operate"] },
  redeliver_many: { call: "POST /connections/{connection_id}/redeliver", needs: ["operate"] },
  decide: { call: "POST /queued_requests/{request_id}/approve", needs: ["decide"] },
  change_contact: { call: "PATCH /contact", needs: ["administer"] },
  manage_people: { call: "GET /people", needs: ["manage"] },
  manage_keys: { call: "GET /api_keys", needs: ["manage"] },
};

/** What needs more than the call does. */
const MORE = {
  /** Others see only the origin of a webhook URL: its path may be a credential. */
  see_webhook_urls: ["administer"],
  give_webhook_url: ["queue"],
  /** Queueing a write again that QuickBooks may have executed. */
  force: ["queue"],
  /** Any call that changes something. */
  change_something: ["operate", "propose", "queue", "decide", "administer", "manage"],
};

/**
 * Whether permissions allow an action of these tables. Throws TypeError for another name.
 *
 * @param {string[]} permissions
 * @param {string} action
 */
export function allows(permissions, action) {
  const needs = CALLS[action]?.needs ?? MORE[action];
  if (!needs) throw new TypeError(`No control has the name ${action}.`);
  return needs.some((one) => permissions.includes(one));
}
