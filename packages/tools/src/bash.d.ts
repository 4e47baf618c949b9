/** Where to look for programs. */
export type SearchPlaces = {
  readonly workspace: string;
  readonly searchPath: string;
  readonly system?: readonly string[];
};
/** The bash of the system, else of the user's search path; never one of the workspace or of a relative directory, which the model could have put there. */
export declare function findBash({ workspace, searchPath, system }: SearchPlaces): string | undefined;
