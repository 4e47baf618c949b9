import assert from "node:assert/strict";
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

const BEFORE = `{
  "numStartups": 3,
  "mcpServers": {
    "files": { "command": "server-files", "args": ["."] },
    "web": { "type": "http", "url": "https://web.example.com/mcp", "headers": { "X-Key": "secret-value" } },
    "odd": { "type": "ws", "url": "wss://odd.example.com" }
  }
}
`;

const claude = (at: Place): string => join(at.root, ".claude.json");
const read = (file: string): string => readFileSync(file, "utf8");

describe("assent mcp install", () => {
  test("shows the change, keeps a backup that only the owner reads, and uninstall restores every byte", async () => {
    using at = place();
    writeFileSync(claude(at), BEFORE, { mode: 0o600 });
    const installed = await at.here(["mcp", "install", "claude", "--yes"]);
    assert.equal(installed.code, 0, installed.stderr);
    assert.match(installed.stdout, /^\+ +"--name=files",$/m);
    assert.match(installed.stdout, /2 MCP servers of Claude Code are now behind Assent/);
    assert.match(installed.stdout, /If web wants a login: assent mcp login web --mcp-config \S+claude-user\.json/);
    assert.match(installed.stderr, /The server odd stays as it is: /);
    assert.equal(read(`${claude(at)}.before-assent`), BEFORE);
    const files = [claude(at), `${claude(at)}.before-assent`, join(at.store, "mcp-clients/claude-user.json")];
    assert.deepEqual(
      files.map((file) => statSync(file).mode & 0o777),
      [0o600, 0o600, 0o600],
    );
    assert.doesNotMatch(read(claude(at)), /secret-value/);
    assert.match((await at.here(["mcp", "install", "claude", "--yes"])).stdout, /^Nothing to change/);
    const removed = await at.here(["mcp", "uninstall", "claude", "--yes"]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(read(claude(at)), BEFORE);
    assert.match((await at.here(["mcp", "uninstall", "claude", "--yes"])).stdout, /^Nothing to change/);
  });

  test("the address of a server can be read as --mcp-config, and the script starts the gateway with this record", async () => {
    using at = place();
    writeFileSync(claude(at), BEFORE);
    await at.here(["mcp", "install", "claude", "--yes"]);
    const { value } = await at.hereJson([
      ...["mcp", "list", "--strict-mcp-config", "--mcp-config", join(at.store, "mcp-clients/claude-user.json")],
    ]);
    assert.deepEqual(
      value.servers.map(({ name }: { readonly name: string }) => name),
      ["web"],
    );
    assert.match(read(join(at.store, "hooks/assent-mcp")), new RegExp(`export HOME=${at.root}\n[\\s\\S]*exec .* mcp serve "\\$@"`));
  });

  test("writes nothing with --dry-run, or without a terminal and --yes", async () => {
    using at = place();
    writeFileSync(claude(at), BEFORE);
    const dry = await at.here(["mcp", "install", "claude", "--dry-run"]);
    assert.match(dry.stdout, /--name=files[\s\S]*Nothing was written\.\n$/);
    const { code, value } = await at.hereJson(["mcp", "install", "claude"]);
    assert.deepEqual([code, value.error.type], [2, "confirmation_required"]);
    assert.equal(read(claude(at)), BEFORE);
    assert.ok(!existsSync(join(at.store, "mcp-clients")) && !existsSync(`${claude(at)}.before-assent`));
  });

  test("follows a link to the file, names the file that changes, and keeps the link", async () => {
    using at = place();
    const real = join(at.root, "dotfiles-claude.json");
    writeFileSync(real, BEFORE);
    symlinkSync(real, claude(at));
    const installed = await at.here(["mcp", "install", "claude", "--yes"]);
    assert.match(installed.stdout, /dotfiles-claude\.json/);
    assert.ok(lstatSync(claude(at)).isSymbolicLink());
    assert.match(read(real), /--name=files/);
  });

  test("changes only the project's file with --project", async () => {
    using at = place();
    writeFileSync(claude(at), BEFORE);
    at.write(".mcp.json", '{"mcpServers": {"x": {"command": "p"}}}');
    assert.equal((await at.here(["mcp", "install", "claude", "--project", "--yes"])).code, 0);
    assert.match(read(at.path(".mcp.json")), /--name=x/);
    assert.equal(read(claude(at)), BEFORE);
  });

  test("says so if there is nothing to guard, and refuses a file that it cannot read", async () => {
    using at = place();
    assert.match((await at.here(["mcp", "install", "qwen", "--yes"])).stdout, /settings\.json has no MCP servers to guard/);
    writeFileSync(claude(at), '{"mcpServers": {"x": ');
    const { code, value } = await at.hereJson(["mcp", "install", "claude", "--yes"]);
    assert.deepEqual([code, value.error.type], [1, "agent_config_invalid"]);
  });
});
