import { type Circumstances, type Decision, type Opinion } from "./decision.ts";
import type { Request } from "./request.ts";
/**
 * The only place where a verdict is made. Every unit is judged by itself; the request's decision is that of its strictest unit: deny, then explicit ask,
 * then ask, then allow, and of equal ones the first.
 *
 * The first hit decides. Inside a step the name given is the first of: guards in order, checkers in the order session, project, user, team, hook, tool, mode.
 *
 * 1. deny – a guard, any checker, the hook or the tool denies; or mode `plan` and the request is not known to be safe.
 * 2. ask, explicitly – a guard, any checker or the hook asks. No grant, mode or permission hook silences it.
 * 3. allow – any checker allows.
 * 4. allow by mode – `yolo` everything left; `auto-edit` an edit inside the workspace; `plan` an edit of the plan file.
 * 5. allow – the tool allows; or it declared nothing and the read-only hint holds.
 * 6. allow if the hook allows; else ask. Only this ask can be answered by a grant or by a permission hook.
 */
export declare function decide(request: Request, circumstances: Circumstances): Decision;
/** Law 1, for denies and insisting asks. Among equally strict opinions the first speaker is named. */
export declare function strictest<T extends Opinion>(opinions: readonly T[]): T | undefined;
