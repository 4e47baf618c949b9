import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRegistry, type JsonObject, type Registry, type Verdict } from "@assent/core";
import { ajvSchemas, createHostPorts } from "@assent/host";
import { createWorkspacePolicy, type LoadedPolicy, SettingsError, type SettingsProblem, type WorkspacePolicy } from "@assent/policy";
import { builtinTools } from "@assent/tools";
import { assessAtOnce } from "../../support/assess-at-once.ts";
import { lines, structure, tokens } from "../mutate.ts";
import { Finding, holds, type Target } from "../target.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples/policy");

const WORDS = [
  ...'version mode permissions allow ask deny protect sensitive lock readOnlyHint additionalDirectories onAsk hooks PreToolUse matcher command proposals stage resolver rule match notMatch because bind script shell path yolo plan auto-edit default tasks secretEnv mcp trusted redaction name prefix maxCostUsd "*" Shell Edit Read WebFetch Agent Bash // /* */ , true null'.split(
    " ",
  ),
  "Shell(git push)",
  "Shell(*)",
  "shell:command=curl*",
  "Edit(/src/**)",
  "Read(~/.ssh/**)",
  "WebFetch(domain:*.example.com)",
  "Shell(git push",
  "mcp__x__*",
];

/** What a person did not say must not be let through for it. */
const PROBES: readonly (readonly [tool: string, input: JsonObject])[] = [
  ["shell", { command: "ls -la" }],
  ["shell", { command: "curl https://example.test" }],
  ["shell", { command: "git push origin main" }],
  ["shell", { command: "npm test" }],
  ["shell", { command: "rm -rf build" }],
  ["shell", { command: "echo x > .git/config" }],
  ["read", { file_path: ".env" }],
  ["read", { file_path: "/etc/passwd" }],
  ["write", { file_path: "src/a.ts", content: "x" }],
  ["write", { file_path: ".assent/settings.json", content: "{}" }],
  ["fetch", { url: "https://example.test/" }],
];

/** The user's own settings, under those of a project. */
const USER = {
  version: 1,
  permissions: { allow: ["Shell(npm test)"], ask: ["Shell(git commit)"], deny: ["Shell(curl)", "Read(/etc/**)"] },
};

const SEVERITY: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

type Scene = {
  readonly policyFile: string;
  readonly projectFile: string;
  readonly load: (over: { readonly policyFile?: string }) => WorkspacePolicy;
  readonly verdicts: (policy: WorkspacePolicy) => readonly Verdict[];
};

/** Settings and rules: any bytes are settings, or an error that says where; and nothing is open because a file is broken. */
export function rules(): Target {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-fuzz-")));
  const scene = sceneIn(root);
  const without = scene.verdicts(scene.load({}));
  return {
    name: "rules",
    iterations: 300,
    seeds: readdirSync(EXAMPLES)
      .filter((name) => name.endsWith(".json"))
      .map((name) => readFileSync(join(EXAMPLES, name), "utf8")),
    mutators: [lines(['"mode": "yolo",', "// x"]), tokens(WORDS), tokens(WORDS), structure(WORDS), structure(WORDS)],
    check: (input) => check(scene, without, input),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function sceneIn(root: string): Scene {
  const [workspace, home, store] = [join(root, "workspace"), join(root, "home"), join(root, "store")];
  const [userFile, policyFile, projectFile] = [
    join(home, "settings.json"),
    join(root, "policy.json"),
    join(workspace, ".assent/settings.json"),
  ];
  for (const folder of [home, dirname(projectFile), join(workspace, "src"), join(workspace, ".git")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(userFile, JSON.stringify(USER), { mode: 0o600 });
  const { clock, digest, files, processes } = createHostPorts({ stateDirectory: store });
  let registry: Registry | undefined;
  const session = { allow: [], ask: [], deny: [] };
  const load: Scene["load"] = (over) =>
    createWorkspacePolicy({
      places: { workspace, home, userFile, teamFile: join(root, "none"), session, trusted: false, ...over },
      stateDirectory: store,
      digest,
      tools: (scope) => {
        if (registry) return registry;
        registry = createRegistry({ schemas: ajvSchemas() });
        for (const tool of builtinTools({ workspace, scope, files, processes, environment: {} })) registry.add(tool);
        return registry;
      },
    });
  const verdicts: Scene["verdicts"] = ({ tools, facts, source }) =>
    PROBES.map(([name, input]) => {
      const tool = tools.get(name);
      const invocation = tool?.build(input, { cwd: workspace, callId: "c", sessionId: "s" });
      if (!tool || !invocation || invocation instanceof Promise) throw new Error(`${name} does not build at once`);
      return assessAtOnce({ tool, invocation, cwd: workspace, facts, policy: source.current, digest, clock }).decision.verdict;
    });
  return { policyFile, projectFile, load, verdicts };
}

function check({ policyFile, projectFile, load, verdicts }: Scene, without: readonly Verdict[], input: Buffer): void {
  writeFileSync(policyFile, input);
  const policy = loaded(() => load({ policyFile }), policyFile, input);
  if (policy) {
    nothingIsLost(policy.source.loaded(), input);
    verdicts(policy);
  }
  writeFileSync(projectFile, input);
  const project = loaded(() => load({}), projectFile, input);
  if (project)
    for (const [at, verdict] of verdicts(project).entries())
      holds(
        "a project that is not trusted opens nothing",
        SEVERITY[verdict] >= SEVERITY[without[at] ?? "deny"],
        () => `${JSON.stringify(PROBES[at])} came to ${verdict}`,
      );
}

/** Undefined: the file refuses, with every problem at its place. */
function loaded(load: () => WorkspacePolicy, file: string, input: Buffer): WorkspacePolicy | undefined {
  const length = input.toString("utf8").split(/\r\n|\r|\n/).length;
  try {
    const policy = load();
    for (const problem of policy.source.loaded().problems) hasPlace(problem, file, length);
    return policy;
  } catch (error) {
    if (error instanceof Finding || !(error instanceof SettingsError)) throw error;
    holds(
      "an error has its problems",
      error.problems.some(({ effect }) => effect === "refuse"),
      () => error.message,
    );
    for (const problem of error.problems) hasPlace(problem, file, length);
    return undefined;
  }
}

function hasPlace(problem: SettingsProblem, file: string, length: number): void {
  const shown = (): string => `${JSON.stringify(problem)} of ${length} lines`;
  holds(
    "a problem names the file and a line of it",
    problem.file === file && problem.line >= 1 && problem.line <= length && problem.column >= 1,
    shown,
  );
  holds("a problem says what is wrong and what to do", problem.message !== "" && problem.hint !== "", shown);
}

/** Only of files without comments; those are enough to see that nothing is lost. */
function parsed(input: Buffer): { readonly permissions?: Readonly<Record<string, unknown>> } {
  try {
    return JSON.parse(input.toString("utf8").replace(/^\ufeff/, "")) ?? {};
  } catch {
    return {};
  }
}

/** A deny or ask that was written holds, or is complained about by its place in the file. */
function nothingIsLost({ rules: known, problems }: LoadedPolicy, input: Buffer): void {
  const { permissions } = parsed(input);
  for (const verdict of ["deny", "ask"] as const) {
    const list = permissions?.[verdict];
    for (const [at, entry] of (Array.isArray(list) ? list : []).entries()) {
      const text: unknown = typeof entry === "string" ? entry : entry?.rule;
      const holdsAs = known.some((rule) => rule.verdict === verdict && rule.at.text === text);
      const complained = problems.some(({ key, kept }) => kept === undefined && key.startsWith(`permissions.${verdict}[${at}]`));
      holds("no deny and no ask is lost", holdsAs || complained, () => `permissions.${verdict}[${at}]: ${JSON.stringify(entry)}`);
      holds("no deny and no ask is left out with a warning", holdsAs, () => `permissions.${verdict}[${at}]: ${JSON.stringify(entry)}`);
    }
  }
}
