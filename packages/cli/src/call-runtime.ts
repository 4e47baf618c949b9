import { type By, createDispatcher, type Dispatcher, enterPlanMode, type Modes, type PlanMode, type Session } from "@assent/core";
import { currentUser, type HookRunner, type HostPorts, hookRunner, hostFileChanges, hostPorts } from "@assent/host";
import { approvalEditor } from "./approval-editor.ts";
import type { OnAsk } from "./call-flags.ts";
import type { Cancelling } from "./cancel-on-signal.ts";
import type { Context } from "./command-spec.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import { oneAtATime, type Ways } from "./one-at-a-time.ts";
import { warn } from "./output.ts";
import { sessionModes, sessionPlans } from "./session-modes.ts";
import { terminalApprover } from "./terminal-approver.ts";
import { terminalQuestioner } from "./terminal-questioner.ts";
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
  readonly policy: FollowedPolicy;
  readonly cancelling: Cancelling;
  /** What `--on-ask` says; undefined where it was not given. */
  readonly onAsk: OnAsk | undefined;
  /** What it is when nobody can be asked here and nothing was given. */
  readonly unattended: OnAsk;
  /** A mode that was chosen for a session that goes on. */
  readonly mode?: string | undefined;
};

/** The dispatcher of a session of `assent call`, and what it leaves running. */
export type CallDispatcher = {
  readonly dispatcher: Dispatcher;
  readonly modes: Modes;
  readonly planMode: PlanMode;
  /** What an ask becomes when nobody can be asked. */
  readonly onAsk: OnAsk;
  /** A question to a person gets an answer, here or later. */
  readonly asks: boolean;
  readonly close: () => Promise<void>;
};

/** The dispatcher of a session of `assent call`. A person is asked where there is a terminal and no `--on-ask`; if they leave, the approval stays for later. */
export async function callDispatcher(context: Context, runtime: CallRuntime): Promise<CallDispatcher> {
  const { io } = context;
  const { session, ports, policy } = runtime;
  const { clock, ids, digest, files, processes } = ports;
  const attended = runtime.onAsk === undefined && io.stdinIsTTY && io.stderr.isTTY;
  const onAsk = runtime.onAsk ?? (attended ? "park" : runtime.unattended);
  const by = personBy(currentUser().user, { name: undefined, door: "call" });
  const { "tools.maxConcurrency": maxConcurrency, "tools.timeoutMs": timeoutMs } = policy.source.settings();
  const hooks = callHooks(context, runtime);
  policy.readsFrom(session.ledger);
  const modes = await sessionModes(context, runtime, by.name);
  if (runtime.mode !== undefined) await modes.change(runtime.mode, by.name);
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
    policy: modes,
    handlers: { enter_plan_mode: enterPlanMode(modes, () => attended || onAsk === "park") },
    rules: policy.rules,
    facts: policy.facts,
    maxConcurrency,
    ...(timeoutMs !== undefined && { timeoutMs }),
    onAsk,
    askTimeout: () => policy.source.settings()["ask.timeout"],
    ...(attended && atTerminal(context, runtime, by)),
    hooks,
    warn: (message) => void warn(io, message),
  });
  const planMode = sessionPlans(runtime, modes, dispatcher);
  const close = (): void => {
    dispatcher.close();
    planMode.close();
    modes.close();
    policy.source.close();
  };
  return { dispatcher, modes, planMode, onAsk, asks: attended || onAsk === "park", close: () => hooks.idle().finally(close) };
}

/** How the person at this terminal is asked, for a yes or for an answer. */
function atTerminal({ io }: Context, { ports: { clock }, policy, cancelling }: CallRuntime, by: By): Ways {
  const edit = approvalEditor(io.env, () => policy.source.settings().editor);
  return oneAtATime({
    approver: terminalApprover({ io, clock, by, cancel: cancelling.cancel, edit }),
    questioner: terminalQuestioner({ io, clock, by }),
  });
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
