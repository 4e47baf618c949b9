/** How results name a path: relative to the workspace where it is inside, else in full. */
export declare function shownPath(workspace: string, path: string): string;
