// The tree as rows, of which only those exist that can be seen.

import { brief, duration, element, foreign } from "./text.js";
import { isFailure } from "./tree.js";

const HEIGHT = 28;
const BEYOND = 12;
const DEEPEST_INDENT = 14;

export const KINDS = {
  ModelCall: "model", HostTurn: "host", HostCall: "outside", McpCall: "mcp", ToolCall: "tool", EmitAwait: "ask",
  Http: "http", Shell: "shell", Clock: "clock", Random: "random", Env: "env", Sleep: "sleep", ReadFile: "read",
  WriteFile: "write", ListFolder: "list", RemoveFile: "remove", FileSize: "size", LoadStore: "load", SaveStore: "save",
  AgentRun: "agent", StageRun: "stage", McpListing: "tools", LoadSession: "load", SaveSession: "save",
};

export class Rows {
  /** `choose` is called with the node of a row that was clicked, `toggle` to open or close it. */
  constructor(tree, rows, describe, choose, toggle) {
    Object.assign(this, { tree, rows, describe, nodes: [], chosen: null, drawn: new Map() });
    let asked = false;
    const soon = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        this.draw();
      });
    };
    tree.addEventListener("scroll", soon, { passive: true });
    new ResizeObserver(soon).observe(tree);
    // The rows may be drawn anew before the button is released.
    rows.addEventListener("mousedown", (event) => {
      const row = event.target.closest(".row");
      const node = row && this.nodes[Number(row.dataset.at)];
      if (!node || event.button) return;
      if (event.target.closest(".caret")) toggle(node);
      else choose(node);
    });
    rows.addEventListener("dblclick", (event) => {
      const row = event.target.closest(".row");
      if (row && !event.target.closest(".caret")) toggle(this.nodes[Number(row.dataset.at)]);
    });
  }

  show(nodes, total, searching) {
    // Who looks at the last row sees what comes after it.
    const { scrollTop, clientHeight } = this.tree;
    const atEnd = scrollTop > 0 && scrollTop + clientHeight > (this.nodes.length - 1) * HEIGHT;
    const grew = nodes.length > this.nodes.length;
    Object.assign(this, { nodes, total, searching });
    this.rows.style.height = `${nodes.length * HEIGHT}px`;
    if (atEnd && grew) this.tree.scrollTop = nodes.length * HEIGHT;
    this.redraw();
  }

  redraw() {
    this.rows.replaceChildren();
    this.drawn.clear();
    this.draw();
  }

  choose(node) {
    this.chosen = node;
    const at = this.nodes.indexOf(node);
    if (at >= 0) {
      const { scrollTop, clientHeight } = this.tree;
      if (at * HEIGHT < scrollTop) this.tree.scrollTop = at * HEIGHT;
      else if ((at + 1) * HEIGHT > scrollTop + clientHeight) this.tree.scrollTop = (at + 1) * HEIGHT - clientHeight;
    }
    this.redraw();
  }

  draw() {
    const from = Math.max(0, Math.floor(this.tree.scrollTop / HEIGHT) - BEYOND);
    const to = Math.min(this.nodes.length, from + Math.ceil(this.tree.clientHeight / HEIGHT) + 2 * BEYOND);
    for (const [at, row] of this.drawn) {
      if (at < from || at >= to) {
        row.remove();
        this.drawn.delete(at);
      }
    }
    for (let at = from; at < to; at++) {
      if (this.drawn.has(at)) continue;
      const row = this.row(this.nodes[at], at);
      this.drawn.set(at, row);
      this.rows.append(row);
    }
  }

  row(node, at) {
    const chosen = node === this.chosen;
    const row = element("div", `row${chosen ? " chosen" : ""}${isFailure(node) ? " bad" : ""}`);
    row.id = `row${at}`;
    row.dataset.at = at;
    row.dataset.type = node.type;
    row.style.top = `${at * HEIGHT}px`;
    row.style.setProperty("--depth", Math.min(node.depth, DEEPEST_INDENT));
    row.role = "treeitem";
    row.ariaLevel = node.depth + 1;
    row.ariaSelected = chosen;
    if (chosen) this.tree.setAttribute("aria-activedescendant", row.id);
    const open = node.open || this.searching;
    if (node.children.length) row.ariaExpanded = open;
    const caret = element("span", "caret", node.children.length ? (open ? "▾" : "▸") : "");
    const { tag, preview } = this.describe(node);
    const title = element("bdi", "title", foreign(brief(node.title, 80)));
    const said = element("bdi", "preview", foreign(preview));
    const below = !isFailure(node) && node.total.failures ? element("span", "mark", `${node.total.failures} failed`) : null;
    const name = element("span", "name", caret, element("span", `tag ${tag}`, tag), title, below, said);
    row.append(name, this.bar(node), element("span", "took", took(node)));
    return row;
  }

  /** When it was, within the whole run. */
  bar(node) {
    const bar = element("span", "bar");
    const { begun, ended } = node.total;
    const all = Math.max(this.total.ended - this.total.begun, 1);
    if (begun === Infinity) return bar;
    const mark = element("i");
    // What took no time at the very end is seen too.
    mark.style.left = `min(${((begun - this.total.begun) / all) * 100}%, 100% - 6px)`;
    mark.style.width = `${((ended - begun) / all) * 100}%`;
    bar.append(mark);
    return bar;
  }
}

export function took(node) {
  const { begun, ended } = node.total;
  return begun === Infinity || (node.effect && node.effect.took === undefined) ? "" : duration(ended - begun);
}
