import { warn } from "./io/output.ts";
import { endProcess, processIo } from "./io/process-io.ts";
import { main } from "./main.ts";

/** Runs the command line of this process. Reports promise rejections of tools without ending the process. */
export async function runProgram(): Promise<void> {
  if (!hasCurrentDirectory()) {
    process.stderr.write("assent: The current directory no longer exists. Change to another one and try again.\n");
    process.exitCode = 1;
    return;
  }
  const io = processIo();
  hideWarningsForDevelopers();
  process.on("unhandledRejection", (reason) => {
    const warning = warn(io, `something failed in the background: ${reason instanceof Error ? reason.message : reason}`);
    warning.catch(() => undefined); // a failed warning must not cause another one
  });
  endProcess(await main(process.argv.slice(2), io));
}

function hasCurrentDirectory(): boolean {
  try {
    return process.cwd() !== "";
  } catch (_gone) {
    return false;
  }
}

/** Node 22 warns about SQLite and type stripping, and `pg` about its support of ~/.pgpass in later versions. */
function hideWarningsForDevelopers(): void {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "ExperimentalWarning" || warning.message.startsWith("pgpass support")) return;
    for (const tell of listeners) tell(warning);
  });
}
