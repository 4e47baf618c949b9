import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { optionsOf, readTokens } from "../shell/programs/options.ts";
import { interpreterKind, isOpaque, PROGRAMS, runsOf } from "../shell/programs/table.ts";
import { commandName } from "../shell/read/command-name.ts";
import type { RuleLimit } from "./rule.ts";

/** A command that people allow by its first words, as in `Shell(npm run *)`. */
export type CommandPrefix = {
  /** What such a rule permits, in one sentence. */
  readonly risk: string;
  /** Options, and words without a dash, with which the command asks anyway. */
  readonly asks?: string;
  /** Further words may reach a shell, so characters that a shell acts on ask. */
  readonly shell?: true;
  /** Words that ask, and why. */
  readonly refuses?: readonly [words: RegExp, why: string];
  /** Its first operand is a remote; an address asks. */
  readonly remote?: true;
  /** An option before the subcommand asks, because it hides which row describes the command. */
  readonly subcommandFirst?: true;
  /** How many words "always" offers, if not those of the row. */
  readonly offers?: number;
  /** A rule must name that many words, because the last is the program that it runs. */
  readonly names?: true;
};

const SCRIPTS: CommandPrefix = {
  risk: "It runs scripts of this repository, with any arguments.",
  asks: "--script-shell --userconfig --globalconfig --node-options --shell-emulator --config --git",
  shell: true,
};
/** Words of pnpm and yarn that concern a registry, an account or this machine, or run code from the command line. */
const BEYOND_REPOSITORY =
  "-g --global --use-yarnrc publish unpublish deprecate dist-tag tag login logout adduser token access team star owner npm global create env config c get set plugin policies node link ln exec dlx setup self-update store cache server";
const INSTALLS: CommandPrefix = {
  risk: "It installs packages and runs their install scripts.",
  asks: "-g --global --location --registry --script-shell --userconfig --globalconfig --node-options --prefix --config --git --proxy --https-proxy --strict-ssl --cafile --trusted-host --allow-insecure-host --python --node-gyp",
  shell: true,
  refuses: [/^-+(?:@[^=]*:registry|\/\/)/, "names a registry or its credentials"],
};
const TESTS: CommandPrefix = {
  risk: "It runs the tests of this repository, which are any code.",
  asks: "--pastebin --basetemp --execargv --pooloptions --api",
  refuses: [/^(?:--?[\w.-]+=)?\{|(?:^|=)data:|pastebin/i, "contains settings or code"],
};
const CHECKS: CommandPrefix = {
  risk: "It loads settings and plugins of this repository, and may change files that it checks.",
  asks: "--install-types --python-executable --pythonpath",
  refuses: [/(?:^|=)data:/i, "contains code"],
};
const BUILDS: CommandPrefix = {
  risk: "It runs build instructions of this repository, which are any code.",
  refuses: [/^[^-/.][^/]*=|^\.\w+=/, "changes a variable of the build"],
  shell: true,
};
const SETS_PROPERTY: CommandPrefix["refuses"] = [/^(?:--?|\/)(?:r?p|(?:restore)?property)(?:[:=]|$)/i, "changes a variable of the build"];
const COMPILES: CommandPrefix = { risk: "It compiles and may run code of this repository and of its dependencies." };
const GO: CommandPrefix = { ...COMPILES, asks: "-exec -toolexec -vettool -overlay -ldflags -gccgoflags" };
const HOOKS = "and runs hooks and programs that this repository's git settings name.";
const CHANGES: CommandPrefix = { risk: `It can discard changes that were not committed, ${HOOKS}` };
const COMMITS: CommandPrefix = { risk: `It changes commits, branches or the index, ${HOOKS}` };
/** Also other people, and servers that can't be verified. */
const OTHER_CLUSTER =
  "--kubeconfig --server -s --token --context --cluster --user --as --as-group --as-uid --username --password --insecure-skip-tls-verify --certificate-authority --client-certificate --client-key --tls-server-name";
/** `-R HOST/OWNER/NAME`, and addresses. */
const OTHER_HOST: CommandPrefix["refuses"] = [
  /^(?:-\w*R=?|--repo=)?[^/\s]+\/[^/\s]+\/[^/\s]+|:\/\/|^--$/,
  "may name another host or program",
];
const GITHUB: CommandPrefix = {
  risk: "It reads and changes things on GitHub with your rights.",
  asks: "--web -w --hostname auth api secret variable ssh-key gpg-key extension extensions ext alias config codespace cs",
  refuses: OTHER_HOST,
  offers: 3,
};
const RUNNER: CommandPrefix = { risk: "It downloads the package if it is missing, and runs it.", shell: true, names: true };

/** All rows. To let people allow another command by its first words, add one. The longest match counts. */
const PREFIXES: ReadonlyMap<string, CommandPrefix> = new Map([
  ...rows("npm run, npm run-script, npm test, npm t, npm start, npm stop, npm restart", SCRIPTS),
  ["sleep", { risk: "It waits for as long as the command says." }],
  ...rows("npm install, npm i, npm ci, npm update, npm uninstall", INSTALLS),
  ...rows(
    "pnpm install, pnpm i, pnpm add, pnpm update, pnpm remove, yarn install, yarn add, yarn up, yarn remove, bun install, bun add",
    INSTALLS,
  ),
  ...rows("pnpm run, pnpm test, yarn run, yarn test, bun test", { ...SCRIPTS, asks: `${SCRIPTS.asks} node` }),
  ["bun run", { ...SCRIPTS, names: true, offers: 3 }], // also runs programs of the system
  ...rows("pnpm, yarn", {
    ...SCRIPTS,
    asks: `${SCRIPTS.asks} ${BEYOND_REPOSITORY}`,
    offers: 2,
  }),
  ...rows("npx, bunx, pnpx", { ...RUNNER, offers: 2 }),
  ...rows("pnpm exec, pnpm dlx, yarn dlx, yarn exec", { ...RUNNER, offers: 3 }),
  ["npm exec", { ...RUNNER, asks: `${SCRIPTS.asks} --package --call -c --registry --prefix`, offers: 3 }], // npm reads options after the program, too
  ...rows("pytest, python -m pytest, python3 -m pytest, vitest, jest, rspec, phpunit, tox", TESTS),
  ["mocha", { ...TESTS, asks: "-n --node-option -e --eval --print" }],
  [
    "ctest",
    {
      ...TESTS,
      asks: "-S -D -T -M --script --script-new-process --dashboard --test-action --test-model --build-and-test --build-makeprogram --test-command",
    },
  ],
  ...rows(
    "eslint, prettier, tsc, biome, stylelint, ruff, mypy, black, isort, pyright, golangci-lint, clang-format, rustfmt, gofmt",
    CHECKS,
  ),
  ...rows("make, gmake, ninja", { ...BUILDS, asks: "--eval -E" }),
  ["task", { ...BUILDS, asks: "-g --global" }],
  ["rake", { ...BUILDS, asks: "-e -E -p -g --system --execute --execute-print --execute-continue" }],
  ["just", { ...BUILDS, asks: "-c -g --command --shell --shell-arg --chooser --choose --set --global-justfile" }],
  ...rows("ant, meson", BUILDS),
  [
    "gradle",
    {
      ...BUILDS,
      refuses: [
        /^(?:-[DP]|--(?:system|project)-prop=)org[.=]|^[^-/.][^/]*=|^(?:[\w.-]*:)*p(?:ub.*|[A-Z].*|u(?:[A-Z].*)?)$/, // names of tasks can be abbreviated
        "publishes, or changes how gradle runs",
      ],
    },
  ],
  [
    "bazel",
    {
      ...BUILDS,
      asks: "--run-under --workspace-status-command --host-jvm-args --shell-executable --bes-backend --remote-cache --remote-executor",
    },
  ],
  [
    "mvn",
    {
      ...BUILDS,
      refuses: [
        /^(?:-D|--define=)(?:[^=]*exec|(?:jvm|argLine|maven\.(?:surefire|failsafe)\.debug)=)|^(?:exec|antrun|groovy|archetype|scm|release|wagon):|^[^-].*deploy|^deploy|^[^-].*:.*:|^[^-/.][^/]*=/,
        "may name any program or plugin",
      ],
    },
  ],
  [
    "cmake",
    {
      ...BUILDS,
      refuses: [/^-[EP]|^-D.*(?:COMPILER|LAUNCHER|LINKER|PROGRAM|COMMAND|TOOLCHAIN)|^[^-/.][^/]*=|^\.\w+=/i, "may name any program"],
    },
  ],
  ...rows("go test, go build, go vet, go generate, go mod, go fmt", GO),
  ["go run", { ...GO, refuses: [/@/, "may be a package of another repository"] }],
  [
    "cargo",
    {
      ...COMPILES,
      asks: "--config -Z --registry --index publish install uninstall login logout owner yank watch rustc rustdoc binstall generate eval script install-update",
    },
  ],
  ...rows("dotnet build, dotnet test, dotnet run, dotnet restore", { ...COMPILES, refuses: SETS_PROPERTY }),
  ...rows("swift build, swift test, mix test, mix compile", COMPILES),
  ...rows("uv run, poetry run, pipenv run, bundle exec", {
    risk: "It runs that program of this project's environment.",
    offers: 3,
    names: true,
  }),
  ...rows("uv sync, uv add, poetry install, poetry add, bundle install, pip install, pip3 install", INSTALLS),
  ...rows("docker compose, podman compose", {
    risk: "It starts, stops and changes containers on this machine and runs any command in them; a container can reach files outside the workspace.",
    asks: "-H --host --context --ssh --push --builder --privileged --cap-add config convert push publish bridge",
    refuses: [/^(?:-f|--file=)?-$|^(?:--?[\w-]+=?)?[\w.-]+@[\w.-]+:/, "may be a file from elsewhere"],
  }),
  ...rows("docker build, podman build", {
    risk: "It runs build instructions of this repository in a container.",
    asks: "--ssh --secret --push --allow --network --cache-to --builder",
    refuses: [/type=registry|push=true|\.git(?:#|$)|^\S+@\S+:|^github\.com\//, "names another place to build from or to send to"],
  }),
  ...rows("docker ps, docker logs, docker images, docker inspect, podman ps, podman logs", {
    risk: "It shows containers of this machine, with their output and settings.",
  }),
  ...rows("kubectl get, kubectl describe, kubectl logs", { risk: "It reads from your cluster with your rights.", asks: OTHER_CLUSTER }),
  [
    "kubectl",
    {
      risk: "It reads and changes your cluster with your rights.",
      asks: `${OTHER_CLUSTER} --helm-command --enable-exec --enable-alpha-plugins config kuberc proxy plugin krew ctx ns`,
      shell: true,
      offers: 2,
    },
  ],
  ...rows("terraform plan, terraform validate, terraform fmt, terraform init, tofu plan, tofu validate, tofu fmt, tofu init", {
    risk: "It runs providers of this configuration with your rights, and may write files and state.",
    asks: "-backend-config -from-module -plugin-dir",
  }),
  ...rows("gh pr view, gh pr list, gh pr diff, gh pr checks, gh issue view, gh issue list, gh run view, gh run list", {
    risk: "It reads from GitHub with your rights.",
    asks: "--web -w --hostname",
    refuses: OTHER_HOST,
  }),
  ["gh", { ...GITHUB, subcommandFirst: true }],
  ...rows("gh gist, gh release, gh repo", {
    ...GITHUB,
    risk: "It reads and changes things on GitHub with your rights, and can send files of this workspace there.",
    asks: `${GITHUB.asks} create new edit upload delete archive rename`,
  }),
  ["git add", { risk: "It adds any files of this repository to the next commit." }],
  ["git commit", { risk: `It commits, ${HOOKS}` }],
  ...rows("git checkout, git switch, git restore, git stash, git reset, git clean, git rm, git mv", CHANGES),
  ...rows("git branch, git tag, git merge, git rebase, git cherry-pick, git revert, git notes, git apply, git am", COMMITS),
  ["git worktree", { risk: `It adds and removes working directories in this workspace, ${HOOKS}` }],
  ["git fetch", { risk: "It downloads from a remote of this repository.", remote: true }],
  ["git pull", { risk: `It downloads from a remote and merges, ${HOOKS}`, remote: true }],
  [
    "git push",
    {
      risk: "It sends commits to a remote of this repository, and can rewrite and delete branches there.",
      remote: true,
      asks: "--repo",
    },
  ],
]);

function rows(names: string, row: CommandPrefix): readonly (readonly [string, CommandPrefix])[] {
  return names.split(", ").map((name) => [name, row]);
}

type FoundPrefix = { readonly length: number; readonly row: CommandPrefix };

const LONGEST = 3;

function findPrefix(words: readonly string[]): FoundPrefix | undefined {
  const [name = "", ...rest] = words;
  const named = [commandName(name), ...rest];
  for (let length = Math.min(LONGEST, words.length); length > 0; length--) {
    const row = PREFIXES.get(named.slice(0, length).join(" "));
    if (row) return { length, row };
  }
  return undefined;
}

/** Whether a row describes these words, so that a rule with a star covers hooks and options that the program table does not know. */
export function hasPrefix(words: readonly string[]): boolean {
  return findPrefix(words) !== undefined;
}

/** The words that "always" offers with a star; undefined if there is no row, or if an option or a word that asks comes among them. */
export function offeredPrefix(words: readonly string[]): readonly string[] | undefined {
  const found = findPrefix(words);
  if (!found) return undefined;
  const { length, row } = found;
  const count = row.offers ?? length;
  const offered = words.slice(0, count);
  const asks = row.asks?.split(" ") ?? [];
  const isPlain = (word: string): boolean => !word.startsWith("-") && !asks.includes(word);
  return offered.length === count && offered.slice(length).every(isPlain) ? offered : undefined;
}

/** What an allow with a star permits after these literal words; undefined if the program table describes every command it covers. */
export function describeRisk(lead: readonly string[]): string | undefined {
  const [name = "", verb] = lead;
  const row = findPrefix(lead)?.row;
  if (row) return row.risk;
  if (commandName(name) === "git") return verb === undefined ? undefined : gitRisk(verb);
  if (isOpaque(lead)) return `${name} runs any code that it is given, with any arguments.`;
  return PROGRAMS.get(name)?.reads ? undefined : `Assent doesn't know what ${name} does with further words.`;
}

function gitRisk(verb: string): string | undefined {
  const { reads } = PROGRAMS.get("git")?.subcommands?.[verb] ?? {};
  return reads ? undefined : `Assent doesn't know what git ${verb} does with further words.`;
}

const SHELL_CHARACTERS = /[$`;&|<>(){}!\\\n]/;
const INLINE_CODE =
  /^(?:-[A-Za-z]*[cerEp]|-[ce].+|-[BbdEIOPqsSuvx]+c.+|--(?:eval|print|command|execute)(?:=.*)?|(?:--[\w-]+=)?[dD][aA][tT][aA]:.*|eval|-)$/s;

/** True for commands such as `python3 -c …`, whose next code is unknown. */
export function runsInlineCode([program = "", ...args]: readonly string[]): boolean {
  const kind = interpreterKind(program);
  return kind !== undefined && kind !== "file" && args.some((word) => INLINE_CODE.test(word));
}

/**
 * Why a rule with a star does not cover a command, although its words match; undefined if it does.
 * 1. The rule names the program, and git's subcommand.
 * 2. A command inside the words, as after `timeout 5`, is named by the rule, too.
 * 3. No word is code, or an option that the row lists.
 * 4. No word names a file outside the workspace or one with secrets.
 */
export function findStarLimit(unit: ShellUnit, lead: number, open: readonly number[]): RuleLimit | undefined {
  const { words, strays = [] } = unit;
  const [program = ""] = words;
  const isGit = commandName(program) === "git";
  if (lead < (isGit ? 2 : 1)) return passing(isGit ? "name the subcommand before the star" : "name the program before the star");
  const { row = UNLISTED, length = 1 } = findPrefix(words) ?? {};
  const inner = findInnerLimit(unit, lead) ?? (row.names && lead < (row.offers ?? length) ? "name the program that it runs" : undefined);
  if (inner !== undefined) return { why: inner, lasting: true };
  if (runsInlineCode(words)) return { why: `${program} gets its code on the command line`, lasting: runsInlineCode(words.slice(0, lead)) };
  const further = words.slice(Math.max(lead, length));
  const why = findWordLimit(row, unit, further) ?? strays.find(({ word }) => open.includes(word))?.text;
  return why === undefined ? undefined : passing(why);
}

function passing(why: string): RuleLimit {
  return { why, lasting: false };
}

/** Programs without a row. */
const UNLISTED: CommandPrefix = { risk: "", shell: true };

const WRAPPERS: ReadonlySet<string> = new Set(["prefix", "xargs", "parallel", "words", "debugger", "eval", "jobs", "input", "find"]);

function findInnerLimit({ words, line, index }: ShellUnit, lead: number): string | undefined {
  const [program = ""] = words;
  const inner = line.seen.filter(({ inside }) => inside === index);
  const hidden = inner.find(
    ({ argv }) =>
      !isNamedEnd(
        words,
        argv.map(({ text }) => text),
        lead,
      ),
  );
  if (hidden) return `it runs ${hidden.argv.map(({ text }) => text).join(" ")}, which the rule does not name`;
  const { how } = inner.length > 0 ? {} : (runsOf(commandName(program)) ?? {});
  return how !== undefined && WRAPPERS.has(how) ? `${program} runs other commands, and the rule names none` : undefined;
}

/** True if a command is the end of the words, and its name comes before the star. */
function isNamedEnd(words: readonly string[], inner: readonly string[], lead: number): boolean {
  const start = words.length - inner.length;
  return start > 0 && start < lead && inner.every((word, i) => word === words[start + i]);
}

function findWordLimit(row: CommandPrefix, unit: ShellUnit, further: readonly string[]): string | undefined {
  const { asks, shell, refuses, remote, subcommandFirst } = row;
  const [, first = ""] = unit.words;
  if (subcommandFirst && first.startsWith("-")) return `${first} comes before the subcommand`;
  const end = further.indexOf("--");
  const own = end === -1 ? further : further.slice(0, end);
  const listed = asks === undefined ? undefined : own.find((word) => isListed(word, asks.split(" ")));
  if (listed !== undefined) return `${listed} always asks`;
  const refused = refuses && further.find((word) => refuses[0].test(word));
  if (refused !== undefined) return `${refused} ${refuses?.[1]}`;
  const acted = shell ? further.find((word) => SHELL_CHARACTERS.test(word)) : undefined;
  if (acted !== undefined) return `${acted} has characters that a shell acts on`;
  return remote ? findAddress(unit) : undefined;
}

/** An option as listed, with a value, abbreviated, or with other dashes, which npm, go and vitest accept; a word as listed. */
function isListed(word: string, names: readonly string[]): boolean {
  if (!word.startsWith("-")) return names.includes(word);
  const name = (word.split("=")[0] ?? "").replaceAll(/[-_]/g, "").toLowerCase();
  const dashes = word.search(/[^-]/);
  return names.some((listed) => {
    if (!listed.startsWith("-")) return false;
    if (listed.length === 2) return dashes === 1 && /^-[A-Za-z]/.test(word) && word.includes(listed.slice(1));
    const long = listed.replaceAll("-", "");
    if (name === long || name.startsWith(`${long}.`)) return true;
    return listed.startsWith("--") && name.length > (dashes === 1 ? 3 : 0) && long.startsWith(name);
  });
}

/** Git sends to and reads from any address or directory that is written in place of a remote's name. */
function findAddress({ words: [, verb = "", ...args], command, line }: ShellUnit): string | undefined {
  const options = optionsOf(PROGRAMS.get("git")?.subcommands?.[verb]?.match ?? {});
  for (const token of readTokens(args, options)) {
    if (token.kind !== "operand") continue;
    const name = args[token.at] ?? "";
    if (!/^\w[\w.-]*$/.test(name)) return `${name} is not the name of a remote`;
    const isHere = ["", ".git", ".bundle"].some((end) => existsSync(join(command?.cwd ?? line.plan.cwd, `${name}${end}`)));
    return isHere ? `a file or directory here has the name of the remote ${name}` : undefined;
  }
  return undefined;
}
