// A web handler parks a payment, another process answers, a third one resumes: the money moves once.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGate, type Gate } from "@assent/gate";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";

const [role = "web", store = mkdtempSync(join(tmpdir(), "assent-example-")), session = ""] = process.argv.slice(2);
const book = join(store, "payments.txt");
const input = z.object({ amount: z.number() });
const run = ({ amount }: { amount: number }) => {
  appendFileSync(book, `${amount}\n`);
  return { paid: amount };
};
const addTools = (gate: Gate) => gate.functions({ pay: { description: "Pays an amount.", input, run } });

const roles: Readonly<Record<string, () => Promise<void>>> = {
  /** The request ends while a person decides. Your database keeps the session's id. */
  web: async () => {
    const app = new Hono();
    app.post("/payments", async (context) => {
      const gate = await createGate({ store, approve: "park" });
      addTools(gate);
      const { stop } = await gate.run([{ id: "c1", name: "pay", arguments: await context.req.json() }]);
      await gate.close();
      return context.json({ session: gate.session, stop: stop?.reason }, 202);
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await new Promise((listening) => server.once("listening", listening));
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/payments`;
    const response = await fetch(url, { method: "POST", body: JSON.stringify({ amount: 5 }) });
    const parked = z.object({ session: z.string(), stop: z.string() }).parse(await response.json());
    console.log(`web: ${parked.stop}`);
    for (const next of ["answer", "resume", "resume"])
      spawnSync(process.execPath, [...process.execArgv, import.meta.filename, next, store, parked.session], { stdio: "inherit" });
    console.log(`payments: ${readFileSync(book, "utf8").trim()}`);
    server.close();
    rmSync(store, { recursive: true });
  },
  answer: async () => {
    const gate = await createGate({ store });
    for (const { id, title, input: asked } of await gate.approvals())
      console.log(`answer: ${title} ${JSON.stringify(asked)}: ${(await gate.answer(id, { outcome: "approve", by: "Ann" })).outcome}`);
    await gate.close();
  },
  resume: async () => {
    const gate = await createGate({ store, session, approve: "park" });
    addTools(gate);
    const { calls } = await gate.resume();
    console.log(`resume: ${calls.map((call) => JSON.stringify(call.value)).join() || "nothing to do"}`);
    await gate.close();
  },
};
await roles[role]?.();
