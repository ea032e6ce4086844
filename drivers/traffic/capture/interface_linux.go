package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gopacket/gopacket"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// An Interface captures from a network interface.
type Interface struct {
	socket   *os.File
	raw      syscall.RawConn
	loopback bool
	assembly *assembly
	buf      []byte
	oob      []byte
	ended    atomic.Bool   // Close was called
	over     chan struct{} // closed when the capture has ended
}

// socketBuffer is how many bytes of packets may wait in the kernel.
const socketBuffer = 32 << 20

// Listen begins to capture from a network interface. It needs the right to open packet sockets
// (CAP_NET_RAW).
func Listen(name string, o Options) (*Interface, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("interface %q: %w", name, err)
	}
	a, err := newAssembly(o)
	if err != nil {
		return nil, err
	}
	socket, err := packetSocket(device.Index, o.Ports)
	if err != nil {
		return nil, fmt.Errorf("capture from interface %q: %w", name, err)
	}
	i := &Interface{
		socket:   socket,
		loopback: device.Flags&net.FlagLoopback != 0,
		assembly: a,
		buf:      make([]byte, wholePacket),
		oob:      make([]byte, unix.CmsgSpace(16)),
		over:     make(chan struct{}),
	}
	if i.raw, err = socket.SyscallConn(); err != nil {
		socket.Close()
		return nil, err
	}
	go i.run()
	return i, nil
}

// packetSocket opens a socket that gets the packets of the ports, from their header of IP on.
func packetSocket(device int, ports []uint16) (*os.File, error) {
	// The protocol 0 lets nothing in until the filter is in place.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	socket := os.NewFile(uintptr(fd), "packets")
	program, err := bpf.Assemble(filter(ports))
	if err == nil {
		err = attach(fd, program)
	}
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	if err == nil {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketBuffer) != nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, socketBuffer)
		}
	}
	if err == nil {
		all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: device})
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return socket, nil
}

func attach(fd int, program []bpf.RawInstruction) error {
	f := make([]unix.SockFilter, len(program))
	for i, p := range program {
		f[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]})
}

// Close ends the capture. It returns when the observer has got all packets that came before.
func (i *Interface) Close() (Stats, error) {
	err := i.shut()
	i.ended.Store(true)
	i.socket.SetReadDeadline(time.Now())
	<-i.over
	err = errors.Join(err, i.countDrops())
	return i.assembly.end(), errors.Join(err, i.socket.Close())
}

// shut lets no further packets in. Their times do not tell which came before: the kernel gives some packets theirs when they
// are read.
func (i *Interface) shut() (err error) {
	none, err := bpf.Assemble([]bpf.Instruction{bpf.RetConstant{Val: 0}})
	if err != nil {
		return err
	}
	if failed := i.raw.Control(func(fd uintptr) { err = attach(int(fd), none) }); failed != nil {
		return failed
	}
	return err
}

// countDrops counts the packets that the kernel has dropped since the last call.
func (i *Interface) countDrops() (err error) {
	i.raw.Control(func(fd uintptr) {
		var t *unix.TpacketStats // of the time since they were last read
		t, err = unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS)
		if err == nil && t.Drops > 0 {
			i.assembly.drop(uint64(t.Drops))
		}
	})
	return err
}

// run reads packets until Close, and then those that came before it.
func (i *Interface) run() {
	defer close(i.over)
	counted := time.Now()
	for !i.ended.Load() {
		i.socket.SetReadDeadline(time.Now().Add(patience))
		if i.ended.Load() {
			break // the deadline that Close set may have been overwritten
		}
		i.raw.Read(func(fd uintptr) bool { return i.receive(int(fd)) })
		i.assembly.flush(time.Now())
		if now := time.Now(); now.Sub(counted) >= patience {
			counted = now
			_ = i.countDrops() // Close reports the error
		}
	}
	i.raw.Control(func(fd uintptr) { i.receive(int(fd)) })
}

// receive takes the packets that have come. It returns false if there are none.
func (i *Interface) receive(fd int) (some bool) {
	for {
		n, oobn, _, from, err := unix.Recvmsg(fd, i.buf, i.oob, unix.MSG_DONTWAIT)
		if err != nil {
			return some
		}
		some = true
		// The loopback interface shows each packet as sent and as received.
		if link, ok := from.(*unix.SockaddrLinklayer); ok && i.loopback && link.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		at := timestamp(i.oob[:oobn])
		i.assembly.packet(nil, i.buf[:n], gopacket.CaptureInfo{Timestamp: at, CaptureLength: n, Length: n})
	}
}

// timestamp returns when the kernel saw the packet.
func timestamp(oob []byte) time.Time {
	if messages, err := unix.ParseSocketControlMessage(oob); err == nil {
		for _, m := range messages {
			if m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
				return time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
			}
		}
	}
	return time.Now()
}
