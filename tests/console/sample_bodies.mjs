// The calls that Compose can build, with texts that are hard to write in a language. The tests of the clients read them
// as well: `node --import tests/console/browser.mjs tests/console/sample_bodies.mjs` prints them.
import process from "node:process";
import { fileURLToPath } from "node:url";

import { samplesOf } from "../../src/console/lib/code_samples.js";
import { sampleBodyOf, written } from "../../src/console/lib/request_draft.js";
import { requestNames, requestType } from "../../src/console/lib/schema.js";
import { exampleTree } from "../../src/console/lib/trees.js";
import { chance, signInWith } from "./support.mjs";

export const CONNECTION = "59f1c1a2-0000-4000-8000-000000000001";

const TEXTS = [
  "",
  "A & B <c>",
  'the 3" pipe',
  "O'Brien's",
  "C:\\new\\table\\",
  "two\nlines",
  "a\r\n\tb",
  "${API_KEY} $HOME `id` $(id)",
  "Zoë 東京 😀 \u2028 \u2029 \u0085",
  "null",
  "x: null,",
  "99999999999999999999.00",
  "007",
  "!1 %s {} {0} '''\"\"\" */ // #",
  "\\",
  "\ud800",
];
const NAMES = ["order", "__proto__", "constructor", "1", 'a "b"', "x: null", "東京"];

/** Returns the calls: `{body, key, samples}`, three of each request type. The same in each run. */
export async function calls() {
  signInWith("read", "queue");
  const random = chance(41);
  const pick = (values) => values[random(values.length)];
  const hostile = (tree) =>
    tree.children
      ? { ...tree, children: tree.children.map(hostile) }
      : { ...tree, text: random(2) ? pick(TEXTS) : tree.text };
  const made = [];
  for (const name of await requestNames()) {
    const example = exampleTree(await requestType(name));
    for (const mode of ["form", "xml", "json"]) {
      const tree = { ...hostile(example), attributes: random(2) ? { request_id: pick(TEXTS) } : {} };
      // In this order the short form would lose a request's elements, so its sample has nodes.
      if (!random(4)) tree.children = [...tree.children, { name: "Other", text: "1" }, ...tree.children];
      const version = pick(["13.0", "16.0", "CA3.0"]);
      const xml = written("xml", { tree, version }, "13.0").replace(
        "stopOnError",
        pick(["stopOnError", "rollbackOnError"]),
      );
      const draft = {
        mode,
        text: mode === "xml" ? xml : "",
        webhook: pick([null, "", "https://shop.example/hook?a='1'&b=${c}"]),
        label: pick(TEXTS),
        metadata: [...Array(random(4))].map(() => [pick(NAMES), pick(TEXTS)]),
        send_by: pick([undefined, "2030-01-31T18:00:00Z"]),
        priority: pick([undefined, "low"]),
        if_exists: pick([undefined, "return", "update"]),
      };
      const body = sampleBodyOf(draft, { tree, version }, "13.0");
      const key = pick([undefined, "copy-of-7e2f0a54"]);
      made.push({ body, key, samples: samplesOf(CONNECTION, body, key) });
    }
  }
  return made;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await calls()));
