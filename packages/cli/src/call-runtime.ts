import { join } from "node:path";
import { createDispatcher, type Dispatcher, type Guard, type Registry, type Session } from "@assent/core";
import { currentUser, type HostPorts, hostPorts } from "@assent/host";
import { ownFilesGuards, pathFacts, type SessionDirectories } from "@assent/policy";
import type { CallFlags, OnAsk } from "./call-flags.ts";
import { callPolicy, grantRules } from "./call-policy.ts";
import type { Cancelling } from "./cancel-on-signal.ts";
import type { Context } from "./command-spec.ts";
import { warn } from "./output.ts";
import { settingsFiles } from "./store-location.ts";
import { terminalApprover } from "./terminal-approver.ts";
import { personBy } from "./who.ts";

/** The machine a call runs on, with the clock a test may have put in place of the system's. */
export function callPorts({ overrides }: Context, directory: string): HostPorts {
  const ports = hostPorts({ stateDirectory: directory });
  return overrides.clock ? { ...ports, clock: overrides.clock } : ports;
}

/** The directories a session works in: its workspace, and its own full outputs to read. */
export function sessionScope(ports: HostPorts, session: { readonly id: string; readonly workspace: string }): SessionDirectories {
  return { workspace: session.workspace, readable: [join(ports.outputDirectory, session.id)] };
}

/** What no flag opens: Assent's own files. */
function callGuards({ io }: Context, directory: string): readonly Guard[] {
  return ownFilesGuards({ stateDirectory: directory, settingsFiles: settingsFiles(io.env) });
}

/** What a session of one call is run with. */
export type CallRuntime = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly tools: Registry;
  readonly scope: SessionDirectories;
  readonly directory: string;
  readonly flags: CallFlags;
  readonly cancelling: Cancelling;
  /** What `--on-ask` says; undefined where it was not given. */
  readonly onAsk: OnAsk | undefined;
  /** What it is when nobody can be asked here and nothing was given. */
  readonly unattended: OnAsk;
};

/** The dispatcher of a session of `assent call`. A person is asked where there is a terminal and no `--on-ask`; if they leave, the approval stays for later. */
export function callDispatcher(context: Context, runtime: CallRuntime): Dispatcher {
  const { io } = context;
  const { session, ports, tools, scope, directory, flags, cancelling, onAsk, unattended } = runtime;
  const { clock, ids, digest, files, processes } = ports;
  const attended = onAsk === undefined && io.stdinIsTTY && io.stderr.isTTY;
  const by = personBy(currentUser().user, { name: undefined, door: "call" });
  return createDispatcher({
    session,
    clock,
    ids,
    digest,
    files,
    processes,
    by,
    policy: callPolicy(flags, { tools, guards: callGuards(context, directory), digest }),
    rules: grantRules(tools),
    facts: pathFacts(scope),
    onAsk: onAsk ?? (attended ? "park" : unattended),
    ...(attended && { approver: terminalApprover({ io, clock, by, cancel: cancelling.cancel }) }),
    warn: (message) => void warn(io, message),
  });
}
