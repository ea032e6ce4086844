package export

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
)

// aboutUs returns the resource that the metrics describe: this program, with changes from
// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
func aboutUs() (*resource.Resource, error) {
	return resource.Merge(resource.NewSchemaless(attribute.String("service.name", "stampede")), resource.Environment())
}
