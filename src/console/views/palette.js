// Ctrl-K: opens any connection, request, view or action of a connection, and searches, without the mouse.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { actionsOf } from "../lib/connection_actions.js";
import { Dialog } from "../lib/dialogs.js";
import { known, notedConnection, readConnections } from "../lib/known_connections.js";
import { places } from "../lib/places.js";
import { ID, navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { count, plural } from "../lib/text.js";
import { Button, explain, Foreign, Icon } from "../lib/ui.js";

const SHOWN = 8;

const ONE_ID = new RegExp(ID);
const OF_A_CONNECTION = new RegExp(`/connections/${ID}`);

/** Whether every word of a text is somewhere in a name. */
const fits = (name, words) => words.every((word) => name.toLowerCase().includes(word));

/** Those that begin with the text come first. Others keep their order. */
const bestFirst = (options, text) =>
  options.toSorted(
    (one, other) => Number(other.name.toLowerCase().startsWith(text)) - Number(one.name.toLowerCase().startsWith(text)),
  );

/**
 * Returns the actions of connections that fit the words. Of other connections than `here`, a word has to name the
 * action, or the words name this connection alone.
 */
function connectionActions(words, connections, found, here) {
  const current = here && (notedConnection(here) ?? connections.find(({ id }) => id === here) ?? { id: here });
  const others = words.length ? connections.filter(({ id }) => id !== here) : [];
  const wanted = (one, verbs) =>
    words.some((word) => verbs.includes(word)) || (found.length === 1 && found[0].id === one.id);
  return [...(current ? [current] : []), ...others].flatMap((one) =>
    actionsOf(one)
      .filter(({ name, verbs }) => fits(`${name} ${verbs} ${one.id}`, words) && (one === current || wanted(one, verbs)))
      .map((action) => ({ ...action, kind: "Action" })),
  );
}

/**
 * Returns what a text can open: actions, connections, what has an id, and searches. There is always something: no text
 * opens each action, and any other text a search.
 */
export function optionsFor(text, connections) {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const id = wanted.match(ONE_ID)?.[0];
  const here = location.pathname.match(OF_A_CONNECTION)?.[1];
  const found = connections.filter(
    (one) => one.id === id || (words.length > 0 && fits(one.name ?? "Unnamed connection", words)),
  );
  const ofConnections = connectionActions(words, connections, found, here);
  const isHere = ({ address }) => here && address.includes(here);
  const actions = [
    ...ofConnections.filter(isHere),
    ...[
      ...places(true).map(({ address, icon, name }) => ({ name, icon, address, kind: "Action" })),
      ...(session.may("create_connection")
        ? [{ name: "New connection", icon: "plus", address: url("/connections/new"), kind: "Action" }]
        : []),
    ].filter(({ name }) => fits(name, words)),
    ...ofConnections.filter((one) => !isHere(one)),
  ];
  const ofId =
    id && !found.length
      ? [
          {
            name: `Look up ${id}`,
            icon: "search",
            address: url("/search", { search: id, go: "true" }),
            kind: "ID",
          },
        ]
      : [];
  const searches =
    words.length && !id
      ? [
          {
            name: `Search requests for “${text.trim()}”`,
            icon: "search",
            address: url("/search", { search: text.trim(), go: "true" }),
            kind: "Search",
          },
        ]
      : [];
  const opened = found.map((one) => ({
    name: one.name ?? "Unnamed connection",
    icon: "plug",
    address: url(`/connections/${one.id}`),
    kind: "Connection",
  }));
  return [
    ...ofId,
    ...bestFirst(opened, wanted).slice(0, SHOWN),
    ...bestFirst(actions, wanted).slice(0, words.length ? SHOWN : undefined),
    ...searches,
  ];
}

export default function Palette({ onClose }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [read, setRead] = useState(known);
  const [problem, setProblem] = useState(null);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const controller = new AbortController();
    readConnections(controller.signal, setRead).catch((error) => {
      if (!controller.signal.aborted) setProblem(error);
    });
    return () => controller.abort();
  }, []);
  const options = useMemo(() => optionsFor(text, read.list), [text, read]);
  const chosen = Math.min(at, options.length - 1);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  const open = ({ address }) => {
    onClose();
    // The reference of the API is a page of its own.
    if (address.endsWith("/docs")) location.assign(address);
    else navigate(address);
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + options.length) % options.length);
    else if (event.key === "Enter") open(options[chosen]);
    else return;
    event.preventDefault();
  };
  return html`
    <${Dialog} title="Go to" onClose=${onClose} actions=${html`<${Button} onClick=${onClose}>Close<//>`}>
      <div class="palette">
        <div class="search">
          <${Icon} name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Connection, request or action"
            aria-expanded="true"
            aria-controls="palette-options"
            aria-autocomplete="list"
            aria-activedescendant=${`palette-${chosen}`}
            placeholder="Name, ID, number, or “pause” and a name"
            maxlength="200"
            autocomplete="off"
            spellcheck="false"
            autofocus
            value=${text}
            onInput=${(event) => {
              setText(event.target.value);
              setAt(0);
            }}
            onKeyDown=${press}
          />
        </div>
        <ul role="listbox" id="palette-options" aria-label="What can be opened" ref=${list}>
          ${options.map(
            (option, index) => html`
              <li
                key=${option.kind + option.address}
                id=${`palette-${index}`}
                role="option"
                aria-selected=${String(index === chosen)}
                onClick=${() => open(option)}
              >
                <${Icon} name=${option.icon} />
                <span class="break"><${Foreign} text=${option.name} /></span>
                <span class="muted small">${option.kind}</span>
              </li>
            `,
          )}
        </ul>
        <p class="muted small" role="status">
          ${
            problem
              ? `The connections could not be read. ${explain(problem)}`
              : read.total > read.list.length &&
                `The oldest ${count(read.list.length)} of ${plural(read.total, "connection")}. Others open by ID.`
          }
        </p>
      </div>
    <//>
  `;
}
