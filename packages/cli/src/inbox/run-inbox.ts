import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { LedgerError } from "@assent/core";
import { loadPage, serveInbox } from "@assent/inbox";
import type { Context } from "../command-line/spec.ts";
import { NO_OPTIONS } from "../compose/flags.ts";
import { warnOfSettingsFault } from "../compose/own-settings.ts";
import { readWorkspace } from "../compose/place.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { cancelOnSignal, untilAborted } from "../io/cancel-on-signal.ts";
import { listenError } from "../io/listen-error.ts";
import { openInBrowser } from "../io/open-in-browser.ts";
import { printJson, warn } from "../io/output.ts";
import { personBy } from "../io/who.ts";
import { remindReceivers } from "../notify/reminder.ts";
import { storeUrl } from "../store/location.ts";
import { withStore } from "../store/open.ts";
import { continueSessions, DEFAULT_CONCURRENCY } from "../worker/run-worker.ts";
import { createInboxDesk } from "./inbox-desk.ts";

/** Serves the page until a signal comes. Stopping it loses nothing: open approvals stay in the record. */
export function runInbox(context: Context): Promise<number> {
  const { io, options } = context;
  return withStore(context, async (store) => {
    const by = personBy({ name: options.text("by"), door: "inbox", from: "inbox" });
    const desk = createInboxDesk({ context, store, by });
    const server = await serveInbox({
      desk,
      page: await loadPage(),
      port: options.count("port") ?? 0,
      loggedIn: (link) => void io.stderr.write(`A browser is connected. A link for another one: ${link}\n`),
      failed: (error) => void warn(io, error instanceof Error ? (error.stack ?? error.message) : String(error)),
    }).catch((error: unknown) => {
      throw listenError(error, options.count("port"));
    });
    const ports = hostPortsFor(context, store.directory);
    const stopping = cancelOnSignal(io, ports.clock);
    const reminding = remindReceivers(context, store, stopping.signal);
    try {
      if (options.flag("json")) await printJson(io, { link: server.link() });
      else await io.stdout.write(`${server.link()}\n`);
      await warnOfSettingsFault(io);
      await io.stderr.write("The link works once. Press Ctrl-C to stop; open approvals keep waiting.\n");
      if (!options.flag("no-open")) openInBrowser(writeLinkPage(store.directory, server.link()), io, ports.processes);
      if (options.flag("no-resume")) await untilAborted(stopping.signal);
      else await continueAnswered(context, { store, ports: { ledger: store.ledger, ...ports }, stopping: stopping.signal });
      return 0;
    } finally {
      stopping.release();
      stopping.cancel();
      await reminding;
      await server.close();
    }
  });
}

/**
 * Works as a worker, so that answered runs continue: for all directories of this machine, or, if the record is shared with other machines, for the
 * project here. Workers and other inboxes may run beside it. Without the right to continue runs, the page is still served.
 */
async function continueAnswered(context: Context, parts: Omit<Parameters<typeof continueSessions>[1], "place">): Promise<void> {
  const { io } = context;
  const onStderr = { ...context, io: { ...io, stdout: io.stderr } };
  const workspaces = [storeUrl(context) === undefined ? "/" : readWorkspace({ io, options: NO_OPTIONS })];
  try {
    await continueSessions(onStderr, { ...parts, place: { workspaces, labels: {}, concurrency: DEFAULT_CONCURRENCY, cwd: io.cwd } });
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    await warn(io, `Answered runs are not continued here: ${error.message}`);
    await untilAborted(parts.stopping);
  }
}

/** Other users can read the arguments of a program, so the browser gets the link in a file that only this user can read. */
function writeLinkPage(directory: string, link: string): string {
  const page = join(directory, "open-inbox.html");
  const html = `<!doctype html><meta http-equiv="refresh" content="0; url=${link}"><a href="${link}">Open the inbox</a>\n`;
  writeFileSync(page, html, { mode: 0o600 });
  return pathToFileURL(page).href;
}
