package etcd

// A crew is a pool of goroutines that make calls. It grows to the largest number of calls in
// flight. The goroutines are reused because a new one would have to grow its stack for each
// call.
type crew chan func()

// do runs what on an idle goroutine of the pool, or on a new one.
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
