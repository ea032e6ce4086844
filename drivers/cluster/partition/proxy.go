package partition

import "net"

// serve accepts a member's outgoing connections.
func (l *Links) serve(proxy net.Listener, caller int) {
	for {
		c, err := proxy.Accept()
		if err != nil {
			return
		}
		l.going.Go(func() { l.join(caller, c) })
	}
}

// join connects a caller to the member that it requests, and returns when the connection has ended.
// While the two are isolated, the caller gets no answer, as from an unreachable host, and the
// callee is not dialed.
func (l *Links) join(caller int, near net.Conn) {
	if !l.hold(near) {
		return
	}
	defer l.drop(near)
	port, err := receive(near)
	if err != nil {
		return
	}
	callee, known := l.listeners[port]
	if !known {
		near.Write(reply(forbidden))
		return
	}
	link := l.pairs[caller][callee.member]
	if !link.Cross(l.over) {
		return
	}
	far, err := l.dial(callee.address)
	if err != nil {
		near.Write(reply(refused))
		return
	}
	if !l.hold(far) {
		return
	}
	defer l.drop(far)
	if !link.Cross(l.over) {
		return
	}
	if _, err := near.Write(reply(granted)); err != nil {
		return
	}
	link.Join(near, far)
}
