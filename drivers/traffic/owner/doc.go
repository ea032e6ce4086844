// Package owner finds the local processes that own the sockets of connections.
//
// A [Finder] looks for many sockets at once, a few times a second, and away from the goroutines that pass
// bytes on. On Linux it asks the kernel for the numbers of the sockets, by sock_diag(7) or by the tables
// /proc/net/tcp and /proc/net/tcp6, and looks in /proc/PID/fd for the process that has each open. It finds
// none on other systems, none of other machines or network namespaces, none that has ended before it looks,
// and none of another user unless it runs as root. A process is its number, the time at which it started, and
// the name of its program: arguments and the environment may hold secrets, and are not read.
package owner
