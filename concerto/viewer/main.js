// The page: header, tree, details; search, keys, colours.

import { count, counted, duration, element, foreign, money } from "./text.js";
import { Details } from "./details.js";
import { Rows } from "./rows.js";
import { Search } from "./search.js";
import { allNodes, buildTree, isFailure, openNodes } from "./tree.js";

const at = (id) => document.getElementById(id);
const run = JSON.parse(at("data").textContent);
const text = (written) => (typeof written === "number" ? run.texts[written] : (written ?? ""));
const root = buildTree(run, text);
const search = new Search(root, run.texts);
const details = new Details(at("details"), run, text, (node) => choose(node));
const rows = new Rows(at("tree"), at("rows"), (node) => details.describe(node), (node) => choose(node), toggle);
let chosen = root;
let found = { hits: null, shown: null };

function update() {
  rows.show(openNodes(root, found.shown), root.total, found.shown !== null);
  at("found").textContent = found.hits ? counted(found.hits.length, "hit") : "";
}

function choose(node) {
  chosen = node;
  let closed = false;
  for (let above = node.parent; above; above = above.parent) {
    closed ||= !above.open;
    above.open = true;
  }
  if (closed) update();
  rows.choose(node);
  details.show(node);
  try {
    history.replaceState(null, "", `#${node.id}`);
  } catch {
    // Some browsers change no address of a file.
  }
}

function toggle(node) {
  if (!node.children.length || found.shown) return;
  node.open = !node.open;
  update();
}

function look() {
  found = search.find(at("search").value, at("failures").ariaPressed === "true");
  update();
  if (found.hits?.length && !found.shown.has(chosen)) choose(found.hits[0]);
  else rows.choose(chosen);
}

function step(by) {
  const place = rows.nodes.indexOf(chosen);
  choose(rows.nodes[Math.min(rows.nodes.length - 1, Math.max(0, place + by))] ?? root);
}

/** The next failure in this direction, round the end. */
function stepToFailure(by) {
  const nodes = search.nodes();
  for (let moved = 1, place = nodes.indexOf(chosen); moved <= nodes.length; moved++) {
    const node = nodes[(place + by * moved + nodes.length * 2) % nodes.length];
    if (isFailure(node) && (!found.shown || found.shown.has(node))) return choose(node);
  }
}

const page = () => Math.max(1, Math.floor(at("tree").clientHeight / 28) - 1);
const KEYS = {
  ArrowDown: () => step(1),
  j: () => step(1),
  ArrowUp: () => step(-1),
  k: () => step(-1),
  PageDown: () => step(page()),
  PageUp: () => step(-page()),
  Home: () => step(-Infinity),
  End: () => step(Infinity),
  ArrowRight: () => (chosen.children.length && !chosen.open ? toggle(chosen) : chosen.children.length && step(1)),
  ArrowLeft: () => (chosen.children.length && chosen.open && chosen.parent ? toggle(chosen) : chosen.parent && choose(chosen.parent)),
  Enter: () => toggle(chosen),
  n: () => stepToFailure(1),
  p: () => stepToFailure(-1),
  "/": () => at("search").select(),
  c: () => document.querySelector(".fork button")?.click(),
  "?": () => at("help").showModal(),
  Escape: () => endSearch(),
};

function endSearch() {
  at("search").value = "";
  at("failures").ariaPressed = "false";
  look();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.target === at("search")) {
    if (event.key === "Escape") endSearch();
    if (event.key === "Escape" || event.key === "Enter") at("tree").focus();
    return;
  }
  const inDetails = at("details").contains(event.target);
  const act = KEYS[event.key];
  // The details scroll with the arrows once they have been clicked.
  if (!act || (inDetails && /^(Arrow|Page|Home|End|Enter)/.test(event.key))) return;
  event.preventDefault();
  act();
});

let waiting = 0;
at("search").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(look, 80);
});
at("failures").addEventListener("click", () => {
  at("failures").ariaPressed = String(at("failures").ariaPressed !== "true");
  look();
});
at("keys").addEventListener("click", () => at("help").showModal());

const SCHEMES = ["auto", "light", "dark"];
let scheme = "auto";
function colour(wanted) {
  scheme = wanted;
  document.documentElement.dataset.scheme = scheme;
  at("scheme").textContent = { auto: "◐", light: "☀", dark: "☾" }[scheme];
  at("scheme").ariaLabel = `Colours: ${scheme}`;
}
at("scheme").addEventListener("click", () => colour(SCHEMES[(SCHEMES.indexOf(scheme) + 1) % 3]));

const { total } = root;
document.title = `${root.title} · ${run.id}`;
at("name").append(foreign(root.title));
at("summary").append(
  element("span", `status ${run.status}`, run.status),
  ...[
    duration((run.updated - run.started) * 1000),
    counted(total.effects, "effect"),
    total.input + total.output ? `${count(total.input)} → ${count(total.output)} tokens` : "",
    money(run.cost),
    run.id,
  ]
    .filter(Boolean)
    .map((each) => element("span", "", each)),
);
at("failures").textContent = counted(total.failures, "failure");
at("failures").hidden = !total.failures;
colour("auto");
update();
const wanted = decodeURIComponent(location.hash.slice(1));
let first = root;
for (const node of wanted ? allNodes(root) : []) if (node.id === wanted) first = node;
choose(first);
at("tree").focus();
