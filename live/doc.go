// Package live is a page on which people watch runs while they go on: whom a write
// wakes, client by client, the forms of one level side by side, and the figures so
// far.
//
// A [Page] is told of runs as they begin and end, and [Serve] shows it to browsers.
// As long as somebody has it open it looks at the run that goes on, a few times a
// second; a run that nobody watches is not looked at. What it sees is written down
// once, for all who watch. Each event is the whole of what there is to show, so that
// who is slow misses some and no more: nobody is waited for.
//
// Of the many writes one a second is picked out, and shown with all whom it woke.
// To light up whoever was woken in the meantime would show both forms alike: as soon
// as releases come fast, everybody has been woken by one or another.
package live
