// ... nor convert.
#include "fedsim/ids.hpp"

fedsim::ClusterId cluster_of(fedsim::PartitionId partition) {
#ifdef BAD
  return partition;
#else
  return fedsim::ClusterId{partition.index()};
#endif
}
