package namespace

import (
	"context"
	"strconv"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// Folders is a set of nodes divided among folders, so that no list of children is long.
type Folders struct {
	Path      string
	Nodes     int
	PerFolder int
}

// FolderOf returns the folder of a node. Both count from 0.
func (f Folders) FolderOf(node int) int { return node / f.PerFolder }

// FolderPath returns the path of a folder.
func (f Folders) FolderPath(folder int) string { return f.Path + "/" + strconv.Itoa(folder) }

// NodePath returns the path of a node.
func (f Folders) NodePath(i int) string { return f.FolderPath(f.FolderOf(i)) + "/" + strconv.Itoa(i) }

// NodesIn returns how many nodes are in a folder.
func (f Folders) NodesIn(folder int) int { return min(f.PerFolder, f.Nodes-folder*f.PerFolder) }

// Create creates all folders and nodes, with the data, many at a time.
func (f Folders) Create(ctx context.Context, c drivers.Conn, data []byte) error {
	if err := CreateNode(ctx, c, f.Path, nil, 0); err != nil {
		return err
	}
	last := f.FolderOf(f.Nodes - 1)
	if err := parallel.ForEach(last+1, func(i int) error { return CreateNode(ctx, c, f.FolderPath(i), nil, 0) }); err != nil {
		return err
	}
	return parallel.ForEach(f.Nodes, func(i int) error { return CreateNode(ctx, c, f.NodePath(i), data, 0) })
}
