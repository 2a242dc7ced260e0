// The lines of the only object in a response.
import { html } from "../vendor/preact.js";
import { objectOf, shortLines } from "../lib/write_fields.js";
import { ChangeTable } from "./approval_table.js";

export default function ResultLines({ results }) {
  const object = objectOf(results);
  if (!object) return null;
  return html`
    <section class="card" aria-label="Lines of the result">
      <header><h2>Lines</h2></header>
      <div class="body"><${ChangeTable} table=${{ fields: [], lines: shortLines(object) }} /></div>
    </section>
  `;
}
