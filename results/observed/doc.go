// Package observed says in sentences what an observation has found: herds first, or that there is none, and
// then what else costs the service.
package observed
