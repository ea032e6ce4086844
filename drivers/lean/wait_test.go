package lean

import "testing"

// A call does not sleep if a connection is made after the call has looked for one and before
// it sleeps.
func TestSleepWhereThereIsAConnection(t *testing.T) {
	c := new(Conn)
	c.link.Store(new(link))
	wake, err := c.sleep()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-wake:
	default:
		t.Error("it waits for a connection that is there")
	}
}
