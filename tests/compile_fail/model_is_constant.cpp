// What compile() gives can't be changed: runs share it.
#include "fedsim/model.hpp"

std::string rename(const std::shared_ptr<const fedsim::FederationModel>& model) {
#ifdef BAD
  model->name = "other";
#endif
  return model->name;
}
