package fourletter

import "github.com/stampede-bench/stampede/drivers/wire"

// operation returns the name that "cons" uses for a request.
func operation(code int32) string {
	switch code {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return "CREA"
	case wire.OpDelete, wire.OpDeleteContainer:
		return "DELE"
	case wire.OpExists:
		return "EXIS"
	case wire.OpGetData:
		return "GETD"
	case wire.OpSetData:
		return "SETD"
	case wire.OpGetACL:
		return "GETA"
	case wire.OpSetACL:
		return "SETA"
	case wire.OpGetChildren, wire.OpGetChildren2:
		return "GETC"
	case wire.OpAllChildrenNum:
		return "GETACN"
	case wire.OpGetEphemerals:
		return "GETE"
	case wire.OpSync:
		return "SYNC"
	case wire.OpPing:
		return "PING"
	case wire.OpCheck:
		return "CHEC"
	case wire.OpMulti:
		return "MULT"
	case wire.OpMultiRead:
		return "MLTR"
	case wire.OpReconfig:
		return "RECO"
	case wire.OpCheckWatches:
		return "CHKW"
	case wire.OpRemoveWatches:
		return "REMW"
	case wire.OpSetWatches:
		return "SETW"
	case wire.OpSetWatches2:
		return "STW2"
	case wire.OpAddWatch:
		return "ADDW"
	case wire.OpWhoAmI:
		return "HOMI"
	case wire.OpCreateSession:
		return "SESS"
	}
	return "NA"
}
