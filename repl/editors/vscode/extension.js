// extension.js - a thin client of `tide lsp` for VS Code. It has not been tested.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("tide");
  const server = { command: settings.get("program"), args: ["lsp"] };
  client = new LanguageClient("tide", "Tide", server, {
    documentSelector: [{ scheme: "file", language: "lua" }],
    initializationOptions: { run: settings.get("run") },
  });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
