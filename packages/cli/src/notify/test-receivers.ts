import { createSystemClock } from "@assent/host";
import { createRedactor, readUserSettings } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { CommandError } from "../io/failure.ts";
import { printJson } from "../io/output.ts";
import { deliver } from "./deliver.ts";
import type { NoticeItem } from "./message.ts";
import { createMessage } from "./sender.ts";

/** `assent notify test`: one message to each receiver. */
export async function testReceivers(context: Context): Promise<number> {
  const { io, operands, options, overrides } = context;
  const [name] = operands;
  const settings = readUserSettings(io.env);
  const { "notify.receivers": receivers, "notify.publicUrl": link, secretEnv } = settings;
  const chosen = Object.entries(receivers).filter(([known]) => name === undefined || known === name);
  if (chosen.length === 0) throw noReceiver(name, Object.keys(receivers));
  const clock = overrides.clock ?? createSystemClock();
  const parts = { env: io.env, clock, secretEnv };
  const message = { ...createMessage([testItem(io.cwd, clock.now())], clock, link), title: "This is a test of Assent" };
  const redact = createRedactor(settings["redaction.patterns"]);
  const results = await Promise.all(
    chosen.map(async ([receiver, configured]) => {
      const { delivered, detail } = await deliver(configured, message, parts, new AbortController().signal);
      return { name: receiver, type: configured.type, delivered, answer: redact(detail) };
    }),
  );
  if (options.flag("json")) await printJson(io, { receivers: results });
  else
    for (const one of results)
      await io.stdout.write(`${one.name} (${one.type}): ${one.delivered ? "accepted" : "failed"}: ${one.answer}\n`);
  return results.every(({ delivered }) => delivered) ? 0 : 1;
}

function noReceiver(name: string | undefined, known: readonly string[]): CommandError {
  if (name === undefined) {
    const hint = 'Add one to your settings: { "notify": { "receivers": { "NAME": { "type": "ntfy", "url": "https://…/TOPIC" } } } }';
    return new CommandError("no_receiver", 1, { message: "No receiver of notifications is configured.", hint });
  }
  const hint = known.length === 0 ? "None is configured." : `Configured: ${known.join(", ")}`;
  return new CommandError("receiver_not_found", 4, { message: `There is no receiver '${name}' in your settings.`, hint });
}

function testItem(directory: string, now: number): NoticeItem {
  return {
    ...{ key: `test:${now}`, event: "approval", kind: "approval", id: "test", session: "test", sessionTitle: "test", agent: "Assent" },
    ...{ tool: "", subject: "nothing waits; this message only shows that the receiver works", directory, why: "" },
    ...{ since: new Date(now).toISOString(), expiresAt: null },
  };
}
