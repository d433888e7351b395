// Ids are names, not quantities.
#include "fedsim/ids.hpp"

fedsim::NodeId next(fedsim::NodeId node) {
#ifdef BAD
  return node + 1;
#else
  return fedsim::NodeId{node.index() + 1};
#endif
}
