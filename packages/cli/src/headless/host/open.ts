import type { Context } from "../../command-line/spec.ts";
import type { ComposedAgent } from "../../compose/agent.ts";
import { wireMessage } from "../stream/message.ts";
import type { RunOutput } from "../stream/output.ts";
import { hostBy } from "./by.ts";
import { type HostDoor, hostDoor } from "./door.ts";
import type { Inbox } from "./inbox.ts";
import { type Steering, steeredBy } from "./steering.ts";

/** A host's door, whose lines are read once there is something to steer. */
export type OpenHost = HostDoor & { readonly steer: (steering: Omit<Steering, "host">) => void };

/** What a host shares with the run. */
export type Hosting = Pick<Steering, "session" | "ports" | "policy" | "chosen"> & {
  readonly output: RunOutput;
  readonly inbox: Inbox;
  readonly giveUp: (error: unknown) => void;
  readonly tools: () => readonly string[];
  readonly agents: () => ReturnType<ComposedAgent["agents"]>;
};

/** Opens the door to the program at stdin and stdout. */
export function openHost({ io }: Context, hosting: Hosting): OpenHost {
  const { session, ports, policy, chosen, output, inbox, giveUp, tools, agents } = hosting;
  const origin = { session: session.id, parent: null };
  const door = hostDoor({
    io,
    session,
    inbox,
    answering: { ledger: session.ledger, ports, policy, by: hostBy() },
    write: (message) => output.show(() => [message]),
    say: (fields) => output.show(() => [wireMessage(origin, { type: "system", ...fields })]),
    giveUp,
    facts: () => ({
      models: [chosen.id],
      tools: tools(),
      agents: agents().map(({ name, description }) => ({ name, description })),
    }),
  });
  return {
    ...door,
    steer: (steering) => {
      const listening = door.listen(steeredBy({ ...steering, host: door }));
      listening.catch(giveUp);
    },
  };
}
