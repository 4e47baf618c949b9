/** Sessions in which this process itself asks a person or a host program, so that receivers need not be notified at once. */
export type Attendance = {
  readonly attend: (session: string, isHere: () => boolean) => void;
  readonly isAttended: (session: string) => boolean;
};

export function createAttendance(): Attendance {
  const sessions = new Map<string, () => boolean>();
  return {
    attend: (session, isHere) => void sessions.set(session, isHere),
    isAttended: (session) => sessions.get(session)?.() === true,
  };
}
