// Package divided judges runs whose clients are in several processes, by the steps that the processes have
// recorded.
package divided
