package workloads

import (
	"context"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
)

// folders is a set of nodes divided among folders, so that no list of children is long.
type folders struct {
	path  string
	nodes int
	each  int
}

// folder returns the folder of a node. Both count from 0.
func (f folders) folder(node int) int { return node / f.each }

// at returns the path of a folder.
func (f folders) at(folder int) string { return f.path + "/" + strconv.Itoa(folder) }

// node returns the path of a node.
func (f folders) node(i int) string { return f.at(f.folder(i)) + "/" + strconv.Itoa(i) }

// in returns how many nodes are in a folder.
func (f folders) in(folder int) int { return min(f.each, f.nodes-folder*f.each) }

// make creates all folders and nodes, with the data, many at a time.
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
