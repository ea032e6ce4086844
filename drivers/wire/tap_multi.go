package wire

import "github.com/stampede-bench/stampede/drivers"

// decodeParts appends the operations of a transaction. It ends at the first that no transaction
// can have.
func decodeParts(parts []drivers.TxnOp, d *Decoder) []drivers.TxnOp {
	for {
		var h MultiHeader
		if h.Decode(d); h.Done || d.Err() != nil {
			return parts
		}
		p := drivers.TxnOp{Op: operation(h.Type)}
		switch h.Type {
		case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
			p.Path, p.Mode = decodeCreate(d)
			if h.Type == OpCreateTTL {
				d.Long()
			}
		case OpSetData:
			p.Path = d.Bytes()
			d.Bytes() // the data
			d.Int()   // the version
		case OpDelete, OpCheck:
			p.Path = d.Bytes()
			d.Int() // the version
		default:
			return parts
		}
		if d.Err() != nil {
			return parts
		}
		parts = append(parts, p)
	}
}

// keepParts copies the parts into the slot, whose memory it reuses.
func (p *pending) keepParts(parts []drivers.TxnOp) {
	kept := p.parts[:cap(p.parts)]
	p.parts = p.parts[:0]
	for i, part := range parts {
		if i < len(kept) {
			part.Path = append(kept[i].Path[:0], part.Path...)
		} else {
			part.Path = append([]byte(nil), part.Path...)
		}
		p.parts = append(p.parts, part)
	}
}

// decodeResults enters the results of a transaction in its parts: the paths of created nodes and
// the errors. It returns the error of the transaction: the header of the reply has none where a
// part failed.
func (p *pending) decodeResults(failed error, d *Decoder) error {
	for i := range p.parts {
		var h MultiHeader
		if h.Decode(d); failed != nil || h.Done || d.Err() != nil {
			break
		}
		failed = decodeResult(&p.parts[i], h.Type, d)
	}
	if failed == nil {
		return nil
	}
	for i := range p.parts { // those before the one that failed were undone, those after it not tried
		if p.parts[i].Err == nil {
			p.parts[i].Err = drivers.ErrUnsupported
		}
	}
	return failed
}

// decodeResult enters the result of one operation, and returns its error.
func decodeResult(p *drivers.TxnOp, code int32, d *Decoder) error {
	switch code {
	case MultiError:
		p.Err = Err(d.Int()).Sentinel()
	case OpCreate:
		p.Path = append(p.Path[:0], d.Bytes()...)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		p.Path = append(p.Path[:0], d.Bytes()...)
		new(Stat).Decode(d)
	case OpSetData:
		new(Stat).Decode(d)
	}
	return p.Err
}
