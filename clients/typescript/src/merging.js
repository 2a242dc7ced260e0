// What a Mod has so that it changes only what its caller names, and what somebody else has changed meanwhile.
import { isSame } from "./json.js";
import { GROUPS, PARTS, RETURNED } from "./schema/kinds.js";

/** @import { Kind, Tree } from "./internal.js" */
/** @import { Change } from "./calls.cjs" */

/** The TxnLineID of a line that a Mod adds. */
const NEW_LINE = "-1";
const JOURNAL = ["JournalDebitLine", "JournalCreditLine"];
/** What a Mod has in place of lines that all go. @type {Record<string, string[]>} */
const CLEARED = { ClearExpenseLines: ["ExpenseLineMod"], ClearItemLines: ["ItemLineMod", "ItemGroupLineMod"] };

/**
 * Return the fields of a Mod of an object. Throws RangeError for a line that the object does not have.
 *
 * QuickBooks deletes the lines that a Mod with lines does not list, so it lists those that stay. The parts of an
 * address that are not named are those that were read.
 * @param {Kind} kind @param {Tree} given @param {string[]} removed @param {Tree} current @returns {Tree}
 */
export function merged(kind, given, removed, current) {
  const fields = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, wholeAddress(name, value, current)]),
  );
  const families = kind.changedLines;
  if (removed.length === 0 && !families.some((family) => family in fields)) return fields;
  checkLines(kind, fields, removed, current);
  const listed = new Map(families.map((family) => [family, linesOf(family, fields[family] ?? [], removed, current)]));
  const isListed = (/** @type {string} */ family) => (listed.get(family) ?? []).length > 0;
  const cleared = Object.entries(CLEARED).filter(
    ([, cleared]) =>
      !cleared.some(isListed) && cleared.some((one) => listed.has(one) && returnedLines(one, current).length > 0),
  );
  if (cleared.length === 0 && !families.some(isListed)) {
    throw new RangeError(`A ${kind.name} must keep a line: QuickBooks keeps all lines if its Mod lists none.`);
  }
  for (const family of families) delete fields[family];
  return {
    ...fields,
    ...Object.fromEntries([...listed].filter(([family]) => isListed(family))),
    ...Object.fromEntries(cleared.map(([flag]) => [flag, true])),
  };
}

/** Return an address with the parts that its caller did not name. @param {string} name @param {any} value @param {Tree} current */
function wholeAddress(name, value, current) {
  const parts = PARTS[name];
  if (!parts || !isObject(value)) return value;
  const read = current[name] ?? {};
  return { ...Object.fromEntries(parts.filter((part) => part in read).map((part) => [part, read[part]])), ...value };
}

/**
 * Return the lines of a Mod: those of the object in their order, as they are or changed, then new ones.
 * @param {string} family @param {Tree[]} named @param {string[]} removed @param {Tree} current @returns {Tree[]}
 */
function linesOf(family, named, removed, current) {
  const changed = new Map(named.map((line) => [line.TxnLineID, line]));
  return [
    ...returnedLines(family, current)
      .filter((line) => !removed.includes(line.TxnLineID))
      .map((line) => keptLine(family, changed.get(line.TxnLineID) ?? {}, removed, line)),
    ...named.filter((line) => line.TxnLineID === NEW_LINE),
  ];
}

/** Return a line that stays. A group lists its lines if one of them changes or goes. @param {string} family @param {Tree} named @param {string[]} removed @param {Tree} current */
function keptLine(family, named, removed, current) {
  /** @type {Tree} */
  const line = { TxnLineID: current.TxnLineID, ...named };
  const inner = GROUPS[family];
  if (inner && (inner in named || returnedLines(inner, current).some((one) => removed.includes(one.TxnLineID)))) {
    line[inner] = linesOf(inner, named[inner] ?? [], removed, current);
  }
  return line;
}

/** Return the lines of an object, or of a group, that a family of lines in a Mod changes. @param {string} family @param {Tree} current @returns {Tree[]} */
function returnedLines(family, current) {
  const names = family === "JournalLineMod" ? JOURNAL : [family.replace(/Mod$/, "Ret")];
  return names.flatMap((name) => current[name] ?? []);
}

/** Return the ids of all lines of an object. @param {Kind} kind @param {Tree} current @returns {Set<string>} */
export const lineIds = (kind, current) => new Set(allLines(kind.changedLines, current).keys());

/** Return all lines of an object by their ids, those in groups too. @param {string[]} families @param {Tree} current @returns {Map<string, Tree>} */
function allLines(families, current) {
  return new Map(
    families.flatMap((family) =>
      returnedLines(family, current).flatMap((line) => {
        const inner = GROUPS[family];
        return [/** @type {[string, Tree]} */ ([line.TxnLineID, line]), ...(inner ? allLines([inner], line) : [])];
      }),
    ),
  );
}

/** Return the lines that a caller changes, each with its family. @param {string[]} families @param {Tree} fields @returns {[string, Tree][]} */
function namedLines(families, fields) {
  return families.flatMap((family) =>
    /** @type {Tree[]} */ (fields[family] ?? [])
      .filter((line) => line.TxnLineID !== NEW_LINE)
      .flatMap((line) => {
        const inner = GROUPS[family];
        return [/** @type {[string, Tree]} */ ([family, line]), ...(inner ? namedLines([inner], line) : [])];
      }),
  );
}

/**
 * Throw RangeError for a line that would be lost: one in another place, one named twice, or one that is missing.
 * @param {Kind} kind @param {Tree} fields @param {string[]} removed @param {Tree} current
 */
function checkLines(kind, fields, removed, current) {
  const whole = `${kind.name} ${current[kind.key]}`;
  const named = [...namedLines(kind.changedLines, fields).map(([, line]) => line.TxnLineID), ...new Set(removed)];
  const twice = named.find((id, index) => named.indexOf(id) < index);
  if (twice !== undefined) throw new RangeError(`The line ${JSON.stringify(twice)} of ${whole} is named twice.`);
  const known = lineIds(kind, current);
  const missing = removed.find((id) => !known.has(id));
  if (missing !== undefined) {
    throw new RangeError(`${whole} has no line ${JSON.stringify(missing)}. Its lines: ${[...known].join(", ")}.`);
  }
  checkPlaces(kind.changedLines, fields, current, whole);
}

/** @param {string[]} families @param {Tree} fields @param {Tree} container @param {string} whole */
function checkPlaces(families, fields, container, whole) {
  for (const family of families) {
    const lines = new Map(returnedLines(family, container).map((line) => [line.TxnLineID, line]));
    for (const line of fields[family] ?? []) {
      const id = line.TxnLineID;
      if (id === NEW_LINE) continue;
      const there = lines.get(id);
      if (!there) {
        const ids = [...lines.keys()].join(", ");
        throw new RangeError(`${whole} has no line ${JSON.stringify(id)} in ${family}. Its lines there: ${ids}.`);
      }
      const inner = GROUPS[family];
      if (inner) checkPlaces([inner], line, there, whole);
    }
  }
}

/**
 * Return the fields in which both changed the same object, or undefined if QuickBooks does not return one of them.
 * @param {Kind} kind @param {Tree} fields @param {string[]} removed @param {Tree} before @param {Tree} now
 * @returns {Change[] | undefined}
 */
export function changedMeanwhile(kind, fields, removed, before, now) {
  const plain = Object.fromEntries(Object.entries(fields).filter(([name]) => !kind.changedLines.includes(name)));
  const named = namedLines(kind.changedLines, fields).map(([family, line]) => ({
    family,
    id: line.TxnLineID,
    line,
    changed: Object.fromEntries(
      Object.entries(line).filter(([name]) => name !== "TxnLineID" && name !== GROUPS[family]),
    ),
  }));
  const isUnknown = (/** @type {string} */ owner, /** @type {Tree} */ wanted) =>
    Object.keys(wanted).some((name) => returnedName(owner, name) === null);
  if (isUnknown(kind.name, plain) || named.some(({ family, changed }) => isUnknown(family, changed))) return undefined;
  const [old, recent] = [allLines(kind.changedLines, before), allLines(kind.changedLines, now)];
  return [
    ...changes("", kind.name, plain, before, now),
    ...named.flatMap(({ family, id, line, changed }) => {
      const theirs = recent.get(id);
      if (!theirs) return [{ field: `line ${id}`, read: old.get(id), theirs: undefined, ours: line }];
      return changes(`line ${id}/`, family, changed, old.get(id) ?? {}, theirs);
    }),
    ...removed
      .filter((id) => recent.has(id) && !isSame(recent.get(id), old.get(id)))
      .map((id) => ({ field: `line ${id}`, read: old.get(id), theirs: recent.get(id), ours: undefined })),
  ];
}

/**
 * Return the fields that a caller changes and that somebody else has changed to another value.
 * @param {string} path @param {string} owner @param {Tree} wanted @param {Tree} before @param {Tree} now
 * @returns {Change[]}
 */
function changes(path, owner, wanted, before, now) {
  return Object.entries(wanted).flatMap(([name, ours]) => {
    const returned = /** @type {string} */ (returnedName(owner, name));
    const [read, theirs] = [before[returned], now[returned]];
    if (name in PARTS && isObject(ours)) return changes(`${path}${name}/`, name, ours, read ?? {}, theirs ?? {});
    const isOurs = isSame(asText(ours), asText(theirs));
    return isSame(read, theirs) || isOurs ? [] : [{ field: `${path}${name}`, read, theirs, ours }];
  });
}

/** @param {any} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Return a value with texts for numbers, as QuickBooks returns them. @param {any} value */
const asText = (value) => (typeof value === "number" ? String(value) : value);

/** Return the name that a field of a Mod has in the object, or null. @param {string} owner @param {string} name @returns {string | null} */
function returnedName(owner, name) {
  const renamed = RETURNED[owner]?.[name];
  return renamed === undefined ? name : renamed;
}
