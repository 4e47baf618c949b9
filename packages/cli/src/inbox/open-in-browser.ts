import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Processes } from "@assent/core";
import { findProgram } from "@assent/host";
import type { Io } from "../io/io.ts";

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "xdg-open", darwin: "open" };

/**
 * Opens the link with the desktop's browser, if there is one. Other users can read the arguments of a program, so the link goes through a file that
 * only this user can read.
 */
export function openInBrowser(
  link: string,
  { io, directory, processes }: { readonly io: Io; readonly directory: string; readonly processes: Processes },
): void {
  const { DISPLAY, WAYLAND_DISPLAY, PATH = "" } = io.env;
  const hasDesktop = process.platform !== "linux" || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  const file = hasDesktop ? findProgram(OPENERS[process.platform] ?? "", PATH) : undefined;
  if (file === undefined) return;
  const page = join(directory, "open-inbox.html");
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0; url=${link}"><a href="${link}">Open the inbox</a>\n`, {
    mode: 0o600,
  });
  const env = Object.fromEntries(Object.entries(io.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const args = [pathToFileURL(page).href];
  processes.run({ file, args, cwd: directory, env }, new AbortController().signal).catch(() => undefined); // the link is printed, too
}
