import { knownEvent } from "@assent/core";
import type { TaskBoard, TaskEntry } from "./board.ts";
import { type AgentSpec, type OpenedAgent, openAgent } from "./open-agent.ts";
import { queueMessage } from "./send.ts";

/** Builds it again, as it was, on its own session, and lets it hear what was said to it while it was away. */
export async function reopenTask(board: TaskBoard, entry: TaskEntry): Promise<OpenedAgent> {
  const { id: task, agent, mode, model, callId, description } = entry;
  const definition = board.deps.definitions().find(({ name }) => name === agent);
  const spec: AgentSpec = { task, definition, mode, model, background: true, parent: board.main, call: callId ?? "", description };
  const opened = await openAgent(board.deps, spec, entry.session);
  board.nodes.set(opened.session.id, opened.node);
  entry.progress = opened.progress;
  const { ledger, id } = board.deps.session;
  const heard = new Set<unknown>();
  for await (const { body } of ledger.read({ session: entry.session, seq: 0 }, { session: entry.session, types: ["notice.queued"] }))
    heard.add(body["notice"]);
  for await (const stored of ledger.read({ session: id, seq: 0 }, { session: id, types: ["task.message"] })) {
    const event = knownEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (event?.type === "task.message" && event.body.task === task && !heard.has(event.body.message))
      await queueMessage(opened.session, event.body);
  }
  return opened;
}
