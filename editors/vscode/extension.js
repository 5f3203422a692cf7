// The client of `concerto lsp`, and commands that run programs and tests in a terminal.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("concerto.run", (file) => inTerminal(["run", fileOf(file)])),
    vscode.commands.registerCommand("concerto.test", (file, title) =>
      inTerminal(["test", fileOf(file), ...(title ? ["--filter", title] : [])]),
    ),
    vscode.commands.registerCommand("concerto.restart", () => client.restart()),
  );
  client = new LanguageClient(
    "concerto",
    "Concerto",
    { command: executable(), args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "concerto" },
        { scheme: "file", pattern: "**/Concerto.toml" },
      ],
    },
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

function executable() {
  return vscode.workspace.getConfiguration("concerto").get("path") || "concerto";
}

function fileOf(given) {
  if (typeof given === "string") return given;
  return given?.fsPath ?? vscode.window.activeTextEditor?.document.fileName ?? ".";
}

// A task gets its arguments as they are: nothing of a file's name means anything to a shell.
async function inTerminal(args) {
  await vscode.workspace.saveAll(false);
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Workspace,
    args.slice(0, 2).join(" "),
    "concerto",
    new vscode.ProcessExecution(executable(), args),
  );
  await vscode.tasks.executeTask(task);
}

module.exports = { activate, deactivate };
