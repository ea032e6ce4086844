// Package disk makes file systems whose disk can hang: writes to them neither fail nor end, until it is thawed.
//
// [Make] mounts an image file as a file system (ext4 on a loop device), and [Remove] takes it away. A process in the
// role [Role] freezes one as long as it runs. It thaws it when its parent has ended, however that ended, so that no
// process is left that waits for a disk for ever: such a process cannot be killed.
//
// Only a file system that Make has made is frozen. A freeze of any other, such as that of the whole machine, would hang
// other programs.
//
// It takes Linux, root, and mkfs.ext4 and mount of Debian's packages e2fsprogs and mount.
package disk
