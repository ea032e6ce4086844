package wire

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// EventOf returns a notification's type in the terms of the contract, or 0 if it is no change
// of a node.
func EventOf(code int32) drivers.EventType {
	switch code {
	case EventCreated:
		return drivers.Created
	case EventDeleted:
		return drivers.Deleted
	case EventDataChanged:
		return drivers.DataChanged
	case EventChildrenChanged:
		return drivers.ChildrenChanged
	}
	return 0
}

// Sentinel returns the contract's error, as a [drivers.Message] has it: nil for success,
// ErrUnsupported if the contract has none for it.
func (e Err) Sentinel() error {
	switch e {
	case OK:
		return nil
	case ErrNoNode:
		return drivers.ErrNoNode
	case ErrNodeExists:
		return drivers.ErrNodeExists
	case ErrBadVersion:
		return drivers.ErrBadVersion
	case ErrNotEmpty:
		return drivers.ErrNotEmpty
	case ErrNoChildrenForEphemerals:
		return drivers.ErrNoChildrenForEphemerals
	case ErrSessionExpired:
		return drivers.ErrSessionLost
	case ErrSessionMoved:
		return drivers.ErrConnectionLoss
	case ErrNoAuth, ErrAuthFailed, ErrInvalidACL:
		return drivers.ErrRefused
	}
	return drivers.ErrUnsupported
}

func (e Err) Error() string { return fmt.Sprintf("server error %d", int32(e)) }
