package owner

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ask asks the kernel for each socket by sock_diag(7), which takes microseconds, and returns the inodes of
// those that it knows, by index. It returns nothing where the kernel has no sock_diag.
func ask(all []question) map[int]string {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	inodes, reply := map[int]string{}, make([]byte, 4096)
	for i, q := range all {
		if err := unix.Sendto(fd, request(q, uint32(i)), 0, kernel); err != nil {
			return inodes
		}
		n, _, err := unix.Recvfrom(fd, reply, 0)
		if err != nil {
			return inodes
		}
		if inode := inodeIn(reply[:n], uint32(i)); inode != 0 {
			inodes[i] = strconv.FormatUint(uint64(inode), 10)
		}
	}
	return inodes
}

// The messages of sock_diag(7), as linux/inet_diag.h has them.
type (
	socketID struct {
		localPort, remotePort [2]byte // in the order of the network, as the addresses
		local, remote         [16]byte
		device                uint32
		cookie                [2]uint32
	}
	socketRequest struct {
		unix.NlMsghdr
		family, protocol, extensions, _ uint8
		states                          uint32
		socketID
	}
	socketReply struct {
		unix.NlMsghdr
		family, state, timer, retransmits uint8
		socketID
		expires, received, sent, user, inode uint32
	}
)

const socketDiagnosis = 20 // SOCK_DIAG_BY_FAMILY

func request(q question, serial uint32) []byte {
	r := socketRequest{family: unix.AF_INET, protocol: unix.IPPROTO_TCP, states: 1<<32 - 1}
	r.NlMsghdr = unix.NlMsghdr{Len: uint32(unsafe.Sizeof(r)), Type: socketDiagnosis, Flags: unix.NLM_F_REQUEST}
	r.Seq = serial
	if q.local.Addr().Is6() {
		r.family = unix.AF_INET6
	}
	id := func(port *[2]byte, address *[16]byte, a netip.AddrPort) {
		binary.BigEndian.PutUint16(port[:], a.Port())
		copy(address[:], a.Addr().AsSlice())
	}
	id(&r.localPort, &r.socketID.local, q.local)
	id(&r.remotePort, &r.socketID.remote, q.remote)
	r.cookie = [2]uint32{1<<32 - 1, 1<<32 - 1} // any
	return unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r))
}

// inodeIn returns the inode of the socket in a reply, 0 if it is another message or the socket has no owner
// any more.
func inodeIn(message []byte, serial uint32) uint32 {
	var r socketReply
	if len(message) < int(unsafe.Sizeof(r)) {
		return 0 // an error
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&r)), unsafe.Sizeof(r)), message)
	if r.Type != socketDiagnosis || r.Seq != serial {
		return 0
	}
	return r.inode
}
