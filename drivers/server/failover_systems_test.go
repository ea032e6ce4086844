package server_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// Three ClickHouse servers replicate a table while leaders are killed. In the end each replica has each row
// once.
func TestClickHouseFailsOver(t *testing.T) {
	said := clickHouseFailsOver(t, 0, fewestKills(3))
	if !strings.HasPrefix(said, "rows missing 0 doubled 0 sum True") {
		t.Error(said)
	}
}

func TestClickHouseFindsALostRow(t *testing.T) {
	said := clickHouseFailsOver(t, 1, 0)
	if !strings.HasPrefix(said, "rows missing 1 doubled 0 sum False") {
		t.Error(said)
	}
}

func clickHouseFailsOver(t *testing.T, lost, kills int) (said string) {
	t.Helper()
	return systemFailsOver(t, "clickhouse.py", lost, kills, "clickhouse-server")
}

// Patroni keeps three PostgreSQL servers with one primary while leaders are killed, and changes the primary when it
// is asked to. No two of them accept writes at a time, no acknowledged row is lost, and no primary changes that
// nobody has asked to.
func TestPatroniFailsOver(t *testing.T) {
	patroniFailsOver(t, 0, fewestKills(3))
}

func TestPatroniFindsALostRow(t *testing.T) {
	patroniFailsOver(t, 1, 0)
}

func patroniFailsOver(t *testing.T, lost, kills int) {
	t.Helper()
	said := systemFailsOver(t, "patroni.py", lost, kills, "patroni", "setpriv")
	var acknowledged, switchovers, timeline int
	_, err := fmt.Sscanf(said, fmt.Sprintf("rivals 0 lost %d acknowledged %%d switchovers %%d timeline %%d", lost), &acknowledged, &switchovers, &timeline)
	if err != nil || timeline != 1+switchovers {
		t.Error(said)
	}
}

// systemFailsOver kills leaders while a program in testdata/failover runs a system, and returns what it says of it at
// the end. It takes a minute and packages of Debian, and root, because the servers run as other users: so it runs only
// if KILLS says how many leaders to kill.
func systemFailsOver(t *testing.T, program string, lost, kills int, needed ...string) (said string) {
	t.Helper()
	testenv.SkipIfShort(t)
	if os.Getenv("KILLS") == "" {
		t.Skip("KILLS is not set")
	}
	for _, name := range append(needed, "python3") {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := os.MkdirTemp("", "failover")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	e := startFailover(t)
	p := startTalking(t, exec.CommandContext(t.Context(), "python3", "-B", "testdata/failover/"+program, e.list(), folder, strconv.Itoa(lost)))
	e.killWhile(p, kills)
	said = strings.Join(p.end(), "\n")
	t.Log(said)
	e.wantEqualMembers()
	return said
}
