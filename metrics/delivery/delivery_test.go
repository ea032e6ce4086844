package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// play gives a script of packets to a Checker and returns the violations. Each line has the session, the kind of
// the packet, the operation or the event, the paths, and the position:
//
//	a? get! /x       a request; ! asks for a watch
//	a: get! /x 5     its reply; "none" at the end: no node
//	a* deleted /x 6  a notification
//	a- cut
//	a! over          it is not seen any more
func play(t *testing.T, script string) (violations []string, checked int64) {
	t.Helper()
	c := New(func(v Violation) {
		violations = append(violations, fmt.Sprintf("%s %s %v %s", v.Session.Name, kindName(v.Kind), v.Event, v.Path))
	})
	sessions := map[string]*Session{}
	for line := range strings.Lines(script) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		s := sessions[f[0][:1]]
		if s == nil {
			s = c.Session()
			s.Name = f[0][:1]
			s.Audit()
			sessions[s.Name] = s
		}
		if f[0][1] == '!' {
			s.Abandon()
			continue
		}
		s.Message(packet(t, f))
	}
	return violations, c.Checked()
}

var ops = map[string]drivers.Op{
	"get": drivers.OpGet, "exists": drivers.OpExists, "children": drivers.OpChildren, "create": drivers.OpCreate, "set": drivers.OpSet,
	"delete": drivers.OpDelete, "multi": drivers.OpMulti, "ping": drivers.OpPing, "open": drivers.OpOpen, "close": drivers.OpClose,
	"rearm": drivers.OpRearm, "node": drivers.OpWatchNode, "tree": drivers.OpWatchTree, "unwatch": drivers.OpUnwatch,
	"unwatch-data": drivers.OpUnwatch, "unwatch-children": drivers.OpUnwatch, "unwatch-node": drivers.OpUnwatch, "unwatch-tree": drivers.OpUnwatch,
}

var removes = map[string]drivers.WatchKinds{
	"unwatch": drivers.AnyWatch, "unwatch-data": drivers.DataWatch, "unwatch-children": drivers.ChildrenWatch,
	"unwatch-node": drivers.NodeWatch, "unwatch-tree": drivers.TreeWatch,
}

var events = map[string]drivers.EventType{
	"created": drivers.Created, "deleted": drivers.Deleted, "changed": drivers.DataChanged, "listed": drivers.ChildrenChanged,
}

func packet(t *testing.T, f []string) *drivers.Message {
	m := &drivers.Message{Kind: map[byte]drivers.MessageKind{
		'?': drivers.Request, ':': drivers.Reply, '*': drivers.Notification, '-': drivers.Cut}[f[0][1]]}
	if m.Kind == drivers.Cut {
		return m
	}
	if m.Kind == drivers.Notification {
		m.Event = events[f[1]]
	} else {
		name := strings.TrimSuffix(f[1], "!")
		m.Op, m.Watch = ops[name], name != f[1]
		m.Removes = removes[name]
	}
	for _, word := range f[2:] {
		name, path, part := strings.Cut(word, "=")
		switch {
		case part:
			m.Parts = append(m.Parts, drivers.TxnOp{Op: ops[name], Path: []byte(path)})
		case word == "none":
			m.Err = drivers.ErrNoNode
		case word[0] == '/':
			m.Path = []byte(word)
		default:
			if _, err := fmt.Sscan(word, &m.Pos); err != nil {
				t.Fatal(f, err)
			}
		}
	}
	return m
}

func kindName(k Kind) string {
	return []string{"", "missing", "unasked", "twice", "late", "out of order", "wrong type", "forgotten", "undecided"}[k]
}

func TestScripts(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"a watch fires before the reply": {"a: get! /x 1\n b: set /x 2\n a* changed /x 2\n a: ping 2", nil},
		"the writer is answered last":    {"a: get! /x 1\n a* changed /x 2\n a: ping 2\n b: set /x 2", nil},
		"the session writes itself":      {"a: get! /x 1\n a* changed /x 2\n a: set /x 2", nil},
		"the own write is not reported":  {"a: get! /x 1\n a: set /x 2", []string{"a missing data changed /x"}},
		"a later reply":                  {"a: get! /x 1\n b: set /x 2\n a: ping 3", []string{"a missing data changed /x"}},
		"no later reply":                 {"a: get! /x 1\n b: set /x 2\n a: ping 1", nil},
		"the write is known last":        {"a: get! /x 1\n a: ping 3\n b: set /x 2", []string{"a missing data changed /x"}},
		"the read is known last":         {"b: set /x 2\n a: get! /x 1\n a: ping 2", []string{"a missing data changed /x"}},
		"the read shows the write":       {"b: set /x 2\n a: get! /x 2\n a: ping 2", nil},
		"armed again":                    {"a: get! /x 1\n b: set /x 2\n a: get! /x 3", []string{"a missing data changed /x"}},
		"it was reported once":           {"a: get! /x 1\n b: set /x 2\n a: ping 2\n a: ping 3\n b: set /x 4\n a: ping 4", []string{"a missing data changed /x"}},
		"a failed read arms nothing":     {"a: get! /x 1 none\n b: create /x 2\n a: ping 2", nil},
		"exists waits for a creation":    {"a: exists! /x 1 none\n b: create /x 2\n a* created /x 2\n a: ping 2", nil},
		"the creation is not reported":   {"a: exists! /x 1 none\n b: create /x 2\n a: ping 2", []string{"a missing created /x"}},
		"the list of children":           {"a: children! /x 1\n b: create /x/y 2\n a* listed /x 2\n a: ping 2", nil},
		"data is not the list":           {"a: children! /x 1\n a: get! /x 1\n b: create /x/y 2\n a* listed /x 2\n a: ping 2", nil},
		"a list is missed":               {"a: children! /x 1\n b: delete /x/y 2\n a: ping 2", []string{"a missing children changed /x"}},
		"a deletion fires both kinds":    {"a: children! /x 1\n a: get! /x 1\n b: delete /x 2\n a* deleted /x 2\n a: ping 2", nil},
		"a deletion is missed once":      {"a: children! /x 1\n a: get! /x 1\n b: delete /x 2\n a: ping 2", []string{"a missing deleted /x"}},
		"a transaction":                  {"a: get! /x 1\n a: children! / 1\n b: multi set=/x create=/y 2\n a* changed /x 2\n a* listed / 2\n a: ping 2", nil},
		"half of a transaction":          {"a: get! /x 1\n a: children! / 1\n b: multi set=/x create=/y 2\n a* changed /x 2\n a: ping 2", []string{"a missing children changed /"}},
		"a transaction that failed":      {"a: get! /x 1\n b: multi set=/x 2 none\n a: ping 2", nil},
		"an expiry that a reply shows":   {"a: exists! /x 1\n b: exists! /x 3 none\n a: ping 3", []string{"a missing deleted /x"}},
		"an expiry that was reported":    {"a: exists! /x 1\n a* deleted /x 2\n b: exists! /x 3 none\n a: ping 3", nil},
		"the reply is older":             {"b: exists! /x 3 none\n a: exists! /x 1\n a: ping 3", []string{"a missing deleted /x"}},

		"twice":                     {"a: get! /x 1\n a* changed /x 2\n a* changed /x 2\n b: set /x 2", []string{"a twice data changed /x"}},
		"twice without positions":   {"a: get! /x 1\n a* changed /x\n a* changed /x", []string{"a twice data changed /x"}},
		"twice after arming":        {"a: get! /x 1\n a* changed /x 2\n a: get! /x 2\n a* changed /x 2", []string{"a late data changed /x"}},
		"of another path":           {"a: get! /x 1\n b: set /x 2\n a* changed /y 2\n a: ping 2", []string{"a unasked data changed /y", "a missing data changed /x"}},
		"without a watch":           {"a: get /x 1\n a* changed /x 2", []string{"a unasked data changed /x"}},
		"of another kind":           {"a: get! /x 1\n a* listed /x 2", []string{"a unasked children changed /x"}},
		"created though it existed": {"a: get! /x 1\n a* created /x 2", []string{"a wrong type created /x"}},
		"deleted though it was set": {"a: get! /x 1\n a* deleted /x 2\n b: set /x 2", []string{"a wrong type deleted /x"}},
		"the same, known before":    {"a: get! /x 1\n b: set /x 2\n a* deleted /x 2", []string{"a wrong type deleted /x"}},
		"behind the reply":          {"a: get! /x 1\n a: ping 2\n a* changed /x 2", []string{"a late data changed /x"}},
		"behind it, and known":      {"a: get! /x 1\n b: set /x 2\n a: ping 2\n a* changed /x 2", []string{"a missing data changed /x"}},
		"swapped":                   {"a: get! /x 1\n a: get! /y 1\n a* changed /y 3\n a* changed /x 2", []string{"a out of order data changed /x"}},
		"one change is skipped":     {"a: get! /x 1\n b: set /x 2\n a* changed /x 3", []string{"a missing data changed /x"}},

		"a new connection": {`a: get! /x 1
			a- cut
			b: set /x 2
			a? open
			a: open
			a? rearm get=/x
			a* changed /x
			a: rearm 2
			a: ping 2`, nil},
		"nothing happened meanwhile": {"a: get! /x 1\n a- cut\n a? rearm get=/x\n a: rearm 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", nil},
		"the server does not compare": {"a: get! /x 1\n a- cut\n b: set /x 2\n a? rearm get=/x\n a: rearm 2\n a: ping 2",
			[]string{"a forgotten data changed /x"}},
		"the server forgets to arm":     {"a: get! /x 1\n a- cut\n a? rearm get=/x\n a: rearm 2\n b: set /x 3\n a: ping 3", []string{"a missing data changed /x"}},
		"created and deleted again":     {"a: exists! /x 1 none\n a- cut\n b: create /x 2\n b: delete /x 3\n a? rearm exists=/x\n a: rearm 3\n a: ping 3", nil},
		"the client does not arm it":    {"a: get! /x 1\n a- cut\n a? rearm get=/y\n a: rearm 2\n b: set /x 3\n a: ping 3", nil},
		"the session has ended":         {"a: get! /x 1\n a- cut\n a? open\n a: open none\n b: set /x 2\n a? open\n a: open\n a: ping 2", nil},
		"changed before it is closed":   {"a: get! /x 1\n a? close\n b: set /x 2\n a: close 3\n a: ping 3", []string{"a missing data changed /x"}},
		"only the close answers":        {"a: get! /x 1\n b: set /x 2\n a? close\n a: close 3", []string{"a missing data changed /x"}},
		"told before it is closed":      {"a: get! /x 1\n a? close\n a* changed /x 2\n b: set /x 2\n a: close 3", nil},
		"changed after it is closed":    {"a: get! /x 1\n a? close\n b: set /x 4\n a: close 3\n a- cut", nil},
		"persistent, and closed":        {"a: node! /x 1\n b: set /x 2\n a? close\n b: set /x 3\n b: set /x 5\n a: close 4", []string{"a missing data changed /x", "a missing data changed /x"}},
		"killed":                        {"a: get! /x 1\n b: set /x 2\n a- cut\n a! over", []string{"a undecided data changed /x"}},
		"killed before the change":      {"a: get! /x 1\n a- cut\n b: set /x 2", nil},
		"killed after it was told":      {"a: get! /x 1\n b: set /x 2\n a* changed /x 2\n a- cut", nil},
		"killed after a miss":           {"a: get! /x 1\n b: set /x 2\n a: ping 2\n a- cut\n a! over", []string{"a missing data changed /x"}},
		"killed while it closes":        {"a: get! /x 1\n a: tree! /y 1\n b: set /x 2\n b: set /y/z 3\n a? close\n a- cut", []string{"a undecided data changed /x", "a undecided data changed /y/z"}},
		"killed, and there again":       {"a: get! /x 1\n b: set /x 2\n a- cut\n a? rearm get=/x\n a* changed /x\n a: rearm 2\n a- cut\n a! over", nil},
		"and told of nothing":           {"a: get! /x 1\n b: set /x 2\n a- cut\n a: ping 2\n a? rearm get=/x\n a: rearm 2\n a: ping 2", []string{"a forgotten data changed /x"}},
		"and it does not watch again":   {"a: get! /x 1\n b: set /x 2\n a- cut\n a: ping 2\n a? close\n a: close 3", []string{"a undecided data changed /x"}},
		"and it reads":                  {"a: get! /x 1\n b: set /x 2\n a- cut\n a: get! /x 2\n a: ping 2", []string{"a undecided data changed /x"}},
		"created, and there again":      {"a: exists! /x 1 none\n b: create /x 2\n a- cut\n a? rearm exists=/x\n a: rearm 2\n a: ping 2", []string{"a forgotten created /x"}},
		"gone again, and there again":   {"a: exists! /x 1 none\n b: create /x 2\n a- cut\n b: delete /x 3\n a? rearm exists=/x\n a: rearm 3\n a: ping 3", nil},
		"the new server does not know":  {"a: get! /x 1\n b: set /x 4\n a- cut\n a? rearm get=/x\n a: rearm 3\n a* changed /x 4\n a: ping 4", nil},
		"closed, and owed before":       {"a: get! /x 1\n b: set /x 2\n a: ping 2\n a? close\n a: close 3", []string{"a missing data changed /x"}},
		"a persistent watch":            {"a: node! /x 1\n b: set /x 2\n a* changed /x 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", nil},
		"it ends early":                 {"a: node! /x 1\n b: set /x 2\n a* changed /x 2\n b: set /x 3\n a: ping 3", []string{"a missing data changed /x"}},
		"it reports children":           {"a: node! /x 1\n b: create /x/y 2\n a* listed /x 2\n a: ping 2", nil},
		"a recursive watch":             {"a: tree! /x 1\n b: create /x/y/z 2\n a* created /x/y/z 2\n a: ping 2", nil},
		"without a subtree":             {"a: tree! /x 1\n b: create /x/y 2\n a* created /x/y 2\n b: create /x/y/z 3\n a: ping 3", []string{"a missing created /x/y/z"}},
		"a persistent one twice":        {"a: node! /x 1\n b: set /x 2\n a* changed /x 2\n a* changed /x 2", []string{"a twice data changed /x"}},
		"the write is known later":      {"a: node! /x 1\n a* changed /x 2\n a* changed /x 2\n b: set /x 2", []string{"a twice data changed /x"}},
		"a transaction sets it twice":   {"a: node! /x 1\n a* changed /x 2\n a* changed /x 2\n b: multi set=/x set=/x 2\n a: ping 2", nil},
		"it is removed":                 {"a: node! /x 1\n a? unwatch /x\n b: set /x 2\n a: unwatch /x 1\n a: ping 2", nil},
		"it fires though removed":       {"a: node! /x 1\n a? unwatch /x\n a: unwatch /x 2\n a* changed /x 3", []string{"a unasked data changed /x"}},
		"it does not catch up":          {"a: node! /x 1\n a- cut\n b: set /x 2\n a? rearm node=/x\n a: rearm 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", []string{"a undecided rearmed /x"}},
		"nothing has changed meanwhile": {"a: node! /x 1\n a- cut\n a? rearm node=/x\n a: rearm 1\n b: set /x 3\n a* changed /x 3\n a: ping 3", nil},
		"of an earlier session":         {"a? rearm node=/x\n a: rearm 1\n b: set /x 2\n a* changed /x 2\n a: ping 2", []string{"a undecided rearmed /x"}},
		"a new leader forgets it":       {"a: node! /x 1\n a- cut\n a? rearm node=/x\n a: rearm 2\n b: set /x 3\n a: ping 3", []string{"a undecided rearmed /x", "a missing data changed /x"}},
		"it has no positions":           {"a: node! /x 1\n a* changed /x\n b: set /x 2\n b: set /x 3\n a: ping 3", []string{"a missing data changed /x"}},
		"none has a position":           {"a: node! /x 1\n a: node! /y 1\n b: set /x 2\n b: set /y 3\n a* changed /x\n a* changed /x\n b: set /x 4\n a* changed /y\n a: ping 4", nil},
		"once ends it on old servers":   {"a: node! /x 1\n a: get! /x 1\n b: set /x 2\n a* changed /x\n b: set /x 3\n a: ping 3", nil},
		"known only when it is told":    {"a: node! /x 1\n a: get! /x 1\n b: set /x 2\n b: set /x 3\n a* changed /x\n a: ping 3", nil},
		"once after it, on old ones":    {"a: node! /x 1\n b: set /x 2\n a* changed /x\n a: get! /x 2\n b: set /x 3\n a* changed /x\n b: set /x 4\n a: ping 4", nil},

		"removed after a loss":             {"a: get! /x 1\n b: set /x 2\n a? unwatch /x\n a: unwatch /x 2", []string{"a missing data changed /x"}},
		"a list, removed after a loss":     {"a: children! /x 1\n b: create /x/y 2\n a? unwatch /x\n a: unwatch /x 3", []string{"a missing children changed /x"}},
		"a persistent one, after a loss":   {"a: tree! /x 1\n b: set /x/y 2\n a? unwatch /x\n a: unwatch /x 2", []string{"a missing data changed /x/y"}},
		"there was none to remove":         {"a: get! /x 1\n b: set /x 2\n a? unwatch /x\n a: unwatch /x 2 none", []string{"a missing data changed /x"}},
		"none, and the answer is earlier":  {"a: get! /x 1\n b: set /x 2\n a? unwatch /x\n a: unwatch /x 1 none\n a- cut\n a! over", []string{"a undecided data changed /x"}},
		"removed before the change":        {"a: get! /x 1\n b: set /x 2\n a? unwatch /x\n a: unwatch /x 1\n a: ping 2\n a- cut", nil},
		"not seen to be removed":           {"a: get! /x 1\n b: set /x 2\n a? unwatch /x\n a- cut\n a! over", []string{"a undecided data changed /x"}},
		"both kinds are removed":           {"a: get! /x 1\n a: children! /x 1\n b: set /x 2\n a? unwatch /x\n a: unwatch /x 1\n a: ping 2\n a- cut", nil},
		"one of two kinds is removed":      {"a: get! /x 1\n a: children! /x 1\n b: set /x 2\n a? unwatch-data /x\n a: unwatch-data /x 1\n a: ping 2\n a- cut", nil},
		"the other one is removed":         {"a: get! /x 1\n a: children! /x 1\n b: set /x 2\n a? unwatch-children /x\n a: unwatch-children /x 1\n a: ping 2", []string{"a missing data changed /x"}},
		"and it is told":                   {"a: get! /x 1\n a: children! /x 1\n b: set /x 2\n a? unwatch-children /x\n a: unwatch-children /x 1\n a* changed /x 2\n a: ping 2", nil},
		"a persistent one of two":          {"a: node! /x 1\n a: tree! / 1\n a? unwatch-node /x\n a: unwatch-node /x 1\n b: set /x 2\n b: create /x/y 3\n a* created /x/y 3\n a: ping 3", []string{"a missing data changed /x"}},
		"the data of a persistent one":     {"a: node! /x 1\n a? unwatch-data /x\n a: unwatch-data /x 1\n b: set /x 2\n a: ping 2", nil},
		"another one covers it":            {"a: node! /x/y 1\n a: tree! /x 1\n b: set /x/y 2\n a? unwatch /x\n a: unwatch /x 1\n a: ping 2", []string{"a missing data changed /x/y"}},
		"lost before a persistent one":     {"a: get! /x 1\n b: set /x 2\n a: tree! /x 2", []string{"a missing data changed /x"}},
		"owed when a persistent one comes": {"a: get! /x 1\n b: set /x 2\n a: tree! /x 1\n a: ping 2", []string{"a undecided data changed /x"}},
		"and is told":                      {"a: get! /x 1\n b: set /x 2\n a: tree! /x 1\n a* changed /x 2\n a: ping 2", nil},
		"owed when two overlap":            {"a: node! /x 1\n b: set /x 2\n a: tree! /x 1\n a: ping 2", []string{"a undecided data changed /x"}},
		"and are told":                     {"a: node! /x 1\n b: set /x 2\n a: tree! /x 1\n a* changed /x 2\n a: ping 2", nil},
		"a later change is told":           {"a: get! /x 1\n b: set /x 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", []string{"a missing data changed /x"}},
		"two packets are lost":             {"a: children! /x 1\n a: get! /x 1\n b: delete /x 4\n b: create /x/y 2\n a: ping 4", []string{"a missing deleted /x", "a missing children changed /x"}},

		"one packet for two watches":     {"a: tree! /x 1\n a: get! /x/y 1\n b: set /x/y 2\n a* changed /x/y 2\n a: ping 2", nil},
		"none below, one above":          {"a: tree! / 1\n a: children! /x 1\n b: create /x/y 2\n a* created /x/y 2\n a* listed /x 2\n a: ping 2", nil},
		"persistent after once":          {"a: get! /x 1\n a: tree! /x 1\n b: set /x 2\n a* changed /x 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", nil},
		"once after persistent":          {"a: node! /x 1\n a: get! /x 1\n b: set /x 2\n a* changed /x 2\n b: set /x 3\n a* changed /x 3\n a: ping 3", nil},
		"the new server is behind":       {"a: get! /x 1\n a: ping 2\n a- cut\n b: set /x 4\n a? rearm get=/x\n a: rearm 3\n a* changed /x 4\n a: ping 4", nil},
		"the new server stays behind":    {"a: get! /x 1\n a: ping 2\n a- cut\n b: set /x 4\n a? rearm get=/x\n a: rearm 3\n a: ping 3", nil},
		"a persistent one stays behind":  {"a: node! /x 1\n a- cut\n b: set /x 4\n a? rearm node=/x\n a: rearm 3\n a* changed /x 4\n a: ping 4", []string{"a undecided rearmed /x"}},
		"deleted and created meanwhile":  {"a: get! /x 1\n a- cut\n b: delete /x 2\n b: create /x 3\n a? rearm get=/x\n a* changed /x\n a: rearm 3\n a: ping 3", nil},
		"both kinds catch up alone":      {"a: get! /x 1\n a: children! /x 1\n a- cut\n b: delete /x 2\n a? rearm get=/x children=/x\n a* deleted /x\n a* deleted /x\n a: rearm 2\n a: ping 2", nil},
		"one of both does not":           {"a: get! /x 1\n a: children! /x 1\n a- cut\n b: delete /x 2\n a? rearm get=/x children=/x\n a* deleted /x\n a: rearm 2", []string{"a forgotten deleted /x"}},
		"one is armed, one catches up":   {"a: get! /x 1\n a: children! /x 1\n a- cut\n a? rearm get=/x\n a? rearm children=/x\n a: rearm 1\n a* deleted /x 2\n b: delete /x 2\n a* deleted /x\n a: rearm 2\n a: ping 2", nil},
		"the other way round":            {"a: get! /x 1\n a: children! /x 1\n a- cut\n a? rearm children=/x\n a? rearm get=/x\n a: rearm 1\n a* deleted /x 2\n b: delete /x 2\n a* deleted /x\n a: rearm 2\n a: ping 2", nil},
		"both are armed, others are not": {"a: get! /x 1\n a: children! /x 1\n a: get! /y 1\n a- cut\n a? rearm get=/x children=/x\n a? rearm get=/y\n a: rearm 1\n a* deleted /x 2\n b: delete /x 2\n a: rearm 2\n a: ping 2", nil},
		"caught up three times":          {"a: get! /x 1\n a: children! /x 1\n a- cut\n b: delete /x 2\n a? rearm get=/x children=/x\n a* deleted /x\n a* deleted /x\n a* deleted /x\n a: rearm 2", []string{"a twice deleted /x"}},
		"caught up in any order":         {"a: tree! / 1\n a: get! /x 1\n a: get! /y 1\n a- cut\n b: set /x 2\n b: set /y 3\n a? rearm tree=/ get=/x get=/y\n a* changed /y 3\n a* changed /x 2\n a: rearm 3\n a: ping 3", []string{"a undecided rearmed /"}},
		"cut twice":                      {"a: get! /x 1\n a- cut\n a? rearm get=/x\n a- cut\n b: set /x 2\n a? rearm get=/x\n a* changed /x\n a: rearm 2\n a: ping 2", nil},
		"closed with a packet in flight": {"a: get! /x 1\n a: node! /y 1\n a? close\n a* changed /x 2\n a* changed /y 3\n b: set /x 2\n b: set /y 3\n a: close 4\n a- cut", nil},
		"it fires, and is removed":       {"a: get! /x 1\n a? unwatch /x\n b: set /x 2\n a* changed /x 2\n a: unwatch /x 2 none\n a: ping 2", nil},
		"removed and armed again":        {"a: get! /x 1\n a? unwatch /x\n a: unwatch /x 1\n a: get! /x 1\n b: set /x 2\n a: ping 2", []string{"a missing data changed /x"}},
		"other processes write":          {"a: get! /x 1\n a: node! /y 1\n a* changed /x 5\n a* listed /y 6\n a* deleted /y 7\n a: ping 7", nil},
	} {
		if got, _ := play(t, c.script); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A Checker forgets what nobody watches.
func TestMemoryIsBounded(t *testing.T) {
	c := New(func(v Violation) { t.Error(v) })
	s := c.Session()
	s.Audit()
	for i := range int64(5 * keptChanges) {
		path := fmt.Appendf(nil, "/x/%d", i)
		s.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpExists, Watch: true, Err: drivers.ErrNoNode, Path: path, Pos: 2 * i})
		s.Message(&drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: path, Pos: 2*i + 1})
		s.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpCreate, Path: path, Pos: 2*i + 1})
	}
	if n := len(c.nodes); n > keptChanges+1 {
		t.Errorf("%d nodes are kept, want at most %d", n, keptChanges+1)
	}
	if n := c.Checked(); n != 5*keptChanges {
		t.Errorf("%d notifications checked, want %d", n, 5*keptChanges)
	}
}

// The packets of a session after a part was not seen are not judged.
func TestAbandonedSessions(t *testing.T) {
	c := New(func(v Violation) { t.Error(v) })
	s := c.Session()
	s.Audit()
	s.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Watch: true, Path: []byte("/x"), Pos: 1})
	s.Abandon()
	s.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpSet, Path: []byte("/x"), Pos: 2})
	s.Message(&drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: []byte("/x")})
}

// TestStreams gives what streams carry to a Checker: the kind, the number of the watch, the path, and the position.
func TestStreams(t *testing.T) {
	kinds := map[string]drivers.StreamKind{
		"node": drivers.StreamArmed, "children": drivers.StreamArmed, "now": drivers.StreamArmed, "event": drivers.StreamChanged,
		"progress": drivers.StreamProgress, "cancelled": drivers.StreamDisarmed, "ended": drivers.StreamEnded,
	}
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"in order":                      {"node 1 /x 5\n set /x 5\n event 1 /x 5\n event 1 /x 6\n set /x 6\n progress 0 / 6", nil},
		"before the watch":              {"node 1 /x 5\n set /x 4\n progress 0 / 6", nil},
		"dropped, and a later event":    {"node 1 /x 5\n set /x 5\n event 1 /x 6", []string{"missing data changed /x"}},
		"dropped, and known later":      {"node 1 /x 5\n event 1 /x 6\n set /x 5", []string{"missing data changed /x"}},
		"dropped, and progress":         {"children 1 /d 5\n create /d/x 5\n progress 0 / 5", []string{"missing created /d/x"}},
		"not yet":                       {"node 1 /x 5\n set /x 5\n progress 0 / 4", nil},
		"of another path":               {"children 1 /d 5\n create /d/x/y 5\n create /e 6\n progress 0 / 9", nil},
		"twice":                         {"node 1 /x 5\n event 1 /x 5\n event 1 /x 5", []string{"twice data changed /x"}},
		"two of one transaction":        {"children 1 /d 5\n event 1 /d/x 5\n event 1 /d/y 5", nil},
		"out of order":                  {"node 1 /x 5\n event 1 /x 6\n event 1 /x 5", []string{"out of order data changed /x"}},
		"two watches have two orders":   {"node 1 /x 5\n node 2 /y 5\n event 1 /x 6\n event 2 /y 5", nil},
		"of a path that is not watched": {"node 1 /x 5\n event 1 /y 5", []string{"unasked data changed /y"}},
		"below the children":            {"children 1 /d 5\n event 1 /d/x/y 5", []string{"unasked data changed /d/x/y"}},
		"a deletion is a change":        {"node 1 /x 5\n delete /x 5\n event 1 /x 5", []string{"wrong type data changed /x"}},
		"the same, known later":         {"node 1 /x 5\n event 1 /x 5\n delete /x 5", []string{"wrong type data changed /x"}},
		"a creation by a put":           {"node 1 /x 5\n create /x 5\n event 1 /x 5", nil},
		"older than the watch":          {"node 1 /x 5\n event 1 /x 4", []string{"unasked data changed /x"}},
		"after the end":                 {"node 1 /x 5\n cancelled 1 / 0\n event 1 /x 6", []string{"unasked data changed /x"}},
		"nothing is owed after the end": {"node 1 /x 5\n cancelled 1 / 0\n set /x 6\n progress 0 / 9", nil},

		"confirmed after it began":        {"now 1 /x 5\n event 1 /x 3\n event 1 /x 4\n set /x 4\n event 1 /x 5\n set /x 5\n set /x 3", nil},
		"which of these is not owed":      {"now 1 /x 5\n set /x 4\n event 1 /x 6\n progress 0 / 9", nil},
		"from now on they are owed":       {"now 1 /x 5\n set /x 5\n event 1 /x 6", []string{"missing data changed /x"}},
		"earlier ones once":               {"now 1 /x 5\n event 1 /x 4\n event 1 /x 4", []string{"twice data changed /x"}},
		"earlier ones in order":           {"now 1 /x 5\n event 1 /x 4\n event 1 /x 3", []string{"out of order data changed /x"}},
		"before the watch before":         {"now 1 /y 5\n now 2 /x 8\n event 2 /x 4", []string{"unasked data changed /x"}},
		"after the watch before":          {"now 1 /y 5\n now 2 /x 8\n event 2 /x 5", nil},
		"resumed from its read":           {"now 1 /y 5\n node 2 /x 3\n event 2 /x 3\n set /x 4\n event 2 /x 4", nil},
		"resumed before its read":         {"now 1 /y 5\n node 2 /x 3\n event 2 /x 2", []string{"unasked data changed /x"}},
		"resumed, and one is missing":     {"node 2 /x 3\n set /x 4\n event 2 /x 5", []string{"missing data changed /x"}},
		"written before it is resumed":    {"set /x 4\n node 2 /x 3\n event 2 /x 4\n progress 0 / 9", nil},
		"skipped when it is resumed":      {"set /x 4\n node 2 /x 3\n progress 0 / 9", []string{"missing data changed /x"}},
		"a child is skipped":              {"create /d/x 4\n children 2 /d 3\n progress 0 / 9", []string{"missing created /d/x"}},
		"written before its read":         {"set /x 4\n create /d/x 4\n node 2 /x 5\n children 3 /d 5\n progress 0 / 9", nil},
		"from now on, and written before": {"set /x 4\n now 2 /x 3\n progress 0 / 9", nil},
		"compacted":                       {"set /x 4\n node 2 /x 3\n cancelled 2 / 0\n now 3 /x 9\n progress 0 / 9", []string{"undecided data changed /x"}},
		"owed when it is cancelled":       {"node 1 /x 5\n set /x 5\n cancelled 1 / 0\n progress 0 / 9", []string{"undecided data changed /x"}},
		"owed when the stream ends":       {"node 1 /x 5\n set /x 5\n ended 0 / 0", []string{"undecided data changed /x"}},
		"owed when it is closed":          {"node 1 /x 5\n set /x 5\n close", []string{"undecided data changed /x"}},
		"nothing is owed by an old one":   {"node 1 /x 5\n ended 0 / 0\n node 2 /y 5\n set /x 6\n progress 0 / 9", nil},
		"a new stream has a new order":    {"node 1 /x 5\n event 1 /x 7\n ended 0 / 0\n node 2 /x 6\n event 2 /x 6\n event 2 /x 7", nil},
		"the new one is another member":   {"now 1 /x 9\n ended 0 / 0\n now 2 /x 5\n event 2 /x 4", nil},
		"left over from an old one":       {"node 1 /x 5\n ended 0 / 0\n event 1 /x 6", nil},
		"an old number on a new stream":   {"node 1 /x 5\n ended 0 / 0\n node 2 /y 5\n event 1 /x 6", []string{"unasked data changed /x"}},
		"closed, and one is still there":  {"node 1 /x 5\n close\n event 1 /x 6", nil},
		"cut, and one is still there":     {"node 1 /x 5\n cut\n event 1 /x 6", nil},
		"cut, and resumed":                {"node 1 /x 5\n set /x 6\n cut\n now 3 /own 8\n node 4 /x 5\n event 4 /x 6\n progress 0 / 9", []string{"undecided data changed /x"}},
		"cut, and resumed too late":       {"node 1 /x 5\n cut\n node 4 /x 5\n set /x 6\n event 4 /x 7", []string{"missing data changed /x"}},
	} {
		var got []string
		checker := New(func(v Violation) { got = append(got, fmt.Sprintf("%s %v %s", kindName(v.Kind), v.Event, v.Path)) })
		s, writer := checker.Session(), checker.Session()
		for line := range strings.Lines(c.script) {
			f := strings.Fields(line)
			if op := ops[f[0]]; op.IsWrite() {
				writer.Message(packet(t, append([]string{"b:"}, f...)))
				continue
			}
			switch f[0] {
			case "cut":
				s.Message(&drivers.Message{Kind: drivers.Cut})
				continue
			case "close":
				s.Message(&drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
				s.Message(&drivers.Message{Kind: drivers.Reply, Op: drivers.OpClose})
				continue
			}
			e := drivers.StreamEvent{Kind: kinds[f[0]], Path: f[2], Event: drivers.DataChanged, Covers: drivers.CoversNode, Now: f[0] == "now"}
			if f[0] == "children" {
				e.Covers = drivers.CoversChildren
			}
			if _, err := fmt.Sscan(f[1]+" "+f[3], &e.Watch, &e.Pos); err != nil {
				t.Fatal(err)
			}
			s.Stream(e)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestManyWritesInFlight plays notifications that come before the replies to their writes, more than a session keeps:
// with positions and without. All of them came, or one did not.
func TestManyWritesInFlight(t *testing.T) {
	const writes = 3 * maxEarly
	for _, positions := range []bool{true, false} {
		for _, lost := range []int{0, 1} {
			var script strings.Builder
			script.WriteString("a: node /x 1\n")
			for i := range writes - lost {
				script.WriteString("a* changed /x")
				if positions {
					fmt.Fprintf(&script, " %d", i+2)
				}
				script.WriteString("\n")
			}
			for i := range writes {
				fmt.Fprintf(&script, "b: set /x %d\n", i+2)
			}
			fmt.Fprintf(&script, "a: ping %d", writes+2)
			want := slices.Repeat([]string{"a missing data changed /x"}, lost)
			if got, _ := play(t, script.String()); !slices.Equal(got, want) {
				t.Errorf("positions %v, %d lost: %d violations, the first %q, want %q", positions, lost, len(got), got[:min(len(got), 2)], want)
			}
		}
	}
}
