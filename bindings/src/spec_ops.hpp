// Operations on specs that Python offers beside the plain fields.
#pragma once

#include "bindings.hpp"

namespace fedsim::python {

FederationSpec federation_of(const py::kwargs& clusters);
FederationSpec with_cluster(const FederationSpec& spec, const py::object& cluster,
                            const py::object& like, const py::object& nodes);
FederationSpec with_options(const FederationSpec& spec, const py::args& cluster,
                            const py::kwargs& options);
std::size_t gpus_n(const FederationSpec& spec);
std::string federation_html(const FederationSpec& spec);
ClusterSpec machine_spec(const std::string& name, int nodes, int units, const py::object& gpu_type);
py::tuple check_config(const py::object& folder);

}  // namespace fedsim::python
