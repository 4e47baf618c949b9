import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, askProgram, type Entry, makeWorkspace, type Verdict } from "./ask-program.ts";

/** A command as people type it, labeled by what it does. */
export type EverydayCommand = {
  readonly command: string;
  /** It changes nothing, changes something inside the workspace, or reaches outside it: the network, the home directory, the system. */
  readonly effect: "none" | "workspace" | "outside";
  /** It shows secrets, so it has to ask although it changes nothing. */
  readonly secrets?: true;
  /** It reaches outside, but only to look. */
  readonly reads?: true;
  readonly note?: string;
};

/** The verdict about a command, with the sentences that say why it is not an allow. */
export type EverydayVerdict = { readonly row: EverydayCommand; readonly verdict: Verdict; readonly reasons: readonly string[] };

/** The commands of `everyday.json`. */
export const EVERYDAY: readonly EverydayCommand[] = JSON.parse(readFileSync(join(import.meta.dirname, "everyday.json"), "utf8"));

const FILES: Readonly<Record<string, Entry>> = {
  "README.md": { text: "# App\n\nfoo [x]\n" },
  "CHANGELOG.md": { text: "# Changes\n" },
  "package.json": {
    text: '{ "name": "app", "version": "1.0.0", "scripts": { "test": "node --test", "build": "tsc", "lint": "biome" } }\n',
  },
  "package-lock.json": { text: "{}\n" },
  "tsconfig.json": { text: "{}\n" },
  Makefile: { text: "clean:\n\trm -rf dist\n" },
  Dockerfile: { text: "FROM scratch\n" },
  "requirements.txt": { text: "flask\n" },
  "main.py": { text: "print(1)\n" },
  ".gitignore": { text: "# output\nnode_modules\n" },
  "src/index.ts": { text: 'import "./app.ts";\n' },
  "src/app.ts": { text: "// TODO\nexport function parse() {}\n" },
  "src/utils/date.ts": { text: "export {};\n" },
  "test/app.test.ts": { text: "export {};\n" },
  "docs/guide.md": { text: "# Guide\n" },
  "data/users.csv": { text: "id,name,age\n1,ann,31\n" },
  "data/logo.bin": { text: "\u0001\u0002logo\n" },
  "data/token.b64": { text: "aGVsbG8=\n" },
  "logs/app.log": { text: "10:00 ERROR id=1\n" },
  "scripts/build.sh": { text: "echo\n" },
  "node_modules/react/package.json": { text: '{ "name": "react", "version": "1.0.0" }\n' },
};

/** Makes the workspace of the corpus: a repository with one commit and a remote, and a file with secrets. */
export function makeEverydayWorkspace(root: string): string {
  makeWorkspace(root, FILES);
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=A Person", "-c", "user.email=a@example.test", ...args], { cwd: root, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", "git@example.test:app.git");
  git("add", "--all");
  git("commit", "--quiet", "--message=First");
  return makeWorkspace(root, { ".env": { text: "API_KEY=secret\n" } });
}

/** Judges the whole corpus by a policy. `scratch` becomes the home directory. */
export function judgeEveryday(scratch: string, policy: Readonly<Record<string, unknown>> = {}): readonly EverydayVerdict[] {
  const workspace = makeEverydayWorkspace(join(scratch, "workspace"));
  const file = join(scratch, "policy.json");
  writeFileSync(file, JSON.stringify({ version: 1, shell: { path: [installPrograms(join(scratch, "bin"))] }, ...policy }));
  const commands = EVERYDAY.map(({ command }, i) => ({ id: String(i), command }));
  const environment = { USER: "ann", LOGNAME: "ann", SHELL: "/bin/bash", LANG: "C.UTF-8" };
  const answers = askProgram(commands, { scratch, workspace, policy: file, env: environment });
  return EVERYDAY.map((row, i) => ({ row, verdict: answers[i]?.verdict ?? "deny", reasons: reasonsOf(answers[i]) }));
}

/** Every program of the corpus is installed, so that the verdicts don't depend on the machine. */
function installPrograms(bin: string): string {
  mkdirSync(bin);
  const names = EVERYDAY.flatMap(({ command }) => [...command.matchAll(/(?:^|[|&;]\s*)([\w-]+|\[)(?=\s|$)/g)].map(([, name = ""]) => name));
  for (const name of new Set(names)) writeFileSync(join(bin, name), "", { mode: 0o755 });
  return bin;
}

function reasonsOf(answer: Answer | undefined): readonly string[] {
  const { hazards = [], commands = [] } = answer?.plan ?? {};
  const all = [...hazards, ...commands.flatMap((command) => command.hazards)].map(({ text }) => text);
  const classes = commands.map((command) => command.class).filter((one) => one !== "read");
  return [...new Set(all.length > 0 ? all : classes)];
}

/** How many commands pass, and the others by their reasons, one line each. */
export function scoreEveryday(verdicts: readonly EverydayVerdict[]): { readonly share: number; readonly rest: readonly string[] } {
  const rest = verdicts.filter(({ verdict }) => verdict !== "allow");
  const byReason = Map.groupBy(rest, ({ reasons }) => reasons.join("; ") || "no reason");
  return {
    share: verdicts.length === 0 ? 1 : 1 - rest.length / verdicts.length,
    rest: [...byReason].map(([reason, all]) => `${all.map(({ row }) => row.command).join(" · ")}  (${reason})`),
  };
}
