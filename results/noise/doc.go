// Package noise is the file of what machines make of no difference: it keeps
// calibrations, the newest of each machine and setting, and tells how large a
// difference has to be there to be more than that.
package noise
