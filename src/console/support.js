// The support page: says whether the service answers, as the Web Connector would see it.
import { poll } from "./lib/polling.js";
import { ROOT } from "./lib/router.js";
import { clock } from "./lib/text.js";

const POLL_MILLISECONDS = 20_000;

const box = document.getElementById("status");
const text = box.querySelector("p");

async function check() {
  let good = false;
  try {
    const response = await fetch(`${ROOT}/qbwc`, { credentials: "omit", cache: "no-store" });
    await response.text();
    good = response.ok;
  } catch {
    // The page shows that the service does not answer.
  }
  box.className = `note ${good ? "green" : "red"}`;
  const time = clock(Date.now());
  text.textContent = good
    ? `The service is up. Checked at ${time}.`
    : `The service is not responding right now. Checked at ${time}; this page tries again every 20 seconds.`;
}

check();
poll(check, () => POLL_MILLISECONDS);
