import type { Processes } from "@assent/core";
import { createCommandEnvironment, findProgram } from "@assent/host";
import type { Io } from "./io.ts";

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "xdg-open", darwin: "open" };

/** Opens a page in the desktop's browser, if there is a desktop. Callers also print the address, because this may fail. */
export function openInBrowser(page: string, { env, cwd }: Pick<Io, "env" | "cwd">, processes: Pick<Processes, "run">): void {
  const { DISPLAY, WAYLAND_DISPLAY, PATH = "" } = env;
  const hasDesktop = process.platform !== "linux" || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  const file = hasDesktop ? findProgram(OPENERS[process.platform] ?? "", PATH) : undefined;
  if (file === undefined) return;
  processes.run({ file, args: [page], cwd, env: createCommandEnvironment(env) }, new AbortController().signal).catch(() => undefined);
}
