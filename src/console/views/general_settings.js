// The form of the settings that the API changes in one call.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { session } from "../lib/session.js";
import { Button, Check, explain, Field, Note, toast } from "../lib/ui.js";

const ZONES = Intl.supportedValuesOf?.("timeZone") ?? ["UTC"];

const WHOLE_NUMBERS = { linger_seconds: [0, 1500], batch_size: [1, 20], read_batch_size: [1, 20] };

const ALL_EVENTS = "connection.*";

const EVENTS = [
  ["connection.connected", "First login of the Web Connector"],
  ["connection.stalled", "No call for a day while requests wait"],
  ["connection.calling_again", "Called again after that"],
  ["connection.company_file_mismatch", "Another company file is open"],
  ["connection.company_file_path_changed", "Company file at another path"],
  ["connection.password_changed", "New password"],
];

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function General({ connection, load }) {
  const window = connection.sync_window;
  const initial = {
    name: connection.name ?? "",
    company_file: connection.company_file ?? "",
    webhook_url: connection.webhook_url ?? "",
    webhook_events: connection.webhook_events,
    approval: connection.approval === "required",
    linger_seconds: String(connection.linger_seconds),
    batch_size: String(connection.batch_size),
    read_batch_size: String(connection.read_batch_size),
    settle: connection.settle,
    limited: Boolean(window),
    from: window?.from ?? "20:00",
    to: window?.to ?? "06:00",
    time_zone: window?.time_zone ?? OWN_ZONE,
  };
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState({});
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const isFixed = !session.may("change_connection");
  const changed = JSON.stringify(values) !== JSON.stringify(initial);
  const set = (name) => (event) =>
    setValues({ ...values, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const bind = (name) => ({ value: values[name], onInput: set(name), disabled: isFixed });
  const submit = async (event) => {
    event.preventDefault();
    const wrong = Object.entries(WHOLE_NUMBERS).filter(
      ([name, [min, max]]) => !/^\d{1,4}$/.test(values[name].trim()) || values[name] < min || values[name] > max,
    );
    if (wrong.length)
      return setProblems(
        Object.fromEntries(
          wrong.map(([name, [min, max]]) => [name, `Enter a whole number from ${min} to ${max.toLocaleString("en")}.`]),
        ),
      );
    setBusy(true);
    setError(null);
    setProblems({});
    const text = (name) => values[name].trim() || null;
    try {
      const body = {
        name: text("name"),
        company_file: text("company_file"),
        webhook_url: text("webhook_url"),
        webhook_events: values.webhook_events,
        approval: values.approval ? "required" : null,
        linger_seconds: Number(values.linger_seconds),
        batch_size: Number(values.batch_size),
        read_batch_size: Number(values.read_batch_size),
        settle: values.settle,
        sync_window: values.limited ? { from: values.from, to: values.to, time_zone: values.time_zone } : null,
      };
      load.reload({ data: await call("PATCH", ["connections", connection.id], { body }) });
      toast("The settings are saved.");
    } catch (problem) {
      const known = Object.fromEntries(
        (problem.details?.problems ?? []).map(({ field, message }) => [field.replace("sync_window.", ""), message]),
      );
      setProblems(known);
      setError(Object.keys(known).some((name) => name in values) ? null : problem);
    }
    setBusy(false);
  };
  return html`
    <form class="card" onSubmit=${submit}>
      <header><h2>Settings</h2></header>
      <div class="body stack">
        <${Field} label="Name" problem=${problems.name}>
          ${(control) => html`<input ...${control} ...${bind("name")} maxlength="200" />`}
        <//>
        <${Field}
          label="Company file"
          problem=${problems.company_file}
          help="Full path on the Windows machine. If it is empty, the open file is used."
        >
          ${(control) => html`
            <input ...${control} ...${bind("company_file")} class="mono" maxlength="500" spellcheck=${false} />
          `}
        <//>
        <${Field}
          label="Webhook URL"
          problem=${problems.webhook_url}
          help="For requests that do not have a webhook URL."
        >
          ${(control) => html`
            <input ...${control} ...${bind("webhook_url")} inputmode="url" maxlength="2048" spellcheck=${false} />
          `}
        <//>
        ${
          (values.webhook_url.trim() || values.webhook_events.length > 0) &&
          html`
            <${WebhookEvents}
              events=${values.webhook_events}
              change=${(events) => setValues({ ...values, webhook_events: events })}
            />
          `
        }
        <div class="field">
          <${Check} checked=${values.approval} onChange=${set("approval")} disabled=${isFixed}>
            Writes need approval
          <//>
          <p class="help">
            Each write that is queued from now on waits until it is approved with another API key. Queries do not wait.
          </p>
        </div>
        <${Field}
          label="Lingering (seconds)"
          problem=${problems.linger_seconds}
          help="How long a session stays open after its last request, so that new requests are sent at once. 0 turns it off."
        >
          ${(control) => html`<input ...${control} ...${bind("linger_seconds")} inputmode="numeric" />`}
        <//>
        <${Field}
          label="Batch size of writes"
          problem=${problems.batch_size}
          help="How many writes are sent to QuickBooks together: 1 to 20. A higher number is faster for small requests, but if QuickBooks fails, you may have to check that many writes."
        >
          ${(control) => html`<input ...${control} ...${bind("batch_size")} inputmode="numeric" />`}
        <//>
        <${Field}
          label="Batch size of reads"
          problem=${problems.read_batch_size}
          help="How many reads are sent to QuickBooks together: 1 to 20. With 1, people who work in QuickBooks wait for one read at a time."
        >
          ${(control) => html`<input ...${control} ...${bind("read_batch_size")} inputmode="numeric" />`}
        <//>
        <${Check} checked=${values.settle} onChange=${set("settle")} disabled=${isFixed}>
          Ask QuickBooks about writes whose outcome is unknown
        <//>
        <div class="stack tight">
          <${Check} checked=${values.limited} onChange=${set("limited")} disabled=${isFixed}>
            Send only in a daily sync window
          <//>
          ${
            values.limited &&
            html`
              <div class="row oneline">
                <${Field} label="From" problem=${problems.from}>
                  ${(control) => html`<input type="time" ...${control} ...${bind("from")} />`}
                <//>
                <${Field} label="To" problem=${problems.to}>
                  ${(control) => html`<input type="time" ...${control} ...${bind("to")} />`}
                <//>
                <div class="grow">
                  <${Field} label="Time zone" problem=${problems.time_zone}>
                    ${(control) => html`
                      <select ...${control} ...${bind("time_zone")} onChange=${set("time_zone")}>
                        ${[...new Set([values.time_zone, ...ZONES])].map(
                          (zone) => html`
                            <option value=${zone} selected=${zone === values.time_zone}>
                              ${zone.replaceAll("_", " ")}
                            </option>
                          `,
                        )}
                      </select>
                    `}
                  <//>
                </div>
              </div>
            `
          }
        </div>
        ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
        ${
          session.may("change_connection") &&
          html`
            <div class="row end">
              <${Button} disabled=${!changed || busy} onClick=${() => setValues(initial)}>Reset<//>
              <${Button} kind="primary" type="submit" disabled=${!changed || busy}>Save<//>
            </div>
          `
        }
      </div>
    </form>
  `;
}

function WebhookEvents({ events, change }) {
  const all = events.includes(ALL_EVENTS);
  const toggle = (type) => (event) =>
    change(event.target.checked ? [...events, type] : events.filter((other) => other !== type));
  const check = (type, name, locked) => html`
    <${Check}
      checked=${all || events.includes(type)}
      onChange=${toggle(type)}
      disabled=${locked || !session.may("change_connection")}
    >
      ${name}
    <//>
  `;
  return html`
    <div class="field" role="group" aria-label="Events of this connection">
      <span class="label">Events of this connection</span>
      <p class="help">The webhook URL also gets these events.</p>
      <div class="stack tight">
        ${check(ALL_EVENTS, "All, including those of later versions", false)}
        ${EVENTS.map(([type, name]) => check(type, name, all))}
      </div>
    </div>
  `;
}
