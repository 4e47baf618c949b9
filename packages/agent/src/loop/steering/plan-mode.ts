import type { Maybe, Session } from "@assent/core";
import { planPrompt } from "../../prompts/prompts.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Steering } from "./steering.ts";

/** How a model in plan mode is led to propose what it planned. */
export type PlanConvergence = {
  /** A person spoke: the count begins anew. */
  readonly begin: () => void;
  /** The reminder for the model's next turn: plan mode is on, or a person turned it off. Undefined: nothing changed. */
  readonly changed: () => string | undefined;
  /** A turn made calls: a question, or a proposal, of the plan as it is now. */
  readonly called: (calls: readonly { readonly name: string }[]) => Maybe<void>;
  /** The model ended its turn with text. A reminder, where the run must go on: the plan changed and nobody was asked about it. */
  readonly ended: () => Promise<string | undefined>;
};

/** What convergence looks at. */
export type PlanWatch = {
  readonly session: Session;
  /** The plan as it is written now; undefined: there is none. Absent: no plan can be proposed here. */
  readonly plan: (() => Promise<string | undefined>) | undefined;
  readonly steering: Pick<Steering, "decide">;
  /** The system prompt of the conversation. If it names the plan file, the model needs no reminder. */
  readonly system: string;
};

const MOST_REMINDERS = 2;
const ASKING: readonly string[] = ["resolve", "ask"];

/** Convergence for one conversation. */
export function createPlanConvergence({ session, plan, steering, system }: PlanWatch): PlanConvergence {
  const planFile = (): string | undefined => session.state.planning?.file;
  const first = planFile();
  let told = first !== undefined && system.includes(first) ? first : undefined;
  let reminders = 0;
  let proposed: string | undefined;
  /** What cannot be read cannot be proposed either; `resolve` says why. */
  const written = async (): Promise<string | undefined> =>
    session.state.planning === null ? undefined : await plan?.().catch(() => undefined);
  const keepProposed = async (): Promise<void> => {
    proposed = (await written()) ?? proposed;
  };
  const skip = (): undefined => {
    steering.decide(false);
    return undefined;
  };
  return {
    begin: () => {
      reminders = 0;
      skip();
    },
    changed: () => {
      const file = planFile();
      if (file === undefined) skip(); // the mode was left, and with it what it forces
      if (file === told) return undefined;
      told = file;
      if (file === undefined) return systemReminder([`Plan mode is off. The mode is now ${session.state.mode}.`]);
      return systemReminder([planPrompt(escapeXml(file))]);
    },
    called: (calls) => {
      // The result of `resolve` already says that the plan was approved, or that plan mode is off.
      if (planFile() === undefined && calls.some(({ name }) => name === "resolve")) told = undefined;
      return calls.some(({ name }) => ASKING.includes(name)) ? keepProposed() : undefined;
    },
    ended: async () => {
      const text = await written();
      if (text === undefined || text.trim() === "" || text === proposed || reminders >= MOST_REMINDERS) return skip();
      reminders += 1;
      steering.decide(reminders === MOST_REMINDERS);
      return systemReminder(["The plan is not proposed yet. Call the resolve tool to propose it, or ask."]);
    },
  };
}
