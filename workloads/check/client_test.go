package check

// A testClient is a client whose disturbances the test makes. The first client has index 0.
type testClient struct {
	index        int
	disturbances int64
}

func (c *testClient) Number() int { return c.index + 1 }

func (c *testClient) Disturbances() int64 { return c.disturbances }

func (c *testClient) disturb() { c.disturbances++ }
