// What is known of one node of the tree.

import { brief, button, count, counted, duration, element, foreign, money, someAtATime, textBlock } from "./text.js";
import { fieldsView, fold, parsed, valueView } from "./values.js";
import { argumentsView, messageView, originName, settingsView, usageLine } from "./messages.js";
import { KINDS, took } from "./rows.js";
import { allNodes, isFailure } from "./tree.js";

const STATES = { asked: "waits for somebody outside", failed: "failed", cancelled: "cancelled" };
const RESUMED = {
  redo: "done again when the run goes on",
  repeat: "asked again, as another attempt, if it was under way when the run stopped",
  once: "never repeated without a decision",
};

export class Details {
  /** `text` reads a text of the run, `go` shows another node. */
  constructor(place, run, text, go) {
    Object.assign(this, { place, run, text, go });
  }

  show(node) {
    const views = { run: "runView", conversation: "conversationView", branch: "branchView", call: "toolCallView" };
    const view = node.turns ? "conversationView" : (views[node.type] ?? "effectView");
    this.place.replaceChildren(...this[view](node).filter(Boolean));
    this.place.scrollTop = 0;
  }

  /** The tag of a row, and the first words of what it is about. */
  describe(node) {
    const { type, effect, call, total } = node;
    if (type === "run" || type === "branch") return { tag: type, preview: counted(total.effects, "effect") };
    if (node.turns && !node.failed) return { tag: "agent", preview: conversationLine(node) };
    if (type === "call") return { tag: "call", preview: this.callLine(node) };
    const tag = KINDS[effect.kind] ?? effect.kind;
    if (effect.error) return { tag, preview: `${effect.error.kind}: ${brief(this.text(effect.error.message))}` };
    if (effect.state) return { tag, preview: stateOf(effect) };
    if (effect.policy === "inside") return { tag, preview: total.effects ? counted(total.effects, "effect") : (effect.place ?? "") };
    if (!effect.reply) return { tag, preview: this.briefRequest(effect) };
    const names = (effect.reply.calls ?? []).map((each) => each.name);
    const said = brief(this.text(effect.reply.text));
    return { tag, preview: [said, names.length ? `→ ${names.join(", ")}` : ""].filter(Boolean).join(" ") };
  }

  callLine({ call, answer }) {
    const asked = this.briefJson(this.text(call.arguments));
    return answer ? `${asked} → ${this.briefJson(this.text(answer.text))}` : asked;
  }

  briefRequest(effect) {
    const parts = (effect.asked ?? []).map(([, text, isJson]) =>
      isJson ? this.briefJson(this.text(text)) : brief(this.text(text)),
    );
    return brief(parts.filter(Boolean).join(" · "));
  }

  briefJson(text) {
    const value = text.length < 20_000 ? parsed(text) : undefined;
    if (value === null || typeof value !== "object") return brief(text);
    // Of a message to a process what it says, not which kind of message it is.
    if (typeof value.prompt === "string") return brief(value.prompt);
    const entries = Object.entries(value).filter(([name, each]) => name !== "type" && each !== null && each !== "");
    const one = ([name, each]) =>
      `${Array.isArray(value) || entries.length === 1 ? "" : `${name}: `}${typeof each === "object" ? (each.text ?? "…") : brief(String(each), 80)}`;
    return brief(entries.slice(0, 8).map(one).join(", "));
  }

  // -- Views, each a list of elements

  runView(node) {
    const { run } = this;
    const { result } = run;
    const failures = [...allNodes(node)].filter(isFailure);
    return [
      element("h2", "", foreign(run.name)),
      facts([
        ["run", run.id],
        ["status", run.status],
        ["started", new Date(run.started * 1000).toLocaleString()],
        ["took", duration((run.updated - run.started) * 1000)],
        ["effects", count(node.total.effects)],
        ["tokens", tokens(node.total)],
        ["cost", money(run.cost)],
        ["exit status", result.status ?? null],
        ["forked from", run.origin || null],
      ]),
      result.error ? failure(result.kind ?? "error", result.error) : null,
      ...this.waiting(node),
      failures.length ? element("h3", "", counted(failures.length, "failure")) : null,
      failures.length ? someAtATime(element("div", "links"), failures, (each) => this.link(each)) : null,
      result.value === null || result.value === undefined ? null : section("Result", valueView(result.value)),
      section("By name", this.byName(node)),
    ];
  }

  waiting(node) {
    const isOpen = ({ effect }) => ["begun", "asked"].includes(effect?.state) && effect.policy !== "inside";
    const open = [...allNodes(node)].filter(isOpen);
    if (!open.length) return [];
    return [
      element("h3", "", "Not answered"),
      someAtATime(element("div", "links"), open, (each) => this.link(each)),
    ];
  }

  link(node) {
    const { tag, preview } = this.describe(node);
    const made = button("", () => this.go(node));
    made.className = "link";
    made.append(element("span", `tag ${tag}`, tag), element("bdi", "title", foreign(node.title)), " ");
    made.append(element("bdi", "preview", foreign(preview)));
    return made;
  }

  byName(node) {
    const rows = new Map();
    for (const { effect } of allNodes(node)) {
      if (!effect) continue;
      const name = effect.subject === effect.kind ? "" : effect.subject;
      const id = `${effect.kind} ${name}`;
      if (!rows.has(id)) rows.set(id, { kind: effect.kind, name, times: 0, failed: 0, took: 0, in: 0, out: 0, usd: 0 });
      const row = rows.get(id);
      row.times += 1;
      row.failed += effect.state === "failed";
      row.took += effect.took ?? 0;
      row.in += effect.reply?.tokens_in ?? 0;
      row.out += effect.reply?.tokens_out ?? 0;
      row.usd += effect.reply?.cost_usd ?? 0;
    }
    const ordered = [...rows.values()].sort((one, other) => other.took - one.took);
    const cells = (row) => [
      element("td", "", element("span", `tag ${KINDS[row.kind]}`, KINDS[row.kind] ?? row.kind), " ", element("bdi", "", foreign(row.name))),
      ...[count(row.times), row.failed ? count(row.failed) : "", duration(row.took)].map((each) => element("td", "number", each)),
      ...[row.in + row.out ? `${count(row.in)} → ${count(row.out)}` : "", row.usd ? money(row.usd) : ""].map((each) => element("td", "number", each)),
    ];
    const head = ["effect", "times", "failed", "time in all", "tokens", "cost"].map((each) => element("th", "", each));
    const body = someAtATime(element("tbody"), ordered, (row) => element("tr", "", ...cells(row)));
    return element("table", "summary", element("thead", "", element("tr", "", ...head)), body);
  }

  branchView(node) {
    return [
      element("h2", "", node.title),
      facts([["effects", count(node.total.effects)], ["took", took(node)], ["tokens", tokens(node.total)], ["cost", cost(node.total)]]),
      someAtATime(element("div", "links"), node.children, (each) => this.link(each)),
    ];
  }

  conversationView(node) {
    const last = node.turns.at(-1).effect;
    return [
      element("h2", "", "Conversation of ", element("bdi", "", foreign(node.title))),
      facts([
        ["turns", count(node.turns.length)],
        ["took", took(node)],
        ["tokens", tokens(node.total)],
        ["cost", cost(node.total)],
        ["connection", last.connection],
        ["effect", node.effect?.key],
        ["source", node.effect?.place],
        ["untrusted text from", (last.labels?.untrusted ?? []).map(originName).join(", ")],
        ["secrets from", (last.labels?.secret ?? []).map(originName).join(", ")],
      ]),
      node.failed ? this.failed(node.effect) : null,
      fold("what the model was given besides", () => settingsView(parsed(this.text(last.settings)) ?? {})),
      someAtATime(element("div", "conversation"), node.turns, (turn) => this.turnView(turn), 20),
    ];
  }

  turnView(turn) {
    const head = button("", () => this.go(turn));
    head.className = "turn-head";
    head.append(element("b", "", turn.title), " ", element("span", "faint", [took(turn), turn.effect.key].filter(Boolean).join(" · ")));
    return element("div", "turn", head, ...this.exchange(turn.effect));
  }

  /** What is new in a turn, and the reply. */
  exchange(effect) {
    const shown = effect.messages.filter((each, index) => !(each.role === "assistant" && index === 0 && effect.kept));
    const { untrusted = [], secret = [] } = effect.labels ?? {};
    return [
      labelLine("untrusted", untrusted),
      labelLine("secret", secret),
      ...shown.map((each) => messageView(each, this.text, untrusted)),
      effect.reply ? messageView(effect.reply, this.text) : null,
      effect.error ? this.failed(effect) : null,
      usageLine(effect),
    ].filter(Boolean);
  }

  toolCallView(node) {
    const { call, answer, effect } = node;
    const result = answer ? valueView(this.text(answer.text)) : element("p", "faint", "It has no result in this run.");
    return [
      element("h2", "", "Call of ", element("bdi", "", foreign(call.name))),
      facts([["call", call.id], ["asked for in", node.parent.id], ["took", effect ? took(node) : null], ["source", effect?.place], ["result", answer?.failed ? "failed" : null]]),
      section("Arguments", argumentsView(this.text(call.arguments), call.name)),
      section("Result", result),
      this.within(node),
      this.forkLine(node.parent),
    ];
  }

  within({ children }) {
    if (!children.length) return null;
    return section("What it did", someAtATime(element("div", "links"), children, (each) => this.link(each)));
  }

  effectView(node) {
    const { effect } = node;
    const named = effect.subject === effect.kind ? "" : effect.subject;
    return [
      element("h2", "", element("span", `tag ${KINDS[effect.kind]}`, KINDS[effect.kind] ?? effect.kind), " ", element("bdi", "", foreign(named || effect.kind)), effect.conversation ? `, ${node.title}` : ""),
      facts([
        ["effect", effect.key],
        ["began", effect.begun === undefined ? null : `${duration(Math.max(0, effect.begun))} after the start`],
        ["took", took(node)],
        ["state", effect.state ? stateOf(effect) : null],
        ["attempts", effect.attempt ?? null],
        ["source", effect.place || null],
        ["kept messages", effect.kept || null],
      ]),
      ...(effect.conversation ? this.exchange(effect) : this.plainEffect(node)),
      effect.tries ? section("Attempts that failed", this.tries(effect)) : null,
      effect.conversation ? fold("what the model was given besides", () => settingsView(parsed(this.text(effect.settings)) ?? {})) : null,
      this.forkLine(node),
    ];
  }

  /** What differs between the attempts: how long they took and why they failed. */
  tries(effect) {
    const one = ([ms, error], at) => element("div", "", element("p", "faint", `attempt ${at + 1}, ${duration(ms)}`), this.failed({ error }));
    return someAtATime(element("div"), effect.tries.map((each, at) => [each, at]), ([each, at]) => one(each, at));
  }

  plainEffect(node) {
    const { effect } = node;
    const told = effect.asked.filter(([name, text]) => !(name === "call_id" && text === ""));
    const asked = told.map(([name, text, isJson]) => [name, isJson ? parsed(this.text(text)) : this.text(text)]);
    const only = asked.length === 1 && asked[0][1] !== null && typeof asked[0][1] === "object" ? asked[0][1] : null;
    return [
      asked.length ? section("Asked", only ? valueView(only) : fieldsView(asked)) : null,
      effect.reply ? section("Given", facts([["tokens", tokens(node.total)], ["cost", cost(node.total)], ["ended by", effect.reply.stop_reason], ["calls", effect.reply.calls.map((each) => each.name).join(", ")]])) : null,
      effect.error ? this.failed(effect) : null,
      ...(effect.notes ?? []).map(([kind, facts]) => section(foreign(kind), valueView(parsed(facts)))),
      effect.hidden ? section("Given", element("p", "faint", "The values of variables are not shown.")) : null,
      effect.gave ? section("Given", this.given(effect.gave)) : null,
      effect.policy === "inside" ? this.within(node) : null,
    ];
  }

  given([text, isJson]) {
    const said = this.text(text);
    return valueView(isJson ? (parsed(said) ?? said) : said);
  }

  failed({ error }) {
    const fields = Object.entries(error.fields ?? {}).map(([name, value]) => [name, value?.$some ?? (value?.$none ? null : value)]);
    const more = fields.filter(([, value]) => value !== null && value !== "");
    return element("div", "", failure(`${error.type} ${error.kind}`, this.text(error.message)), more.length ? fieldsView(more) : null);
  }

  /** The command that takes another way from this effect on. */
  forkLine(node) {
    if (!node.effect || node.effect.policy === "inside" || !this.run.fork) return null;
    const command = this.forkCommand(node);
    const code = element("code", "", foreign(command));
    const copy = button("copy", () => copyText(command, code, copy));
    copy.title = "Copy ( c )";
    const about = `Another way from here on; --answer JSON, --model or --program say which. This effect is ${RESUMED[node.effect.policy] ?? node.effect.policy}.`;
    return element("footer", "fork", element("div", "command", code, copy), element("p", "faint", about));
  }

  forkCommand(node) {
    return `${this.run.fork} --at ${node.effect.key}`;
  }
}

/** Where the clipboard is not to be had, the text is selected. */
async function copyText(text, shown, copy) {
  try {
    await navigator.clipboard.writeText(text);
    copy.textContent = "copied";
    setTimeout(() => (copy.textContent = "copy"), 1500);
  } catch {
    getSelection().selectAllChildren(shown);
  }
}

function facts(rows) {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const one = ([name, value]) => element("div", "fact", element("dt", "", name), element("dd", "", foreign(String(value))));
  return element("dl", "facts", ...known.map(one));
}

/** Where what a request holds that has a label of trust came from. */
function labelLine(label, origins) {
  if (!origins.length) return null;
  const names = element("bdi", "", foreign(origins.map(originName).join(", ")));
  return element("p", "labels", element("span", "mark warn", label), " text from ", names);
}

function section(title, body) {
  return element("section", "", element("h3", "", title), body);
}

function failure(kind, message) {
  return element("div", "failure", element("b", "", foreign(kind)), textBlock(message));
}

function stateOf(effect) {
  if (effect.state === "begun") return effect.policy === "once" ? "outcome not known" : "under way";
  return STATES[effect.state] ?? effect.state;
}

function conversationLine(node) {
  const parts = [counted(node.turns.length, "turn"), tokens(node.total), cost(node.total)];
  return parts.filter(Boolean).join(" · ");
}

function tokens({ input, output }) {
  return input + output ? `${count(input)} in, ${count(output)} out` : "";
}

function cost({ usd }) {
  return usd ? money(usd) : "";
}
