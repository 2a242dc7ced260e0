// Queue a request and read its response with types that openapi-typescript has generated.
//
//   npm install --ignore-scripts --save-exact openapi-typescript@7.13.0 typescript@5.9.3 openapi-fetch@0.17.0
//   npx --no openapi-typescript docs/openapi.json -- --output api.d.ts
//   npx --no tsc -- --strict --module nodenext --target es2022 first_call.mts && node first_call.mjs
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string>; exit(status: number): never };
type QueuedRequest = components["schemas"]["QueuedRequest"];

for (const name of ["BASE_URL", "API_KEY", "CONNECTION_ID"]) {
  if (!process.env[name]) {
    console.error(`${name} is not set. In the folder of the project, run: set -a; . .local/env; set +a`);
    process.exit(1);
  }
}
const { BASE_URL, API_KEY, CONNECTION_ID } = process.env;
const client = createClient<paths>({
  baseUrl: BASE_URL,
  headers: { Authorization: "Basic " + btoa(`${API_KEY}:`) },
});

const queued = await client.POST("/api/v1/connections/{connection_id}/queued_requests", {
  params: { path: { connection_id: CONNECTION_ID! }, header: { "Idempotency-Key": crypto.randomUUID() } },
  body: { request_json: { request: { name: "CustomerQueryRq", children: [{ name: "MaxReturned", text: 2 }] } } },
});
if (!queued.data) throw new Error(queued.error.error.message);
let record: QueuedRequest = queued.data.data;
console.log(record.request_name, record.state);

while (!["response_received", "error", "discarded"].includes(record.state)) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const answer = await client.GET("/api/v1/queued_requests/{request_id}", {
    params: { path: { request_id: record.id } },
  });
  if (!answer.data) throw new Error(answer.error.error.message);
  record = answer.data.data;
}

console.log(record.state);
const response = record.response_json?.[0]?.QBXMLMsgsRs?.CustomerQueryRs;
if (typeof response !== "object" || Array.isArray(response)) throw new Error("no CustomerQueryRs");
if (!Array.isArray(response.CustomerRet)) throw new Error("no customers");
for (const customer of response.CustomerRet) {
  if (typeof customer === "object") console.log(customer.ListID, customer.FullName);
}
