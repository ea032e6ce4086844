package man_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/man"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// program returns a program with text that roff would read in another way.
func program() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "prog", Short: "Do things", Long: "Prog does things."}
	do := &cobra.Command{Use: "do THING", Short: "Do one thing", Run: run, Example: "  prog do 'it' --with \"C:\\dir\"\n  prog do ~/it",
		Long: "Do does it.\n.profile begins this line, 'quoted' that one.\n\nA list:\n\n  a  µs\n\n  b  x^2\n\nThe end."}
	do.Flags().StringP("with", "w", "a-b", "what `TOOL` to use\n  - a-b  the usual one\n")
	do.Flags().Bool("fast", false, "do it fast")
	topic := &cobra.Command{Use: "things", Short: "What things are"}
	root.AddCommand(do, topic, &cobra.Command{Use: "hidden", Hidden: true, Run: run})
	return root
}

func manual() man.Manual {
	return man.Manual{Version: "prog 1.2", Topic: func(c *cobra.Command) string { return "Things are " + c.Name() + ".\n" }}
}

func TestPage(t *testing.T) {
	do, _, err := program().Find([]string{"do"})
	if err != nil {
		t.Fatal(err)
	}
	got := manual().Page(do)
	begin, rest, found := strings.Cut(got, ".SH \"EXIT STATUS\"\n")
	_, end, _ := strings.Cut(rest, ".SH \"SEE ALSO\"\n")
	if !found || strings.Count(rest, ".TP\n") != len(cli.ExitCodes()) {
		t.Errorf("the exit codes are not there:\n%s", rest)
	}
	want := `.TH "PROG\-DO" "1" "" "prog 1.2" "prog manual"
.SH "NAME"
prog\-do \- Do one thing
.SH "SYNOPSIS"
prog do THING [flags]
.SH "DESCRIPTION"
Do does it.
\&.profile begins this line, \(aqquoted\(aq that one.
.sp
A list:
.RS 2
.nf
a  \[u00B5]s

b  x\(ha2
.fi
.RE
.sp
The end.
.SH "EXAMPLES"
.RS 2
.nf
prog do \(aqit\(aq \-\-with \(dqC:\edir\(dq
prog do \(ti/it
.fi
.RE
.SH "OPTIONS"
.TP
\-\-fast
do it fast
.sp
Variable: STAMPEDE_FAST
.TP
\-w, \-\-with TOOL
what TOOL to use
.RS 2
.nf
\- a\-b  the usual one
.fi
.RE
.sp
Default: a\-b. Variable: STAMPEDE_WITH
`
	if diff := cmp.Diff(want, begin); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if end != "prog(1)\n" {
		t.Errorf("see also %q", end)
	}
}

// Every command and topic that help shows has a page.
func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man")
	if err := manual().Write(folder, program()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"prog-do.1", "prog-things.1", "prog.1"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	topic, err := os.ReadFile(filepath.Join(folder, "prog-things.1"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(topic), ".SH \"DESCRIPTION\"\nThings are things.\n") {
		t.Errorf("the page of a topic does not have its text:\n%s", topic)
	}
	if err := manual().Write(folder+"/prog.1", program()); err == nil {
		t.Error("pages are written to a file")
	}
}

// groff formats the pages without a warning, and prints what help says.
func TestGroffHasNoWarnings(t *testing.T) {
	testenv.SkipIfShort(t)
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	for _, c := range program().Commands() {
		text, warnings := format(t, manual().Page(c))
		if warnings != "" {
			t.Errorf("%s: %s", c.Name(), warnings)
		}
		if c.Name() == "do" && !strings.Contains(text, `prog do 'it' --with "C:\dir"`) {
			t.Errorf("an example cannot be copied from the page:\n%s", text)
		}
	}
	if _, warnings := format(t, manual().Page(program())+".NOSUCH\n"); warnings == "" {
		t.Error("groff does not warn of an unknown macro")
	}
}

// format returns the page as a terminal shows it, and groff's warnings.
func format(t *testing.T, page string) (text, warnings string) {
	t.Helper()
	c := exec.Command("groff", "-man", "-Tutf8", "-P-cbou", "-ww")
	var out, err bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(page), &out, &err
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return out.String(), err.String()
}
