// Search in all that was asked and answered.

import { allNodes, isFailure } from "./tree.js";

export class Search {
  constructor(root, texts) {
    this.root = root;
    this.texts = texts;
    this.known = null;
  }

  /** The nodes in which all words stand, and those that lead to them; null if nothing is looked for. */
  find(words, failuresOnly) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length && !failuresOnly) return { hits: null, shown: null };
    if (wanted.length) this.read();
    const hits = [];
    const shown = new Set();
    for (const node of this.nodes()) {
      if (failuresOnly && !isFailure(node)) continue;
      if (!wanted.every((word) => this.has(node, word))) continue;
      hits.push(node);
      for (let each = node; each && !shown.has(each); each = each.parent) shown.add(each);
    }
    return { hits, shown };
  }

  nodes() {
    this.all ??= [...allNodes(this.root)];
    return this.all;
  }

  /** Long texts are shared by many nodes, so each is looked through once a word. */
  has(node, word) {
    const { own, long } = this.known.get(node);
    return own.includes(word) || long.some((place) => this.longHas(place, word));
  }

  longHas(place, word) {
    if (word !== this.word) {
      this.answers = this.answers ?? new Map();
      if (!this.answers.has(word)) this.answers.set(word, new Map());
      this.word = word;
    }
    const answers = this.answers.get(word);
    if (!answers.has(place)) answers.set(place, this.texts[place].toLowerCase().includes(word));
    return answers.get(place);
  }

  read() {
    if (this.known) return;
    this.known = new Map();
    for (const node of this.nodes()) this.known.set(node, textsOf(node));
  }
}

/** The short texts of a node as one, and the places of the long ones. */
function textsOf(node) {
  const short = [node.id, node.title];
  const long = [];
  const take = (text) => (typeof text === "number" ? long.push(text) : short.push(text ?? ""));
  const takeMessage = (message) => {
    take(message.text);
    for (const call of message.calls ?? []) short.push(call.name), take(call.arguments);
  };
  const { effect } = node;
  if (node.call) take(node.call.arguments);
  if (node.answer) take(node.answer.text);
  if (effect) {
    short.push(effect.kind, effect.state ?? "done", effect.place ?? "");
    for (const [name, text] of effect.asked ?? []) short.push(name), take(text);
    for (const message of effect.messages ?? []) takeMessage(message);
    if (effect.reply) takeMessage(effect.reply);
    if (effect.gave) take(effect.gave[0]);
    if (effect.error) short.push(effect.error.type, effect.error.kind), take(effect.error.message);
  }
  return { own: short.join("\n").toLowerCase(), long };
}
