// Charts as plain SVG, each with a table of the same numbers. Colours come from the style sheet.
import { html } from "../vendor/preact.js";
import { count } from "./text.js";

const WIDTH = 1000;
const HEIGHT = 160;

/**
 * The smallest of 1, 2, 5, 10, 20, 50 … that is not below a number.
 *
 * @param {number} number
 */
function niceCeiling(number) {
  const power = 10 ** Math.floor(Math.log10(Math.max(number, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((value) => value >= number) ?? number;
}

/**
 * Stacked bars. `series`: `[{ name, kind }]`, where `kind` is a class of the style sheet. `bars`: `[{ label, title,
 * values }]`, one value for each series; bars without a `label` have no text below them. `summary` is the sentence that
 * a screen reader says in place of the picture.
 */
export function Bars({ series, bars, summary }) {
  const top = niceCeiling(Math.max(...bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0)), 1));
  const labels = bars.flatMap(({ label }, index) => (label ? [index] : []));
  const step = WIDTH / bars.length;
  const gap = Math.min(step * 0.25, 4);
  return html`
    <figure class="chart">
      <div class="plot ${labels.length > 6 ? "many-labels" : ""}">
        <div class="scale num" aria-hidden="true">
          <span>${count(top)}</span>
          <span>${top > 1 ? count(top / 2) : ""}</span>
          <span>0</span>
        </div>
        <div class="grow">
          <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${summary}>
            ${[0, 0.5, 1].map(
              (share) => html`<line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT * share} y2=${HEIGHT * share} />`,
            )}
            ${bars.map(({ title, values }, index) => {
              let below = 0;
              return html`
                <g>
                  <title>${title}</title>
                  <rect class="hit" x=${index * step} y="0" width=${step} height=${HEIGHT} />
                  ${values.map((value, which) => {
                    const height = Math.max((value / top) * HEIGHT, value ? 2 : 0);
                    below += height;
                    return value
                      ? html`
                        <rect
                          class="bar ${series[which].kind}"
                          x=${index * step + gap / 2}
                          y=${HEIGHT - below}
                          width=${step - gap}
                          height=${height}
                        />
                      `
                      : null;
                  })}
                </g>
              `;
            })}
          </svg>
          <div class="axis small muted" aria-hidden="true">
            ${bars.map(
              ({ label }, index) =>
                label &&
                html`
                  <span
                    class=${index === 0 ? "first" : labels.indexOf(index) % 2 ? "odd" : ""}
                    style=${{ left: `${((index + 0.5) * 100) / bars.length}%` }}
                  >
                    ${label}
                  </span>
                `,
            )}
          </div>
        </div>
      </div>
      ${
        series.length > 1 &&
        html`
          <figcaption class="row small muted">
            ${series.map(
              ({ name, kind }) => html`
                <span class="legend">
                  <svg viewBox="0 0 10 10" aria-hidden="true"><rect class="bar ${kind}" width="10" height="10" /></svg>
                  ${name}
                </span>
              `,
            )}
          </figcaption>
        `
      }
    </figure>
  `;
}

/** The numbers of a chart. `rows` have a heading and one cell for each further column. */
export function Numbers({ caption, columns, rows }) {
  return html`
    <details class="numbers-table">
      <summary class="small">Show as a table</summary>
      <div class="table-wrap" tabindex="0" role="region" aria-label=${caption}>
        <table>
          <caption class="hidden-visually">${caption}</caption>
          <thead>
            <tr>
              ${columns.map((name, index) => html`<th scope="col" class=${index ? "number" : ""}>${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ([heading, ...cells]) => html`
                <tr>
                  <th scope="row">${heading}</th>
                  ${cells.map((cell) => html`<td class="number">${cell}</td>`)}
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
    </details>
  `;
}
