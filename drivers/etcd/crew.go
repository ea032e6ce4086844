package etcd

// A crew is goroutines that make calls, as many as there ever were at once.
// They stay, since a new one would first have to grow its stack for each call.
type crew chan func()

// do has one of them do something.
func (c crew) do(done <-chan struct{}, what func()) {
	select {
	case c <- what:
	default:
		go c.work(done, what)
	}
}

func (c crew) work(done <-chan struct{}, what func()) {
	for {
		what()
		select {
		case what = <-c:
		case <-done:
			return
		}
	}
}
