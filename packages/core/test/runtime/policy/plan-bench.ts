import type { TestContext } from "node:test";
import { defineTool, type PlanFiles, type PolicySource, type StandardSchema, type Tool } from "@assent/core";
import { createModes, createPlanMode, enterPlanMode, type Modes, type PlanMode } from "@assent/core/parts";
import { type MutablePolicy, makePolicy, sha256 } from "../harness.ts";
import { type ProposalBench, type ProposalOptions, proposalBench } from "../proposal/proposal-bench.ts";

/** A session with modes, plan mode and a plan that is nowhere. */
export type PlanBench = ProposalBench & {
  readonly modes: Modes;
  readonly planMode: PlanMode;
  readonly settings: MutablePolicy;
  /** Text by path. */
  readonly plans: Map<string, string>;
  /** Where this session's plan goes. */
  readonly planFile: string;
};

export type PlanOptions = ProposalOptions & {
  readonly canApprove?: boolean;
  readonly isLocked?: (mode: string) => boolean;
  readonly plans?: Map<string, string>;
};

/** As a host declares it. */
export const enterTool: Tool = defineTool({
  name: "enter_plan_mode",
  description: "Enters plan mode.",
  kind: "think",
  input: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } } satisfies StandardSchema,
  inputSchema: { type: "object" },
  permission: () => "allow",
  runtimeHandler: "enter_plan_mode",
});

export async function planBench(t: TestContext, options: PlanOptions = {}): Promise<PlanBench> {
  const settings = makePolicy(options.policy ?? {});
  const late: { modes?: Modes } = {};
  const source: PolicySource = {
    current: () => (late.modes ?? settings).current(),
    subscribe: (listener) => (late.modes ?? settings).subscribe(listener),
  };
  const mode = options.policy?.mode ?? "default";
  const b = await proposalBench(t, {
    ...options,
    tools: [enterTool, ...(options.tools ?? [])],
    created: { mode, ...options.created },
    deps: {
      policy: source,
      handlers: { enter_plan_mode: (...given) => enterPlanMode(late.modes ?? missing(), () => options.canApprove ?? true)(...given) },
      ...options.deps,
    },
  });
  const planFile = `/workspace/.assent/plans/${b.session.id}.md`;
  const plans = options.plans ?? new Map<string, string>();
  const modes = createModes({ session: b.session, policy: settings, planFile, warn: (message) => void b.warnings.push(message) });
  late.modes = modes;
  const { isLocked } = options;
  const planMode = createPlanMode({
    session: b.session,
    modes,
    files: memoryPlans(plans),
    digest: sha256,
    proposals: b.dispatcher.proposals,
    ...(isLocked && { isLocked }),
  });
  await modes.begin("Tester");
  return { ...b, modes, planMode, settings, plans, planFile };
}

function missing(): never {
  throw new Error("the modes are not made yet");
}

function memoryPlans(plans: Map<string, string>): PlanFiles {
  return {
    read: async (path) => plans.get(path),
    isTaken: async (path) => plans.has(path),
    keepAs: async (from, to) => {
      const text = plans.get(from);
      if (plans.has(to) || text === undefined) return false;
      plans.delete(from);
      plans.set(to, text);
      return true;
    },
  };
}
