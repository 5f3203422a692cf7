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
  const root = new TreeNode("run", "0", run.name);
  const known = { root, nodes: new Map(), branches: new Map(), last: lastTurns(run.effects), run, text };
  for (const effect of run.effects) (run.trace ? nest : place)(effect, known);
  for (const branch of [...known.branches.values()].reverse()) {
    if (branch.children.length < 2 || branch.parent.children.length < 2) dissolve(branch);
  }
  sum(root, 0);
  return root;
}

/** The effects of a trace say what they are part of. */
function nest(effect, { root, nodes }) {
  const parent = nodes.get(effect.parent) ?? root;
  nodes.set(effect.key, parent.add(new TreeNode("effect", effect.key, effect.subject, effect)));
}

/** Those of a journal say of which execution, stage or call they are part; there they are in a branch. */
function place(effect, known) {
  const home = homeOf(effect, known);
  let node = null;
  if (effect.conversation) {
    node = addTurn(home, effect, known);
  } else if (effect.kind === "ToolCall" && effect.policy === "inside") {
    node = calledFor(home, effect);
  }
  if (!node) node = causeOf(home, effect, known.text).add(new TreeNode("effect", effect.key, effect.subject, effect));
  known.nodes.set(effect.key, node);
}

/** The call that a model asked for, which this is: calls begin in the order in which they were asked for. */
function calledFor(home, effect) {
  const alike = (each) => plainName(each.title) === plainName(effect.subject);
  const asked = home.type === "branch" ? [home.parent] : (home.talk?.turn?.children ?? []).filter(alike);
  const call = asked.find((each) => each.call && !each.effect);
  if (call) call.effect = effect;
  return call;
}

/** The node of what is around an effect: an execution, stage or call, and below it the branches that lead there. */
function homeOf(effect, known) {
  const around = known.nodes.get(effect.parent) ?? known.root;
  const path = effect.key.split("/")[0];
  return path === (effect.parent ?? "0").split("/")[0] ? around : branchOf(path, around, effect, known);
}

function branchOf(path, around, effect, known) {
  const found = known.branches.get(path);
  if (found) return found;
  const above = path.slice(0, path.lastIndexOf("."));
  const outside = above === (around.effect?.key ?? "0").split("/")[0] ? around : branchOf(above, around, effect, known);
  const branch = causeOf(outside, effect, known.text).add(new TreeNode("branch", path, `branch ${path}`));
  known.branches.set(path, branch);
  return branch;
}

/** A branch that says nothing: what is in it stands in its place. */
function dissolve({ parent, children, ...branch }) {
  for (const only of children) only.parent = parent;
  parent.children = parent.children.flatMap((each) => (each.id === branch.id ? children : [each]));
}

function lastTurns(effects) {
  const last = new Map();
  for (const each of effects) if (each.conversation) last.set(each.conversation, each.key);
  return last;
}

function addTurn(home, effect, known) {
  const own = home.effect?.kind === "AgentRun" && home.title === effect.subject;
  if (own) home.talk = home;
  if (!own && home.talk?.conversation !== effect.conversation) {
    home.talk = causeOf(home, effect, known.text).add(new TreeNode("conversation", `c${effect.key}`, effect.subject));
    home.talk.conversation = effect.conversation;
  }
  const { talk } = home;
  talk.turns ??= [];
  answerCalls(talk.turn, effect.messages);
  const turn = talk.add(new TreeNode("turn", effect.key, `turn ${talk.turns.length + 1}`, effect));
  talk.turns.push(turn);
  for (const [index, call] of (effect.reply?.calls ?? []).entries()) {
    turn.add(Object.assign(new TreeNode("call", `${effect.key}c${index + 1}`, call.name), { call }));
  }
  talk.turn = effect.reply?.calls ? turn : null;
  const pending = known.run.status !== "done" && effect.reply?.calls;
  if (!own && known.last.get(effect.conversation) === effect.key && !pending) home.talk = null;
  return turn;
}

/** Results of tools are what the next turn begins with. */
function answerCalls(turn, messages) {
  for (const message of messages) {
    if (message.role !== "tool" || !turn) continue;
    const call = turn.children.find((each) => each.call && !each.answer && each.call.id === message.call_id);
    if (call) call.answer = message;
  }
}

/** Where what happens in a node stands: below the call of the model that caused it, where it is clear which. */
function causeOf(home, effect, text) {
  const { talk } = home;
  if (!talk) return home;
  const calls = (talk.turn?.children ?? []).filter((each) => each.call);
  const asked = effect.asked?.find(([name]) => name === "arguments");
  const alike = (call) =>
    plainName(call.title) === plainName(effect.subject) ||
    (asked && sameJson(text(asked[1]), text(call.call.arguments)));
  const likely = calls.length === 1 ? calls : calls.filter(alike);
  return likely.find((each) => !each.effect && !each.children.length) ?? likely[0] ?? talk.turn ?? talk;
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

/** Of what failed because something in it did, only that. */
export function isFailure(node) {
  return node.failed;
}

/** Times, tokens, costs and failures of a node and all below it. */
function sum(node, depth) {
  const { effect } = node;
  const total = { effects: 0, failures: 0, input: 0, output: 0, usd: 0, begun: Infinity, ended: -Infinity, version: 0 };
  node.depth = depth;
  if (effect) {
    total.effects = effect.policy === "inside" ? 0 : 1;
    total.version = effect.version ?? 0;
    total.input = effect.reply?.tokens_in ?? 0;
    total.output = effect.reply?.tokens_out ?? 0;
    total.usd = effect.reply?.cost_usd ?? 0;
    if (effect.begun !== undefined) {
      total.begun = effect.begun;
      total.ended = effect.begun + (effect.took ?? 0);
    }
  }
  for (const child of node.children) {
    const below = sum(child, depth + 1);
    for (const name of ["effects", "failures", "input", "output", "usd"]) total[name] += below[name];
    total.begun = Math.min(total.begun, below.begun);
    total.ended = Math.max(total.ended, below.ended);
    total.version = Math.max(total.version, below.version);
  }
  node.failed = !total.failures && (effect?.state === "failed" || node.answer?.failed === true);
  total.failures += node.failed;
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
