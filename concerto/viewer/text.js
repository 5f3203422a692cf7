// Elements, and texts that others wrote: always as text, with what nobody would see made visible.

const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}\ud800-\udfff]/gu;
const MOST_CHARACTERS = 4000;

/** An element with a class and children; a string is a text. */
export function element(tag, style, ...children) {
  const made = document.createElement(tag);
  if (style) made.className = style;
  made.append(...children.filter((each) => each !== null && each !== undefined));
  return made;
}

export function button(label, act) {
  const made = element("button", "", label);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/** Others' text: control characters and marks of direction are shown as escapes. */
export function foreign(text) {
  const made = document.createDocumentFragment();
  let end = 0;
  for (const found of text.matchAll(UNSEEN)) {
    made.append(text.slice(end, found.index));
    made.append(element("span", "escape", `\\u{${found[0].codePointAt(0).toString(16)}}`));
    end = found.index + found[0].length;
  }
  made.append(text.slice(end));
  return made;
}

/** A block of others' text; a very long one is cut. */
export function textBlock(text, style = "") {
  const block = element("div", `text ${style}`);
  block.dir = "auto";
  if (text.length <= MOST_CHARACTERS * 1.25) {
    block.append(text === "" ? element("span", "faint", "(empty)") : foreign(text));
    return block;
  }
  let end = MOST_CHARACTERS;
  if (text.codePointAt(end - 1) > 0xffff) end -= 1;
  block.append(foreign(text.slice(0, end)), element("span", "faint", "…"));
  const all = button(`show all ${count(text.length)} characters`, () => {
    block.replaceChildren(foreign(text));
    all.remove();
  });
  return element("div", "cut", block, all);
}

/** Elements made of many items, some at a time. */
export function someAtATime(parent, items, make, step = 50) {
  let shown = 0;
  const more = button("", () => show());
  const show = () => {
    more.remove();
    const next = items.slice(shown, shown + step);
    parent.append(...next.map((each, index) => make(each, shown + index)));
    shown += next.length;
    const left = items.length - shown;
    if (left > 0) {
      more.textContent = `show ${count(Math.min(step, left))} more of ${count(left)}`;
      parent.append(more);
    }
  };
  show();
  return parent;
}

/** The beginning of a text in one line. */
export function brief(text, most = 160) {
  const start = text.slice(0, most * 2).replace(/\s+/g, " ").trim();
  return start.length > most || text.length > most * 2 ? `${start.slice(0, most)}…` : start;
}

export function count(number) {
  return number.toLocaleString("en");
}

export function counted(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function duration(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function money(usd) {
  if (usd === null) return "unknown cost";
  return `$${usd.toFixed(usd >= 1 || usd === 0 ? 2 : 4)}`;
}
