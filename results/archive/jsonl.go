package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stampede-bench/stampede/results"
)

// An Entry is a saved result with its id.
type Entry struct {
	ID     string
	Result results.Result
}

// WriteLine writes the result as one line of JSON.
func WriteLine(w io.Writer, r results.Result) error {
	var text, line bytes.Buffer
	if err := results.WriteJSON(&text, r); err != nil {
		return err
	}
	if err := json.Compact(&line, text.Bytes()); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := w.Write(line.Bytes())
	return err
}

// ReadLines reads the results of a file that has one result in each line. The error is one line that
// names the path and the number of the line.
func ReadLines(path string) (all []results.Result, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, end := in.ReadBytes('\n')
		if end != nil && !errors.Is(end, io.EOF) {
			return nil, fmt.Errorf("%s: %w", path, end)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			v, err := valid(line, results.ReadAny)
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
			}
			all = append(all, v)
		}
		if end != nil {
			return all, nil
		}
	}
}
