package observe

// A stock is a consumer's last list of a queue.
//
// Note: a list that is made although items of the last one were not tried would tell the form that
// lists for each item. It cannot be seen exactly: the position of a list may be later than what
// the list shows.
type stock struct {
	queue *place
	tries int // items of the list that it has tried
}

func (k *stock) listed(queue *place) { *k = stock{queue: queue} }

func (k *stock) tried(item *place) {
	if k.queue != nil && item.parent == k.queue {
		k.tries++
	}
}

// took records that the consumer has removed an item.
func (k *stock) took(item *place) {
	if k.queue != nil && item.parent == k.queue && k.tries > 1 {
		k.queue.pattern.keptLists++
	}
}
