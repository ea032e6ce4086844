package between

import (
	"net"
	"sync"

	"github.com/stampede-bench/stampede/drivers/faults"
)

// serve takes the connections that a member makes.
func (l *Lines) serve(proxy net.Listener, caller int) {
	for {
		c, err := proxy.Accept()
		if err != nil {
			return
		}
		l.going.Go(func() { l.join(caller, c) })
	}
}

// join leads a connection to whom its caller asks for, and returns when it has
// ended. While the two hear nothing of each other the caller has no answer, as of a
// host that cannot be reached, and the other is not called.
func (l *Lines) join(caller int, near net.Conn) {
	if !l.hold(near) {
		return
	}
	defer l.drop(near)
	port, err := receive(near)
	if err != nil {
		return
	}
	callee, known := l.homes[port]
	if !known {
		near.Write(reply(forbidden))
		return
	}
	gate := l.gates[caller][callee.member]
	gate.Pass()
	far, err := l.dial(callee.address)
	if err != nil {
		near.Write(reply(refused))
		return
	}
	if !l.hold(far) {
		return
	}
	defer l.drop(far)
	if _, err := near.Write(reply(granted)); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { carry(gate, near, far) })
	both.Go(func() { carry(gate, far, near) })
	both.Wait()
}

// carry hands on what comes from one end until there is no more, and then closes
// both. That there is no more waits at the gate as well.
func carry(gate *faults.Gate, from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	bytes := make([]byte, 32<<10)
	for {
		n, err := from.Read(bytes)
		gate.Pass()
		if n > 0 {
			if _, err := to.Write(bytes[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
