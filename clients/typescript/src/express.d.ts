// The webhook handler for Express 4 and 5.
import type { Event } from "./index.js";

/** What the handler reads of Express's request. */
export interface WebhookRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  readableEnded: boolean;
}

/** What the handler calls of Express's response. */
export interface WebhookResponse {
  status(code: number): WebhookResponse;
  type(type: string): WebhookResponse;
  send(body: string): unknown;
  end(): unknown;
}

export type Handler = (
  request: WebhookRequest,
  response: WebhookResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

export interface WebhookOptions {
  /** The size of the largest body. The default is 8 MiB. No event is larger. */
  maxBytes?: number;
}

/**
 * Return a handler for `app.post`. Throws a TypeError without a secret.
 *
 * `handle` gets an event and its `webhook-id`, and may return a promise. The answer is 204 when it has ended. An error of
 * `handle` goes to Express, which answers 500, so the event comes again. A call that is not an event that was signed with
 * the secret gets 401; `console.warn` has the reason. A body that is too large gets 413.
 *
 * The signature is that of the bytes that arrived, so put the route above `express.json()`.
 */
export function webhook(
  secret: string,
  handle: (event: Event, webhookId: string) => unknown,
  options?: WebhookOptions,
): Handler;
