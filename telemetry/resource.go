package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// aboutUs is what the metrics come from: this program, unless OTEL_SERVICE_NAME
// and OTEL_RESOURCE_ATTRIBUTES say more.
func aboutUs() (*resource.Resource, error) {
	return resource.Merge(resource.NewSchemaless(attribute.String("service.name", "stampede")), resource.Environment())
}
