// The tree of a run: branches, conversations with a model, their turns, the calls of a turn, effects.

/** Nodes have `type`, `id`, `title`, `children`, `parent`; those of effects have `effect`. */
export class TreeNode {
  constructor(type, id, title, effect = null) {
    Object.assign(this, { type, id, title, effect, children: [], parent: null, open: true, depth: 0 });
  }

  add(child) {
    child.parent = this;
    this.children.push(child);
    return child;
  }
}

/** `text` reads a text of the run. */
export function buildTree(run, text) {
  const known = { branches: branchesOf(run.effects), last: lastTurns(run.effects), run, text };
  const root = run.trace ? nest(run.effects) : fill(known.branches.get("0"), known);
  root.type = "run";
  root.title = run.name;
  sum(root, 0);
  return root;
}

/** The effects of a trace say what they are part of. */
function nest(effects) {
  const root = new TreeNode("run", "0", "");
  const nodes = new Map([[null, root]]);
  for (const effect of effects) {
    const parent = nodes.get(effect.parent) ?? root;
    nodes.set(effect.key, parent.add(new TreeNode("effect", effect.key, effect.subject, effect)));
  }
  return root;
}

/** Every branch with its effects and child branches, in the order in which they began. */
function branchesOf(effects) {
  const branches = new Map([["0", { path: "0", items: [] }]]);
  for (const effect of effects) branchOf(branches, effect.key.split("/")[0]).items.push(effect);
  return branches;
}

function branchOf(branches, path) {
  let found = branches.get(path);
  if (!found) {
    found = { path, items: [] };
    branches.set(path, found);
    branchOf(branches, path.slice(0, path.lastIndexOf("."))).items.push(found);
  }
  return found;
}

function lastTurns(effects) {
  const last = new Map();
  for (const each of effects) if (each.conversation) last.set(each.conversation, each.key);
  return last;
}

/** The node of a branch; what happens between two turns of a conversation stands in it. */
function fill(branch, known) {
  const node = new TreeNode("branch", branch.path, `branch ${branch.path}`);
  const within = [node];
  for (const item of branch.items) {
    const place = within.at(-1);
    if (item.path !== undefined) {
      const child = fill(item, known);
      addBelow(place, child.children.length === 1 ? child.children[0] : child, known.text);
    } else if (!item.conversation) {
      addBelow(place, new TreeNode("effect", item.key, item.subject, item), known.text);
    } else {
      addTurn(within, item);
      const pending = known.run.status !== "done" && item.reply?.calls;
      if (known.last.get(item.conversation) === item.key && !pending) within.pop();
    }
  }
  return node;
}

function addTurn(within, effect) {
  let place = within.at(-1);
  if (place.conversation !== effect.conversation) {
    place = (place.turn ?? place).add(new TreeNode("conversation", `c${effect.key}`, effect.subject));
    place.conversation = effect.conversation;
    place.turns = [];
    within.push(place);
  }
  answerCalls(place.turn, effect.messages);
  const turn = place.add(new TreeNode("turn", effect.key, `turn ${place.turns.length + 1}`, effect));
  place.turns.push(turn);
  for (const [index, call] of (effect.reply?.calls ?? []).entries()) {
    turn.add(Object.assign(new TreeNode("call", `${effect.key}c${index + 1}`, call.name), { call }));
  }
  place.turn = effect.reply?.calls ? turn : null;
}

/** Results of tools are what the next turn begins with. */
function answerCalls(turn, messages) {
  for (const message of messages) {
    if (message.role !== "tool" || !turn) continue;
    const call = turn.children.find((each) => each.call && !each.answer && each.call.id === message.call_id);
    if (call) call.answer = message;
  }
}

/** What a call of the model caused stands below that call, where it is clear which. */
function addBelow(place, node, text) {
  const calls = (place.turn?.children ?? []).filter((each) => each.call);
  const asked = node.effect?.asked?.find(([name]) => name === "arguments");
  const alike = (call) =>
    plainName(call.title) === plainName(node.title) ||
    (asked && sameJson(text(asked[1]), text(call.call.arguments)));
  const likely = calls.length === 1 ? calls : calls.filter(alike);
  const cause = likely.find((each) => !each.children.length) ?? likely[0];
  (cause ?? place.turn ?? place).add(node);
}

function sameJson(one, other) {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}

function plainName(name) {
  return name.replace(/[^\p{L}\p{N}]+/gu, "_");
}

/** Of a call of the model that failed by an effect, the effect. */
export function isFailure(node) {
  if (node.call) return node.answer?.failed === true && !node.children.some(isFailure);
  return node.effect?.state === "failed";
}

/** Times, tokens, costs and failures of a node and all below it. */
function sum(node, depth) {
  const { effect } = node;
  const total = { effects: 0, failures: 0, input: 0, output: 0, usd: 0, begun: Infinity, ended: -Infinity, version: 0 };
  node.depth = depth;
  if (effect) {
    total.effects = 1;
    total.version = effect.version ?? 0;
    total.input = effect.reply?.tokens_in ?? 0;
    total.output = effect.reply?.tokens_out ?? 0;
    total.usd = effect.reply?.cost_usd ?? 0;
    if (effect.begun !== undefined) {
      total.begun = effect.begun;
      total.ended = effect.begun + (effect.took ?? 0);
    }
  }
  if (isFailure(node)) total.failures = 1;
  for (const child of node.children) {
    const below = sum(child, depth + 1);
    for (const name of ["effects", "failures", "input", "output", "usd"]) total[name] += below[name];
    total.begun = Math.min(total.begun, below.begun);
    total.ended = Math.max(total.ended, below.ended);
    total.version = Math.max(total.version, below.version);
  }
  node.total = total;
  return total;
}

export function* allNodes(node) {
  yield node;
  for (const child of node.children) yield* allNodes(child);
}

/** The nodes that are to be seen, from the top; of `only`, if that is given, with what leads there. */
export function openNodes(root, only) {
  const nodes = [];
  const waiting = [root];
  while (waiting.length) {
    const node = waiting.pop();
    if (only && !only.has(node)) continue;
    nodes.push(node);
    if (node.open || only) for (let at = node.children.length; at--; ) waiting.push(node.children[at]);
  }
  return nodes;
}
