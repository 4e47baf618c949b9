import { type FoundProgram, findProgram, type ProgramPlaces, sameProgram } from "./find-program.ts";

/** Finds programs by name. */
export type ProgramFinder = (name: string) => FoundProgram | undefined;

/** Looks a program up once; after that only whether it is still the same file. */
export function programFinder(places: ProgramPlaces): ProgramFinder {
  const found = new Map<string, FoundProgram>();
  return (name) => {
    const known = found.get(name);
    if (known && sameProgram(known)) return known;
    const now = findProgram(name, places);
    if (now) found.set(name, now);
    return now;
  };
}
