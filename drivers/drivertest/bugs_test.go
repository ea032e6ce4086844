package drivertest

// A bug is a defect of a [fake].
type bug string

const (
	none bug = ""

	makesParents     bug = "makes parents"
	createOverwrites bug = "create overwrites"
	createTellsPath  bug = "create returns the path as the name"
	deletesNothing   bug = "delete of nothing succeeds"
	deletesTrees     bug = "delete takes the children along"
	cutsData         bug = "data is cut to 1000 bytes"
	escapesNames     bug = "listed names are escaped"
	listsByPrefix    bug = "a listing has all that begins alike"
	listsPages       bug = "a listing ends after 100 children"
	hidesRoot        bug = "the root lists nothing"
	readsLag         bug = "every other read returns what was before"

	versionsFromOne        bug = "versions begin at 1"
	versionsGoOn           bug = "a node created again continues its version"
	sameDataIsNoChange     bug = "a set of the same data is no change"
	ignoresVersions        bug = "versions are not compared"
	anyVersionIsZero       bug = "any version does not match higher ones"
	childrenCountAsChanges bug = "children count as changes"
	positionsPerNode       bug = "positions are each node's own"

	setsSome  bug = "a transaction that fails has set some nodes"
	setsApart bug = "the sets of a transaction are writes of their own"

	sequenceDescends   bug = "the sequence descends"
	sequencePerSession bug = "each session has a sequence of its own"
	sequencePerName    bug = "each name has a sequence of its own"
	sequenceSticks     bug = "the sequence does not move on"
	reusesSequence     bug = "the sequence counts the children there are"
	dropsPrefix        bug = "sequential names are only numbers"
	createTellsNoSeq   bug = "create does not return the sequence"
	plainHaveSeq       bug = "plain nodes have a sequence"
	plainNeighbors     bug = "a plain node hides the sequential one before it"

	closeKeepsEphemerals    bug = "close leaves ephemeral nodes"
	oneEphemeralStays       bug = "one ephemeral node stays"
	closeTakesOthersNodes   bug = "close takes others' ephemeral nodes"
	expiryKeepsEphemerals   bug = "expiry leaves ephemeral nodes"
	childrenBelowEphemerals bug = "ephemeral nodes have children"
	onlyOwnersDelete        bug = "only owners delete ephemeral nodes"
	hidesEphemeral          bug = "ephemeral nodes look persistent"
	disconnectEndsSession   bug = "a disconnect ends the session"

	neverFires         bug = "watches never fire"
	firesTwice         bug = "watches fire twice"
	staysArmed         bug = "watches stay armed"
	firesForContained  bug = "watches fire for what was read"
	firesDeadWatches   bug = "watches of calls that failed fire"
	armsOnErrors       bug = "a failing read arms its watch"
	armsLate           bug = "watches are armed after the read"
	armsOnce           bug = "a path is watched once only"
	armsFew            bug = "a session has 100 watches"
	oneWatchPerPath    bug = "one watch of several on a path fires"
	oneSessionNotified bug = "one session of several is notified"
	otherEvents        bug = "every event is a change of data"
	noEventForCreation bug = "creations are not reported"
	noEventForDeletion bug = "deletions are not reported"
	listWatchesData    bug = "a listing watches the data"
	watchesChildrenToo bug = "every read watches the children too"
	eventPosIsLater    bug = "events have the next write's position"
	eventsLate         bug = "events come late and out of order"

	neverLost         bug = "watches are not notified of the end"
	lostAfterFired    bug = "watches that fired are notified of the end"
	answersAfterEnd   bug = "calls succeed after the end"
	closesOnce        bug = "closing twice is an error"
	closeForgetsCalls bug = "calls hang when the session is closed"
	replacesSession   bug = "a session that ended is replaced"

	hidesCuts                bug = "a lost reply is made up for"
	retriesWrites            bug = "a write whose reply was lost is tried again"
	losesUnasked             bug = "some replies are not asked about"
	losesNotifications       bug = "notifications are lost with the connection"
	losesLateNotifications   bug = "of the notifications that were missed only 100 come"
	watchesEndWithConnection bug = "watches are lost with the connection"
	failsWhileAway           bug = "calls fail while disconnected"
	hidesStates              bug = "the reconnect is not reported"

	ignoresContext        bug = "contexts are ignored"
	watchesEndWithContext bug = "a watch ends with the context of its call"
	appliesCancelledLate  bug = "a cancelled write is applied later"
	mixesAnswers          bug = "answers are mixed up"
	reordersWrites        bug = "writes overtake each other"

	keepsOnce         bug = "persistent watches fire once"
	keepsLate         bug = "persistent watches begin after their call"
	keepsExisting     bug = "a missing node is not watched persistently"
	keepsOthersOnly   bug = "persistent watches are not notified of their session's writes"
	keepsMerged       bug = "persistent watches report two changes as one"
	keepsOne          bug = "a persistent watch takes the place of the one before"
	keepsWithinCall   bug = "a persistent watch ends with the context of its call"
	keepsDead         bug = "persistent watches of calls that failed are called"
	nodeCoversTree    bug = "a node's persistent watch covers the tree"
	treeTellsChildren bug = "a tree's watch reports changed children"
	treeIsFlat        bug = "a tree ends with the children"
	treeEndsSomewhere bug = "a tree has nine levels"
	treeByPrefix      bug = "a tree has all that begins alike"
	readsEndKeeping   bug = "a read with a watch ends the persistent one"
	keepingEndsReads  bug = "a persistent watch ends those of reads"
	stopStopsNothing  bug = "stop does nothing"
	stopStopsAll      bug = "stop ends all watches of the node"
	stopTellsLost     bug = "stop reports that the session is lost"
	lostTwice         bug = "persistent watches are notified twice of the end"
	rearmsSilently    bug = "persistent watches are not notified that they are armed again"
	rearmsNothing     bug = "persistent watches are lost with the connection"
	rearmsStopped     bug = "persistent watches that were stopped are armed again"
	rearmsAndRepeats  bug = "persistent watches report the last change again after a reconnect"
	resumesAnew       bug = "persistent watches do not resume"
	probeMissesArming bug = "the probe does not see persistent watches armed"

	probeCountsTwice         bug = "the probe sees everything twice"
	probeMissesOpen          bug = "the probe does not see the session open"
	probeMissesReplies       bug = "the probe sees no replies"
	probeMissesNotifications bug = "the probe sees no notifications"
	probeMissesCut           bug = "the probe sees no cut"
	probeHidesErrors         bug = "the probe sees no errors"
	probePosIsZero           bug = "the probe sees no positions"
	probeWithoutSize         bug = "the probe sees the same size always"
)

// mutants maps each bug to cases that must find it.
var mutants = map[bug][]string{
	makesParents:     {"nodes/parent needed"},
	createOverwrites: {"nodes/exists once", "concurrency/one creator"},
	createTellsPath:  {"nodes/created", "sequence/as listed"},
	deletesNothing:   {"nodes/missing", "concurrency/one deleter"},
	deletesTrees:     {"nodes/not empty"},
	cutsData:         {"nodes/data"},
	escapesNames:     {"nodes/odd names"},
	listsByPrefix:    {"nodes/direct children"},
	listsPages:       {"nodes/many children"},
	hidesRoot:        {"nodes/root"},
	readsLag:         {"nodes/sync", "order/own writes are read", "order/never back in time"},

	versionsFromOne:        {"versions/fresh", "versions/counts sets"},
	versionsGoOn:           {"versions/recreated", "nodes/deleted"},
	sameDataIsNoChange:     {"versions/counts sets"},
	ignoresVersions:        {"versions/conditional set", "versions/conditional delete", "concurrency/compare and set"},
	anyVersionIsZero:       {"versions/any version"},
	childrenCountAsChanges: {"versions/children apart"},
	positionsPerNode:       {"versions/one order", "versions/recreated"},

	setsSome:  {"transactions/none"},
	setsApart: {"transactions/all"},

	sequenceDescends:   {"sequence/order of creation", "concurrency/sequential"},
	sequencePerSession: {"sequence/across sessions", "concurrency/sequential"},
	sequencePerName:    {"sequence/across names"},
	sequenceSticks:     {"sequence/same name"},
	reusesSequence:     {"sequence/no reuse"},
	dropsPrefix:        {"sequence/as listed"},
	createTellsNoSeq:   {"sequence/plain siblings"},
	plainHaveSeq:       {"sequence/plain siblings"},
	plainNeighbors:     {"sequence/neighbors", "sequence/joined"},

	closeKeepsEphemerals:    {"ephemerals/gone at close", "sequence/ephemeral too"},
	oneEphemeralStays:       {"ephemerals/all gone"},
	closeTakesOthersNodes:   {"ephemerals/deleted by another", "session loss/others live on", "session loss/closed after expiry"},
	expiryKeepsEphemerals:   {"session loss/expiry removes"},
	childrenBelowEphemerals: {"ephemerals/no children"},
	onlyOwnersDelete:        {"ephemerals/deleted by another"},
	hidesEphemeral:          {"ephemerals/distinguishable"},
	disconnectEndsSession:   {"ephemerals/survives a disconnect", "disconnects/lost create"},

	neverFires:         {"transactions/watches", "watches/exists", "watches/get", "watches/children", "watches/of the others"},
	firesTwice:         {"watches/once", "concurrency/fan-out", "races/get and set"},
	staysArmed:         {"watches/once"},
	firesForContained:  {"watches/not what was read", "races/get and set", "races/children and create"},
	firesDeadWatches:   {"cancellation/its watch", "cancellation/cancelled at any time", "disconnects/lost read"},
	armsOnErrors:       {"watches/missing arms nothing"},
	armsLate:           {"races/get and set", "races/exists and create", "races/children and create", "races/exists and delete"},
	armsOnce:           {"watches/re-armed"},
	armsFew:            {"watches/many", "cancellation/abandoned"},
	oneWatchPerPath:    {"watches/several on one path"},
	oneSessionNotified: {"concurrency/fan-out"},
	otherEvents:        {"watches/exists", "watches/children", "concurrency/watches of one session"},
	noEventForCreation: {"watches/exists"},
	noEventForDeletion: {"watches/get", "watches/deleted and made anew"},
	listWatchesData:    {"watches/children", "watches/only what it covers"},
	watchesChildrenToo: {"watches/only what it covers"},
	eventPosIsLater:    {"watches/position", "persistent watches/position"},
	eventsLate: {"probe/flush proves", "order/event before the data", "order/event before the listing",
		"order/event before anything later", "order/own watch before own reply", "order/on the wire",
		"order/events in order of changes", "persistent watches/flush proves", "persistent watches/every change"},

	neverLost:         {"session loss/close tells watches", "session loss/expiry tells watches", "disconnects/closed while away", "ends of persistent watches/close tells", "ends of persistent watches/expiry tells", "ends of persistent watches/closed while away"},
	lostAfterFired:    {"watches/once"},
	answersAfterEnd:   {"session loss/closed", "ends of persistent watches/ended"},
	closesOnce:        {"session loss/closed twice"},
	closeForgetsCalls: {"session loss/close in flight"},
	replacesSession:   {"session loss/expired"},

	hidesCuts:                {"disconnects/lost create", "disconnects/lost delete", "disconnects/lost read"},
	retriesWrites:            {"disconnects/lost create", "disconnects/lost set"},
	losesUnasked:             {"disconnects/asked of every reply"},
	losesNotifications:       {"disconnects/watch in flight", "disconnects/changes while away"},
	watchesEndWithConnection: {"disconnects/watch outlives", "disconnects/cut"},
	losesLateNotifications:   {"order/events before replies after a reconnect"},
	failsWhileAway:           {"disconnects/waits for the reconnect"},
	hidesStates:              {"disconnects/states"},

	ignoresContext:        {"cancellation/before", "cancellation/during", "cancellation/deadline"},
	watchesEndWithContext: {"cancellation/watch outlives the context"},
	appliesCancelledLate:  {"cancellation/write order"},
	mixesAnswers:          {"concurrency/one session"},
	reordersWrites:        {"order/first in, first out"},

	keepsOnce:         {"persistent watches/node", "persistent watches/tree", "persistent watches/every change", "persistent watches/position", "persistent watches/beside one-shot", "ends of persistent watches/expiry of another"},
	keepsLate:         {"persistent watches/armed when it returns", "persistent watches/node"},
	keepsExisting:     {"persistent watches/not there yet"},
	keepsOthersOnly:   {"persistent watches/own changes"},
	keepsMerged:       {"persistent watches/every change"},
	keepsOne:          {"persistent watches/several on one path"},
	keepsWithinCall:   {"ends of persistent watches/outlives the context"},
	keepsDead:         {"ends of persistent watches/lost arming", "ends of persistent watches/given up"},
	nodeCoversTree:    {"persistent watches/node"},
	treeTellsChildren: {"persistent watches/tree", "persistent watches/not there yet", "persistent watches/several on one path"},
	treeIsFlat:        {"persistent watches/tree", "persistent watches/all depths"},
	treeEndsSomewhere: {"persistent watches/all depths"},
	treeByPrefix:      {"persistent watches/tree", "persistent watches/own changes"},
	readsEndKeeping:   {"persistent watches/beside one-shot"},
	keepingEndsReads:  {"persistent watches/beside one-shot"},
	stopStopsNothing:  {"persistent watches/stop"},
	stopStopsAll:      {"persistent watches/stop"},
	stopTellsLost:     {"persistent watches/stop"},
	lostTwice:         {"ends of persistent watches/close tells", "ends of persistent watches/expiry tells"},
	rearmsSilently:    {"ends of persistent watches/rearmed", "ends of persistent watches/while away"},
	rearmsNothing:     {"ends of persistent watches/rearmed", "ends of persistent watches/while away", "ends of persistent watches/resumed"},
	rearmsStopped:     {"ends of persistent watches/stopped while away"},
	rearmsAndRepeats:  {"ends of persistent watches/while away", "ends of persistent watches/rearmed", "ends of persistent watches/resumed"},
	resumesAnew:       {"ends of persistent watches/resumed"},
	probeMissesArming: {"persistent watches/probe"},

	probeCountsTwice:         {"transactions/probe", "probe/requests", "probe/replies"},
	probeMissesOpen:          {"probe/open and close"},
	probeMissesReplies:       {"probe/replies"},
	probeMissesNotifications: {"probe/notifications", "persistent watches/probe"},
	probeMissesCut:           {"probe/cut"},
	probeHidesErrors:         {"probe/replies"},
	probePosIsZero:           {"probe/positions"},
	probeWithoutSize:         {"probe/sizes"},
}
