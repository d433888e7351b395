// Ids of different tables neither compare ...
#include "fedsim/ids.hpp"

bool same(fedsim::JobId job, fedsim::NodeId node) {
#ifdef BAD
  return job == node;
#else
  return job == fedsim::JobId{node.index()};
#endif
}
