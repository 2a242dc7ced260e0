// Queue a request, receive its webhook, verify the signature and print two customers.
// Node 18 or newer, without packages: node first_request.mjs
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import process from "node:process";

for (const name of ["BASE_URL", "API_KEY", "CONNECTION_ID", "WEBHOOK_SECRET"]) {
  if (!process.env[name]) {
    console.error(`${name} is not set. In the folder of the project, run: set -a; . .local/env; set +a`);
    process.exit(1);
  }
}
process.on("uncaughtException", (error) => {
  console.error(`${error.message}: ${error.cause?.message ?? "the service refused the call"}`);
  process.exit(1);
});

const { BASE_URL, API_KEY, CONNECTION_ID, WEBHOOK_SECRET } = process.env;

/** A webhook secret of at least 24 bytes. Anybody can sign with an empty one. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** Checks the signature of Standard Webhooks over the raw bytes of the body. */
function isValid(secret, headers, body) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  const key = SECRET.exec(secret)?.[1];
  if (!key || !id || !/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const digest = createHmac("sha256", Buffer.from(key, "base64")).update(content).digest("base64");
  const expected = Buffer.from(`v1,${digest}`);
  const signatures = (headers["webhook-signature"] ?? "").split(" ").map((signature) => Buffer.from(signature));
  return signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

/** Queues a request and returns its record. Repeating the call with the same key queues nothing new. */
async function queue(request, webhookUrl, idempotencyKey) {
  const response = await fetch(`${BASE_URL}/api/v1/connections/${CONNECTION_ID}/queued_requests`, {
    method: "POST",
    redirect: "error", // another host must not get the request
    headers: {
      Authorization: "Basic " + Buffer.from(`${API_KEY}:`).toString("base64"),
      "Content-Type": "application/json",
      "Idempotency-Key": idempotencyKey,
    },
    body: JSON.stringify({ request_json: request, webhook_url: webhookUrl }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${body.error.message}`);
  return body.data;
}

const receiver = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const valid = isValid(WEBHOOK_SECRET, request.headers, body);
  response.writeHead(valid ? 204 : 401).end();
  if (valid) receiver.emit("event", JSON.parse(body));
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const arrival = once(receiver, "event");

const webhookUrl = `http://127.0.0.1:${receiver.address().port}/`;
const record = await queue({ CustomerQueryRq: { MaxReturned: 2 } }, webhookUrl, randomUUID());
console.log(record.request_name, record.state);

const [event] = await arrival;
console.log(event.type);
for (const customer of event.response_json[0].QBXMLMsgsRs.CustomerQueryRs.CustomerRet) {
  console.log(customer.ListID, customer.FullName);
}
receiver.close();
