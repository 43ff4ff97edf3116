package lictor.managed.baseline

import rego.v2

import data.lictor.lib

# METADATA
# title: Making a file system
# description: Formatting, partitioning or wiping a disk destroys what is on it.
# custom:
#   programs:
#     [mkfs, mke2fs, mkdosfs, mkntfs, mkswap, newfs, newfs_apfs, newfs_hfs, wipefs, blkdiscard, fdisk, sfdisk, cfdisk, gdisk,
#     sgdisk, parted, shred, badblocks, hdparm, nvme, cryptsetup, pvcreate, vgremove, lvremove, zpool, diskutil, format,
#     mkfs.ext2, mkfs.ext3, mkfs.ext4, mkfs.xfs, mkfs.btrfs, mkfs.vfat, mkfs.fat, mkfs.msdos, mkfs.ntfs, mkfs.exfat, mkfs.f2fs,
#     mkfs.jfs, mkfs.reiserfs, mkfs.minix, mkfs.bfs, mkfs.cramfs, mkfs.erofs, mkfs.nilfs2, mkfs.udf, mkfs.zfs]
deny contains {"id": "format-disk", "reason": $"{command.program} would destroy what is on {word}"} if {
	some command in lib.commands
	_formats(lib.base_name(command.program))
	some word in command.args
	_disk(word)
	not _only_lists(command)
}

# METADATA
# title: Writing to a disk
# description: Bytes that are written to a disk itself overwrite its file systems.
# custom:
#   programs: [dd, gdd, dcfldd, dc3dd, ddrescue, tee, cp, gcp, mv, install, cat, truncate, pv, sponge, rsync, qemu-img]
deny contains {"id": "write-disk", "reason": $"{command.program} would write to {disk}"} if {
	some command in lib.commands
	lib.base_name(command.program) in {"dd", "gdd", "dcfldd", "dc3dd", "ddrescue", "tee", "cp", "gcp", "mv", "install", "truncate", "sponge", "rsync", "qemu-img"}
	some disk in _written(command)
	_disk(disk)
}

# METADATA
# title: Redirecting to a disk
# description: A redirection to a disk overwrites its file systems, and one to sysrq-trigger takes the machine down.
# custom:
#   paths:
#     [/dev/sd, /dev/hd, /dev/vd, /dev/xvd, /dev/nvme, /dev/mmcblk, /dev/disk, /dev/rdisk, /dev/loop, /dev/dm-, /dev/mapper, /dev/md,
#     /dev/sr, /dev/nbd, /dev/zd, /dev/pmem, /dev/mem, /dev/kmem, /dev/port, /dev/block, /dev/bcache, /dev/dasd, /dev/ram, /proc/sysrq-trigger,
#     /proc/sys/kernel/sysrq]
deny contains {"id": "redirect-disk", "reason": $"the command would write to {place}"} if {
	some target in input.targets
	some place in _places(target)
	_forbidden_place(place)
}

_forbidden_place(place) if _disk(place)

_forbidden_place(place) if place in {"/proc/sysrq-trigger", "/proc/sys/kernel/sysrq"}

_formats(program) if program == "mkfs"

_formats(program) if startswith(program, "mkfs.")

_formats(program) if program in {
	"mke2fs", "mkdosfs", "mkntfs", "mkswap", "newfs", "newfs_apfs", "newfs_hfs", "wipefs", "blkdiscard", "fdisk", "sfdisk",
	"cfdisk", "gdisk", "sgdisk", "parted", "shred", "badblocks", "hdparm", "nvme", "cryptsetup", "pvcreate", "vgremove", "lvremove",
	"zpool", "diskutil", "format",
}

# METADATA
# title: Only lists
# description: Partition tools that only show what there is.
_only_lists(command) if {
	lib.base_name(command.program) in {"fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "hdparm", "nvme", "diskutil"}
	some word in command.args
	word in {"-l", "--list", "print", "-p", "--print", "-I", "list", "info", "smart-log", "id-ctrl"}
}

# METADATA
# title: Disk
# description: A block device, or memory, by its usual names; a name with a variable below /dev may be one.
_disk(word) if {
	regex.match(
		concat("", [
			`^/+(\./+)*dev/+(\./+)*(sd|hd|vd|xvd|nvme|mmcblk|r?disk[0-9*?/$]|loop|dm-|mapper/|md[0-9*?]|sr[0-9*?]|nbd|zd[0-9*?]|pmem`,
			`|bcache|dasd|ram[0-9*?]|block/|mem$|kmem$|port$|\*|\?|\$)`,
		]),
		_plain(word),
	)
}

_disk(word) if regex.match(`^(\\\\\.\\|//\./)(PhysicalDrive|[A-Za-z]:)`, word)

# METADATA
# title: Written
# description: What the operands of a copying command name as its destination. For tee, truncate and cp every operand counts.
_written(command) := (({disk |
	lib.base_name(command.program) in {"dd", "gdd", "dcfldd", "dc3dd"}
	some word in command.args
	startswith(_plain(word), "of=")
	disk := trim_prefix(_plain(word), "of=")
} | {word |
	lib.base_name(command.program) in {"tee", "truncate", "sponge"}
	some word in command.args
}) | {word |
	lib.base_name(command.program) in {"cp", "gcp", "mv", "install", "rsync", "ddrescue", "qemu-img"}
	operands := [arg | some arg in command.args; not lib.option(arg)]
	word := operands[count(operands) - 1]
}) | {trim_prefix(word, "--target-directory=") |
	some word in command.args
	startswith(word, "--target-directory=")
}

# METADATA
# title: Places that are written
# description: Redirections as written and as they resolve, and mentions and path targets that change something.
_places(target) := (({place | some place in target.writes} | {place |
	some redirection in target.redirections
	redirection.access in {"write", "delete"}
	some key in ["absolute", "real", "path_text"]
	place := redirection[key]
}) | {place |
	some mention in target.mentions
	mention.access in {"write", "delete"}
	some key in ["absolute", "real"]
	place := mention[key]
}) | {place |
	target.kind == "path"
	target.access in {"write", "delete"}
	some key in ["absolute", "real"]
	place := target[key]
}

_examples["format-disk"] := {
	"bad": [
		"mkfs.ext4 /dev/sda1",
		"mkfs -t ext4 /dev/nvme0n1p1",
		"mkswap /dev/vdb",
		"wipefs -a /dev/sda",
		"shred -v /dev/sdb",
		"sgdisk --zap-all /dev/sda",
		"parted /dev/sda mklabel gpt",
		"blkdiscard /dev/nvme0n1",
		"diskutil eraseDisk APFS x /dev/disk2",
		"mkfs.ext4 /dev/$DISK",
	],
	"good": ["mkfs.ext4 disk.img", "fdisk -l /dev/sda", "parted /dev/sda print", "shred secret.txt", "echo mkfs.ext4 /dev/sda"],
}

_examples["write-disk"] := {
	"bad": ["dd if=/dev/zero of=/dev/sda bs=1M", "dd of=/dev//nvme0n1 if=x", "tee /dev/sda", "cp x.img /dev/sdb", "mv x /dev/vda", "dd if=a of=/dev/disk2"],
	"good": ["dd if=in.img of=out.img", "dd if=/dev/sda of=backup.img", "cp /dev/null x", "tee /dev/null", "tee /dev/stderr", "cat /dev/sda"],
}

_examples["redirect-disk"] := {
	"bad": [
		{"command": "echo x > /dev/nvme0n1", "parts": [["echo", "x"]], "writes": ["/dev/nvme0n1"]},
		{"command": "cat a > /dev/sda", "parts": [["cat", "a"]], "writes": ["/dev/sda"]},
		{"command": "echo b > /proc/sysrq-trigger", "parts": [["echo", "b"]], "writes": ["/proc/sysrq-trigger"]},
		{"path": "/dev/sda"},
	],
	"good": [
		{"command": "make > /dev/null", "parts": [["make"]], "writes": ["/dev/null"]},
		{"command": "make > out/dev/sda.log", "parts": [["make"]], "writes": ["out/dev/sda.log"]},
		{"path": "dev/sda.go"},
	],
}
