import { warn } from "./io/output.ts";
import { processIo } from "./io/process-io.ts";
import { main } from "./main.ts";

/** Runs the command line of this process and ends it with the command's exit code. A promise that a tool's body left behind is told of, and ends nothing. */
export async function runProgram(): Promise<void> {
  if (!isSomewhere()) {
    process.stderr.write("assent: The current directory no longer exists. Change to another one and try again.\n");
    process.exitCode = 1;
    return;
  }
  const io = processIo();
  passExperiments();
  process.on("unhandledRejection", (reason) => {
    const told = warn(io, `something failed in the background: ${reason instanceof Error ? reason.message : reason}`);
    told.catch(() => undefined); // a warning that nobody can read must not become the next one
  });
  process.exit(await main(process.argv.slice(2), io));
}

/** A process can stay in a directory that somebody removed; then it has no place to work from. */
function isSomewhere(): boolean {
  try {
    return process.cwd() !== "";
  } catch (_gone) {
    return false;
  }
}

/** Node 22 warns of features that are used here knowingly (SQLite, types in custom tools), and its words would land in the middle of a screen. */
function passExperiments(): void {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") for (const tell of listeners) tell(warning);
  });
}
