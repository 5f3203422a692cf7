// The page: header, tree, details; search, keys, colours.

import { count, counted, duration, element, foreign, money } from "./text.js";
import { Details } from "./details.js";
import { follow } from "./following.js";
import { Rows } from "./rows.js";
import { Search } from "./search.js";
import { allNodes, buildTree, isFailure, openNodes } from "./tree.js";

const at = (id) => document.getElementById(id);
const run = JSON.parse(at("data").textContent);
const text = (written) => (typeof written === "number" ? run.texts[written] : (written ?? ""));
let root = buildTree(run, text);
let search = new Search(root, run.texts);
const details = new Details(at("details"), run, text, (node) => choose(node));
const rows = new Rows(at("tree"), at("rows"), (node) => details.describe(node), (node) => choose(node), toggle);
let chosen = root;
let found = { hits: null, shown: null };
let shownVersion = 0;

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
  showDetails();
  try {
    history.replaceState(null, "", `#${node.id}`);
  } catch {
    // Some browsers change no address of a file.
  }
}

/** Those of the chosen node. */
function showDetails() {
  details.show(chosen);
  shownVersion = versionOf(chosen);
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

function heading() {
  const { total } = root;
  document.title = `${root.title} · ${run.id || run.status}`;
  at("name").replaceChildren(foreign(root.title));
  const status = element("span", `status ${run.status}`, run.status);
  if (run.live && !run.live.ended) status.classList.add("live");
  const facts = [
    duration((run.updated - run.started) * 1000),
    counted(total.effects, "effect"),
    total.input + total.output ? `${count(total.input)} → ${count(total.output)} tokens` : "",
    money(run.cost),
    run.id,
  ];
  at("summary").replaceChildren(status, ...facts.filter(Boolean).map((each) => element("span", "", each)));
  at("failures").textContent = counted(total.failures, "failure");
  at("failures").hidden = !total.failures;
}

// -- A run that goes on

const known = new Map();

/** Whether there may be more after this. */
function take(news) {
  if (news.reload) {
    location.reload();
    return false;
  }
  const { effects, texts, ...head } = news;
  Object.assign(run, head);
  for (const each of texts) run.texts.push(each);
  for (const each of effects) known.set(each.key, Object.assign(each, { version: head.live.version }));
  run.effects = [...known.values()];
  renew();
  return !head.live.ended;
}

/** The tree anew, with what is open, chosen and looked for as it was. */
function renew() {
  const closed = new Set([...allNodes(root)].filter((node) => !node.open).map((node) => node.id));
  root = buildTree(run, text);
  search = new Search(root, run.texts);
  let same = root;
  for (const node of allNodes(root)) {
    node.open = !closed.has(node.id);
    if (node.id === chosen.id) same = node;
  }
  chosen = rows.chosen = same;
  found = search.find(at("search").value, at("failures").ariaPressed === "true");
  heading();
  update();
  if (versionOf(chosen) === shownVersion) return;
  const { scrollTop } = at("details");
  const unfolded = [...at("details").querySelectorAll("details[open] > summary")].map((each) => each.textContent);
  showDetails();
  for (const each of at("details").querySelectorAll("summary")) each.parentNode.open = unfolded.includes(each.textContent);
  at("details").scrollTop = scrollTop;
}

/** When what the details show of a node was last changed. The result of a call comes with the next turn. */
function versionOf(node) {
  if (!run.live || node === root) return run.live?.version ?? 0;
  return (node.call ? node.parent.parent : node).total.version;
}

heading();
colour("auto");
update();
const wanted = decodeURIComponent(location.hash.slice(1));
let first = root;
for (const node of wanted ? allNodes(root) : []) if (node.id === wanted || node.effect?.key === wanted) first = node;
choose(first);
at("tree").focus();
if (run.live && !run.live.ended) {
  for (const each of run.effects) known.set(each.key, each);
  const { live } = run;
  const address = () => `news?of=${live.name}&version=${run.live.version}&texts=${run.texts.length}`;
  follow(address, take, (trouble) => at("connection").replaceChildren(foreign(trouble)));
}
