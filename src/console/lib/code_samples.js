// Calls of the API as code: with curl, and with the clients for Python and TypeScript.
import { contentOf } from "./queue_again.js";
import { fitsInJson, shortForm } from "./request_json.js";
import { ROOT } from "./router.js";

/** Returns `{curl, python, typescript}` for a record. Running a sample twice within a day queues one request. */
export const codeSamples = (record) => samplesOf(record.connection_id, bodyOf(record), `copy-of-${record.id}`);

/** Returns the body that queues a copy of a record. A generated requestID is left out: it is the ID of the record. */
function bodyOf(record) {
  const { request_xml: xml, webhook_url: webhook, ...rest } = contentOf(record);
  const { version, request } = record.request_json;
  const { request_id: label, ...others } = request.attributes ?? {};
  const tree = { ...request, attributes: label === record.id ? others : request.attributes };
  // A reader may see only the origin of the URL. The service refuses this text, so no other address gets the webhook.
  const shown = webhook === undefined && record.webhook_url ? `${record.webhook_url}/…` : webhook;
  return {
    ...(fitsInJson(xml) ? { request_json: shortForm(tree, version) } : { request_xml: xml }),
    webhook_url: shown,
    ...rest,
  };
}

/**
 * Returns `{curl, python, typescript}` for the body of a call. All texts of the body may contain any characters. With a
 * `key`, running a sample twice queues one request.
 */
export function samplesOf(connection, body, key) {
  const base = location.origin + ROOT;
  const json = (indent, depth) => JSON.stringify(body, null, indent).replaceAll("\n", `\n${" ".repeat(depth)}`);
  return {
    curl: `curl -u "$API_KEY:" '${base}/api/v1/connections/${connection}/queued_requests' \\
  -H 'Content-Type: application/json' \\
${key ? `  -H 'Idempotency-Key: ${key}' \\\n` : ""}  -d '${json(2, 0).replaceAll("'", "'\\''")}'
`,
    // This JSON is Python, except for the null of `webhook_url`. A line with a text ends in a quotation mark or a
    // comma.
    python: `import os

from qbxml_queue import Client  # pip install the folder clients/python of the service

with Client("${base}", os.environ["API_KEY"], "${connection}") as books:
    record = books.api.create_queued_request(
        ${json(4, 8).replace(/: null(?=,?\n)/g, ": None")},
${key ? `        idempotency_key="${key}",\n` : ""}    )
    print(record["id"])
`,
    // This JSON is JavaScript, except for a member that would be the prototype of its object.
    typescript: `import { Client } from "qbxml-queue"; // npm install the folder clients/typescript of the service

const books = new Client("${base}", process.env.API_KEY!, "${connection}");
const record = await books.api.createQueuedRequest(
  ${json(2, 2).replace(/^( *)"__proto__":/gm, '$1["__proto__"]:')},
${key ? `  { idempotencyKey: "${key}" },\n` : ""});
console.log(record.id);
`,
  };
}

/**
 * Returns the calls of an operation of the API with the clients, `{python, typescript}`, without its parameters of the
 * URL. `books` is a client, which knows the connection.
 *
 * @param {string} path
 * @param {{operationId: string, requestBody?: unknown}} operation
 */
export function clientCalls(path, { operationId, requestBody }) {
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).filter((name) => name !== "connection_id");
  const given = [...ids, ...(requestBody ? ["body"] : [])];
  const camelCase = (/** @type {string} */ name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  return {
    python: `books.api.${operationId}(${given.join(", ")})`,
    typescript: `books.api.${camelCase(operationId)}(${given.map(camelCase).join(", ")})`,
  };
}
