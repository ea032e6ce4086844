package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
)

func failed(what, path string, err error) error {
	return &drivers.CallError{Call: what, Path: path, Sentinel: sentinel(err), Cause: err}
}

// errCut is the error of what was in flight when the connection broke.
var errCut = status.Error(codes.Unavailable, "the connection broke before the answer")

// errOusted is the error of a write that was sent on a former connection of its session. The
// write was not done.
var errOusted = fmt.Errorf("sent before the session reconnected: %w", drivers.ErrConnectionLoss)

// sentinel returns the contract's error for an error of the library or from the wire, or nil
// if the contract has none for it.
func sentinel(err error) error {
	if ours := contractual(err); ours != nil {
		return ours
	}
	switch code(err) {
	case codes.Unavailable:
		return drivers.ErrConnectionLoss
	case codes.PermissionDenied, codes.Unauthenticated:
		return drivers.ErrRefused
	}
	switch rpctypes.ErrorDesc(err) {
	case rpctypes.ErrorDesc(rpctypes.ErrGRPCLeaseNotFound):
		return drivers.ErrSessionLost
	case rpctypes.ErrorDesc(rpctypes.ErrGRPCAuthFailed), rpctypes.ErrorDesc(rpctypes.ErrGRPCUserEmpty):
		return drivers.ErrRefused
	}
	return nil
}

// contractual returns the sentinel that the error already matches, or nil.
func contractual(err error) error {
	for _, s := range []error{
		drivers.ErrNoNode, drivers.ErrNodeExists, drivers.ErrBadVersion, drivers.ErrNotEmpty,
		drivers.ErrNoChildrenForEphemerals, drivers.ErrConnectionLoss, drivers.ErrSessionLost,
		drivers.ErrUnsupported, drivers.ErrRefused,
	} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

// code returns an error's gRPC code, also where the library has wrapped it in an error of its
// own.
func code(err error) codes.Code {
	var library rpctypes.EtcdError
	switch {
	case err == nil:
		return codes.OK
	case errors.As(err, &library):
		return library.Code()
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}
