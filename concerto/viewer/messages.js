// Conversations: messages, replies, and the calls of tools in them.

import { count, element, foreign, money, textBlock } from "./text.js";
import { fieldsView, fold, parsed, valueView } from "./values.js";

const ROLES = { system: "system", user: "user", assistant: "model", tool: "result" };

/** A message of a request, or a reply; `text` reads a text, `untrusted` are the origins of what is not to be trusted. */
export function messageView(message, text, untrusted = []) {
  const who = element("div", "who", ROLES[message.role] ?? message.role);
  if (message.name) who.append(" of ", element("bdi", "", foreign(message.name)));
  if (message.failed) who.append(element("span", "mark", "failed"));
  if (message.role === "tool" && untrusted.some((origin) => wireName(origin) === message.name)) {
    who.append(element("span", "mark warn", "untrusted"));
  }
  const said = text(message.text);
  const made = element("section", `message ${message.role}${message.failed ? " failed" : ""}`, who);
  if (said || !message.calls) made.append(message.role === "tool" ? valueView(said) : prose(said));
  for (const call of message.calls ?? []) made.append(callView(call, text));
  return made;
}

/** A tool by the name that models know it by. */
function wireName(origin) {
  return originName(origin).replaceAll("::", "__");
}

export function originName(origin) {
  return origin.replaceAll("`", "");
}

/** A model's answer may be JSON. */
function prose(text) {
  return /^\s*[[{]/.test(text) ? valueView(text) : textBlock(text);
}

function callView(call, text) {
  return element(
    "div",
    "tool-call",
    element("div", "call-name", "calls ", element("b", "", foreign(call.name))),
    argumentsView(text(call.arguments), call.name),
  );
}

/** Of a program of a model its lines, as they are. */
export function argumentsView(written, name) {
  const value = parsed(written);
  if (name === "run_program" && typeof value?.source === "string") return textBlock(value.source, "code");
  if (value === null || typeof value !== "object" || Array.isArray(value)) return textBlock(written, "code");
  return fieldsView(Object.entries(value));
}

/** What a turn cost and why the model stopped. */
export function usageLine(effect) {
  const { reply } = effect;
  if (!reply) return null;
  const parts = [reply.model, `${count(reply.tokens_in ?? 0)} tokens in, ${count(reply.tokens_out ?? 0)} out`];
  if (reply.tokens_cached) parts.push(`${count(reply.tokens_cached)} from a cache`);
  if (reply.cost_usd !== null && reply.cost_usd !== undefined) parts.push(money(reply.cost_usd));
  parts.push(`stopped: ${reply.stop_reason}`);
  return element("p", "usage", foreign(parts.join(" · ")));
}

/** Whatever is not as usual in what a model was asked, its tools and the schema of its answer. */
export function settingsView(settings) {
  const { tools = [], schema, model, ...rest } = settings;
  const usual = { tool_choice: "auto", parallel_tool_calls: true, stream: false, forced_tool: "" };
  const told = Object.entries(rest).filter(
    ([name, value]) => value !== null && value !== usual[name] && !(Array.isArray(value) && !value.length),
  );
  const made = element("div", "", fieldsView([["model", model], ...told]));
  if (tools.length) made.append(fold(`tools (${tools.length})`, () => toolsView(tools)));
  if (schema) made.append(fold(`answers as ${schema.name}`, () => fieldsView(Object.entries(schema.schema))));
  return made;
}

function toolsView(tools) {
  const views = tools.map((tool) => {
    const about = element("div", "field", element("div", "field-name", foreign(tool.title || tool.name)));
    const body = element("div", "", textBlock(tool.description || tool.hosted || ""));
    const fields = Object.entries(tool.parameters?.properties ?? {});
    if (fields.length) {
      const required = tool.parameters.required ?? [];
      const lines = fields.map(([name, each]) => [required.includes(name) ? name : `${name}?`, briefSchema(each)]);
      body.append(fieldsView(lines));
    }
    about.append(body);
    return about;
  });
  return element("div", "fields", ...views);
}

function briefSchema(schema) {
  if (!schema || typeof schema !== "object") return String(schema);
  const { type, description, ...rest } = schema;
  const extra = Object.keys(rest).length ? JSON.stringify(rest) : "";
  return [type, description, extra].filter(Boolean).join(" · ");
}
