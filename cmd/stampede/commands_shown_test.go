package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A consoleBlock is a block of a page that shows a console session.
type consoleBlock struct {
	mark     string // the word after console, "" for none
	commands []typedLine
}

// A typedLine is a command that a page shows.
type typedLine struct {
	line   string
	number int  // of the line
	exit   *int // the exit code that the page shows with echo $?
}

// consoleBlocks returns the blocks of a page that begin with ```console.
func consoleBlocks(page string) (all []consoleBlock, err error) {
	fence, status := "", false
	for i, line := range strings.Split(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```") && fence != "":
			fence = ""
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimPrefix(line, "```") + " "
			if language, mark, _ := strings.Cut(strings.TrimSpace(fence), " "); language == "console" {
				all = append(all, consoleBlock{mark: mark})
			}
		case fence == "":
		case !strings.HasPrefix(fence, "console ") && strings.HasPrefix(line, "$ "):
			return nil, fmt.Errorf("line %d is typed in a block that is not called console", i+1)
		case strings.HasPrefix(fence, "console "):
			status = all[len(all)-1].read(line, i+1, status)
		}
		if _, known := marks()[lastMark(all)]; !known {
			return nil, fmt.Errorf("line %d: no mark is called %q", i+1, lastMark(all))
		}
	}
	return all, nil
}

func lastMark(all []consoleBlock) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].mark
}

// read adds a line to the block. Status says that the previous line asked for the exit code of the
// last command; the result says whether this line does.
func (b *consoleBlock) read(line string, number int, status bool) bool {
	last := len(b.commands) - 1
	command, typed := strings.CutPrefix(line, "$ ")
	switch {
	case typed && command == "echo $?":
		return true
	case typed:
		b.commands = append(b.commands, typedLine{line: command, number: number})
	case last >= 0 && strings.HasSuffix(b.commands[last].line, "\\"):
		b.commands[last].line += "\n" + line
	case status && last >= 0:
		if code, err := strconv.Atoi(line); err == nil {
			b.commands[last].exit = &code
		}
	}
	return false
}

// inlineCommand matches a command within a sentence or a table.
var inlineCommand = regexp.MustCompile("`(stampede [^`]+)`")

// mentioned returns the commands in the page's sentences. A command without arguments only has to
// exist.
func mentioned(page string) consoleBlock {
	b := consoleBlock{mark: "parse"}
	for i, line := range strings.Split(page, "\n") {
		for _, m := range inlineCommand.FindAllStringSubmatch(line, -1) {
			line := strings.ReplaceAll(m[1], `\|`, "|")
			if len(strings.Fields(line)) == 2 {
				line += " --help"
			}
			b.commands = append(b.commands, typedLine{line: line, number: i + 1})
		}
	}
	return b
}

func TestConsoleBlocks(t *testing.T) {
	page := "Say `stampede runs`.\n```console\n$ stampede run \\\n    --seed 7\n  a table\n$ stampede count\n$ echo $?\n98\n```\n```console parse\n$ make test\n```\n```text\nno command\n```\n"
	code := 98
	want := []consoleBlock{
		{"", []typedLine{{line: "stampede run \\\n    --seed 7", number: 3}, {line: "stampede count", number: 6, exit: &code}}},
		{"parse", []typedLine{{line: "make test", number: 11}}},
		{"parse", []typedLine{{line: "stampede runs --help", number: 1}}},
	}
	got, err := consoleBlocks(page)
	if diff := cmp.Diff(want, append(got, mentioned(page)), cmp.AllowUnexported(consoleBlock{}, typedLine{})); err != nil || diff != "" {
		t.Errorf("error %v, blocks (-want +got):\n%s", err, diff)
	}
	for page, wrong := range map[string]string{
		"```console prase\n$ true\n```\n": `line 1: no mark is called "prase"`,
		"```sh\n$ stampede run\n```\n":    "line 2 is typed in a block that is not called console",
	} {
		if _, err := consoleBlocks(page); err == nil || err.Error() != wrong {
			t.Errorf("%q: error %v, want %s", page, err, wrong)
		}
	}
}
