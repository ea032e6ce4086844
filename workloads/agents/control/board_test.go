package control

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A poster is a process that uses a board.
type poster struct {
	name  string
	board *Board
}

// newPosters returns the boards of n processes, each with a session of its own.
func newPosters(t testing.TB, n int, connect func() *Plane) (all []poster) {
	t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("a%d", i))
	}
	for _, name := range names {
		b, err := connect().Board(t.Context(), "test", name, names)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, poster{name, b})
	}
	return all
}

// TestMessagesArriveInOrder has three processes that post at the same time, more than one sheet of a process that
// is slow to read should keep.
func TestMessagesArriveInOrder(t *testing.T) {
	testenv.SkipIfShort(t)
	m := start(t)
	posters := newPosters(t, 3, func() *Plane { return connect(t, m) })
	const messages = 300
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var posting, receiving sync.WaitGroup
	got := make([]map[string][]int, len(posters)) // by process, what it has received from each
	for i, p := range posters {
		got[i] = map[string][]int{}
		posting.Go(func() {
			for n := range messages {
				text, _ := json.Marshal(p.name + " " + strconv.Itoa(n))
				if err := p.board.Post(ctx, text); err != nil {
					t.Error(err)
					return
				}
			}
		})
		reading, stop := context.WithCancel(ctx)
		receiving.Go(func() {
			_ = p.board.Receive(reading, func(message []byte) error {
				var from, text string
				var n int
				if err := json.Unmarshal(message, &text); err != nil {
					return err
				}
				if _, err := fmt.Sscan(text, &from, &n); err != nil {
					return err
				}
				got[i][from] = append(got[i][from], n)
				total := 0
				for _, all := range got[i] {
					total += len(all)
				}
				if total == messages*(len(posters)-1) {
					stop()
				}
				return nil
			})
		})
	}
	posting.Wait()
	receiving.Wait()
	for i, from := range got {
		if len(from) != 2 || from[posters[i].name] != nil {
			t.Errorf("%s has messages of %d processes", posters[i].name, len(from))
		}
		for name, all := range from {
			for n, m := range all {
				if n != m {
					t.Fatalf("message %d of %s is %d", n, name, m)
				}
			}
			if len(all) != messages {
				t.Errorf("%s has %d messages of %s, want %d", posters[i].name, len(all), name, messages)
			}
		}
	}
	for _, p := range posters {
		if n := len(p.board.posted.Messages); n > messages/2 {
			t.Errorf("%s still posts %d messages that the others have taken", p.name, n)
		}
	}
}

// BenchmarkMessage measures the time from a post until another process has the message and answers.
func BenchmarkMessage(b *testing.B) {
	m, err := Start(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	posters := newPosters(b, 2, func() *Plane {
		s, err := Protected(m.URL(), m.Token())
		if err != nil {
			b.Fatal(err)
		}
		p, err := Connect(b.Context(), s, time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		return p
	})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	came := make(chan struct{}, 1)
	go posters[1].board.Receive(ctx, func(m []byte) error { return posters[1].board.Post(ctx, m) })
	go posters[0].board.Receive(ctx, func([]byte) error { came <- struct{}{}; return nil })
	for b.Loop() {
		if err := posters[0].board.Post(ctx, []byte("1")); err != nil {
			b.Fatal(err)
		}
		<-came
	}
}
