package fourletter

import (
	"fmt"
	"slices"
)

// As in ZooKeeper, these words list the watches on nodes, but not those on lists of children.

func (s State) watchSummary() string {
	bySession, byPath := s.watched()
	total := 0
	for _, sessions := range byPath {
		total += len(sessions)
	}
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n", len(bySession), len(byPath), total)
}

func (s State) watchesBySession() string {
	bySession, _ := s.watched()
	return tabbed(bySession, "") + "\n"
}

func (s State) watchesByPath() string {
	_, byPath := s.watched()
	return tabbed(byPath, "") + "\n"
}

func (s State) watched() (bySession, byPath map[string][]string) {
	bySession, byPath = map[string][]string{}, map[string][]string{}
	for path, session := range s.DataWatches() {
		id := fmt.Sprintf("0x%x", session)
		bySession[id] = append(bySession[id], path)
		byPath[path] = append(byPath[path], id)
	}
	for _, paths := range bySession {
		slices.Sort(paths)
	}
	return bySession, byPath
}
