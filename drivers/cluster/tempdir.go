package cluster

import (
	"context"
	"fmt"
	"os"
)

// KeeperRole is the name of the role that runs [Keep].
const KeeperRole = "keeper"

// Keep creates a directory named after its argument in the temporary directory (TMPDIR), announces
// it, and removes it at the end of the context: after the members have ended and no more can start.
func Keep(ctx context.Context, args []string, ready func(dir string)) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want a name", len(args))
	}
	dir, err := os.MkdirTemp("", "stampede-"+args[0]+"-")
	if err != nil {
		return err
	}
	ready(dir)
	<-ctx.Done()
	return os.RemoveAll(dir)
}
