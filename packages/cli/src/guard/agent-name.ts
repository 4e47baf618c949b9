import { AGENT_NAMES, type AgentName } from "@assent/guard";
import { usageError } from "../io/failure.ts";

export function agentNamed(name: string, command = "hook"): AgentName {
  const found = AGENT_NAMES.find((one) => one === name);
  if (found) return found;
  throw usageError(command, `there is no agent '${name}'. Agents: ${AGENT_NAMES.join(", ")}.`);
}
