// Buttons that copy a text to the clipboard.
import { html, useState } from "../vendor/preact.js";
import { Button, explain, toast } from "./ui.js";

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages without https cannot use the clipboard, but they can copy a selection.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden-visually";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function CopyButton({ text, label = "Copy", kind = "small" }) {
  const [copied, setCopied] = useState(false);
  const press = async () => {
    let done;
    try {
      done = await copy(typeof text === "function" ? await text() : text);
    } catch (error) {
      return toast(explain(error), "red");
    }
    if (!done) return toast("Copying is not allowed here. Select the text instead.", "red");
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return html`
    <${Button} kind=${kind} icon=${copied ? "check" : "copy"} onClick=${press} aria-live="polite">
      ${copied ? "Copied" : label}
    <//>
  `;
}

/** A small button next to a short text that people copy, such as an ID. */
export function CopyIcon({ text, what }) {
  const press = async () =>
    (await copy(text))
      ? toast(`Copied ${what}.`)
      : toast("Copying is not allowed here. Select the text instead.", "red");
  return html`<${Button} kind="icon ghost" icon="copy" aria-label="Copy ${what}" title="Copy" onClick=${press} />`;
}

export const Code = ({ text, label }) => html`
  <div class="code">
    <pre tabindex="0" aria-label=${label}>${text}</pre>
    <${CopyButton} text=${text} />
  </div>
`;
