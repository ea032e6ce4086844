package agents

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
)

func TestMain(m *testing.M) { backendtest.Main(m) }
