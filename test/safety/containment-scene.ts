import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ConfinedStart } from "@assent/core";
import { isControlName } from "../../packages/policy/src/paths/control-files.ts";
import { foldPath } from "../../packages/policy/src/paths/fold.ts";
import { createShellContainment, type EnteredSandbox } from "../../packages/tools/src/shell/containment.ts";

/** Attempts run as an ordinary user: as root, one could change the machine. */
const ORDINARY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export type AttemptEnd = { readonly output: string; readonly confined: boolean; readonly notes: readonly string[] };

/** A machine with secrets, services and a process that a confined command must not reach. */
export type ContainmentScene = {
  readonly workspace: string;
  readonly outside: string;
  readonly home: string;
  /** Values for the names in attempts, such as the port of a server. */
  readonly variables: Readonly<Record<string, string>>;
  readonly attempt: (script: string) => Promise<AttemptEnd>;
  /** The same script as the same user, without a sandbox. */
  readonly attemptOutside: (script: string) => Promise<string>;
  /** Everything below the workspace's control files, the outside and the home, as text. */
  readonly snapshot: () => string;
  /** Messages that services outside received. */
  readonly received: readonly string[];
  readonly close: () => Promise<void>;
};

const PRELUDE = 'got() { echo "GOT THROUGH: $*"; }\n';

export async function openContainmentScene(): Promise<ContainmentScene> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-escape-")));
  const [workspace, outside, home] = ["workspace", "outside", "home"].map((name) => join(directory, name)) as [string, string, string];
  writeTree(directory);
  const services = await startServices(outside);
  const victim = spawn("sleep", ["600"], { stdio: "ignore", ...ORDINARY });
  giveAway(directory);
  const containment = createShellContainment({
    ...{ workspace, home, writable: () => [] },
    isControl: (path) => isControlName(foldPath(path)),
    aside: join(directory, "aside"),
  });
  const searchPath = `${home}/.cargo/bin:/usr/local/bin:/usr/bin:/bin`;
  const variables = {
    ...{ WORKSPACE: workspace, OUTSIDE: outside, VICTIM: String(victim.pid), LAUNCHER: String(process.pid), ...services.variables },
    ...{ SSH_AUTH_SOCK: `${outside}/socket`, DBUS_SESSION_BUS_ADDRESS: `unix:path=${outside}/socket` },
  };
  const env = { HOME: home, PATH: searchPath, ...variables };
  const program = (script: string) => ({ file: "/bin/bash", args: ["-c", PRELUDE + script], cwd: workspace, env, hasTerminal: false });
  const enter = (): Promise<EnteredSandbox> =>
    containment.enter({ sessionId: "s", network: false, cwd: join(workspace, "sub"), searchPath, keepsNewControls: false });
  return {
    ...{ workspace, outside, home, variables, received: services.received },
    attempt: async (script) => {
      const sandbox = await enter();
      const start = sandbox.confine(program(script));
      givePrivateDirectory(start);
      return { ...(await launch(start)), notes: sandbox.leave() };
    },
    attemptOutside: async (script) => {
      const { file, args, cwd } = program(script);
      return (await launch({ file, args, cwd, env, feeds: [], statusFd: 3 })).output;
    },
    snapshot: () =>
      [
        ...[".git", ".assent", "AGENTS.md", "sub", "packages", "githooks", "shared.gitconfig", "bare"].map((name) => join(workspace, name)),
        outside,
        home,
      ]
        .map(describeTree)
        .join("\n"),
    close: async () => {
      victim.kill("SIGKILL");
      await services.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function writeTree(directory: string): void {
  const files: Readonly<Record<string, string>> = {
    "outside/secret": "TOP SECRET\n",
    "home/.ssh/id_ed25519": "TOP SECRET\n",
    "home/.aws/credentials": "TOP SECRET\n",
    "home/.npmrc": "TOP SECRET\n",
    "home/.netrc": "TOP SECRET\n",
    "home/.docker/config.json": "TOP SECRET\n",
    "home/.kube/config": "TOP SECRET\n",
    "home/.config/gh/hosts.yml": "TOP SECRET\n",
    "home/.config/git/credentials": "TOP SECRET\n",
    "home/.git-credentials": "TOP SECRET\n",
    "home/.bash_history": "TOP SECRET\n",
    "home/.gnupg/key": "TOP SECRET\n",
    "home/.cargo/bin/tool": "#!/bin/sh\n",
    "home/.cargo/credentials.toml": "TOP SECRET\n",
    "home/documents/letter": "TOP SECRET\n",
    "home/.bashrc": "# shell\n",
    "home/.gitconfig": "[user]\n\tname = Person\n",
    "workspace/.git/HEAD": "ref: refs/heads/main\n",
    "workspace/.git/config": "[core]\n\tbare = false\n\thooksPath = githooks\n[include]\n\tpath = ../shared.gitconfig\n",
    "workspace/.git/hooks/pre-commit": "#!/bin/sh\n",
    "workspace/.git/objects/keep": "",
    "workspace/.git/refs/heads/keep": "",
    "workspace/.git/modules/part/config": "[core]\n",
    "workspace/.git/modules/part/hooks/post-checkout": "#!/bin/sh\n",
    "workspace/.git/modules/libs/deep/config": "[core]\n",
    "workspace/.git/modules/libs/deep/hooks/post-checkout": "#!/bin/sh\n",
    "workspace/.git/worktrees/other/commondir": "../..\n",
    "workspace/githooks/pre-push": "#!/bin/sh\n",
    "workspace/shared.gitconfig": "[alias]\n",
    "workspace/packages/one/.git/HEAD": "ref: refs/heads/main\n",
    "workspace/packages/one/.git/config": "[core]\n",
    "workspace/packages/one/.git/hooks/pre-commit": "#!/bin/sh\n",
    "workspace/packages/one/AGENTS.md": "instructions\n",
    "workspace/packages/one/.envrc": "# none\n",
    "workspace/packages/one/.vscode/tasks.json": "{}\n",
    "workspace/packages/one/.assent/settings.json": "{}\n",
    "workspace/bare/HEAD": "ref: refs/heads/main\n",
    "workspace/bare/config": "[core]\n\tbare = true\n",
    "workspace/bare/objects/keep": "",
    "workspace/bare/refs/keep": "",
    "workspace/.assent/settings.json": "{}\n",
    "workspace/AGENTS.md": "instructions\n",
    "workspace/.github/workflows/ci.yml": "on: push\n",
    "workspace/sub/AGENTS.md": "instructions\n",
    "workspace/file": "text\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, name, ".."), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  for (const [name, target] of [
    ["secret-link", "outside/secret"],
    ["outside-link", "outside"],
    ["socket-link", "outside/socket"],
    ["fifo-link", "outside/fifo"],
  ] as const)
    symlinkSync(join(directory, target), join(directory, "workspace", name));
  symlinkSync("AGENTS.md", join(directory, "workspace/CLAUDE.md"));
  linkSync(join(directory, "workspace/file"), join(directory, "workspace/file-again"));
}

/** Everything belongs to the user that runs the attempts. */
function giveAway(path: string): void {
  if (ORDINARY.uid === undefined) return;
  lchownSync(path, ORDINARY.uid, ORDINARY.gid);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveAway(join(path, name));
}

function givePrivateDirectory({ feeds }: ConfinedStart): void {
  const options = new TextDecoder().decode(feeds[0]?.bytes).split("\0");
  const source = options[options.indexOf("/tmp") - 1];
  if (source !== undefined) giveAway(source);
}

async function launch({
  file,
  args,
  cwd,
  env,
  feeds,
  statusFd,
}: ConfinedStart): Promise<{ readonly output: string; readonly confined: boolean }> {
  const pipes = Array.from({ length: 4 }, (_, at) =>
    at + 3 === statusFd || feeds.some(({ fd }) => fd === at + 3) ? ("pipe" as const) : ("ignore" as const),
  );
  const child = spawn(file, [...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", ...pipes],
    detached: true,
    timeout: 20_000,
    killSignal: "SIGKILL",
    ...ORDINARY,
  });
  for (const { fd, bytes } of feeds) (child.stdio[fd] as Writable).end(bytes);
  const parts: Record<"output" | "status", string> = { output: "", status: "" };
  for (const [part, fd] of [
    ["output", 1],
    ["output", 2],
    ["status", statusFd],
  ] as const)
    (child.stdio[fd] as Readable).setEncoding("utf8").on("data", (text: string) => {
      parts[part] += text;
    });
  await once(child, "close");
  return { output: parts.output, confined: parts.status.includes('"exit-code"') };
}

type Services = {
  readonly variables: Readonly<Record<string, string>>;
  readonly received: readonly string[];
  readonly close: () => Promise<void>;
};

async function startServices(outside: string): Promise<Services> {
  const received: string[] = [];
  const abstract = `assent-escape-${process.pid}`;
  const servers = [`${outside}/socket`, `\0${abstract}`, { host: "127.0.0.1", port: 0 }].map((at) => {
    const server = createServer((socket) => {
      received.push(`connection on ${JSON.stringify(at)}`);
      socket.destroy();
    });
    return server.listen(at);
  });
  await Promise.all(servers.map((server) => once(server, "listening")));
  const udp = createSocket("udp4").on("message", () => received.push("datagram"));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  chmodSync(`${outside}/socket`, 0o777);
  await once(spawn("mkfifo", [`${outside}/fifo`]), "close");
  const address = servers[2]?.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    received,
    variables: { PORT: String(port), UDP_PORT: String(udp.address().port), ABSTRACT: abstract },
    close: async () => {
      udp.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function describeTree(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return `${path} is missing`;
  const what = stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? readFileSync(path, "utf8") : "";
  const inner = stats.isDirectory()
    ? readdirSync(path)
        .sort()
        .map((name) => describeTree(join(path, name)))
    : [];
  return [`${path} ${stats.mode} ${stats.ino} ${JSON.stringify(what)}`, ...inner].join("\n");
}
