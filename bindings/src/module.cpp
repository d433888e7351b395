// The extension module fedsim._core: mirrors the C++ library one to one.
#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "fedsim/ids.hpp"

PYBIND11_MODULE(_core, m) {
  namespace py = pybind11;
  using namespace fedsim::python;
  py::options options;
  options.disable_function_signatures();  // docstrings begin with a signature written by hand

  m.doc() = "C++ core of fedsim; use `import fedsim`.";
  m.attr("__version__") = FEDSIM_VERSION;
  bind_errors(m);
  bind_spec(m);
  bind_trace(m);
  bind_table(m);
  bind_run(m);
  bind_result(m);
  bind_simulation(m);
  m.def(
      "encode_job_id",
      [](std::uint32_t cluster, std::uint32_t local) {
        return fedsim::encode_job_id({cluster, local});
      },
      py::arg("cluster"), py::arg("local"),
      "encode_job_id(cluster, local)\n--\n\nSee fedsim.jobid.encode().");
  m.def(
      "decode_job_id",
      [](std::uint32_t id) {
        const fedsim::FederatedJobId parts = fedsim::decode_job_id(id);
        return py::make_tuple(parts.cluster, parts.local);
      },
      py::arg("id"), "decode_job_id(id)\n--\n\nSee fedsim.jobid.decode().");
}
