// The webhook handler for Express. express.d.ts describes it.
import { InvalidSignature, verify } from "./index.js";
import { SECRET } from "./secrets.js";

/** @import { Handler, WebhookOptions, WebhookRequest, WebhookResponse } from "./express.js" */
/** @import { Event } from "./index.js" */

// No event is larger: beyond 1 MiB the service leaves out the response, and the request has at most 1 MiB.
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * @param {string} secret
 * @param {(event: Event, webhookId: string) => unknown} handle
 * @param {WebhookOptions} [options]
 * @returns {Handler}
 */
export function webhook(secret, handle, { maxBytes = MAX_BODY_BYTES } = {}) {
  if (!SECRET.test(secret)) throw new TypeError("The webhook secret is not whsec_ and base64 of at least 24 bytes.");
  return async (request, response, next) => {
    try {
      await answer(secret, handle, maxBytes, request, response);
    } catch (error) {
      next(error);
    }
  };
}

/**
 * Confirm an event when the user's function has ended, or refuse the call.
 *
 * @param {string} secret
 * @param {(event: Event, webhookId: string) => unknown} handle
 * @param {number} maxBytes
 * @param {WebhookRequest} request
 * @param {WebhookResponse} response
 */
async function answer(secret, handle, maxBytes, request, response) {
  const body = await bodyOf(request, maxBytes);
  if (!body) return refuse(response, 413, "The body of the webhook is too large.");
  let event;
  try {
    event = await verify(secret, request.headers, body);
  } catch (error) {
    if (!(error instanceof InvalidSignature)) throw error;
    console.warn(`A webhook was refused: ${error.message}`);
    return refuse(response, 401, "The signature of the webhook is not valid.");
  }
  try {
    await handle(event, String(request.headers["webhook-id"]));
  } catch (cause) {
    // Express would answer with the status of the error, and 410 ends the attempts of a webhook.
    throw new Error("The function of the webhook failed.", { cause });
  }
  response.status(204).end();
}

/** @param {WebhookResponse} response @param {number} status @param {string} text */
function refuse(response, status, text) {
  response.status(status).type("text/plain").send(text);
}

/**
 * Return the bytes of the body, or nothing if it is too large. The rest of such a body is read and forgotten, because a
 * client that is still sending would not get the response.
 *
 * @param {WebhookRequest} request
 * @param {number} maxBytes
 * @returns {Promise<Uint8Array | undefined>}
 */
async function bodyOf(request, maxBytes) {
  if (request.body instanceof Uint8Array) return request.body.length > maxBytes ? undefined : request.body;
  if (request.readableEnded) {
    throw new Error("Another function has read the body of the webhook. Put its route above express.json().");
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > maxBytes) return undefined;
  const body = new Uint8Array(size);
  chunks.reduce((at, chunk) => (body.set(chunk, at), at + chunk.length), 0);
  return body;
}
