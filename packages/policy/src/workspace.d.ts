/** The directory that should be the workspace is none. */
export declare class WorkspaceNotFoundError extends Error {
  readonly code = "workspace_not_found";
  constructor(directory: string, options?: ErrorOptions);
}
/** The workspace's real path: the directory asked for, else the nearest one upward that holds `.git` or `.assent`, else the working directory itself. */
export declare function findWorkspace(cwd: string, explicit?: string): string;
