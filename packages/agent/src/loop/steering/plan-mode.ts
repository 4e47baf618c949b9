import type { Session } from "@assent/core";
import { planPrompt } from "../../prompts/prompts.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Steering } from "./steering.ts";

/** Leads a model in plan mode to propose its plan. */
export type PlanSteering = {
  /** Restarts the count of reminders after a message of a person. */
  readonly reset: () => void;
  /** The reminder for the model's next turn: plan mode is on, or a person turned it off. Undefined if nothing changed. */
  readonly modeReminder: () => string | undefined;
  /** Notes that a turn asked a question or proposed the current plan. */
  readonly noteCalls: (calls: readonly { readonly name: string }[]) => Promise<void>;
  /** Called when the model ends its turn with text. Returns a reminder if the plan changed and no person was asked about it; the run must continue then. */
  readonly endReminder: () => Promise<string | undefined>;
};

/** What plan steering needs. */
export type PlanSteeringDeps = {
  readonly session: Session;
  /** Reads the current plan; resolves to undefined if there is none. Absent: no plan can be proposed here. */
  readonly plan: (() => Promise<string | undefined>) | undefined;
  readonly steering: Pick<Steering, "requireCall">;
  /** The system prompt of the conversation. If it names the plan file, the model needs no reminder. */
  readonly system: string;
};

const MOST_REMINDERS = 2;
const ASKING_TOOLS: readonly string[] = ["resolve", "ask"];

/** Creates the plan steering of one conversation. */
export function createPlanSteering({ session, plan, steering, system }: PlanSteeringDeps): PlanSteering {
  const planFile = (): string | undefined => session.state.planning?.file;
  const first = planFile();
  let announced = first !== undefined && system.includes(first) ? first : undefined;
  let reminders = 0;
  let proposed: string | undefined;
  /** An unreadable plan cannot be proposed; `resolve` reports why. */
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
      if (file === undefined) clearRequirement(); // plan mode is off, and so is its forced call
      if (file === announced) return undefined;
      announced = file;
      if (file === undefined) return systemReminder([`Plan mode is off. The mode is now ${session.state.mode}.`]);
      return systemReminder([planPrompt(escapeXml(file))]);
    },
    noteCalls: async (calls) => {
      // The result of `resolve` already says that the plan was approved, or that plan mode is off.
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
