// Reads {"grammar": path, "modules": folder, "texts": [text]} and writes, for each text, a list of lines, each a
// list of [start, end, scopes]: what the engine of Visual Studio Code sees.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const asked = JSON.parse(readFileSync(0, "utf-8"));
const require = createRequire(asked.modules + "/");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(asked.grammar, "utf-8"), asked.grammar),
});
const grammar = await registry.loadGrammar("source.concerto");

const tokenized = asked.texts.map((text) => {
  let state = textmate.INITIAL;
  return text.split("\n").map((line) => {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    return result.tokens.map((token) => [token.startIndex, token.endIndex, token.scopes]);
  });
});
process.stdout.write(JSON.stringify(tokenized));
