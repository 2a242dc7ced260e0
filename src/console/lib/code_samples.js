// A request as a call of the API in curl, Python and JavaScript, in the short form that the documents teach.
import { ROOT } from "./router.js";

/** Returns `{curl, python, javascript}` for a record. Running a sample twice within a day queues one request. */
export function codeSamples(record) {
  const at = `${location.origin}${ROOT}/api/v1/connections/${record.connection_id}/queued_requests`;
  const request = shortForm(record);
  const key = `copy-of-${record.id}`;
  const json = JSON.stringify(request, null, 2);
  return {
    curl: `curl -u "$API_KEY:" '${at}' \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: ${key}' \\
  -d '${JSON.stringify({ request_json: request }, null, 2).replaceAll("'", "'\\''")}'
`,
    // The values of the tree are texts, so its JSON is also Python.
    python: `import base64, json, os, urllib.request

request = ${json}
headers = {
    "Authorization": "Basic " + base64.b64encode(f"{os.environ['API_KEY']}:".encode()).decode(),
    "Content-Type": "application/json",
    "Idempotency-Key": "${key}",
}
body = json.dumps({"request_json": request}).encode()
url = "${at}"
with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
    print(json.load(response)["data"]["id"])
`,
    javascript: `const request = ${json};
const response = await fetch("${at}", {
  method: "POST",
  headers: {
    Authorization: "Basic " + btoa(\`\${process.env.API_KEY}:\`),
    "Content-Type": "application/json",
    "Idempotency-Key": "${key}",
  },
  body: JSON.stringify({ request_json: request }),
});
console.log((await response.json()).data.id);
`,
  };
}

/** `{CustomerQueryRq: {MaxReturned: "2"}}`. A tree stays as it is if its order would be lost. */
function shortForm({ id, request_json: { version, request } }) {
  const { request_id: label, ...attributes } = request.attributes ?? {};
  // A generated label is the id of the record. The copy gets its own.
  const labelled = { ...request, attributes: label === undefined || label === id ? attributes : { requestID: label, ...attributes } };
  if (!isOrdered(request)) return { version, request: labelled };
  const isEmpty = !request.children?.length && !Object.keys(labelled.attributes).length;
  return { ...(version === "13.0" ? {} : { version }), [request.name]: isEmpty ? {} : content(labelled) };
}

function content({ attributes = {}, children = [], text }) {
  const members = new Map(Object.entries(attributes).map(([name, value]) => [`@${name}`, value]));
  if (!children.length && !members.size) return text ?? "";
  if (text) members.set("#text", text);
  for (const child of children) {
    const value = content(child);
    const former = members.get(child.name);
    if (former === undefined) members.set(child.name, value);
    else if (Array.isArray(former)) former.push(value);
    else members.set(child.name, [former, value]);
  }
  return Object.fromEntries(members);
}

/** Whether elements of the same name stand together everywhere, as they do in an array. */
function isOrdered({ children = [] }) {
  const runs = children.filter((child, n) => child.name !== children[n - 1]?.name).map(({ name }) => name);
  return new Set(runs).size === runs.length && children.every(isOrdered);
}
