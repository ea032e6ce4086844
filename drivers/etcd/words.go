package etcd

import (
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
	raw, is := of.Error(), of.GRPCStatus()
	if !strings.Contains(raw, "rpc error:") {
		return err // the library's own errors are in words
	}
	words := is.Message()
	switch is.Code() {
	case codes.DeadlineExceeded:
		words = "no answer in time"
	case codes.Canceled:
		words = "ended before the answer"
	case codes.Unimplemented:
		words = "the server does not know this request: " + words
	}
	if words == "" {
		words = "the server has refused it"
	}
	return &worded{strings.ReplaceAll(err.Error(), raw, words), err}
}

// A worded error is another one in other words.
type worded struct {
	words string
	error
}

func (w *worded) Error() string { return w.words }

func (w *worded) Unwrap() error { return w.error }
