/** Sentences for what bubblewrap says when it cannot set up a sandbox, with what to do. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /setting up uid map|write(?:ing)? (?:to )?.?uid_map/i,
    "The system refused the user id map of a new user namespace. On Ubuntu 23.10 and newer, AppArmor does this: install an AppArmor profile for bwrap, or set kernel.apparmor_restrict_unprivileged_userns=0.",
  ],
  [
    /No permissions to creat(?:e|ing) a? ?new namespace|creating new namespace failed|Creating new namespace failed|unshare|clone/i,
    "The system does not let this user create namespaces. Set user.max_user_namespaces above 0 (on older Debian, kernel.unprivileged_userns_clone=1). In a container, its seccomp profile must allow clone and unshare with new namespaces.",
  ],
  [
    /mount proc on|Can't mount proc|mounting proc/i,
    "The system refused a new /proc. This happens in a container that masks parts of /proc: run the container with an unmasked /proc (docker: --security-opt systempaths=unconfined).",
  ],
  [
    /loopback|RTM_NEWADDR|RTM_NEWLINK|NETLINK_ROUTE/i,
    "The system refused the loopback interface of a new network namespace. In a container, it needs the capability NET_ADMIN for new network namespaces, or an AppArmor profile for bwrap on Ubuntu.",
  ],
  [/pivot_root|remount|slave|Failed to make \/|mount tmpfs|bind mount/i, "The system refused to mount the sandbox's file system."],
  [/disable(?:-| further )?userns|max_user_namespaces/i, "The system refused to disable further user namespaces."],
  [/prctl\(PR_SET_SECCOMP\)|seccomp/i, "The system refused the filter of system calls."],
  [/Can't chdir to/i, "The working directory does not exist or is not visible in the sandbox."],
  [/execvp /i, "The program is not visible in the sandbox, or cannot be executed there."],
  [/Can't find source path|Can't (?:create|make) /i, "A path of the sandbox does not exist or cannot be prepared."],
];

/** Says why a sandbox could not be set up and what to do. `output` is what bubblewrap printed. */
export function describeSandboxFailure(output: string): string {
  const said = output.trim().split("\n").at(-1)?.trim() ?? "";
  const reason = REASONS.find(([pattern]) => pattern.test(said))?.[1];
  const sentence = reason === undefined ? "The sandbox could not be set up." : `The sandbox could not be set up. ${reason}`;
  return said === "" ? sentence : `${sentence} Bubblewrap reported: ${said}`;
}
