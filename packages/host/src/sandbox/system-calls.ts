/** System call numbers of one processor. -1: it has no such call. */
type CallNumbers = readonly [x64: number, arm64: number];

const ABSENT = -1;

/** Calls that a confined command may not make. They act on the whole machine, on other processes, or on mounts and keys. */
export const REFUSED_CALLS: Readonly<Record<string, CallNumbers>> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  ioperm: [173, ABSENT],
  iopl: [172, ABSENT],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  uselib: [134, ABSENT],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
};

/** Calls reported as missing, so that programs use an older call whose arguments the filter can see. */
export const MISSING_CALLS: Readonly<Record<string, CallNumbers>> = {
  clone3: [435, 435],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  openat2: [437, 437],
};

/** Calls that depend on an argument. */
export const CHECKED_CALLS: Readonly<Record<"clone" | "ioctl" | "socket" | "unshare", CallNumbers>> = {
  clone: [56, 220],
  ioctl: [16, 29],
  socket: [41, 198],
  unshare: [272, 97],
};

/** Calls that set the mode of a file. `mode` and `flags` are the positions of these arguments; the flags say whether the file is created. */
export const MODE_CALLS: Readonly<Record<string, { readonly numbers: CallNumbers; readonly mode: number; readonly flags?: number }>> = {
  chmod: { numbers: [90, ABSENT], mode: 1 },
  creat: { numbers: [85, ABSENT], mode: 1 },
  fchmod: { numbers: [91, 52], mode: 1 },
  fchmodat: { numbers: [268, 53], mode: 2 },
  fchmodat2: { numbers: [452, 452], mode: 2 },
  mknod: { numbers: [133, ABSENT], mode: 1 },
  mknodat: { numbers: [259, 33], mode: 2 },
  open: { numbers: [2, ABSENT], mode: 2, flags: 1 },
  openat: { numbers: [257, 56], mode: 3, flags: 2 },
};
