import { isAbsolute, join, relative } from "node:path";
import { isObject, type JsonObject } from "@assent/core";
import type { ForeignCall } from "./guard-event.ts";
import { hasOtherHooks, readConfig } from "./install/hook-config.ts";

/** What can be seen of the Claude Code that makes a call. */
export type ClaudeSurroundings = {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null for a missing file. Throws if it cannot be read. */
  readonly read: (path: string) => string | null;
  /** The names in a directory; empty if there is none. */
  readonly list: (path: string) => readonly string[];
  /** The words of the command lines of the processes above this one; undefined if they cannot be seen. */
  readonly startedWith: () => readonly string[] | undefined;
  /** The session's transcript up to this call; undefined if Claude Code has not written it yet. */
  readonly transcript: () => Promise<string | undefined>;
};

/**
 * True if Claude Code certainly shows its dialog for a call about which a hook has no opinion. In doubt false:
 * 1. The mode asks, and the call is the main agent's.
 * 2. The tool asks: a command that changes something, or an edit of a plain file in the directory.
 * 3. Claude Code was started without options that allow something.
 * 4. No settings file has an allow rule that may match, a sandbox that replaces the dialog, or another hook that may allow.
 * 5. No command or skill of this session allowed tools.
 */
export async function claudeSurelyAsks(call: ForeignCall, at: ClaudeSurroundings): Promise<boolean> {
  try {
    if (call.mode !== "default" || call.subagent !== undefined || !asksByDefault(call)) return false;
    const words = at.startedWith();
    if (words === undefined || words.some((word) => LOOSENING.test(word))) return false;
    if (settingsFiles(call, at).some((path) => mayAllow(readConfig(at.read(path) ?? ""), call))) return false;
    if (hasOldPermissions(call, at)) return false;
    const transcript = await at.transcript();
    return transcript !== undefined && !transcript.includes('"command_permissions"');
  } catch {
    return false;
  }
}

/** Options that bring rules, settings, modes, agents or plugins of their own. */
const LOOSENING = /^--(?:allow|dangerously|permission|setting|agent|plugin|add-dir|sdk|input-format)/;

const EDITS: ReadonlySet<string> = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);

function asksByDefault({ tool, input, cwd }: ForeignCall): boolean {
  if (tool === "Bash") return input["dangerouslyDisableSandbox"] === undefined && changesSomething(input["command"]);
  const path = input["file_path"] ?? input["notebook_path"];
  if (!EDITS.has(tool) || typeof path !== "string") return false;
  const inside = relative(cwd, path);
  return isAbsolute(path) && inside !== "" && !/(?:^|\/)\./.test(inside); // no hidden names, nothing outside
}

/** Claude Code runs many readers without asking. It always shows its dialog for these, with any arguments. */
const CHANGES: Readonly<Record<string, readonly string[] | "always">> = {
  ...Object.fromEntries(
    ["touch", "rm", "rmdir", "mv", "cp", "ln", "mkdir", "chmod", "chown", "tee", "dd", "truncate", "install", "rsync", "scp", "ssh"].map(
      (name) => [name, "always"],
    ),
  ),
  ...Object.fromEntries(["curl", "wget", "make", "kill", "pkill", "npx", "sudo"].map((name) => [name, "always"])),
  git: [
    ...["add", "am", "apply", "checkout", "cherry-pick", "clean", "clone", "commit", "fetch", "init", "merge", "mv", "pull", "push"],
    ...["rebase", "reset", "restore", "revert", "rm", "switch"],
  ],
  npm: ["ci", "exec", "i", "install", "publish", "run", "start", "test", "uninstall", "update"],
  pnpm: ["add", "dlx", "exec", "install", "publish", "remove", "run", "test", "update"],
  yarn: ["add", "install", "publish", "remove", "run", "test"],
  pip: ["install", "uninstall"],
  cargo: ["build", "install", "publish", "run", "test"],
  go: ["build", "generate", "get", "install", "run", "test"],
  docker: ["build", "compose", "cp", "exec", "kill", "pull", "push", "rm", "rmi", "run", "start", "stop"],
  kubectl: ["apply", "create", "delete", "edit", "exec", "patch", "replace", "rollout", "scale"],
  terraform: ["apply", "destroy", "import", "init"],
};

function changesSomething(command: unknown): boolean {
  if (typeof command !== "string") return false;
  const [, program = "", first = ""] = /^(?:cd [\w./-]+ && )?([\w.-]+)(?: +([\w.-]+))?(?=\s|$)/.exec(command.trim()) ?? [];
  const words = Object.hasOwn(CHANGES, program) ? CHANGES[program] : undefined;
  return words === "always" ? first !== "" && !first.startsWith("-v") : words?.includes(first) === true;
}

const MANAGED = ["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

function configDirectory({ env, home }: ClaudeSurroundings): string {
  return env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude");
}

/** User, project, local and managed settings. */
function settingsFiles({ cwd }: ForeignCall, at: ClaudeSurroundings): readonly string[] {
  const config = configDirectory(at);
  const projects = [...new Set([cwd, at.env["CLAUDE_PROJECT_DIR"] ?? cwd])];
  return [
    ...["settings.json", "settings.local.json", "remote-settings.json"].map((name) => join(config, name)),
    ...projects.flatMap((project) => ["settings.json", "settings.local.json"].map((name) => join(project, ".claude", name))),
    ...MANAGED.flatMap((folder) => [
      join(folder, "managed-settings.json"),
      ...at.list(join(folder, "managed-settings.d")).map((name) => join(folder, "managed-settings.d", name)),
    ]),
  ];
}

function mayAllow(settings: JsonObject, call: ForeignCall): boolean {
  const { permissions, sandbox, enabledPlugins } = settings;
  if (isObject(sandbox) && sandbox["enabled"] !== false) return true;
  if (isObject(enabledPlugins) && Object.values(enabledPlugins).some(Boolean)) return true; // they may bring hooks
  if (["PreToolUse", "PermissionRequest"].some((event) => hasOtherHooks(settings, event))) return true;
  const rules = isObject(permissions) ? (permissions["allow"] ?? []) : [];
  return !Array.isArray(rules) || rules.some((rule) => mayMatch(rule, call));
}

/** A rule is `Tool` or `Tool(what)`. Only the first word of a command is compared, anywhere in the line. */
function mayMatch(rule: unknown, { tool, input }: ForeignCall): boolean {
  const [, name, what] = /^([\w-]+)(?:\((.*)\))?$/s.exec(typeof rule === "string" ? rule.trim() : "") ?? [];
  if (name === undefined) return true; // not understood
  if (EDITS.has(tool)) return EDITS.has(name);
  if (name !== tool) return false;
  const [word = ""] = /^[\w./-]+/.exec(what ?? "") ?? [];
  return word === "" || String(input["command"]).includes(word);
}

/** Earlier versions kept allowed tools per project in one file. */
function hasOldPermissions({ cwd }: ForeignCall, at: ClaudeSurroundings): boolean {
  const { home, env } = at;
  const file = env["CLAUDE_CONFIG_DIR"] === undefined ? join(home, ".claude.json") : join(env["CLAUDE_CONFIG_DIR"], ".claude.json");
  const { projects } = readConfig(at.read(file) ?? "");
  const project = isObject(projects) ? (projects[env["CLAUDE_PROJECT_DIR"] ?? cwd] ?? {}) : {};
  const allowed = isObject(project) ? (project["allowedTools"] ?? []) : [];
  return !Array.isArray(allowed) || allowed.length > 0;
}
