// The charts of the overview: activity by hour, and how long requests wait and take.
import { html } from "../vendor/preact.js";
import { Bars, Numbers } from "../lib/chart.js";
import { count, plural, roughDuration as seconds, clock as timeOfDay } from "../lib/text.js";

export const total = (hours, key) => hours.reduce((sum, hour) => sum + hour[key], 0);

const SERIES = [
  { name: "Answered by QuickBooks", kind: "good" },
  { name: "Failed", kind: "bad" },
];

const clock = (iso) => new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" }).format(new Date(iso));

const weekday = (iso) => new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" }).format(new Date(iso));

const dayOf = (iso) =>
  new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" }).format(new Date(iso));

/** Returns a moment to the minute, with its zone: "Sun, Nov 22, 06:02 PM EST". */
export const moment = (iso) => `${dayOf(iso)}, ${timeOfDay(iso)}`;

export function Activity({ hours }) {
  const every = hours.length > 100 ? 24 : hours.length > 24 ? 6 : 3;
  const label = (iso) => {
    const hour = new Date(iso).getHours();
    return hour % every === 0 && (hour === 0 ? weekday(iso) : clock(iso));
  };
  const bars = hours.map(({ hour, queued, response_received: answered, error }) => ({
    label: label(hour),
    title: [
      `${dayOf(hour)}, ${clock(hour)}: ${plural(queued, "request")} queued`,
      `${count(answered)} answered`,
      `${count(error)} failed`,
    ].join(", "),
    values: [answered, error],
  }));
  const [answered, failed] = [count(total(hours, "response_received")), count(total(hours, "error"))];
  const period = plural(hours.length, "hour");
  const summary = `${answered} requests answered and ${failed} failed in ${period}. The table has the numbers.`;
  const rows = hours
    .filter((one) => one.queued + one.response_received + one.error)
    .reverse()
    .map((one) => [
      `${dayOf(one.hour)}, ${clock(one.hour)}`,
      count(one.queued),
      count(one.response_received),
      count(one.error),
    ]);
  return html`
    <${Bars} series=${SERIES} bars=${bars} summary=${summary} />
    ${
      rows.length
        ? html`
          <${Numbers} caption="Activity by hour" columns=${["Hour", "Queued", "Answered", "Failed"]} rows=${rows} />
        `
        : html`<p class="muted">Nothing was queued and nothing ended in this period.</p>`
    }
  `;
}

const ONE = [{ name: "Requests", kind: "plain" }];

export function Durations({ title, help, durations }) {
  const { number, median_seconds: median, p95_seconds: p95, buckets } = durations;
  const range = ({ from_seconds: from, to_seconds: to }) =>
    to === null ? `${seconds(from)} or more` : `${from ? seconds(from) : "0"} – ${seconds(to)}`;
  const id = title.replace(/ .*/, "").toLowerCase();
  return html`
    <section class="card" aria-labelledby=${id}>
      <header>
        <h2 id=${id}>${title}</h2>
        <span class="small muted">${plural(number, "request")}</span>
      </header>
      <div class="body stack">
        <p class="muted small">${help}</p>
        ${
          number
            ? html`
              <dl class="percentiles">
                <div>
                  <dt>Median</dt>
                  <dd>about ${seconds(median)}</dd>
                </div>
                <div>
                  <dt>95th percentile</dt>
                  <dd>about ${seconds(p95)}</dd>
                </div>
              </dl>
              <${Bars}
                series=${ONE}
                summary="${title}: half of the requests took about ${seconds(median)} or less, 95 % about ${seconds(p95)} or less."
                bars=${filled(buckets).map((bucket) => ({
                  label: seconds(bucket.from_seconds),
                  title: `${range(bucket)}: ${plural(bucket.number, "request")}`,
                  values: [bucket.number],
                }))}
              />
              <${Numbers}
                caption=${title}
                columns=${["Duration", "Requests"]}
                rows=${buckets.map((bucket) => [range(bucket), count(bucket.number)])}
              />
            `
            : html`<p class="muted">No request was measured in this period.</p>`
        }
      </div>
    </section>
  `;
}

/** With fewer bars, one would be a wall. */
const MIN_BARS = 8;

/** Returns the buckets with the empty ones between and behind them, whose bounds double. */
function filled(buckets) {
  const all = [];
  const next = () => {
    const from = all.at(-1).to_seconds;
    return { from_seconds: from, to_seconds: from * 2, number: 0 };
  };
  for (const bucket of buckets) {
    while (all.at(-1)?.to_seconds < bucket.from_seconds) all.push(next());
    all.push(bucket);
  }
  while (all.length < MIN_BARS && all.at(-1).to_seconds) all.push(next());
  return all;
}
