package etcd

import (
	"cmp"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plain returns the error without the words of gRPC, "rpc error: code = Unavailable desc = ", which say nothing to who
// reads it. All errors of the library go through it.
func plain(err error) error {
	var of interface {
		error
		GRPCStatus() *status.Status
	}
	if err == nil || !errors.As(err, &of) {
		return err
	}
	raw, code, words := of.Error(), of.GRPCStatus().Code(), of.GRPCStatus().Message()
	if !strings.Contains(raw, "rpc error:") {
		return err // the library's own errors are in words
	}
	switch code {
	case codes.DeadlineExceeded:
		words = "no answer in time"
	case codes.Canceled:
		words = "ended before the answer"
	case codes.Unimplemented:
		words = "the server does not know this request: " + words
	}
	return &worded{strings.ReplaceAll(err.Error(), raw, cmp.Or(words, "the server has refused it")), err}
}

// A worded error is another one in other words.
type worded struct {
	words string
	error
}

func (w *worded) Error() string { return w.words }
func (w *worded) Unwrap() error { return w.error }
