import type { Session } from "@assent/core";
import { planPrompt } from "../../prompts/prompts.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Steering } from "./steering.ts";

/** Steers a model in plan mode to propose its plan. */
export type PlanSteering = {
  readonly reset: () => void;
  /** A reminder if plan mode was turned on or off since the last turn. */
  readonly modeReminder: () => string | undefined;
  /** Notes whether the current plan was proposed or asked about. */
  readonly noteCalls: (calls: readonly { readonly name: string }[]) => Promise<void>;
  /** A reminder if the model finished although the plan changed and was not proposed. */
  readonly endReminder: () => Promise<string | undefined>;
};

export type PlanSteeringDeps = {
  readonly session: Session;
  /** Reads the current plan. Undefined: no plan can be proposed here. */
  readonly plan: (() => Promise<string | undefined>) | undefined;
  readonly steering: Pick<Steering, "requireCall">;
  /** If it names the plan file, the model needs no reminder. */
  readonly system: string;
};

const MOST_REMINDERS = 2;
const ASKING_TOOLS: readonly string[] = ["resolve", "ask"];

export function createPlanSteering({ session, plan, steering, system }: PlanSteeringDeps): PlanSteering {
  const planFile = (): string | undefined => session.state.planning?.file;
  const first = planFile();
  let announced = first !== undefined && system.includes(first) ? first : undefined;
  let reminders = 0;
  let proposed: string | undefined;
  /** A plan that cannot be read cannot be proposed; `resolve` says why. */
  const readPlan = async (): Promise<string | undefined> =>
    session.state.planning === null ? undefined : await plan?.().catch(() => undefined);
  const clearRequirement = (): undefined => {
    steering.requireCall(false);
    return undefined;
  };
  return {
    reset: () => {
      reminders = 0;
      clearRequirement();
    },
    modeReminder: () => {
      const file = planFile();
      if (file === undefined) clearRequirement(); // leaving the mode lifts its requirement
      if (file === announced) return undefined;
      announced = file;
      if (file === undefined) return systemReminder([`Plan mode is off. The mode is now ${session.state.mode}.`]);
      return systemReminder([planPrompt(escapeXml(file))]);
    },
    noteCalls: async (calls) => {
      // The result of `resolve` already says that plan mode is off.
      if (planFile() === undefined && calls.some(({ name }) => name === "resolve")) announced = undefined;
      if (calls.some(({ name }) => ASKING_TOOLS.includes(name))) proposed = (await readPlan()) ?? proposed;
    },
    endReminder: async () => {
      const text = await readPlan();
      if (text === undefined || text.trim() === "" || text === proposed || reminders >= MOST_REMINDERS) return clearRequirement();
      reminders += 1;
      steering.requireCall(reminders === MOST_REMINDERS);
      return systemReminder(["The plan is not proposed yet. Call the resolve tool to propose it, or ask."]);
    },
  };
}
