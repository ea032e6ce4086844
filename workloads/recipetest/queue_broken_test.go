package recipetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestQueueMutantsAreCaught(t *testing.T) { queueMutants().areCaught(t) }

func queueMutants() mutants[QueueForm] {
	type (
		conn = drivers.Conn
		site = recipe.QueueSite
	)
	right := cachedList(func(c conn) conn { return c })
	form := func(f QueueForm) Form { return f }
	return mutants[QueueForm]{right, form, []mutant[QueueForm]{
		{"delivers an item to several consumers", cachedList(func(c conn) conn { return sharing{c} }),
			[]string{"each item to one consumer"}},
		{"takes the last first", cachedList(func(c conn) conn { return upsideDown{c} }),
			[]string{"in order"}},
		{"does not watch", cachedList(func(c conn) conn { return unwoken{c} }),
			[]string{"waits for an item"}},
		{"never invalidates its list", QueueForm{Recipe: "priority-queue", Name: "invalidate",
			New: func(c conn, at site) recipe.PriorityQueue {
				return recipes.NewPriorityQueue(trusting{c}, at.Items, at.Mode)
			}}, []string{"in order"}},
		{"hides the cause of its failure", broken(func(ctx context.Context, q *recipes.Queue) ([]byte, error) {
			item, err := q.Take(ctx)
			if err != nil {
				err = errors.New("failed")
			}
			return item, err
		}), []string{"the first to wait cancels", "the second to wait cancels", "the last to wait cancels",
			"the session of the first to wait is lost", "the session of the second to wait is lost",
			"the session of the last to wait is lost"}},
		{"drops its item when canceled", broken(func(ctx context.Context, q *recipes.Queue) ([]byte, error) {
			item, err := q.Take(ctx)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return item, err
		}), []string{"canceled after the delete"}},
		{"leaves its place when canceled", oneWatcher(func(c conn) conn { return untidy{c} }),
			[]string{"the first to wait cancels", "the second to wait cancels", "the last to wait cancels"}},
		{"makes items persistent", QueueForm{Recipe: "queue", Name: "cached-list",
			New: func(c conn, at site) recipe.PriorityQueue {
				return anyPriority{recipes.NewQueue(c, at.Items, 0)}
			}}, []string{"ephemeral items"}},
		{"repeats a put", cachedList(func(c conn) conn { return forgetful{c} }),
			[]string{"200 replies to puts are lost"}},
		{"treats a lost reply as a failure", cachedList(func(c conn) conn { return gloomy{c} }),
			[]string{"replies to takes are lost"}},
		{"does not retry", cachedList(func(c conn) conn { return brittle{c} }),
			[]string{"any replies are lost"}},
		{"reads twice", oneWatcher(func(c conn) conn { return rereading{c} }),
			[]string{"settled cost", "identities"}},
		{"herds", QueueForm{Recipe: "queue", Name: "one-watcher",
			New: func(c conn, at site) recipe.PriorityQueue {
				return anyPriority{naive.NewQueue(c, at.Items, at.Mode)}
			}}, []string{"settled cost", "identities"}},
	}}
}

// anyPriority is a queue that ignores priorities.
type anyPriority struct{ recipe.Queue }

func (q anyPriority) Put(ctx context.Context, _ int, item []byte) error {
	return q.Queue.Put(ctx, item)
}

// cachedList returns the form cached-list on a broken session.
func cachedList(wrong func(drivers.Conn) drivers.Conn) QueueForm {
	return QueueForm{Recipe: "queue", Name: "cached-list",
		New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return anyPriority{recipes.NewQueue(wrong(c), at.Items, at.Mode)}
		}}
}

// oneWatcher returns the form one-watcher on a broken session.
func oneWatcher(wrong func(drivers.Conn) drivers.Conn) QueueForm {
	return QueueForm{Recipe: "queue", Name: "one-watcher",
		New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return anyPriority{recipes.NewOneWatcherQueue(wrong(c), at.Items, at.Consumers, at.Mode)}
		}}
}

// broken returns the form cached-list with another Take.
func broken(take func(context.Context, *recipes.Queue) ([]byte, error)) QueueForm {
	return QueueForm{Recipe: "queue", Name: "cached-list",
		New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			q := recipes.NewQueue(c, at.Items, at.Mode)
			return anyPriority{brokenQueue{q, take}}
		}}
}

type brokenQueue struct {
	*recipes.Queue
	take func(context.Context, *recipes.Queue) ([]byte, error)
}

func (q brokenQueue) Take(ctx context.Context) ([]byte, error) { return q.take(ctx, q.Queue) }

// sharing treats a delete as successful if another client has deleted the item.
type sharing struct{ drivers.Conn }

func (b sharing) Delete(ctx context.Context, path string, version int32) error {
	err := b.Conn.Delete(ctx, path, version)
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// upsideDown reverses the order of a list.
type upsideDown struct{ drivers.Conn }

func (b upsideDown) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	children, err := b.Conn.Children(ctx, path, w)
	for i := range children {
		children[i].Seq = -children[i].Seq
	}
	return children, err
}

// unwoken sets no watch.
type unwoken struct{ drivers.Conn }

func (b unwoken) Children(ctx context.Context, path string, _ drivers.Watch) ([]drivers.Child, error) {
	return b.Conn.Children(ctx, path, nil)
}

// trusting sets a watch only if the list is empty.
type trusting struct{ drivers.Conn }

func (b trusting) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	if children, err := b.Conn.Children(ctx, path, nil); err != nil || len(children) > 0 {
		return children, err
	}
	return b.Conn.Children(ctx, path, w)
}

// untidy deletes no ephemeral nodes, so its place in the line stays.
type untidy struct{ drivers.Conn }

func (b untidy) Delete(ctx context.Context, path string, version int32) error {
	if stat, there, err := b.Conn.Exists(ctx, path, nil); err == nil && there && stat.Ephemeral {
		return nil
	}
	return b.Conn.Delete(ctx, path, version)
}

// gloomy treats a delete whose reply was lost as not done.
type gloomy struct{ drivers.Conn }

func (b gloomy) Delete(ctx context.Context, path string, version int32) error {
	err := b.Conn.Delete(ctx, path, version)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		return drivers.ErrNoNode
	}
	return err
}

// rereading sends each get twice.
type rereading struct{ drivers.Conn }

func (b rereading) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if _, _, err := b.Conn.Get(ctx, path, nil); err != nil {
		return nil, drivers.Stat{}, err
	}
	return b.Conn.Get(ctx, path, w)
}
