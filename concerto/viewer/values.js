// Values of JSON for people: names and values in rows, lists, tables; no brackets to be counted.

import { element, foreign, someAtATime, textBlock } from "./text.js";

const DEEPEST = 12;
const MOST_COLUMNS = 6;

/** A number that JavaScript would change: how it was written. */
class ExactNumber {
  constructor(text) {
    this.text = text;
  }
}

/** Undefined for what is no JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text, (_, value, context) =>
      typeof value === "number" && context && String(value) !== context.source
        ? new ExactNumber(context.source)
        : value,
    );
  } catch {
    return undefined;
  }
}

export function valueView(value, depth = 0) {
  if (typeof value === "string") return stringView(value, depth);
  if (isScalar(value)) return element("span", "literal", value instanceof ExactNumber ? value.text : String(value));
  if (depth >= DEEPEST) return textBlock(plainJson(value), "code");
  if (Array.isArray(value)) return arrayView(value, depth);
  const fields = () => fieldsView(Object.entries(value), depth);
  return isSchema(value) ? fold("a JSON Schema", fields) : fields();
}

/** A part that is opened by a click, and made then. */
export function fold(title, make) {
  const made = element("details", "", element("summary", "", foreign(title)));
  made.addEventListener("toggle", () => made.open && made.childElementCount === 1 && made.append(make()));
  return made;
}

export function fieldsView(entries, depth = 0) {
  if (!entries.length) return element("span", "faint", "(nothing)");
  return someAtATime(element("div", "fields"), entries, ([name, value]) =>
    fieldView(name, valueView(value, depth + 1)),
  );
}

/** What has parts of its own stands below its name. */
function fieldView(name, view) {
  const deep = view.matches(".fields, .items, table");
  return element("div", deep ? "field deep" : "field", element("div", "field-name", foreign(name)), view);
}

/** Of a text that is JSON itself, what it says. */
function stringView(text, depth) {
  if (/^\s*[[{]/.test(text) && depth < DEEPEST) {
    const value = parsed(text);
    if (value !== undefined) return valueView(value, depth + 1);
  }
  return textBlock(text);
}

function arrayView(items, depth) {
  if (!items.length) return element("span", "faint", "(empty list)");
  const columns = columnsOf(items);
  if (columns) return tableView(items, columns);
  return someAtATime(element("ol", "items"), items, (each) => element("li", "", valueView(each, depth + 1)));
}

/** The keys of objects that all have the same ones, with short values. */
function columnsOf(items) {
  if (items.length < 2 || !isObject(items[0])) return null;
  const columns = Object.keys(items[0]);
  if (!columns.length || columns.length > MOST_COLUMNS) return null;
  const same = (each) =>
    isObject(each) &&
    Object.keys(each).length === columns.length &&
    columns.every((name) => Object.hasOwn(each, name) && isScalar(each[name]));
  return items.every(same) ? columns : null;
}

function tableView(items, columns) {
  const head = element("tr", "", ...columns.map((name) => element("th", "", foreign(name))));
  const rows = someAtATime(element("tbody"), items, (each) =>
    element("tr", "", ...columns.map((name) => element("td", "", valueView(each[name], DEEPEST)))),
  );
  return element("table", "", element("thead", "", head), rows);
}

function isSchema(value) {
  return typeof value.type === "string" && (isObject(value.properties) || isObject(value.items));
}

function isObject(value) {
  return !isScalar(value ?? null) && !Array.isArray(value);
}

function isScalar(value) {
  return value === null || typeof value !== "object" || value instanceof ExactNumber;
}

function plainJson(value) {
  return JSON.stringify(value, (_, each) => (each instanceof ExactNumber ? each.text : each));
}
