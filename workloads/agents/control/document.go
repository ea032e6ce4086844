package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// pieceSize is below the largest value that every service takes.
const pieceSize = 512 << 10

// Put writes a document of any size under a name that has none yet.
func (p *Plane) Put(ctx context.Context, name string, text []byte) error {
	n := 0
	for piece := range slices.Chunk(text, pieceSize) {
		if err := p.nodes.Make(ctx, pieceOf(name, n), piece); err != nil {
			return fmt.Errorf("write %s to the control plane: %w", name, err)
		}
		n++
	}
	if err := p.nodes.Make(ctx, documents+"/"+name, []byte(strconv.Itoa(n))); err != nil {
		return fmt.Errorf("write %s to the control plane: %w", name, err)
	}
	return nil
}

// Get waits for a document and returns it.
func (p *Plane) Get(ctx context.Context, name string) (text []byte, err error) {
	count, err := p.await(ctx, documents+"/"+name)
	if err != nil {
		return nil, fmt.Errorf("read %s from the control plane: %w", name, err)
	}
	n, err := strconv.Atoi(string(count))
	if err != nil {
		return nil, fmt.Errorf("read %s from the control plane: %q pieces", name, count)
	}
	for i := range n {
		piece, _, err := p.nodes.Get(ctx, pieceOf(name, i), nil)
		if err != nil {
			return nil, fmt.Errorf("read %s from the control plane: %w", name, err)
		}
		text = append(text, piece...)
	}
	return text, nil
}

// Find is Get of a document that may not be there: it does not wait.
func (p *Plane) Find(ctx context.Context, name string) (text []byte, found bool, err error) {
	_, exists, err := p.nodes.Exists(ctx, documents+"/"+name, nil)
	if err != nil || !exists {
		return nil, false, err
	}
	text, err = p.Get(ctx, name)
	return text, err == nil, err
}

func pieceOf(name string, i int) string { return fmt.Sprintf("%s/%s.%d", documents, name, i) }

// PutJSON is Put of a value in JSON.
func (p *Plane) PutJSON(ctx context.Context, name string, v any) error {
	return p.Put(ctx, name, encode(v))
}

// GetJSON is Get of a value in JSON.
func (p *Plane) GetJSON(ctx context.Context, name string, v any) error {
	text, err := p.Get(ctx, name)
	if err != nil {
		return err
	}
	return decode(text, v)
}

// encode returns a value of this program in JSON.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // such values have no fields that JSON cannot represent
	}
	return text
}

func decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read from the control plane: %w", err)
	}
	return nil
}

func sortBy[E any, K cmp.Ordered](all []E, key func(E) K) {
	slices.SortFunc(all, func(a, b E) int { return cmp.Compare(key(a), key(b)) })
}
