package logfile

// syncLength is the number of bytes of a snapshot between two syncs. It is small because the log's
// syncs wait behind them.
const syncLength = 4 << 20

// A Writer writes the batches of a snapshot, which are numbered from 0.
type Writer struct {
	file    File
	frame   Frame
	batch   []byte
	number  int64
	written int64 // bytes
	synced  int64 // bytes synced
}

// NewWriter returns a writer of a file's batches.
func NewWriter(f File, frame Frame) *Writer { return &Writer{file: f, frame: frame} }

// Add writes a batch with the body, which it copies.
func (w *Writer) Add(body []byte) error {
	w.batch = append(BeginBatch(w.batch[:0], w.number), body...)
	w.number++
	w.frame.End(w.batch)
	return w.AddWhole(w.batch)
}

// AddWhole writes bytes as they are, such as a batch of another file with the same mark.
func (w *Writer) AddWhole(b []byte) error {
	n, err := w.file.Write(b)
	if w.written += int64(n); err == nil && w.written-w.synced > syncLength {
		err = w.file.Sync()
		w.synced = w.written
	}
	return err
}

// Written returns the number of bytes written.
func (w *Writer) Written() int64 { return w.written }
