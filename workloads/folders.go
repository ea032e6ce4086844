package workloads

import (
	"context"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
)

// folders are many nodes, so many in each folder that no list of them is long.
type folders struct {
	path  string
	nodes int
	each  int
}

// folder is that of a node, both from 0.
func (f folders) folder(node int) int { return node / f.each }

// at is the path of a folder.
func (f folders) at(folder int) string { return f.path + "/" + strconv.Itoa(folder) }

// node is the path of a node.
func (f folders) node(i int) string { return f.at(f.folder(i)) + "/" + strconv.Itoa(i) }

// in is how many nodes there are in a folder.
func (f folders) in(folder int) int { return min(f.each, f.nodes-folder*f.each) }

// make makes all of them with the data, many at a time.
func (f folders) make(ctx context.Context, c drivers.Conn, data []byte) error {
	if err := makeNode(ctx, c, f.path, nil, 0); err != nil {
		return err
	}
	last := f.folder(f.nodes - 1)
	if err := inParallel(last+1, func(i int) error { return makeNode(ctx, c, f.at(i), nil, 0) }); err != nil {
		return err
	}
	return inParallel(f.nodes, func(i int) error { return makeNode(ctx, c, f.node(i), data, 0) })
}
