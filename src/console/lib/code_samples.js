// A request as a call of the API in curl, Python and JavaScript, in the short form that the documents teach.
import { contentOf } from "./queue_again.js";
import { fitsInJson, shortForm } from "./request_json.js";
import { ROOT } from "./router.js";

/** Returns `{curl, python, javascript}` for a record. Running a sample twice within a day queues one request. */
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
 * Returns `{curl, python, javascript}` for the body of a call. With a `key`, running a sample twice queues one request.
 */
export function samplesOf(connection, body, key) {
  const address = `${location.origin}${ROOT}/api/v1/connections/${connection}/queued_requests`;
  const json = JSON.stringify(body, null, 2);
  return {
    curl: `curl -u "$API_KEY:" '${address}' \\
  -H 'Content-Type: application/json' \\
${key ? `  -H 'Idempotency-Key: ${key}' \\\n` : ""}  -d '${json.replaceAll("'", "'\\''")}'
`,
    // This JSON is Python, except for the null of `webhook_url`. A line with a text ends in a quotation mark or a
    // comma.
    python: `import base64, json, os, urllib.request

body = ${json.replace(/: null(?=,?\n)/g, ": None")}
headers = {
    "Authorization": "Basic " + base64.b64encode(f"{os.environ['API_KEY']}:".encode()).decode(),
    "Content-Type": "application/json",
${key ? `    "Idempotency-Key": "${key}",\n` : ""}}
url = "${address}"
request = urllib.request.Request(url, json.dumps(body).encode(), headers)
with urllib.request.urlopen(request, timeout=30) as response:
    print(json.load(response)["data"]["id"])
`,
    javascript: `const body = ${json};
const response = await fetch("${address}", {
  method: "POST",
  headers: {
    Authorization: "Basic " + btoa(\`\${process.env.API_KEY}:\`),
    "Content-Type": "application/json",
${key ? `    "Idempotency-Key": "${key}",\n` : ""}  },
  body: JSON.stringify(body),
});
if (!response.ok) throw new Error(await response.text());
console.log((await response.json()).data.id);
`,
  };
}
