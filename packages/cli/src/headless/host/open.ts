import { type By, messageOf } from "@assent/core";
import { currentUser } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import type { AgentParts, ComposedAgent } from "../../compose/agent.ts";
import type { Talk } from "../run/talk.ts";
import { wireMessage } from "../stream/message.ts";
import type { RunOutput } from "../stream/output.ts";
import { HostError } from "./error.ts";
import { createHostFrontEnd, type HostFrontEnd } from "./front-end.ts";
import type { Inbox } from "./inbox.ts";
import { translateMode } from "./permission-modes.ts";
import type { HostControls } from "./requests.ts";
import type { HostSettings } from "./settings.ts";

export type OpenHost = HostFrontEnd & { readonly steer: (steering: Omit<SteeringParts, "host">) => void };

export type HostParts = Pick<SteeringParts, "session" | "ports" | "policy" | "chosen"> & {
  readonly output: RunOutput;
  readonly inbox: Inbox;
  readonly giveUp: (error: unknown) => void;
  readonly tools: () => readonly string[];
  readonly agents: () => ReturnType<ComposedAgent["agents"]>;
};

export function openHost({ io, client }: Context, hosting: HostParts): OpenHost {
  const { session, ports, policy, chosen, output, inbox, giveUp, tools, agents } = hosting;
  const origin = { session: session.id, parent: null };
  const door = createHostFrontEnd({
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
  if (translateMode(client?.mode)?.unasked) door.unasked(true); // until the host sets another mode
  return {
    ...door,
    steer: (steering) => {
      const listening = door.listen(createHostControls({ ...steering, host: door }));
      listening.catch(giveUp);
    },
  };
}

export type SteeringParts = Pick<AgentParts, "session" | "ports" | "policy" | "chosen" | "cancelling"> & {
  readonly agent: ComposedAgent;
  readonly talk: Talk;
  readonly host: HostFrontEnd;
  readonly settings: HostSettings;
  readonly joined: () => Promise<void>;
};

function createHostControls(steering: SteeringParts): HostControls {
  const { session, ports, policy, cancelling, agent, talk, host, settings, joined } = steering;
  const by = hostBy();
  return {
    session,
    dispatcher: agent.dispatcher,
    changeMode: (mode) => settings.atOnce(agent.modes.change(mode, by.name)),
    answering: { ledger: session.ledger, ports, policy, by },
    locked: () => policy.source.settings()["permissions.lock"],
    chooseModel: (asked) => settings.inOrder(() => chooseModel(steering, asked)),
    interrupt: async (end) => {
      if (end) cancelling.cancel();
      else await talk.interrupt();
    },
    state: () => (host.isAsking() ? "waiting" : talk.isBusy() ? "running" : "idle"),
    unasked: host.unasked,
    tasks: agent.tasks,
    joined,
    servers: () => agent.servers?.status() ?? [],
  };
}

async function chooseModel({ session, chosen }: SteeringParts, asked: string | null): Promise<string> {
  const to = asked ?? chosen.id;
  await Promise.resolve(chosen.model(to)).catch((error: unknown) => {
    throw new HostError("unknown_model", messageOf(error));
  });
  const from = session.state.model;
  if (from !== to) await session.record([session.draft("model.changed", { from, to, by: hostBy().name })], "normal");
  return to;
}

function hostBy(): By {
  return { kind: "host", user: currentUser().user, name: "host", door: "host", from: "host", pid: process.pid };
}
