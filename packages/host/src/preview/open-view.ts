import { messageOf, ToolError } from "@assent/core";
import { isInside } from "../sandbox/visible-roots.ts";
import { openOverlay } from "./overlay-view.ts";
import { measureTree, openCopy, type ViewParts, type WorkspaceView } from "./workspace-view.ts";

/** Up to here a copy is as fast as an overlay. */
const SMALL = { entries: 3000, bytes: 100 * 1024 ** 2 } as const;
/** Above this a copy takes too long or too much room. */
const LARGE = { entries: 60_000, bytes: 4 * 1024 ** 3 } as const;

/** Opens a copy of a small workspace, else an overlay, else a copy if that is bearable. Rejects with the reason if neither works. */
export async function openView(parts: ViewParts, exact: boolean, signal: AbortSignal): Promise<WorkspaceView> {
  const { workspace, directory } = parts;
  if (isInside(workspace, directory))
    throw new ToolError(
      `Assent keeps its record in the workspace (${directory}). Previews need it elsewhere, see --store.`,
      "execution_failed",
    );
  const { entries, bytes } = measureTree(parts.workspace, exact ? LARGE : SMALL);
  const limit = exact ? LARGE : SMALL;
  if (entries <= limit.entries && bytes <= limit.bytes) return await openCopy(parts, signal);
  try {
    return await openOverlay(parts, signal);
  } catch (error) {
    signal.throwIfAborted();
    const size = measureTree(parts.workspace, LARGE);
    if (size.entries <= LARGE.entries && size.bytes <= LARGE.bytes) return await openCopy(parts, signal);
    throw new Error(`The workspace is too large to be copied, and an overlay does not work here: ${messageOf(error)}`, { cause: error });
  }
}
