package sandbox

// call is one system call with its number on each architecture, -1 where it does
// not exist.
type call struct {
	name         string
	amd64, arm64 int32
}

// deniedCalls fail with EPERM: they reach other processes' memory, change mounts
// or namespaces, load code into the kernel, or hand out keys and clocks.
var deniedCalls = []call{
	{"ptrace", 101, 117},
	{"process_vm_readv", 310, 270},
	{"process_vm_writev", 311, 271},
	{"kcmp", 312, 272},
	{"pidfd_getfd", 438, 438},
	{"process_madvise", 440, 440},
	{"process_mrelease", 448, 448},
	{"mount", 165, 40},
	{"umount2", 166, 39},
	{"pivot_root", 155, 41},
	{"move_mount", 429, 429},
	{"open_tree", 428, 428},
	{"open_tree_attr", 467, 467},
	{"fsopen", 430, 430},
	{"fsconfig", 431, 431},
	{"fsmount", 432, 432},
	{"fspick", 433, 433},
	{"mount_setattr", 442, 442},
	{"chroot", 161, 51},
	{"setns", 308, 268},
	{"unshare", 272, 97},
	{"bpf", 321, 280},
	{"perf_event_open", 298, 241},
	{"userfaultfd", 323, 282},
	{"keyctl", 250, 219},
	{"add_key", 248, 217},
	{"request_key", 249, 218},
	{"init_module", 175, 105},
	{"finit_module", 313, 273},
	{"delete_module", 176, 106},
	{"create_module", 174, -1},
	{"kexec_load", 246, 104},
	{"kexec_file_load", 320, 294},
	{"open_by_handle_at", 304, 265},
	{"name_to_handle_at", 303, 264},
	{"swapon", 167, 224},
	{"swapoff", 168, 225},
	{"reboot", 169, 142},
	{"acct", 163, 89},
	{"quotactl", 179, 60},
	{"quotactl_fd", 443, 443},
	{"syslog", 103, 116},
	{"iopl", 172, -1},
	{"ioperm", 173, -1},
	{"modify_ldt", 154, -1},
	{"fanotify_init", 300, 262},
	{"fanotify_mark", 301, 263},
	{"move_pages", 279, 239},
	{"migrate_pages", 256, 238},
	{"lookup_dcookie", 212, 18},
	{"nfsservctl", 180, 42},
	{"vhangup", 153, 58},
	{"settimeofday", 164, 170},
	{"clock_settime", 227, 112},
	{"clock_adjtime", 305, 266},
	{"adjtimex", 159, 171},
	{"sethostname", 170, 161},
	{"setdomainname", 171, 162},
	{"uselib", 134, -1},
	{"ustat", 136, -1},
	{"sysfs", 139, -1},
	{"_sysctl", 156, -1},
	{"get_kernel_syms", 177, -1},
	{"query_module", 178, -1},
	{"tuxcall", 184, -1},
	{"security", 185, -1},
	{"afs_syscall", 183, -1},
	{"getpmsg", 181, -1},
	{"putpmsg", 182, -1},
	{"vserver", 236, -1},
	{"lsm_set_self_attr", 460, 460},
	{"memfd_secret", 447, 447},
	{"file_setattr", 469, 469},
}

// missingCalls fail with ENOSYS, so that programs take the older way whose
// arguments a filter can see: io_uring hides every call, clone3 and openat2 take
// their arguments from memory.
var missingCalls = []call{
	{"io_uring_setup", 425, 425},
	{"io_uring_enter", 426, 426},
	{"io_uring_register", 427, 427},
	{"clone3", 435, 435},
	{"openat2", 437, 437},
}
