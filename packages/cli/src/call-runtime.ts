import { createDispatcher, type Dispatcher, type Session } from "@assent/core";
import { currentUser, type HookRunner, type HostPorts, hookRunner, hostFileChanges, hostPorts } from "@assent/host";
import type { OnAsk } from "./call-flags.ts";
import type { Cancelling } from "./cancel-on-signal.ts";
import type { Context } from "./command-spec.ts";
import { warn } from "./output.ts";
import type { OpenedPolicy } from "./policy-composition.ts";
import { terminalApprover } from "./terminal-approver.ts";
import { personBy } from "./who.ts";

/** The machine a call runs on, with the clock a test may have put in place of the system's. */
export function callPorts({ overrides }: Context, directory: string): HostPorts {
  const ports = hostPorts({ stateDirectory: directory });
  return overrides.clock ? { ...ports, clock: overrides.clock } : ports;
}

/** What a session of one call is run with. */
export type CallRuntime = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: OpenedPolicy;
  readonly cancelling: Cancelling;
  /** What `--on-ask` says; undefined where it was not given. */
  readonly onAsk: OnAsk | undefined;
  /** What it is when nobody can be asked here and nothing was given. */
  readonly unattended: OnAsk;
};

/** The dispatcher of a session of `assent call`, and what it leaves running. */
export type CallDispatcher = { readonly dispatcher: Dispatcher; readonly close: () => Promise<void> };

/** The dispatcher of a session of `assent call`. A person is asked where there is a terminal and no `--on-ask`; if they leave, the approval stays for later. */
export function callDispatcher(context: Context, runtime: CallRuntime): CallDispatcher {
  const { io } = context;
  const { session, ports, policy, cancelling, onAsk, unattended } = runtime;
  const { clock, ids, digest, files, processes } = ports;
  const attended = onAsk === undefined && io.stdinIsTTY && io.stderr.isTTY;
  const by = personBy(currentUser().user, { name: undefined, door: "call" });
  const { "tools.maxConcurrency": maxConcurrency, "tools.timeoutMs": timeoutMs } = policy.source.settings();
  const hooks = callHooks(context, runtime);
  const dispatcher = createDispatcher({
    session,
    clock,
    ids,
    digest,
    files,
    processes,
    by,
    changes: hostFileChanges(),
    tools: policy.tools,
    policy: policy.source,
    rules: policy.rules,
    facts: policy.facts,
    maxConcurrency,
    ...(timeoutMs !== undefined && { timeoutMs }),
    onAsk: onAsk ?? (attended ? "park" : unattended),
    ...(attended && { approver: terminalApprover({ io, clock, by, cancel: cancelling.cancel }) }),
    hooks,
    warn: (message) => void warn(io, message),
  });
  const close = (): void => {
    dispatcher.close();
    policy.source.close();
  };
  return { dispatcher, close: () => hooks.idle().finally(close) };
}

/** The hooks of the settings; each run of one is on record. */
function callHooks({ io }: Context, { session, ports, policy }: CallRuntime): HookRunner {
  const { clock, digest } = ports;
  return hookRunner({
    entries: policy.hooks,
    clock,
    digest,
    cwd: session.state.created?.cwd ?? policy.workspace,
    sessionId: session.id,
    projectDir: policy.workspace,
    environment: io.env,
    secretEnv: policy.source.settings().secretEnv,
    record: (ran) => session.record([session.draft("hook.ran", ran)], "normal"),
    warn: (message) => void warn(io, message),
    show: (message) => void io.stderr.write(`${message}\n`),
  });
}
