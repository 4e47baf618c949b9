import type { Session } from "@assent/core";
import { createHookRunner, type HookRunner, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { warnInLines } from "../io/output.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import type { FrontEnd } from "./front-end.ts";

export type HookRunnerParts = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: Pick<FollowedPolicy, "source" | "hooks" | "workspace" | "refusesHook">;
  readonly frontEnd?: FrontEnd | undefined;
};

export function createHooks({ io }: Context, { session, ports, policy, frontEnd }: HookRunnerParts): HookRunner {
  const { clock, digest } = ports;
  const own = frontEnd?.hooks;
  const { secretEnv, projectSecretEnv } = policy.source.settings();
  return createHookRunner({
    entries: own ? () => [...policy.hooks(), ...own.entries()] : policy.hooks,
    ...(own && { functions: own.functions }),
    clock,
    digest,
    cwd: session.state.created?.cwd ?? policy.workspace,
    sessionId: session.id,
    projectDir: policy.workspace,
    environment: io.env,
    secretEnv,
    projectSecretEnv,
    refuses: policy.refusesHook,
    record: (ran) => session.record([session.draft("hook.ran", ran)], "normal"),
    warn: (message) => void warnInLines(io, message),
    show: (message) => void io.stderr.write(`${message}\n`),
  });
}
