package lean

import "testing"

// A connection that comes between a look for one and the sleep until there is
// one is not slept over.
func TestSleepWhereThereIsAConnection(t *testing.T) {
	c := new(Conn)
	c.line.Store(new(line))
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
