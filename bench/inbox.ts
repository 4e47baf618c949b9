import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSession, type Session } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { openLedger } from "@assent/store";
import type { Page } from "playwright-core";
import { openBrowser } from "../test/inbox/inbox-scene.ts";
import { askedCall } from "./large.ts";
import { type Row, valueRow } from "./measure.ts";

const SESSIONS = 50;
const APPROVALS = 500;
const TRIES = 20;
const EVENTS = 10_000;
const MB = 1_048_576;
const PROGRAM = fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url));
const ports = createHostPorts({ stateDirectory: "/nonexistent" });
const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };

/** The page of the inbox in Chromium, over a record with many sessions and open approvals. */
export async function inboxRows(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "assent-bench-inbox-"));
  const ledger = await openLedger({ directory });
  const browser = await openBrowser();
  let server: InboxProcess | undefined;
  try {
    const sessions: Session[] = [];
    for (let at = 0; at < SESSIONS; at += 1) {
      const session = await openSession({ ledger, ...ports }, { holder, create: { cwd: "/", title: `Session ${at}` } });
      for (let call = 0; call < APPROVALS / SESSIONS; call += 1)
        await session.record(askedCall(session, `c${call}`, at * 100 + call), "normal");
      sessions.push(session);
    }
    server = await serve(directory);
    const page = await browser.newPage();
    const { paint, listed } = await openPage(page, server.link);
    const [first] = sessions;
    if (!first) throw new Error("there is no session");
    const delays: number[] = [];
    for (let at = 0; at < TRIES; at += 1) delays.push(await delayToScreen(page, first, at));
    delays.sort((left, right) => left - right);
    const before = await memory(page, server.process);
    await say(first, EVENTS);
    delays.push(await delayToScreen(page, first, TRIES)); // the page has caught up with all of them
    const after = await memory(page, server.process);
    return [
      valueRow(`inbox, ${APPROVALS} approvals of ${SESSIONS} sessions: first paint`, { value: paint, unit: "ms" }, 1_000),
      valueRow("… until all of them are listed", { value: listed, unit: "ms" }, 3_000),
      valueRow("… from the commit of one more to the screen, median", { value: delays[TRIES / 2] ?? 0, unit: "ms" }, 300),
      valueRow("… the slowest of 20", { value: delays[TRIES - 1] ?? 0, unit: "ms" }, 1_000),
      valueRow(`… memory of the server after ${EVENTS} more events`, { value: after.server - before.server, unit: "MB more" }, 64),
      valueRow("… memory of the page after them", { value: after.page - before.page, unit: "MB more" }, 16),
    ];
  } finally {
    await browser.close();
    server?.process.kill("SIGTERM");
    await ledger.close();
    await rm(directory, { recursive: true, force: true });
  }
}

type InboxProcess = { readonly link: string; readonly process: ChildProcess };

function serve(directory: string): Promise<InboxProcess> {
  const child = spawn(process.execPath, [PROGRAM, "inbox", "--no-open", "--no-resume", "--store", directory], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory },
  });
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (link: Buffer) => resolve({ link: String(link).trim(), process: child }));
    child.once("exit", (code) => reject(new Error(`the inbox ended with ${code}`)));
  });
}

async function openPage(page: Page, link: string): Promise<{ readonly paint: number; readonly listed: number }> {
  await page.goto(link);
  const listed = await page.evaluate<number>(`new Promise((resolve) => {
    const look = () =>
      document.querySelectorAll(".group li").length === ${APPROVALS} ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
  })`);
  const paint = await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN");
  return { paint, listed };
}

/** Both clocks are the machine's. The page notes the frame in which the row is there. */
async function delayToScreen(page: Page, session: Session, at: number): Promise<number> {
  const number = 1_000_000 + at;
  const shown = page.evaluate<number>(`new Promise((resolve) => {
    const look = () => document.body.textContent.includes("make t${number}") ? resolve(Date.now()) : requestAnimationFrame(look);
    look();
  })`);
  await session.record(askedCall(session, `late${at}`, number), "full");
  const committed = Date.now();
  return (await shown) - committed;
}

async function say(session: Session, events: number): Promise<void> {
  for (let at = 0; at < events; at += 100) {
    const messages = Array.from({ length: 100 }, (_, index) =>
      session.draft("message.user", { turn: 1, content: `Message ${at + index}`, origin: "user" }),
    );
    await session.record(messages, "normal");
  }
}

async function memory(page: Page, server: ChildProcess): Promise<{ readonly server: number; readonly page: number }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1];
  return { server: Number(resident) / 1_024, page: usedSize / MB };
}
