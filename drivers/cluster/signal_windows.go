package cluster

import "errors"

// These are not called here, where no server is started.

func killProcess(int) error   { return errors.ErrUnsupported }
func stopProcess(int) error   { return errors.ErrUnsupported }
func resumeProcess(int) error { return errors.ErrUnsupported }
