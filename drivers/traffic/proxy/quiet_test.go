package proxy

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// quiet is an Observer that keeps nothing.
type quiet struct{}

func (quiet) Open(traffic.Connection) traffic.Tap { return quiet{} }
func (quiet) Session(time.Time, traffic.Session)  {}
func (quiet) Message(time.Time, drivers.Message)  {}
func (quiet) Missed(traffic.Undecoded)            {}
func (quiet) Members(time.Time, []string)         {}
func (quiet) Lease(time.Time, int64)              {}
func (quiet) Owner(traffic.Process)               {}
func (quiet) Gap(time.Time, int64, traffic.Cause) {}
func (quiet) Close(time.Time)                     {}
