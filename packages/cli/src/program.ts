import { main } from "./main.ts";
import { processIo } from "./process-io.ts";

/** Runs the command line of this process and ends it with the command's exit code. */
export async function runProgram(): Promise<void> {
  const code = await main(process.argv.slice(2), processIo());
  process.exit(code);
}
