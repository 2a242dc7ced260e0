// Shows how old the data on the screen is, and says so when they do not become newer.
import { html } from "../vendor/preact.js";
import { pollNow, useFreshness } from "./polling.js";
import { clock, fullTime } from "./text.js";
import { Button, explain } from "./ui.js";

/** The time of the data, in the navigation. */
export function AsOf() {
  const { at, isPaused } = useFreshness();
  if (!at) return null;
  const time = html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${clock(at)}</time>`;
  return html`
    <div class="as-of">
      ${isPaused ? html`<span>Paused, as of ${time}</span>` : html`<span>As of ${time}</span>`}
      <${Button}
        kind="icon ghost"
        icon="refresh"
        aria-label="Update"
        title="Update now"
        onClick=${() => pollNow()}
      />
    </div>
  `;
}

/** Says that the service is slow, or that the data are old. */
export function StaleNotice() {
  const { at, error, nextAt, isSlow, isPaused } = useFreshness();
  let text = null;
  if (error && at) {
    text = `Not updated since ${clock(at)}. ${explain(error)}`;
    if (nextAt && nextAt > Date.now()) text += ` The next attempt is at ${clock(nextAt)}.`;
  } else if (isSlow) text = "The service is slow to answer. Still waiting …";
  else if (isPaused && at)
    text = `Updates are paused because nobody has used this tab. It shows the data of ${clock(at)}.`;
  return html`
    <div class="stale" role="status">
      ${
        text &&
        html`
          <div class="pill ${error ? "red" : "amber"}">
            <span>${text}</span>
            ${
              (error || isPaused) &&
              at &&
              html`<${Button} kind="small" icon="refresh" onClick=${() => pollNow()}>Update now<//>`
            }
          </div>
        `
      }
    </div>
  `;
}
