// Package live serves a web page that shows runs in progress: which clients a write notified,
// the forms of one level side by side, and the figures so far.
//
// A [Page] is notified when runs begin and end, and [Serve] serves it to browsers. While at
// least one browser has the page open, the page reads the run in progress a few times a second;
// without a viewer it does not read the run. Each reading is encoded once for all viewers. Each
// event contains the whole state of the page, so a slow viewer only misses some events, and the
// page never waits for a viewer.
//
// Once a second the page shows a typical write of that second, of which half of all notifications have at
// most the fan-out, with all clients that it notified. If it showed all clients notified in the meantime, both
// forms would look alike: when releases follow each other quickly, every client has been
// notified by one of them.
//
// A [Report] is a second kind of page. It shows the report of an observation in progress, which has no
// forms to be compared and lasts as long as the observed program.
package live
