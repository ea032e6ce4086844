package local

import (
	"context"
	"fmt"
	"os"
)

// KeeperRole is what [Keep] has to be started as.
const KeeperRole = "keeper"

// Keep makes a directory that is named after its argument in the temporary
// directory (TMPDIR says where), announces it, and removes it at the end, which
// comes when the members are gone and nobody can want another one.
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
