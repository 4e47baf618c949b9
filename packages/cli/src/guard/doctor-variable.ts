/** Names a file. A hook that sees it creates the file and denies, so that a doctor knows that the agent asked. */
export const DOCTOR_VARIABLE = "ASSENT_HOOK_DOCTOR";
