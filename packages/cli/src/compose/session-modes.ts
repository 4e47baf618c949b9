import { dirname } from "node:path";
import type { Dispatcher, Session } from "@assent/core";
import { createModes, createPlanMode, type Modes, type PlanMode } from "@assent/core/parts";
import { createHostPlanFiles, findPlanFile, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import type { FollowedPolicy } from "./follow-policy.ts";

export type ModeParts = { readonly session: Session; readonly ports: HostPorts; readonly policy: FollowedPolicy };

export async function openSessionModes({ io }: Pick<Context, "io">, { session, ports, policy }: ModeParts, by: string): Promise<Modes> {
  const { workspace, source } = policy;
  const places = { workspace, stateDirectory: dirname(ports.outputDirectory) };
  const planFile = session.state.planning?.file ?? (await findPlanFile(places, session.id));
  policy.planAt(planFile);
  const modes = createModes({ session, policy: source, planFile, warn: (message) => void warn(io, message) });
  await modes.begin(by);
  return modes;
}

export function attendPlans({ session, ports, policy }: ModeParts, modes: Modes, dispatcher: Dispatcher): PlanMode {
  return createPlanMode({
    session,
    modes,
    files: createHostPlanFiles(),
    digest: ports.digest,
    proposals: dispatcher.proposals,
    isLocked: (mode) => policy.source.settings()["permissions.lock"].some((locked) => locked === mode),
  });
}
