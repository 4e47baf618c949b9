import type { Maybe, Session } from "@assent/core";
import { planPrompt } from "../prompts/plan-prompt.ts";
import { escapeXml, systemReminder } from "./reminder.ts";
import type { Steering } from "./steering.ts";

/** How a model in plan mode is led to propose what it planned. */
export type PlanConvergence = {
  /** A person spoke: the count begins anew. */
  readonly begin: () => void;
  /** What the model must be told before its next turn: that the mode is on, where it was not when the conversation began. */
  readonly entered: () => string | undefined;
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
};

const MOST_REMINDERS = 2;
const ASKING: readonly string[] = ["resolve", "ask"];

/** Convergence for one conversation. */
export function createPlanConvergence({ session, plan, steering }: PlanWatch): PlanConvergence {
  let told = session.state.planning?.file;
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
    entered: () => {
      const file = session.state.planning?.file;
      if (file === undefined) skip(); // the mode was left, and with it what it forces
      if (file === told) return undefined;
      told = file;
      return file === undefined ? undefined : systemReminder([planPrompt({ planFile: escapeXml(file) })]);
    },
    called: (calls) => (calls.some(({ name }) => ASKING.includes(name)) ? keepProposed() : undefined),
    ended: async () => {
      const text = await written();
      if (text === undefined || text.trim() === "" || text === proposed || reminders >= MOST_REMINDERS) return skip();
      reminders += 1;
      steering.decide(reminders === MOST_REMINDERS);
      return systemReminder(["The plan is not proposed yet. Call the resolve tool to propose it, or ask."]);
    },
  };
}
